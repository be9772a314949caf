//! Both parties of a join in this process, with tables in memory.

use std::{
    net::TcpListener,
    num::NonZeroUsize,
    ops::Range,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use psijoin::Role;
use psijoin_cli::{
    embedded::{
        Failed, Hint, Joined, Learned, Listener, Order, PlannedJoin, Stop, Table, join, plan,
        with_hint,
    },
    sizes::SetSizes,
};
use psijoin_session::{
    Error, Give, JoinSpec, Learners, Meeting, Question, RequestedOutput, TableSpec, Taken,
};
use psijoin_table::{KeySpec, share::RepeatedKeys};
use psijoin_transport::{Endpoint, Security};
use serde_json::Value;

/// Keeps what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn say(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn warn(&self, text: &str, hint: Option<&str>) {
        self.say(&with_hint(text, hint));
    }

    fn about_error(&self, error: &Error) -> Option<Hint> {
        matches!(error, Error::Handshake(_)).then_some(Hint::Borrowed("say `learn`"))
    }

    fn at(&self, _: &str, bytes: u64, total_bytes: u64) {
        assert!(total_bytes == 0 || bytes <= total_bytes);
    }
}

/// Returns a table of keys, and a number for each.
fn rows(ids: Range<i64>, factor: i64) -> impl RecordBatchReader + Send + 'static {
    let keys: StringArray = ids.clone().map(|id| Some(format!("k{id}"))).collect();
    let numbers: Int64Array = ids.map(|id| Some(id * factor)).collect();
    let columns: [(&str, ArrayRef); 2] = [("id", Arc::new(keys)), ("n", Arc::new(numbers))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    RecordBatchIterator::new([Ok(batch)], schema)
}

/// Returns these rows as a table.
fn table(name: &str, ids: Range<i64>, factor: i64) -> Table {
    Table::in_memory(name, rows(ids, factor))
}

/// Returns a port that is free a moment before it is used.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Says what is wanted beside the tables and where the parties meet.
type Wanted<'a> = &'a (dyn Fn(&mut JoinSpec) + Sync);

/// Nothing more.
const ROWS: Wanted<'_> = &|_| ();

/// Returns the request of a party that meets the other there.
fn spec(role: Role, endpoint: Endpoint, table: Table, wanted: Wanted<'_>) -> JoinSpec {
    let mut meeting = Meeting::new(endpoint, Security::InsecurePlaintext);
    meeting.wait = Duration::from_secs(20);
    let key = KeySpec::new(vec!["id".to_owned()], vec![]).unwrap();
    let mut spec = JoinSpec::new(role, meeting, TableSpec::Arrow(table), key);
    spec.resources.threads = NonZeroUsize::new(1);
    wanted(&mut spec);
    spec
}

/// Returns what the receiver and the sender get that want this.
fn both(receiver: Wanted<'_>, sender: Wanted<'_>) -> [Result<Joined, Failed>; 2] {
    let [mine, theirs] = [table("mine", 0..100, 1), table("theirs", 50..200, 10)];
    both_of((receiver, mine), (sender, theirs))
}

/// Joins these tables, and returns the results of both sides.
fn both_of(
    (receiver, mine): (Wanted<'_>, Table),
    (sender, theirs): (Wanted<'_>, Table),
) -> [Result<Joined, Failed>; 2] {
    let address = free_address();
    let listen = Endpoint::Listen(address.parse().unwrap());
    let connect = Endpoint::Connect(address.parse().unwrap());
    let receive = spec(Role::Receiver, listen, mine, receiver);
    let send = spec(Role::Sender, connect, theirs, sender);
    let joined = |spec| {
        join(
            Order::new(spec),
            Arc::new(Heard::default()),
            &Stop::default(),
        )
    };
    thread::scope(|scope| {
        let sent = scope.spawn(move || joined(send));
        [joined(receive), sent.join().unwrap()]
    })
}

/// Gives a column of its own, and takes all.
fn trade(spec: &mut JoinSpec) {
    spec.question.learners = Learners::Both;
    spec.trade.takes = Some(Taken::All);
    spec.trade.gives = Some(Give {
        columns: vec!["n".to_owned()],
        row_bytes: None,
        repeated: RepeatedKeys::Refuse,
    });
}

/// Returns the numbers in a column of rows in memory.
fn numbers(learned: &Learned, column: &str) -> Vec<i64> {
    let Learned::Rows(Some((schema, batches))) = learned else {
        panic!("{learned:?}");
    };
    let column = schema.index_of(column).unwrap();
    let numbers = batches.iter().flat_map(|batch| {
        let numbers = batch.column(column).as_primitive::<Int64Type>();
        numbers.values().to_vec()
    });
    numbers.collect()
}

#[test]
fn rows_stay_in_memory_with_columns_of_either_side() {
    let [received, sent] = both(&trade, &trade);
    let (received, sent) = (received.unwrap(), sent.unwrap());
    let ids: Vec<i64> = (50..100).collect();
    let tens: Vec<i64> = ids.iter().map(|id| id * 10).collect();
    assert_eq!(numbers(&received.learned, "n"), ids);
    assert_eq!(numbers(&received.learned, "partner_n"), tens);
    assert_eq!(numbers(&sent.learned, "n"), tens);
    assert_eq!(numbers(&sent.learned, "partner_n"), ids);
    assert!(
        received.statement.contains("Wrote 50 rows to memory."),
        "{}",
        received.statement
    );
    let report: Value = serde_json::from_str(&received.report).unwrap();
    assert_eq!(report["outcome"], "done");
    assert_eq!(report["files"]["input"], "mine");
    assert_eq!(report["result"]["shared_keys"], 50);
}

/// A copy in a file has the rows of its stream; and numbers of rows are of those rows.
#[test]
fn rows_come_from_streams_and_go_by_number() {
    let mine = Table::in_memory("mine", rows(0..100, 1)).by_number();
    let theirs = Table::stream("theirs", rows(50..200, 10));
    let [received, sent] = both_of((&trade, mine), (&trade, theirs)).map(Result::unwrap);
    let Learned::Rows(Some((schema, batches))) = &received.learned else {
        panic!("{:?}", received.learned);
    };
    let ids: Vec<i64> = (50..100).collect();
    let tens: Vec<i64> = ids.iter().map(|id| id * 10).collect();
    assert_eq!(schema.fields().len(), 2);
    let numbers_of = batches[0].column(0).as_primitive::<UInt64Type>();
    assert_eq!(numbers_of.values()[..], (50..100).collect::<Vec<u64>>());
    assert_eq!(numbers(&received.learned, "partner_n"), tens);
    assert_eq!(numbers(&sent.learned, "n"), tens);
    assert_eq!(numbers(&sent.learned, "partner_n"), ids);
}

const CALIBRATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../forecast/calibration.json");

#[test]
fn plans_are_those_of_the_program() {
    let join = PlannedJoin {
        items: SetSizes {
            sender: 1 << 10,
            receiver: 1 << 12,
        },
        question: Question::default(),
        sender_gives: None,
        receiver_gives: None,
        threads: NonZeroUsize::new(1),
        memory: None,
        rates: None,
        order: Default::default(),
        // Otherwise, this machine would be measured.
        calibration: Some(CALIBRATION.into()),
        all: true,
    };
    let planned = |join: &PlannedJoin| {
        let network = "10mbps,80ms".parse().unwrap();
        plan(join, network, "all of them", Arc::new(Heard::default()))
    };
    let found = planned(&join).unwrap();
    assert!(
        found.text.contains("1,024 items of the sender and 4,096"),
        "{}",
        found.text
    );
    let lines: Vec<Value> = (found.lines.iter())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines.iter().filter(|line| line["is_auto"] == true).count(),
        1
    );
    assert!(lines[0]["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(lines[0]["ratio"], 1.0);
    assert!(lines.last().unwrap()["obstacle"].is_string());
    let some = planned(&PlannedJoin { all: false, ..join }).unwrap();
    assert!(some.text.contains("all of them compares"), "{}", some.text);
}

#[test]
fn other_results_are_values() {
    let [received, sent] = both(ROWS, ROWS);
    assert_eq!(numbers(&received.unwrap().learned, "n").len(), 50);
    assert!(matches!(sent.unwrap().learned, Learned::Nothing));
    let of = |output: &'static str| {
        let output: RequestedOutput = output.parse().unwrap();
        let asks = move |spec: &mut JoinSpec| spec.question.asked = output.clone();
        let [received, _] = both(&asks, &asks);
        received.unwrap().learned
    };
    assert!(matches!(of("count"), Learned::Count(50)));
    assert!(matches!(of("threshold:51"), Learned::Reached(false)));
    let Learned::Sums(sums) = of("sum:sender.n") else {
        panic!("sums");
    };
    let expected: i64 = (50..100).map(|id| id * 10).sum();
    assert_eq!(sums, [("sender.n".to_owned(), expected.to_string())]);
}

#[test]
fn failures_are_those_of_the_program() {
    let both_learn: Wanted<'_> = &|spec| spec.question.learners = Learners::Both;
    for failed in both(both_learn, ROWS) {
        let failed = failed.unwrap_err();
        assert_eq!(failed.code, 5);
        assert!(failed.message.contains("who learns"), "{failed}");
        // The listener gives the advice.
        assert_eq!(failed.hint.as_deref(), Some("say `learn`"));
        let report: Value = serde_json::from_str(&failed.report.unwrap()).unwrap();
        assert_eq!(report["exit_code"], 5);
        assert_eq!(report["hint"], "say `learn`");
    }
    let alone = |wanted| {
        let failed = join(
            Order::new(nowhere(wanted)),
            Arc::new(Heard::default()),
            &Stop::default(),
        );
        failed.unwrap_err()
    };
    let failed = alone(ROWS);
    assert_eq!((failed.code, failed.may_pass), (4, true));
    let other_key: Wanted<'_> =
        &|spec| spec.key = KeySpec::new(vec!["none".to_owned()], vec![]).unwrap();
    assert_eq!(alone(other_key).code, 3);
    let aligned: Wanted<'_> = &|spec| spec.aligned = Some(RepeatedKeys::First);
    assert_eq!(alone(aligned).code, 2);
}

/// Returns the request of a party that nobody will meet.
fn nowhere(wanted: Wanted<'_>) -> JoinSpec {
    let endpoint = Endpoint::Connect("127.0.0.1:1".parse().unwrap());
    let mut spec = spec(Role::Receiver, endpoint, table("mine", 0..1, 1), wanted);
    spec.meeting.wait = Duration::from_secs(1);
    spec
}

#[test]
fn no_file_is_two_of_a_join() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("me.pem");
    let mut order = Order::new(nowhere(&|_| ()));
    order.report = Some(path.clone());
    order.identity = Some(path);
    let failed = join(order, Arc::new(Heard::default()), &Stop::default()).unwrap_err();
    assert_eq!(failed.code, 2);
    let named = "`report` and `identity` name the same file";
    assert!(failed.message.contains(named), "{failed}");
}

#[test]
fn a_deadline_ends_a_wait() {
    let mut spec = nowhere(&|_| ());
    spec.meeting.wait = Duration::from_secs(60);
    let mut order = Order::new(spec);
    order.deadline = Some(1);
    let failed = join(order, Arc::new(Heard::default()), &Stop::default()).unwrap_err();
    assert_eq!((failed.code, failed.may_pass), (4, true));
    assert!(failed.message.contains("within the 1 second"), "{failed}");
}

/// Also while it waits for somebody who does not come.
#[test]
fn a_join_can_be_stopped() {
    let stop = Stop::default();
    let (waits, waiting) = mpsc::channel();
    struct Tells(mpsc::Sender<()>);
    impl Listener for Tells {
        fn say(&self, text: &str) {
            if text.starts_with("listening") {
                self.0.send(()).unwrap();
            }
        }
        fn warn(&self, _: &str, _: Option<&str>) {}
        fn at(&self, _: &str, _: u64, _: u64) {}
    }
    thread::scope(|scope| {
        let joined = scope.spawn(|| {
            let endpoint = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
            let alone = spec(Role::Receiver, endpoint, table("mine", 0..1, 1), ROWS);
            join(Order::new(alone), Arc::new(Tells(waits)), &stop)
        });
        waiting.recv().unwrap();
        let stopped = Instant::now();
        stop.stop();
        assert_eq!(joined.join().unwrap().unwrap_err().code, 1);
        assert!(stopped.elapsed() < Duration::from_secs(1));
    });
}

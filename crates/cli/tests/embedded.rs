//! Both parties of a join in this process, with tables in memory.

use std::{
    net::TcpListener,
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
use psijoin_cli::embedded::{
    Failed, Joined, Learned, Listener, Stop, Table, join, plan, with_hint,
};
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

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns a port that is free a moment before it is used.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Returns what the receiver and the sender get, told these words beside those of where they meet.
fn both(receiver: &str, sender: &str) -> [Result<Joined, Failed>; 2] {
    let [mine, theirs] = [table("mine", 0..100, 1), table("theirs", 50..200, 10)];
    both_of((receiver, mine), (sender, theirs))
}

/// Joins these tables, and returns the results of both sides.
fn both_of(
    (receiver, mine): (&str, Table),
    (sender, theirs): (&str, Table),
) -> [Result<Joined, Failed>; 2] {
    let address = free_address();
    let common = "--insecure-plaintext --key id --wait 20 --threads 1";
    let receive = words(&format!("receive --listen {address} {common} {receiver}"));
    let send = words(&format!("send --connect {address} {common} {sender}"));
    thread::scope(|scope| {
        let heard = Arc::new(Heard::default());
        let sent = scope.spawn(move || join(&send, theirs, heard, &Stop::default()));
        let received = join(&receive, mine, Arc::new(Heard::default()), &Stop::default());
        [received, sent.join().unwrap()]
    })
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
    let trade = "--learn both --give n --take all";
    let [received, sent] = both(trade, trade);
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

/// What is copied to a file gives the same rows; and numbers of rows are of those rows.
#[test]
fn rows_come_from_streams_and_go_by_number() {
    let trade = "--learn both --give n --take all";
    let mine = Table::in_memory("mine", rows(0..100, 1)).by_number();
    let theirs = Table::stream("theirs", rows(50..200, 10));
    let [received, sent] = both_of((trade, mine), (trade, theirs)).map(Result::unwrap);
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

#[test]
fn plans_are_those_of_the_program() {
    let heard = || Arc::new(Heard::default());
    let planned = |text: &str| plan(&words(text), heard(), &Stop::default());
    let found = planned("plan --all --items 2^10:2^12 --network 10mbps,80ms --threads 1").unwrap();
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
    for (wrong, what) in [
        ("plan", "--items"),
        ("demo", "first word"),
        ("plan --items x", "x"),
    ] {
        let failed = planned(wrong).unwrap_err();
        assert_eq!(failed.code, 2);
        assert!(failed.message.contains(what), "{failed}");
    }
}

#[test]
fn other_results_are_values() {
    let [received, sent] = both("", "");
    assert_eq!(numbers(&received.unwrap().learned, "n").len(), 50);
    assert!(matches!(sent.unwrap().learned, Learned::Nothing));
    let [count, _] = both("--output-kind count", "--output-kind count");
    assert!(matches!(count.unwrap().learned, Learned::Count(50)));
    let [reached, _] = both("--output-kind threshold:51", "--output-kind threshold:51");
    assert!(matches!(reached.unwrap().learned, Learned::Reached(false)));
    let sum = "--output-kind sum:sender.n";
    let [sums, _] = both(sum, sum);
    let Learned::Sums(sums) = sums.unwrap().learned else {
        panic!("sums");
    };
    let expected: i64 = (50..100).map(|id| id * 10).sum();
    assert_eq!(sums, [("sender.n".to_owned(), expected.to_string())]);
}

#[test]
fn failures_are_those_of_the_program() {
    for failed in both("--learn both", "") {
        let failed = failed.unwrap_err();
        assert_eq!(failed.code, 5);
        assert!(failed.message.contains("who learns"), "{failed}");
        let report: Value = serde_json::from_str(&failed.report.unwrap()).unwrap();
        assert_eq!(report["exit_code"], 5);
    }
    let alone = |text: &str| {
        let heard = Arc::new(Heard::default());
        join(
            &words(text),
            table("mine", 0..1, 1),
            heard,
            &Stop::default(),
        )
        .unwrap_err()
    };
    let nowhere = "receive --connect 127.0.0.1:1 --insecure-plaintext --wait 1 --key id";
    assert_eq!(alone(nowhere).code, 4);
    assert!(alone(nowhere).may_pass);
    for (wrong, code) in [
        (&nowhere.replace("id", "none")[..], 3),
        (&nowhere.replace("receive", "demo"), 2),
        (&nowhere.replace("--key id", "--key id --colour red"), 2),
        (&nowhere.replace("--key id", "--key id --no-header"), 2),
        (&nowhere.replace("--key id", "--key id --report -"), 2),
        (&nowhere.replace("--key id", "--key id --json"), 2),
        ("", 2),
    ] {
        let failed = alone(wrong);
        assert_eq!(failed.code, code, "{failed}");
        assert!(!failed.message.starts_with("error"), "{failed}");
    }
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
            let alone = words("receive --listen 127.0.0.1:0 --insecure-plaintext --key id");
            join(
                &alone,
                table("mine", 0..1, 1),
                Arc::new(Tells(waits)),
                &stop,
            )
        });
        waiting.recv().unwrap();
        let stopped = Instant::now();
        stop.stop();
        assert_eq!(joined.join().unwrap().unwrap_err().code, 1);
        assert!(stopped.elapsed() < Duration::from_secs(1));
    });
}

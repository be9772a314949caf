//! Terms, and records that both sides sign.

use std::{
    fs, io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use psijoin::{
    Channel, Context, Fingerprint, Input, OutputKind, Plan, Request, Role, Security, registry,
};
use psijoin_handshake::{self as handshake, Hello};
use psijoin_record::{FORMAT, SAID_BYTES, Terms};
use psijoin_table::SPELLING_VERSION;
use psijoin_transport::{Connection, Identity, Options};
use serde_json::Value;

use crate::support::{
    Ended, Folder, Joined, Process, Trust, all_exit, assert_said, exists, join, lines, run, trust,
};

const TERMS: &str = "Ann deletes the shared rows after thirty days.\n";

/// Two parties with identities and tables.
struct Parties {
    folder: Folder,
    trust: Trust,
    receivers: String,
    senders: String,
    output: String,
    records: [String; 2],
}

impl Parties {
    fn new() -> Self {
        let folder = Folder::new();
        Self {
            trust: trust(&folder),
            receivers: folder.file("receivers.txt", lines(0..40)),
            senders: folder.file("senders.txt", lines(30..100)),
            output: folder.path("shared.txt"),
            records: ["receivers.json", "senders.json"].map(|name| folder.path(name)),
            folder,
        }
    }

    /// Joins rows, with more options of the receiver and the sender.
    fn join(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        let receiver = [&["--output", &self.output], receiver].concat();
        self.learn(&receiver, sender)
    }

    /// Joins without an output.
    fn learn(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        let receivers = [
            &self.trust.receiver.each_ref().map(String::as_str)[..],
            &["--input", &self.receivers],
        ];
        let senders = [
            &self.trust.sender.each_ref().map(String::as_str)[..],
            &["--input", &self.senders],
        ];
        join(
            &[&receivers.concat(), receiver].concat(),
            &[&senders.concat(), sender].concat(),
        )
    }

    /// Makes each side ask for its record, with the same more options.
    fn record(&self, more: &[&str]) -> Joined {
        let [receivers, senders] = self.records.each_ref();
        self.learn(
            &[&["--record", receivers], more].concat(),
            &[&["--record", senders], more].concat(),
        )
    }

    /// Returns the record, which both sides have alike, and which can be verified.
    #[track_caller]
    fn recorded(&self) -> Value {
        let [receivers, senders] = self.records.each_ref();
        let texts = [receivers, senders].map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(texts[0], texts[1]);
        let verified = run(&["verify", receivers, "--against", senders, "--json"]);
        verified.says(0, &[]);
        serde_json::from_str(&verified.stdout).unwrap()
    }

    /// That there is neither an output nor a record.
    #[track_caller]
    fn nothing_was_written(&self) {
        for path in [&self.output, &self.records[0], &self.records[1]] {
            assert!(!exists(path), "{path}");
        }
    }
}

#[test]
fn both_sides_have_the_same_signed_record() {
    let parties = Parties::new();
    let terms = parties.folder.file("terms.txt", TERMS);
    let [receivers, senders] = parties.records.each_ref();
    let both = parties.join(
        &["--record", receivers, "--terms", &terms],
        &["--record", senders, "--terms", &terms],
    );
    let both = both.both();
    all_exit(&both, 0);
    assert_eq!(parties.folder.read("shared.txt"), lines(30..40));
    let document = parties.recorded();
    assert_eq!(document["outcome"], "done");
    assert_eq!(document["parties"]["receiver"]["keys"], 40);
    let fingerprint = &document["parties"]["sender"]["fingerprint"];
    assert_eq!(*fingerprint, *parties.trust.receiver[3]);
    let terms = &document["terms"]["sha256"];
    assert_eq!(*terms, *Terms::of(TERMS.as_bytes()).unwrap().sha256);
    let text = parties.folder.read("senders.json");
    for secret in ["word 35", "receivers", "senders", "127.0.0.1", "shared.txt"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert_said!(both);
}

#[test]
fn every_way_to_the_end_is_recorded() {
    let few = ["--output-kind", "count", "--min-intersection", "11"];
    let parties = Parties::new();
    all_exit(&parties.record(&few).both(), 6);
    assert_eq!(parties.recorded()["outcome"], "too-few");

    // Nothing is said but the signatures.
    let parties = Parties::new();
    let more_than_there_are = ["--output-kind", "threshold:1000"];
    all_exit(&parties.record(&more_than_there_are).both(), 0);
    let document = parties.recorded();
    assert_eq!(document["parties"]["sender"]["sent_bytes"], 0);
    assert_eq!(document["outcome"], "done");

    // Over several streams.
    let parties = Parties::new();
    let in_parts = ["--protocol", "rr22-circuit", "--output-kind", "count"];
    let in_parts = [&in_parts[..], &["--parts", "5", "--threads", "2"]].concat();
    all_exit(&parties.record(&in_parts).both(), 0);
    assert_eq!(parties.recorded()["protocol"]["parameters"]["parts"], "5");

    // A sender that hears the last message.
    let parties = Parties::new();
    let by_dh = ["--output-kind", "count", "--protocol", "dh"];
    all_exit(&parties.record(&by_dh).both(), 0);
    assert_eq!(parties.recorded()["protocol"]["name"], "dh");
}

/// Each has its own way to end: the sender of the last message, the number of threads, as part of
/// an exchange or not.
#[test]
fn every_protocol_ends_with_the_signatures() {
    for protocol in registry::PROTOCOLS {
        let name = protocol.info().name;
        let parties = Parties::new();
        let report = parties.folder.path("report.json");
        let [receivers, senders] = parties.records.each_ref();
        let common = ["--protocol", name, "--record"];
        let both = parties.join(
            &[&common[..], &[receivers, "--report", &report]].concat(),
            &[&common[..], &[senders]].concat(),
        );
        all_exit(&both.both(), 0);
        assert_eq!(parties.folder.read("shared.txt"), lines(30..40), "{name}");
        let document = parties.recorded();
        let report: Value = serde_json::from_str(&parties.folder.read("report.json")).unwrap();
        assert_eq!(document["session"], report["session"], "{name}");
        // The plan's bytes are those counted.
        for (side, bytes) in [("receiver", "sent_bytes"), ("sender", "received_bytes")] {
            let recorded = &document["parties"][side]["sent_bytes"];
            assert_eq!(*recorded, report["traffic"][bytes], "{name}");
        }
    }
}

#[test]
fn a_record_and_terms_are_for_both_or_neither() {
    let parties = Parties::new();
    let [receivers, senders] = parties.records.each_ref();
    let ours = parties.folder.file("ours", TERMS);
    let theirs = parties.folder.file("theirs", TERMS.to_owned() + "\n");
    let joined = [
        parties.join(&["--record", receivers], &[]),
        parties.join(&[], &["--record", senders]),
        parties.join(&["--terms", &ours], &["--terms", &theirs]),
        parties.join(&["--terms", &ours], &[]),
        parties.join(&["--terms", &ours, "--record", receivers], &[]),
    ];
    let said: Vec<Ended> = joined.into_iter().flat_map(Joined::both).collect();
    all_exit(&said, 5);
    parties.nothing_was_written();
    assert_said!(said);
}

#[test]
fn what_cannot_be_agreed_to_or_recorded_is_said_before_anybody_is_met() {
    let folder = Folder::new();
    let parties = trust(&folder);
    let table = folder.file("table", "ann\n");
    let trusted = parties.sender.each_ref().map(String::as_str);
    let send = |who: &[&str], more: &[&str]| {
        let send = ["send", "--connect", "127.0.0.1:1", "--input", &table];
        run(&[&send[..], who, more].concat())
    };
    let insecure = ["--insecure-plaintext"];
    let record = folder.path("record");
    let usage = [
        send(&insecure, &["--record", &record]),
        send(&trusted, &["--record", &table]),
        send(&trusted, &["--record", &record, "--report", &record]),
        send(&trusted, &["--terms", &table, "--report", &table]),
    ];
    all_exit(&usage, 2);
    assert_said!(usage);
}

/// The other side would wait for whoever cannot read them.
#[test]
fn terms_that_cannot_be_read_end_both() {
    let parties = Parties::new();
    let empty = parties.folder.file("empty", "");
    let long = parties.folder.file("long", vec![b'x'; (1 << 20) + 1]);
    let missing = parties.folder.path("none");
    let unusable = [&empty, &long, &missing].map(|terms| {
        let joined = parties.join(&[], &["--terms", terms]);
        joined.receiver.says(7, &[]);
        joined.sender
    });
    all_exit(&unusable, 3);
    parties.nothing_was_written();
    assert_said!(unusable);
}

#[test]
fn a_record_is_never_replaced() {
    let parties = Parties::new();
    let [receivers, senders] = parties.records.each_ref();
    parties.folder.file("senders.json", "evidence");
    let both = parties.join(&["--record", receivers], &["--record", senders]);
    both.sender.says(3, &["exists already"]);
    both.receiver.says(7, &[]);
    assert_eq!(parties.folder.read("senders.json"), "evidence");
    assert!(!exists(&parties.output) && !exists(receivers));
    assert_said!([both.sender]);
}

/// The folder is gone while the run is under way, so the record cannot be written: then there is no
/// output.
#[test]
fn without_its_record_a_receiver_keeps_no_output() {
    let parties = Parties::new();
    let folder = Folder::new();
    let gone = folder.path("gone");
    fs::create_dir(&gone).unwrap();
    let record = format!("{gone}/record.json");
    let trust = &parties.trust;
    let receiver = [
        &trust.receiver.each_ref().map(String::as_str)[..],
        &[
            "--input",
            &parties.receivers,
            "--output",
            &parties.output,
            "--record",
            &record,
        ],
    ];
    let (mut receiver, address) = Process::listen("receive", &receiver.concat());
    fs::remove_dir(&gone).unwrap();
    let sender = [
        &["send", "--connect", &address, "--input", &parties.senders][..],
        &trust.sender.each_ref().map(String::as_str),
        &["--record", &parties.records[1]],
    ];
    let sender = run(&sender.concat());
    receiver.wait_for("to move");
    let receiver = receiver.end();
    receiver.says(3, &["cannot write the record", "no output"]);
    sender.says(0, &["wrote the record"]);
    assert!(!exists(&parties.output));
}

/// A party that does all that the protocol demands, and then sends something else instead of its
/// signature.
struct Unsigning {
    role: Role,
    identity: Identity,
    peer: psijoin_transport::Fingerprint,
}

impl Unsigning {
    /// Joins with the program at the end of this line; `farewell` is what it does where it should
    /// sign.
    fn join(&self, line: &CutLine, farewell: impl FnOnce(&mut Channel)) {
        let security = psijoin_transport::Security::PinnedTls {
            identity: self.identity.clone(),
            peer: self.peer,
        };
        let mut options = Options::new(security);
        options.streams = true;
        let address = line.address.parse().unwrap();
        let (mut connection, mut channel) = Connection::connect(&address, &options).unwrap();
        let pending = handshake::begin(&mut channel, hello(self.role)).unwrap();
        let plan = plan(pending.peer().set_size(), self.role);
        let derived: [&[u8]; 2] = [&plan.digest(), &[]];
        let seed = pending.confirm(&mut channel, &derived).unwrap();
        connection.open_streams(0, &seed).unwrap();
        let items = plan.items(&[fingerprint()], &seed);
        let input = Input {
            items: &items,
            columns: &[],
            payloads: &[],
            joint_seed: &seed,
        };
        psijoin::run(&plan, self.role, &input, &mut Context::new(&mut channel)).unwrap();
        farewell(&mut channel);
    }
}

/// A line to the program that can be cut, as if the party at its other end had died: without a
/// word.
struct CutLine {
    address: String,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl CutLine {
    fn to(program: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (program, ends) = (program.to_owned(), Arc::default());
        let line = Self {
            address,
            ends: Arc::clone(&ends),
        };
        thread::spawn(move || {
            let both = [
                listener.accept().unwrap().0,
                TcpStream::connect(program).unwrap(),
            ];
            let kept = both.each_ref().map(|end| end.try_clone().unwrap());
            ends.lock().unwrap().extend(kept);
            let [party, program] = &both;
            thread::scope(|scope| {
                scope.spawn(|| copy(party, program));
                copy(program, party);
            });
        });
        line
    }

    fn cut(&self) {
        for end in &*self.ends.lock().unwrap() {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Copies until one of the ends is gone, and lets the other one know.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Returns the program's hello for a list, `kkrt` and a record.
fn hello(role: Role) -> Hello {
    let info = registry::find("kkrt").unwrap().info();
    Hello::new(role, 1)
        .setting("the protocol", info.name)
        .setting("the protocol's version", info.version)
        .setting(
            "the statistical security in bits",
            Security::default().statistical_bits(),
        )
        .setting("the number of key columns", 1)
        .setting("the version of the keys' spelling", SPELLING_VERSION)
        .setting("the output", "rows")
        .setting("who learns", "receiver")
        .setting("the least number of shared keys", 0)
        .setting("signing a record", format!("format {FORMAT}"))
        .fact("threads", 1)
        .fact("key column 1", "text")
        .fact("psijoin", "0.1.0")
        .fact("the clock", "2026-01-05T03:00:00Z")
}

fn plan(theirs: u64, role: Role) -> Plan {
    let (senders, receivers) = match role {
        Role::Sender => (1, theirs),
        Role::Receiver => (theirs, 1),
    };
    let request = Request::rows(senders, receivers)
        .unwrap()
        .output(OutputKind::Rows);
    psijoin::plan(registry::find("kkrt").unwrap(), &request).unwrap()
}

/// Of a key that nobody has.
fn fingerprint() -> Fingerprint {
    [7; 32]
}

/// Returns how the program ends if it joins with a party that does not sign. It keeps nothing.
#[track_caller]
fn unsigned(role: Role, farewell: impl FnOnce(&mut Channel)) -> Ended {
    ended_by(role, |channel, _| farewell(channel))
}

/// Returns how the program ends if it joins with a party that ends like this. It keeps nothing.
fn ended_by(role: Role, farewell: impl FnOnce(&mut Channel, &CutLine)) -> Ended {
    let parties = Parties::new();
    let (file, trusted) = match role {
        Role::Sender => ("sender.pem", &parties.trust.receiver),
        Role::Receiver => ("receiver.pem", &parties.trust.sender),
    };
    let identity = Identity::read(parties.folder.path(file)).unwrap();
    let ours = trusted.each_ref().map(String::as_str);
    let record = ["--protocol", "kkrt", "--record", &parties.records[0]];
    let (command, more): (_, &[&str]) = match role {
        Role::Sender => (
            "receive",
            &["--input", &parties.receivers, "--output", &parties.output],
        ),
        Role::Receiver => ("send", &["--input", &parties.senders]),
    };
    let (program, address) = Process::listen(command, &[&ours[..], &record, more].concat());
    let peer = match role {
        Role::Sender => &parties.trust.sender[3],
        Role::Receiver => &parties.trust.receiver[3],
    };
    let unsigning = Unsigning {
        role,
        identity,
        peer: peer.parse().unwrap(),
    };
    let line = CutLine::to(&address);
    unsigning.join(&line, |channel| farewell(channel, &line));
    let ended = program.end();
    assert!(ended.stderr.contains("nothing was written"), "{ended:#?}");
    parties.nothing_was_written();
    ended
}

/// A party's message in the place of its signature.
type Said = [u8; SAID_BYTES as usize];

/// Between the last message and its signature: the receiver has all that the protocol gives, and
/// may not keep it. Whoever leaves looks like one that has died.
#[test]
fn a_party_that_dies_or_leaves_instead_of_signing_is_a_lost_connection() {
    let dies_signed = |channel: &mut Channel, line: &CutLine| {
        let _: Said = channel.recv_array().unwrap();
        line.cut();
    };
    let dies = |_: &mut Channel, line: &CutLine| line.cut();
    let ended = [
        ended_by(Role::Sender, dies_signed),
        ended_by(Role::Receiver, dies),
        unsigned(Role::Sender, |_| ()),
        unsigned(Role::Receiver, |_| ()),
    ];
    all_exit(&ended, 4);
    assert_said!(ended);
}

#[test]
fn a_party_that_signs_wrongly_is_the_end_of_it() {
    let other_record = |channel: &mut Channel| {
        let said: Said = [7; SAID_BYTES as usize];
        channel.send(&said).unwrap();
    };
    let other_record_in_turn = |channel: &mut Channel| {
        let _: Said = channel.recv_array().unwrap();
        other_record(channel);
    };
    // Of the same document, as its hash shows, but by nobody.
    let by_nobody = |channel: &mut Channel| {
        let mut said: Said = channel.recv_array().unwrap();
        said[40] ^= 1;
        channel.send(&said).unwrap();
    };
    let ended = [
        unsigned(Role::Sender, other_record_in_turn),
        unsigned(Role::Sender, by_nobody),
        unsigned(Role::Receiver, other_record),
    ];
    all_exit(&ended, 5);
    assert_said!(ended);
}

/// A record of some session, with [`TERMS`], and one of the same parties a little later. Another
/// format needs other ones: the files that two joins leave, where the first has 70 keys of the
/// sender.
const RECORDS: [&str; 2] = [
    include_str!("records/first.json"),
    include_str!("records/second.json"),
];

#[test]
fn a_record_is_shown_and_compared() {
    let folder = Folder::new();
    let [first, second] = [0, 1].map(|at| folder.file(&format!("{at}.json"), RECORDS[at]));
    let copy = folder.file("copy.json", RECORDS[0]);
    let terms = folder.file("terms.txt", TERMS);
    let document: Value = serde_json::from_str(RECORDS[0]).unwrap();
    let peer = |side: &str| {
        let party = &document["document"]["parties"][side];
        party["fingerprint"].as_str().unwrap().to_owned()
    };
    let (sender, receiver) = (peer("sender"), peer("receiver"));
    let right = [
        run(&["verify", &first]),
        run(&[
            "verify",
            &first,
            "--peer",
            &sender,
            "--peer",
            &receiver,
            "--terms",
            &terms,
            "--against",
            &copy,
        ]),
        run(&["verify", &first, "--json"]),
    ];
    all_exit(&right, 0);
    let other = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq";
    let other_terms = folder.file("others.txt", TERMS.replace("thirty", "ninety"));
    let changed = folder.file(
        "changed.json",
        RECORDS[0].replace("\"keys\":70", "\"keys\":71"),
    );
    let pretty = serde_json::to_string_pretty(&document).unwrap();
    let pretty = folder.file("pretty.json", pretty);
    let wrong = [
        run(&["verify", &first, "--peer", other]),
        run(&["verify", &first, "--terms", &other_terms]),
        run(&["verify", &second, "--terms", &terms]),
        run(&["verify", &first, "--against", &second]),
        run(&["verify", &changed]),
        run(&["verify", &pretty]),
        run(&["verify", &terms]),
        run(&["verify", &folder.path("none.json")]),
    ];
    all_exit(&wrong, 3);
    for ended in &wrong {
        assert_eq!(ended.stdout, "");
    }
    run(&["verify", &first, "--peer", &sender, "--peer", &sender])
        .says(2, &[&format!("--peer names {sender} twice")]);
    assert_said!(right.into_iter().chain(wrong).collect::<Vec<_>>());
}

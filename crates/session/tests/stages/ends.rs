//! Joins that end before all lanes have run.

use std::{
    io,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Barrier, mpsc},
    thread,
    time::Duration,
};

use psijoin_session::{Agreed, Attempt, ElsewhereFault, Error, ErrorKind, JoinSpec, Outcome, Stop};
use psijoin_transport::{Endpoint, endpoint::Address};

use crate::{Keys, LANES, Listens, at_relay, by_groups, listening, run_lanes, specs, to};

#[test]
fn a_run_that_fails_elsewhere_is_told_to_the_other_side() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = specs(folder.path(), "count", 0);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, (LANES, None), &(), &Stop::default())
            .unwrap();
        let failed = agreed.finish();
        let expected = ElsewhereFault::Lanes {
            missing: 3,
            lanes: 3,
        };
        assert!(matches!(failed, Err(Error::Elsewhere(fault)) if fault == expected));
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("internal failure"), "{error}");
    });
}

#[test]
fn keys_that_got_lost_on_their_way_to_a_lane_are_no_smaller_set() {
    for asked in ["count", "rows"] {
        let folder = tempfile::tempdir().unwrap();
        let [sender, receiver] = specs(folder.path(), asked, 0);
        let mut keys = Keys::read(&folder.path().join("receiver.csv"));
        thread::scope(|scope| {
            let (listens, address) = Listens::new();
            let sender = listening(sender);
            let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
            let facts = keys.facts.clone();
            let agreed = to(address, receiver).agree(facts, (LANES, None), &(), &Stop::default());
            let mut agreed = agreed.unwrap();
            keys.fingerprints.pop();
            keys.numbers.pop();
            run_lanes(&mut agreed, &keys);
            let failed = agreed.finish().err().unwrap().to_string();
            let named = "the number of items in all parts is not the one that was agreed on";
            assert!(failed.contains(named), "{failed}");
            let error = sent.join().unwrap().unwrap_err();
            assert!(error.to_string().contains("gave up"), "{error}");
        });
    }
}

/// Lets bytes pass between whoever comes and this address, until it is told to stop.
fn forward(to: &Address, stop: mpsc::Receiver<()>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let to = to.as_str().to_owned();
    thread::spawn(move || {
        let (near, _) = listener.accept().unwrap();
        let far = TcpStream::connect(to).unwrap();
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut to));
        }
        let _ = stop.recv();
        let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
    });
    at.parse().unwrap()
}

#[test]
fn the_end_of_the_other_side_is_heard_while_lanes_wait() {
    let folder = tempfile::tempdir().unwrap();
    for is_cut in [false, true] {
        let [sender, receiver] = specs(folder.path(), "count", 0);
        let keys = Keys::read(&folder.path().join("receiver.csv"));
        let stop = Stop::default();
        thread::scope(|scope| {
            let (listens, address) = Listens::new();
            let (sender, other) = (listening(sender), stop.clone());
            let sent = scope.spawn(move || sender.join(&listens, &other).map(drop));
            let (cut, until_cut) = mpsc::channel();
            let mut receiver = to(address, receiver);
            let Endpoint::Connect(address) = &receiver.meeting.endpoint else {
                panic!("it connects");
            };
            receiver.meeting.endpoint = Endpoint::Connect(forward(address, until_cut));
            let agreed = receiver
                .agree(keys.facts, (LANES, None), &(), &Stop::default())
                .unwrap();
            let watch = agreed.watch();
            let watching = scope.spawn(move || watch.until_over());
            match is_cut {
                true => drop(cut),
                false => stop.stop(),
            }
            let error = watching.join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Network);
            let told = error.to_string().contains("was interrupted");
            assert_eq!(told, !is_cut, "{error}");
            assert!(sent.join().unwrap().is_err());
            // The rest fails, too.
            assert!(agreed.finish().is_err());
        });
    }
}

#[test]
fn whoever_gives_up_hears_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = specs(folder.path(), "count", 0);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, (LANES, None), &(), &Stop::default())
            .unwrap();
        let watch = agreed.watch();
        let watching = scope.spawn(move || watch.until_over());
        agreed.abort(&Error::OutOfMemory);
        watching.join().unwrap().unwrap();
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    });
}

#[test]
fn lanes_that_are_not_started_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [mut sender, receiver] = specs(folder.path(), "count", 0);
    // It waits so long for the lanes, too.
    sender.meeting.wait = Duration::from_secs(10);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, (LANES, None), &(), &Stop::default())
            .unwrap();
        let error = sent.join().unwrap().unwrap_err().to_string();
        let named = "lanes 0 to 2 (of 0 to 2) have not started on the other side within";
        assert!(error.starts_with(named), "{error}");
        assert!(agreed.watch().until_over().is_err());
    });
}

/// Runs the lanes of two sides that come again, which find rows. When the receiver is done, and
/// waits for the sender, that does this. Returns how the receiver has ended.
fn once_the_receiver_is_done(
    number: Option<Attempt>,
    sender_does: impl FnOnce(Agreed<'_>) + Send,
) -> Result<Outcome, Error> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    at_relay(specs(folder, "rows", 0), |[sender, receiver]| {
        thread::scope(|scope| {
            let attempt = number.clone();
            scope.spawn(move || {
                let keys = Keys::read(&folder.join("sender.csv"));
                let facts = keys.facts.clone();
                let agreed = sender.agree(facts, (LANES, attempt), &(), &Stop::default());
                let mut agreed = agreed.unwrap();
                run_lanes(&mut agreed, &keys);
                agreed.watch().until_over().unwrap();
                sender_does(agreed);
            });
            let keys = Keys::read(&folder.join("receiver.csv"));
            let facts = keys.facts.clone();
            let agreed = receiver.agree(facts, (LANES, number), &(), &Stop::default());
            let mut agreed = agreed.unwrap();
            run_lanes(&mut agreed, &keys);
            agreed.finish()
        })
    })
}

/// Its process can be lost before it has reported, but after it has answered.
#[test]
fn a_lane_that_is_lost_when_the_receiver_is_done_is_told() {
    let ended = once_the_receiver_is_done(Some(Attempt::default()), |sender| {
        assert!(sender.lose_lane());
    });
    assert!(ended.is_err_and(|error| error.is_lane_lost()));
}

#[test]
fn a_receiver_that_is_done_has_its_result_if_the_sender_does_not_come_again() {
    for attempt in [None, Some(Attempt::default())] {
        let ended = once_the_receiver_is_done(attempt, |sender| drop(sender));
        ended.unwrap();
    }
    let ended = once_the_receiver_is_done(None, |sender| assert!(!sender.lose_lane()));
    ended.unwrap();
}

/// Each attempt would draw its own.
#[test]
fn there_is_one_attempt_if_the_answer_has_noise() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for noise in [None, Some("laplace:epsilon=1")] {
        let specs = by_groups(specs(folder, "counts", 0), "receiver.kind", 0, noise);
        let both_have_met = Barrier::new(2);
        let meet = |spec: JoinSpec| {
            let keys = Keys::read(&folder.join(format!("{}.csv", spec.role)));
            let attempt = Some(Attempt::default());
            let agreed = spec.agree(keys.facts, (LANES, attempt), &(), &Stop::default());
            let agreed = agreed.unwrap();
            let comes_again = agreed.next_attempt().is_some();
            both_have_met.wait();
            agreed.abort(&Error::OutOfMemory);
            comes_again
        };
        at_relay(specs, |specs| {
            thread::scope(|scope| {
                let meeting = specs.map(|spec| scope.spawn(|| meet(spec)));
                for met in meeting {
                    assert_eq!(met.join().unwrap(), noise.is_none());
                }
            });
        });
    }
}

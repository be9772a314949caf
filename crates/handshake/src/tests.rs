use std::thread;

use psijoin_channel::memory;

use super::*;

mod kept;

const PARAMS: [u8; 32] = [3; 32];

fn hello(role: Role) -> Hello {
    Hello::new(role, 1000)
        .setting("protocol", "kkrt")
        .setting("security", "semi-honest, 2^-40")
        .setting("normalisation", "email")
}

fn shake_hands(
    sender: Hello,
    receiver: Hello,
    params: [[u8; 32]; 2],
) -> (Result<JointSeed, Error>, Result<JointSeed, Error>) {
    let (mut a, mut b) = memory::pair();
    let run = |channel: &mut Channel, hello, params: [u8; 32]| {
        begin(channel, hello)?.confirm(channel, &[&params])
    };
    thread::scope(|scope| {
        let sending = scope.spawn(move || run(&mut a, sender, params[0]));
        let received = run(&mut b, receiver, params[1]);
        (sending.join().unwrap(), received)
    })
}

#[test]
fn parties_that_agree_share_a_fresh_seed() {
    let run = || {
        let (a, b) = shake_hands(hello(Role::Sender), hello(Role::Receiver), [PARAMS; 2]);
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!(a, b);
        a
    };
    assert_ne!(run(), run());
}

#[test]
fn each_learns_the_other_set_size() {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let pending = begin(&mut a, Hello::new(Role::Sender, 5)).unwrap();
            assert_eq!(
                (pending.peer().role(), pending.peer().set_size()),
                (Role::Receiver, 7)
            );
        });
        let pending = begin(&mut b, Hello::new(Role::Receiver, 7)).unwrap();
        assert_eq!(
            (pending.peer().role(), pending.peer().set_size()),
            (Role::Sender, 5)
        );
        sending.join().unwrap();
    });
}

#[test]
fn facts_are_told_and_not_compared() {
    let (mut a, mut b) = memory::pair();
    let (a, b) = (&mut a, &mut b);
    let telling = |role, scale: u32| Hello::new(role, 1).fact("scale", scale);
    let (sender, receiver) = thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let pending = begin(a, telling(Role::Sender, 2).fact("only", "here")).unwrap();
            assert_eq!(pending.peer().told("scale"), Some("0"));
            assert_eq!(pending.peer().told("only"), None);
            pending.confirm(a, &[&PARAMS]).unwrap()
        });
        let pending = begin(b, telling(Role::Receiver, 0)).unwrap();
        assert_eq!(pending.peer().told("scale"), Some("2"));
        assert_eq!(pending.peer().told("only"), Some("here"));
        assert_eq!(pending.peer().value("scale"), None);
        let receiver = pending.confirm(b, &[&PARAMS]).unwrap();
        (sending.join().unwrap(), receiver)
    });
    assert_eq!(sender, receiver);
}

#[test]
fn the_seed_depends_on_what_was_told() {
    let [ours, theirs] = [true, false].map(|first| Share::draw(first).unwrap());
    let seed = |scale: u32| {
        let hello = |role| Hello::new(role, 1).fact("scale", scale);
        let commitment = theirs.commitment();
        let pending = Pending {
            version: VERSION,
            openings: [Versions::OURS.to_opening(); 2],
            our_hello: hello(Role::Sender).encode(&commitment).unwrap(),
            their_hello: hello(Role::Receiver).encode(&commitment).unwrap(),
            ours: hello(Role::Sender),
            theirs: hello(Role::Receiver),
            our_share: ours.clone(),
            their_commitment: commitment,
        };
        pending.joint_seed(&PARAMS, theirs.reveal()).unwrap()
    };
    assert_eq!(seed(1), seed(1));
    assert_ne!(seed(1), seed(2));
}

#[test]
fn every_disagreement_is_named_on_both_sides() {
    let base = |role, protocol, rule, extra: Option<&str>| {
        let hello = Hello::new(role, 1)
            .setting("protocol", protocol)
            .setting("normalisation", rule);
        extra
            .into_iter()
            .fold(hello, |hello, extra| hello.setting("output", extra))
    };
    let (send, receive) = (Role::Sender, Role::Receiver);
    for (ours, theirs, field, our_value, their_value) in [
        (
            base(send, "dh", "x", None),
            base(receive, "kkrt", "x", None),
            "protocol",
            "dh",
            "kkrt",
        ),
        (
            base(send, "dh", "a", None),
            base(receive, "dh", "b", None),
            "normalisation",
            "a",
            "b",
        ),
        (
            base(send, "dh", "x", Some("rows")),
            base(receive, "dh", "x", None),
            "output",
            "rows",
            "(nothing)",
        ),
    ] {
        let (a, b) = shake_hands(ours, theirs, [PARAMS; 2]);
        let (a, b) = (a.unwrap_err().to_string(), b.unwrap_err().to_string());
        let said = |this, other| {
            format!(
                "the two sides disagree on {field}: this side has `{this}`, the other side has \
                 `{other}`"
            )
        };
        assert_eq!(a, said(our_value, their_value));
        assert_eq!(b, said(their_value, our_value));
    }
    let (a, _) = shake_hands(
        base(send, "dh", "a", None),
        base(receive, "kkrt", "b", Some("rows")),
        [PARAMS; 2],
    );
    assert_eq!(
        a.unwrap_err().to_string(),
        "the two sides disagree on protocol: this side has `dh`, the other side has `kkrt`; and on \
         normalisation: this side has `a`, the other side has `b`; and on output: this side has \
         `(nothing)`, the other side has `rows`"
    );
}

#[test]
fn parameters_that_differ_are_an_error_on_both_sides() {
    let (a, b) = shake_hands(
        hello(Role::Sender),
        hello(Role::Receiver),
        [PARAMS, [4; 32]],
    );
    assert_eq!(short_hex(&[0x0a; 32]), "0a".repeat(8));
    for error in [a.unwrap_err(), b.unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains("derived parameters"), "{text}");
        for params in [PARAMS, [4; 32]] {
            let shown = short_hex(&digest(&[&params]));
            assert!(text.contains(&shown), "{text}");
        }
    }
}

#[test]
fn what_was_derived_is_compared_part_by_part() {
    assert_eq!(digest(&[b"a", b"bc"]), digest(&[b"a", b"bc"]));
    assert_ne!(digest(&[b"a", b"bc"]), digest(&[b"ab", b"c"]));
    assert_ne!(digest(&[b"a"]), digest(&[b"a", b""]));
}

#[test]
fn the_same_role_is_an_error_on_both_sides() {
    let (a, b) = shake_hands(hello(Role::Receiver), hello(Role::Receiver), [PARAMS; 2]);
    for error in [a.unwrap_err(), b.unwrap_err()] {
        assert!(matches!(error, Error::SameRole(Role::Receiver)), "{error}");
        assert!(error.to_string().contains("receiver"), "{error}");
    }
}

/// Returns the error from a peer that sends `messages`, whatever it receives.
fn meet(messages: Vec<Vec<u8>>) -> Error {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            for message in messages {
                b.send(&message).unwrap();
            }
            // So that this party can speak its part.
            let _ = b.recv(&mut [0; OPENING_BYTES]);
            let _ = b.recv(&mut [0; HELLO_BYTES]);
        });
        let error = begin(&mut a, hello(Role::Sender)).map(|_| ()).unwrap_err();
        drop(a);
        error
    })
}

/// Returns the opening of a release before the negotiation, of this version.
fn opening(version: u16) -> [u8; OPENING_BYTES] {
    let unsaid = Versions {
        oldest: 0,
        newest: 0,
    };
    let mut opening = unsaid.to_opening();
    opening[8..10].copy_from_slice(&version.to_le_bytes());
    opening
}

/// A party of version 4 as it was before the negotiation, written out.
fn speak_version_4(channel: &mut Channel, hello: &Hello) -> JointSeed {
    let share = Share::draw(false).unwrap();
    let our_hello = hello.encode(&share.commitment()).unwrap();
    channel.send(&opening(4)).unwrap();
    channel.send(&*our_hello).unwrap();
    // It leaves out of account what stands behind the version.
    let theirs: [u8; OPENING_BYTES] = channel.recv_array().unwrap();
    assert_eq!(theirs[..10], opening(4)[..10]);
    let mut their_hello = Box::new([0; HELLO_BYTES]);
    channel.recv(&mut *their_hello).unwrap();
    let (_, commitment) = Hello::decode(&their_hello).unwrap();
    let derived = digest(&[&PARAMS]);
    let confirmation = [&derived[..], share.reveal()].concat();
    channel.send(&confirmation).unwrap();
    let theirs: [u8; CONFIRMATION_BYTES] = channel.recv_array().unwrap();
    let theirs = Revealed {
        commitment: &commitment,
        share: theirs[DIGEST_BYTES..].try_into().unwrap(),
    };
    let transcript = Transcript {
        purpose: "psijoin v1 handshake: joint seed",
        opening: &opening(4),
        said: [&their_hello[..], &our_hello[..]],
        derived: &derived,
    };
    share.combine(theirs, &transcript).unwrap()
}

#[test]
fn a_release_that_knows_later_versions_meets_one_before_the_negotiation() {
    for newest in [4, 5, 9] {
        let versions = Versions { oldest: 4, newest };
        let (mut a, mut b) = memory::pair();
        thread::scope(|scope| {
            let older = scope.spawn(move || speak_version_4(&mut b, &hello(Role::Receiver)));
            let pending = begin_speaking(versions, &mut a, hello(Role::Sender)).unwrap();
            assert_eq!(pending.version(), 4);
            let seed = pending.confirm(&mut a, &[&PARAMS]).unwrap();
            assert_eq!(seed, older.join().unwrap());
        });
    }
}

#[test]
fn neighbouring_releases_speak_the_newest_version_that_both_know() {
    let run = |[ours, theirs]: [(u16, u16); 2]| {
        let [ours, theirs] = [ours, theirs].map(|(oldest, newest)| Versions { oldest, newest });
        let (mut a, mut b) = memory::pair();
        let agree = |versions, channel: &mut Channel, role| {
            let pending = begin_speaking(versions, channel, hello(role))?;
            let version = pending.version();
            Ok::<_, Error>((version, pending.confirm(channel, &[&PARAMS])?))
        };
        thread::scope(|scope| {
            let sending = scope.spawn(move || agree(ours, &mut a, Role::Sender));
            let received = agree(theirs, &mut b, Role::Receiver);
            (sending.join().unwrap(), received)
        })
    };
    for ([ours, theirs], common) in [
        ([(4, 5), (4, 5)], 5),
        ([(4, 5), (5, 6)], 5),
        ([(4, 4), (4, 6)], 4),
        ([(5, 6), (6, 6)], 6),
    ] {
        let (a, b) = run([ours, theirs]);
        let (a, b) = (a.unwrap(), b.unwrap());
        assert_eq!(a, b);
        assert_eq!(a.0, common);
    }
    let (behind, ahead) = run([(4, 4), (5, 6)]);
    let (behind, ahead) = (
        behind.unwrap_err().to_string(),
        ahead.unwrap_err().to_string(),
    );
    assert!(behind.ends_with("update psijoin on this side"), "{behind}");
    assert!(
        ahead.ends_with("update psijoin on the other side"),
        "{ahead}"
    );
}

#[test]
fn another_version_is_named_whatever_follows() {
    let error = meet(vec![opening(9).to_vec(), vec![1, 2, 3]]).to_string();
    let versions = format!("this side {VERSION}, the other side 9");
    assert!(error.contains(&versions), "{error}");
}

#[test]
fn something_else_is_not_psijoin() {
    for messages in [
        vec![vec![0; OPENING_BYTES]],
        vec![b"hello".to_vec()],
        vec![Versions::OURS.to_opening().to_vec(), b"hello".to_vec()],
    ] {
        let error = meet(messages);
        assert!(matches!(error, Error::NotPsijoin(_)), "{error}");
    }
}

#[test]
fn a_share_that_was_not_committed_to_is_refused() {
    let (mut a, mut b) = memory::pair();
    let error = thread::scope(|scope| {
        scope.spawn(move || {
            let mut pending = begin(&mut b, hello(Role::Receiver)).unwrap();
            pending.our_share = Share::draw(false).unwrap();
            pending.confirm(&mut b, &[&PARAMS])
        });
        begin(&mut a, hello(Role::Sender))
            .unwrap()
            .confirm(&mut a, &[&PARAMS])
            .unwrap_err()
    });
    assert!(matches!(error, Error::Malformed(_)), "{error}");
}

use std::thread;

use psijoin_channel::memory;

use super::*;

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
) -> (Result<Session, Error>, Result<Session, Error>) {
    let (mut a, mut b) = memory::pair();
    let run =
        |channel: &mut Channel, hello, params| begin(channel, hello)?.confirm(channel, params);
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
        a.joint_seed
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
}

#[test]
fn parameters_that_differ_are_an_error_on_both_sides() {
    let (a, b) = shake_hands(
        hello(Role::Sender),
        hello(Role::Receiver),
        [PARAMS, [4; 32]],
    );
    for error in [a.unwrap_err(), b.unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains("derived parameters"), "{text}");
        assert!(
            text.contains("0303030303030303") && text.contains("0404040404040404"),
            "{text}"
        );
    }
}

#[test]
fn the_same_role_is_an_error_on_both_sides() {
    let (a, b) = shake_hands(hello(Role::Receiver), hello(Role::Receiver), [PARAMS; 2]);
    for error in [a.unwrap_err(), b.unwrap_err()] {
        assert!(matches!(error, Error::SameRole(Role::Receiver)), "{error}");
    }
}

/// A peer that says `messages`, whatever it hears.
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

#[test]
fn another_version_is_named_whatever_follows() {
    let error = meet(vec![opening(9).to_vec(), vec![1, 2, 3]]).to_string();
    assert!(error.contains("this side 1, the other side 9"), "{error}");
}

#[test]
fn something_else_is_not_psijoin() {
    for messages in [
        vec![vec![0; OPENING_BYTES]],
        vec![b"hello".to_vec()],
        vec![opening(VERSION).to_vec(), b"hello".to_vec()],
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
            pending.our_share[31] ^= 1;
            pending.confirm(&mut b, PARAMS)
        });
        begin(&mut a, hello(Role::Sender))
            .unwrap()
            .confirm(&mut a, PARAMS)
            .unwrap_err()
    });
    assert!(matches!(error, Error::Handshake(_)), "{error}");
}

#[test]
fn a_commitment_cannot_be_repeated_by_the_other_role() {
    let share = [5; SHARE_BYTES];
    assert_ne!(
        commitment(Role::Sender, &share),
        commitment(Role::Receiver, &share)
    );
}

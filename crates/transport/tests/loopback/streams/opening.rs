//! The streams that are given out, and the case that not all can be opened.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use psijoin_transport::Identity;

use super::*;
use crate::{
    strangers::{CERTIFICATE_UNKNOWN, dial},
    tls,
};

const OTHER: [u8; 32] = [8; 32];

/// Returns what a party does not see at once that the other has, it hears from it.
fn is_shortage(error: &Error) -> bool {
    matches!(
        error,
        Error::TooFewStreams { .. }
            | Error::Channel(ChannelError::PeerAborted(AbortCode::TooFewStreams))
    )
}

/// Checks that neither party has all streams, and that both errors tell why and what to do.
fn assert_short(opened: [Opened; 2]) {
    for opened in opened {
        let error = opened.expect_err("some streams are missing");
        assert!(is_shortage(&error), "{error}");
        assert!(error.to_string().contains("one thread"), "{error}");
        assert_eq!(error.kind(), Kind::Network);
    }
}

/// Returns parties that have met, and an address of one of them that anybody can reach.
fn met_at((listening, connecting): &(Options, Options)) -> ([Met; 2], Address) {
    let listener = listener();
    let address = listener.address().clone();
    let met = thread::scope(|scope| {
        let connected = scope.spawn(|| Connection::connect(&address, connecting));
        let accepted = Connection::accept(listener, listening);
        [accepted, connected.join().unwrap()].map(Met::of)
    });
    (met, address)
}

#[test]
fn strangers_neither_get_a_stream_nor_keep_one_out() {
    for options in all_with_streams() {
        let (met, address) = met_at(&options);
        // They come before the streams, more than are ever heard at once.
        let _silent: Vec<_> = (0..200).map(|_| dial(&address)).collect();
        let pass = [&b"psimore\x03"[..], &[1; 33]].concat();
        for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &CERTIFICATE_UNKNOWN, &pass] {
            dial(&address).write_all(words).unwrap();
        }
        let [mut a, mut b] = open(met);
        for (i, (ours, theirs)) in a.streams.iter_mut().zip(&mut b.streams).enumerate() {
            ours.send(&[i as u8]).unwrap();
            assert_eq!(theirs.recv_array().unwrap(), [i as u8]);
        }
    }
}

#[test]
fn a_stream_of_another_session_is_turned_away() {
    for options in all_impatient() {
        let seeds = [seed(), JointSeed::insecure_fixed(OTHER)];
        let [listened, connected] = open_each(met(&options), [COUNT; 2], seeds);
        let Err(error) = &listened else {
            panic!("the tickets differ");
        };
        assert!(
            matches!(error, Error::TooFewStreams { opened: 0, strangers: Some(strangers), .. }
                if matches!(*strangers.why, Error::OtherSession))
                || matches!(error, Error::Channel(_)),
            "{error}"
        );
        assert_short([listened, connected]);
    }
}

/// Somebody with the right key who wants to begin a session is neither taken for a stream, nor
/// given anything that it could take for an answer.
#[test]
fn who_comes_for_a_meeting_gets_no_stream() {
    let (met, address) = met_at(&with_streams((plaintext(), plaintext())));
    let mut guest = dial(&address);
    guest.write_all(b"psijoin\x03").unwrap();
    open(met);
    let mut heard = Vec::new();
    let _ = guest.read_to_end(&mut heard);
    assert!(heard.is_empty(), "{heard:?}");

    let (a, b) = with_streams(tls_pair());
    let (met, address) = met_at(&(a, b.clone()));
    let mut impatient = b;
    impatient.timeouts.meet = Duration::from_secs(1);
    let guest = thread::spawn(move || Connection::connect(&address, &impatient).unwrap_err());
    thread::sleep(Duration::from_millis(100));
    open(met);
    let error = guest.join().unwrap();
    assert!(matches!(error, Error::NobodyListened { .. }), "{error}");
}

#[test]
fn a_stream_is_no_party_to_meet() {
    let mut options = plaintext();
    options.timeouts.meet = Duration::from_millis(500);
    let listener = listener();
    let mut stream = dial(listener.address());
    stream.write_all(b"psimore\x03").unwrap();
    let error = Connection::accept(listener, &options).unwrap_err();
    assert!(
        matches!(&error, Error::NobodyConnected { strangers: Some(strangers), .. }
            if matches!(*strangers.why, Error::OtherSession)),
        "{error}"
    );
}

#[test]
fn another_key_gets_no_stream_whatever_it_knows() {
    let [a, b, stranger] = std::array::from_fn(|_| Identity::generate().unwrap());
    let (parties, address) = met_at(&with_streams((tls(&a, &b), tls(&b, &a))));
    // It has met the listening party elsewhere, and knows the seed.
    let elsewhere = (tls(&a, &stranger), tls(&stranger, &a));
    let ([_a, intruder], tunnels) = met_over_tunnels(&elsewhere);
    tunnels.lead_to(&address);
    let intruding = thread::spawn(move || intruder.open(COUNT, &seed()).unwrap_err());
    thread::sleep(Duration::from_millis(100));
    open(parties);
    let error = intruding.join().unwrap();
    assert!(
        matches!(&error, Error::TooFewStreams { opened: 0, attempt: Some(attempt), .. }
            if matches!(*attempt.why, Error::Refused { .. } | Error::ClosedDuringSetup)),
        "{error}"
    );
}

#[test]
fn more_streams_than_the_other_side_opens_are_too_many() {
    for options in all_impatient() {
        // Whoever opens more, and the other.
        for [more, enough] in [[1, 0], [0, 1]] {
            let mut counts = [COUNT; 2];
            counts[more] += 1;
            let mut opened = open_each(met(&options), counts, [seed(); 2]).map(Some);
            let error = opened[more].take().unwrap().unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::TooFewStreams {
                        opened: 3,
                        agreed: 4,
                        ..
                    }
                ),
                "{error}"
            );
            // It had all that it knew of, and hears what is wrong.
            for error in wait_on_all(opened[enough].take().unwrap().unwrap().streams) {
                assert!(
                    matches!(error, ChannelError::PeerAborted(AbortCode::TooFewStreams)),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_peer_that_never_opens_them_is_given_up() {
    for options in all_impatient() {
        for waits in [0, 1] {
            let mut parties = met(&options);
            let started = Instant::now();
            parties.rotate_left(waits);
            let [mut opens, mut idles] = parties;
            let idle = thread::spawn(move || {
                let error = idles.channel.recv_array::<1>().unwrap_err();
                assert!(
                    matches!(error, ChannelError::PeerAborted(AbortCode::TooFewStreams)),
                    "{error}"
                );
            });
            let error = opens.connection.open_streams(COUNT, &seed()).unwrap_err();
            assert!(
                matches!(error, Error::TooFewStreams { opened: 0, .. }),
                "{error}"
            );
            assert_soon(started);
            assert!(opens.channel.send(&[1]).is_err());
            idle.join().unwrap();
        }
    }
}

#[test]
fn a_firewall_that_lets_one_connection_pass_is_told_as_such() {
    for options in all_impatient() {
        for limit in [1, 2] {
            let (met, tunnels) = met_over_tunnels(&options);
            tunnels.limit(limit);
            let started = Instant::now();
            assert_short(open_each(met, [COUNT; 2], [seed(); 2]));
            assert_soon(started);
        }
    }
}

#[test]
fn a_session_that_ends_ends_the_opening() {
    for options in all_with_streams() {
        for waits in [0, 1] {
            let mut parties = met(&options);
            parties.rotate_left(waits);
            let [opens, gives_up] = parties;
            let started = Instant::now();
            let ends = thread::spawn(move || {
                thread::sleep(Duration::from_millis(100));
                gives_up.connection.abort(AbortCode::Refused);
            });
            let error = opens.open(COUNT, &seed()).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Channel(ChannelError::PeerAborted(AbortCode::Refused))
                ),
                "{error}"
            );
            assert_soon(started);
            ends.join().unwrap();
        }
    }
}

/// The peer says goodbye on the stream of the meeting, while the other party may still be on its
/// way to the last of the others.
#[test]
fn a_peer_that_is_done_at_once_does_not_end_the_opening() {
    for options in all_with_streams() {
        for _ in 0..100 {
            let [opens, quick] = met(&options);
            let quick = thread::spawn(move || {
                let party = quick.open(COUNT, &seed()).unwrap();
                party.connection.finish().unwrap();
            });
            let party = opens.open(COUNT, &seed()).unwrap();
            party.connection.finish().unwrap();
            quick.join().unwrap();
        }
    }
}

#[test]
fn opening_can_be_interrupted() {
    for options in all_with_streams() {
        for waits in [0, 1] {
            let mut options = options.clone();
            let interrupts = [&mut options.0, &mut options.1].map(|options| {
                options.interrupt = psijoin_transport::Interrupt::new();
                options.interrupt.clone()
            });
            let mut parties = met(&options);
            parties.rotate_left(waits);
            let [opens, mut other] = parties;
            let interrupted = thread::spawn(move || {
                thread::sleep(Duration::from_millis(100));
                interrupts[waits].trigger();
            });
            let started = Instant::now();
            let error = opens.open(COUNT, &seed()).unwrap_err();
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert_soon(started);
            let told = other.channel.recv_array::<1>().unwrap_err();
            assert!(
                matches!(told, ChannelError::PeerAborted(AbortCode::Interrupted)),
                "{told}"
            );
            interrupted.join().unwrap();
        }
    }
}

/// Returns whether nobody listens at an address.
fn is_free(address: &Address) -> bool {
    TcpStream::connect(address.as_str()).is_err() && Listener::bind(address).is_ok()
}

#[test]
fn a_side_listens_for_as_long_as_it_waits_for_streams() {
    let (mut listening, connecting) = (plaintext(), plaintext());
    let (_met, address) = met_at(&(listening.clone(), connecting.clone()));
    assert!(is_free(&address));
    listening.streams = true;
    for count in [0, COUNT] {
        let (met, address) = met_at(&(listening.clone(), connecting.clone()));
        assert!(!is_free(&address));
        let _parties = open_each(met, [count; 2], [seed(); 2]).map(Result::unwrap);
        assert!(is_free(&address));
    }
    let (met, address) = met_at(&(listening, connecting));
    drop(met);
    assert!(is_free(&address));
}

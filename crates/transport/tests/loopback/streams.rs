//! Sessions of several streams.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{AbortCode, Channel, Error as ChannelError, joint_seed::JointSeed};
use psijoin_transport::{Connection, Error, Kind, Listener, Options, Pulse, endpoint::Address};

use crate::{
    HUNG, Meeting, assert_soon, listener, meet, pairs_of_options, plaintext, tls_pair, with_idle,
};

mod failing;
mod opening;
mod tunnels;

use tunnels::Tunnels;

/// Further streams, beside the one of the meeting.
const COUNT: u8 = 3;

fn seed() -> JointSeed {
    JointSeed::insecure_fixed([7; 32])
}

/// A party, and all its streams: that of the meeting first.
#[derive(Debug)]
struct Party {
    connection: Connection,
    streams: Vec<Channel>,
}

/// A party that has met the other, before further streams are open.
struct Met {
    connection: Connection,
    channel: Channel,
}

impl Met {
    fn of(meeting: Meeting) -> Self {
        let (connection, channel) = meeting.unwrap();
        Self {
            connection,
            channel,
        }
    }

    fn open(mut self, count: u8, seed: &JointSeed) -> Opened {
        let further = self.connection.open_streams(count, seed)?;
        Ok(Party {
            connection: self.connection,
            streams: [self.channel].into_iter().chain(further).collect(),
        })
    }
}

type Opened = Result<Party, Error>;

/// Returns the options of parties that open further streams.
fn with_streams((mut listening, connecting): (Options, Options)) -> (Options, Options) {
    listening.streams = true;
    (listening, connecting)
}

fn all_with_streams() -> [(Options, Options); 2] {
    pairs_of_options().map(with_streams)
}

/// Returns options of parties that soon stop to wait for streams.
fn all_impatient() -> [(Options, Options); 2] {
    all_with_streams().map(|(mut listening, mut connecting)| {
        for options in [&mut listening, &mut connecting] {
            options.timeouts.setup = Duration::from_secs(3);
        }
        (listening, connecting)
    })
}

fn met((listening, connecting): &(Options, Options)) -> [Met; 2] {
    let (a, b) = meet(listening, connecting);
    [a, b].map(Met::of)
}

/// Returns two parties that have met over tunnels. The one that listens is the first.
fn met_over_tunnels((listening, connecting): &(Options, Options)) -> ([Met; 2], Tunnels) {
    let listener = listener();
    let tunnels = Tunnels::to(listener.address());
    let front = tunnels.front().clone();
    let parties = thread::scope(|scope| {
        let connected = scope.spawn(|| Connection::connect(&front, connecting));
        let accepted = Connection::accept(listener, listening);
        [accepted, connected.join().unwrap()].map(Met::of)
    });
    (parties, tunnels)
}

/// Returns what comes of it if each party opens as many streams of a session of that seed.
fn open_each([a, b]: [Met; 2], counts: [u8; 2], seeds: [JointSeed; 2]) -> [Opened; 2] {
    thread::scope(|scope| {
        let opened = scope.spawn(|| b.open(counts[1], &seeds[1]));
        [a.open(counts[0], &seeds[0]), opened.join().unwrap()]
    })
}

fn open(met: [Met; 2]) -> [Party; 2] {
    open_each(met, [COUNT; 2], [seed(); 2]).map(Result::unwrap)
}

fn opened(options: &(Options, Options)) -> [Party; 2] {
    open(met(options))
}

/// Waits on all streams at once, and gives how each ends.
fn wait_on_all(streams: Vec<Channel>) -> Vec<ChannelError> {
    let wait = |mut stream: Channel| stream.recv(&mut [0; 77]).unwrap_err();
    thread::scope(|scope| {
        let waits = |stream| scope.spawn(move || wait(stream));
        let waiting: Vec<_> = streams.into_iter().map(waits).collect();
        waiting.into_iter().map(|end| end.join().unwrap()).collect()
    })
}

/// Returns the ends of all streams of both parties, while `act` happens to the session.
fn ends([a, b]: [Party; 2], act: impl FnOnce(&[Connection; 2])) -> [Vec<ChannelError>; 2] {
    let started = Instant::now();
    let connections = [a.connection, b.connection];
    let ends = thread::scope(|scope| {
        let [a, b] = [a.streams, b.streams].map(|all| scope.spawn(|| wait_on_all(all)));
        thread::sleep(Duration::from_millis(100));
        act(&connections);
        [a, b].map(|ends| ends.join().unwrap())
    });
    assert_soon(started);
    ends
}

/// Sends `i` and its own name on stream `i`, a MiB at a time, and checks what the other party
/// sends.
fn talk(stream: &mut Channel, i: usize, [ours, theirs]: [u8; 2]) {
    let words = |party: u8, round: u8| {
        let mut words = vec![round; 1 << 20];
        words[..2].copy_from_slice(&[party, i as u8]);
        words
    };
    let rounds = 0..8;
    let said = stream.exchange(
        |outbound| {
            let mut rounds = rounds.clone();
            rounds.try_for_each(|round| outbound.send(&words(ours, round)))
        },
        |inbound| {
            let mut heard = vec![0; 1 << 20];
            for round in rounds.clone() {
                inbound.recv(&mut heard)?;
                assert!(heard == words(theirs, round), "stream {i}, round {round}");
            }
            Ok::<_, ChannelError>(())
        },
    );
    said.unwrap();
}

#[test]
fn streams_carry_data_both_ways_at_once() {
    for options in all_with_streams() {
        let parties = opened(&options);
        thread::scope(|scope| {
            for (party, names) in parties.into_iter().zip([[1, 2], [2, 1]]) {
                scope.spawn(move || {
                    thread::scope(|scope| {
                        for (i, mut stream) in party.streams.into_iter().enumerate() {
                            scope.spawn(move || talk(&mut stream, i, names));
                        }
                    });
                    party.connection.finish().unwrap();
                });
            }
        });
    }
}

#[test]
fn a_session_of_several_streams_ends_with_the_last_byte_of_all() {
    for options in all_with_streams() {
        let [a, b] = opened(&options);
        // Any of the streams may carry what is left.
        let mut ours = a.connection.all_end_after(a.streams, 5, 3);
        let mut theirs = b.streams;
        ours[1].send(b"12").unwrap();
        ours[3].send(b"345").unwrap();
        theirs[2].send(b"678").unwrap();
        assert_eq!(&theirs[1].recv_array().unwrap(), b"12");
        assert_eq!(&theirs[3].recv_array().unwrap(), b"345");
        ours[0].send(&[]).unwrap();
        theirs[0].recv_array::<0>().unwrap();
        assert_eq!(&ours[2].recv_array().unwrap(), b"678");
        // This side computes, and the peer does not notice.
        b.connection.finish().unwrap();
        for stream in &mut ours {
            let error = stream.send(&[]).unwrap_err();
            assert!(matches!(error, ChannelError::Closed), "{error}");
        }
        // An abort does not spoil what went well already.
        a.connection.abort(AbortCode::LocalFailure);
    }
}

#[test]
fn a_message_that_nobody_expected_on_any_stream_spoils_the_end() {
    let [mut a, b] = opened(&with_streams(tls_pair()));
    a.streams[2].send(b"one too many").unwrap();
    thread::sleep(Duration::from_millis(100));
    let error = b.connection.finish().unwrap_err();
    let expected = "after the end of the protocol";
    assert!(error.to_string().contains(expected), "{error}");
    let error = a.connection.finish().unwrap_err();
    assert_eq!(error.kind(), Kind::Peer, "{error}");
}

#[test]
fn a_stream_that_waits_for_its_turn_is_kept_alive() {
    let (mut a, b) = with_streams(with_idle(tls_pair()));
    // Nothing else shows that this party works.
    a.pulse = Some(Pulse::new(|| 7));
    let [mut a, mut b] = opened(&(a, b));
    thread::scope(|scope| {
        scope.spawn(|| {
            a.streams[1].recv_array::<1>().unwrap();
            // Only now it is this stream's turn.
            a.streams[2].send(&[2]).unwrap();
        });
        let [_, first, second, _] = &mut b.streams[..] else {
            panic!("there are four");
        };
        let received = scope.spawn(|| second.recv_array::<1>());
        thread::sleep(HUNG);
        first.send(&[1]).unwrap();
        assert_eq!(received.join().unwrap().unwrap(), [2]);
    });
}

#[test]
fn a_party_that_hangs_falls_silent_on_all_streams() {
    let (mut a, b) = with_streams(with_idle(tls_pair()));
    a.pulse = Some(Pulse::new(|| 7));
    let [_a, b] = opened(&(a, b));
    for error in wait_on_all(b.streams) {
        assert!(matches!(error, ChannelError::TimedOut(_)), "{error}");
    }
}

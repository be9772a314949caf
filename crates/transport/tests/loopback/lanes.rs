//! Lanes: streams by keys of the session, which end one by one and which other processes may open.

use std::{thread, time::Duration};

use psijoin_channel::{Channel, Error as ChannelError, joint_seed::JointSeed};
use psijoin_transport::{
    Connection, Error, Fingerprint, Identity, LaneKeys, Lanes, LanesAt, Options, Security,
};

use crate::{
    A_WHILE, LONG, meet, pairs_of_options, patient,
    relays::{Parties, Relay},
    tls_pair,
};

const COUNT: u32 = 3;

/// Returns the lanes of both parties, by keys of this session.
fn lanes() -> [Lanes; 2] {
    let [a, b] = [(); 2].map(|()| Identity::generate().unwrap());
    let names = [&a, &b].map(Identity::fingerprint);
    [(a, names[1]), (b, names[0])].map(|(own, peer)| by_keys(own, peer))
}

fn by_keys(own: Identity, peer: Fingerprint) -> Lanes {
    Lanes {
        count: COUNT,
        joint_seed: JointSeed::insecure_fixed([9; 32]),
        keys: Some(LaneKeys { own, peer }),
        wait: LONG,
        are_elsewhere: false,
    }
}

/// Opens the lanes of both parties, each in one process.
fn opened(options: &(Options, Options), lanes: &[Lanes; 2]) -> [(Connection, Vec<Channel>); 2] {
    let (a, b) = meet(&options.0, &options.1);
    thread::scope(|scope| {
        let opening = [(a, &lanes[0]), (b, &lanes[1])].map(|(met, lanes)| {
            scope.spawn(move || {
                let (mut connection, _) = met.unwrap();
                let channels = connection.open_lanes(lanes).unwrap();
                (connection, channels)
            })
        });
        opening.map(|opened| opened.join().unwrap())
    })
}

/// Returns options of parties that open lanes.
fn with_lanes((mut listening, connecting): (Options, Options)) -> (Options, Options) {
    listening.streams = true;
    (listening, connecting)
}

fn greet(from: &mut Channel, to: &mut Channel) {
    from.send(b"hello").unwrap();
    assert_eq!(&to.recv_array().unwrap(), b"hello");
}

#[test]
fn a_lane_ends_with_its_own_last_byte_and_the_others_go_on() {
    for options in pairs_of_options().map(with_lanes) {
        let mut lanes = lanes();
        if options.0.security.identity().is_none() {
            lanes.iter_mut().for_each(|lanes| lanes.keys = None);
        }
        let [(a, ours), (b, theirs)] = opened(&options, &lanes);
        let end = |connection: &Connection, channels: Vec<Channel>, sent, received| {
            let end = |(lane, channel)| connection.lane_ends_after(lane, channel, sent, received);
            (0..).zip(channels).map(end).collect::<Vec<_>>()
        };
        let mut ours = end(&a, ours, 5, 0);
        let mut theirs = end(&b, theirs, 0, 5);
        for (ours, theirs) in ours.iter_mut().zip(&mut theirs) {
            greet(ours, theirs);
            for ended in [ours.send(b"more"), theirs.send(b"more")] {
                assert!(matches!(ended, Err(ChannelError::Closed)), "{ended:?}");
            }
        }
        // The session does not end with its lanes.
        greet(&mut a.channel(), &mut b.channel());
        thread::scope(|scope| {
            let finishing = scope.spawn(|| a.finish());
            b.finish().unwrap();
            finishing.join().unwrap().unwrap();
        });
    }
}

#[test]
fn a_lane_that_breaks_ends_the_session() {
    let [(a, mut ours), (b, mut theirs)] = opened(&with_lanes(tls_pair()), &lanes());
    ours[1].abort(psijoin_channel::AbortCode::LocalFailure);
    for channel in theirs.iter_mut().chain([&mut b.channel()]) {
        let error = channel.recv(&mut [0]).unwrap_err();
        assert!(matches!(error, ChannelError::PeerAborted(_)), "{error}");
    }
    drop(a);
}

/// Plays a party whose lanes are opened by processes that know nothing else of the session.
fn open_each(lanes: &Lanes, at: &LanesAt, options: &Options) {
    thread::scope(|scope| {
        for lane in 0..COUNT {
            scope.spawn(move || {
                let (connection, mut channel) = lanes.open(lane, at, options).unwrap();
                channel.send(&[lane as u8]).unwrap();
                assert_eq!(channel.recv_array().unwrap(), [lane as u8]);
                connection.finish().unwrap();
            });
        }
    });
}

/// Plays a party that has all lanes in one process.
fn answer(met: (Connection, Channel), lanes: &Lanes) {
    let (mut connection, _) = met;
    let channels = connection.open_lanes(lanes).unwrap();
    for (lane, channel) in (0..).zip(channels) {
        let mut channel = connection.lane_ends_after(lane, channel, 1, 1);
        let number = channel.recv_array::<1>().unwrap();
        assert_eq!(u32::from(number[0]), lane);
        channel.send(&number).unwrap();
    }
    drop(connection);
}

/// The keys of the parties never come to the processes that run lanes.
fn of_nobody() -> Options {
    patient(Security::InsecurePlaintext)
}

#[test]
fn other_processes_open_lanes_where_the_peer_listens() {
    let (listening, connecting) = with_lanes(tls_pair());
    let (a, b) = meet(&listening, &connecting);
    let [ours, theirs] = lanes();
    thread::scope(|scope| {
        scope.spawn(move || answer(a.unwrap(), &ours));
        // That of the meeting lives on.
        let (b, _channel) = b.unwrap();
        let at = b.lanes_at().unwrap();
        assert!(matches!(at, LanesAt::Address(_)));
        open_each(&theirs, &at, &of_nobody());
    });
}

#[test]
fn other_processes_of_either_side_open_lanes_at_a_relay() {
    for by_one in [0, 1] {
        let relay = Relay::start();
        let met = Parties::at(relay.address()).meet(Duration::ZERO);
        let met = met.map(Result::unwrap);
        let lanes = lanes();
        thread::scope(|scope| {
            for (party, (connection, channel)) in met.into_iter().enumerate() {
                let lanes = &lanes[party];
                scope.spawn(move || match party == by_one {
                    false => answer((connection, channel), lanes),
                    true => {
                        let at = connection.lanes_at().unwrap();
                        open_each(lanes, &at, &of_nobody());
                    }
                });
            }
        });
    }
}

#[test]
fn a_key_of_another_session_opens_no_lane() {
    let (listening, connecting) = with_lanes(tls_pair());
    let (a, b) = meet(&listening, &connecting);
    let [ours, _] = lanes();
    let [_, mut theirs] = self::lanes();
    theirs.wait = A_WHILE;
    thread::scope(|scope| {
        let (mut a, _) = a.unwrap();
        let waiting = scope.spawn(move || a.open_lanes(&ours).unwrap_err());
        let (b, _channel) = b.unwrap();
        let opened = theirs.open(0, &b.lanes_at().unwrap(), &of_nobody());
        let error = opened.unwrap_err();
        assert!(
            matches!(
                error,
                Error::LaneAlone {
                    lane: 0,
                    lanes: COUNT,
                    ..
                }
            ),
            "{error}"
        );
        // The other side hears of the end by the stream of the meeting.
        drop(b);
        let error = waiting.join().unwrap();
        assert!(matches!(error, Error::Channel(_)), "{error}");
    });
}

#[test]
fn lanes_that_were_not_started_are_named() {
    let (listening, connecting) = with_lanes(tls_pair());
    let (a, b) = meet(&listening, &connecting);
    let [mut ours, theirs] = lanes();
    ours.are_elsewhere = true;
    ours.wait = A_WHILE;
    thread::scope(|scope| {
        let (mut a, _) = a.unwrap();
        let waiting = scope.spawn(move || a.open_lanes(&ours).unwrap_err());
        let (b, mut channel) = b.unwrap();
        let opened = theirs.open(1, &b.lanes_at().unwrap(), &of_nobody());
        let error = waiting.join().unwrap().to_string();
        let named = "lanes 0 and 2 (of 0 to 2) have not started on the other side within 5 s: ";
        assert!(error.starts_with(named), "{error}");
        assert!(!error.contains("firewall"), "{error}");
        let told = channel.recv(&mut [0]).unwrap_err();
        let expected = psijoin_channel::AbortCode::TimedOut;
        assert!(
            matches!(told, ChannelError::PeerAborted(code) if code == expected),
            "{told}"
        );
        drop(opened.unwrap());
    });
}

#[test]
fn a_lane_that_meets_nobody_tells_which_it_is() {
    let relay = Relay::start();
    let met = Parties::at(relay.address()).meet(Duration::ZERO);
    let lanes = lanes();
    let met = met.map(Result::unwrap);
    for ((connection, _), mut lanes) in met.iter().zip(lanes) {
        lanes.wait = A_WHILE;
        let at = connection.lanes_at().unwrap();
        let error = lanes.open(2, &at, &of_nobody()).unwrap_err().to_string();
        let named = "lane 2 (of 0 to 2) met nobody within 5 s: the other side has not started it";
        assert!(error.starts_with(named), "{error}");
    }
}

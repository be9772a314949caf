//! Meeting at a relay, played by a few threads.

use std::{
    cell::RefCell,
    collections::HashMap,
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{Error as ChannelError, joint_seed::JointSeed};
use psijoin_transport::{
    Appointment, AtRelay, Connection, Error, Identity, Kind, Options, PublicKey, RelayAddress,
    Security, Sight,
    rendezvous::{AccessKey, Hello, HelloDecoder, Side, State, Text, Token},
};

use crate::{LONG, Meeting, assert_soon, free_address, meeting::patient_for, patient, tls};

/// See the [module](self).
#[derive(Clone)]
pub(crate) struct Relay {
    address: RelayAddress,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Those who wait, by name and side.
    queues: Mutex<HashMap<(Token, Side), Vec<TcpStream>>>,
    /// All connections, to end them.
    all: Mutex<Vec<TcpStream>>,
    /// Everybody is told this.
    refuses: Mutex<Option<State>>,
    is_stopped: AtomicBool,
}

impl Relay {
    pub(crate) fn start() -> Self {
        // Once it is stopped, nobody is to be there.
        Self::at(free_address().as_str())
    }

    fn at(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap().to_string().parse().unwrap();
        let shared = Arc::<Shared>::default();
        let relay = Self { address, shared };
        let running = relay.clone();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let socket = socket.unwrap();
                if running.shared.is_stopped.load(Relaxed) {
                    break;
                }
                let relay = running.clone();
                thread::spawn(move || relay.hear(socket));
            }
        });
        relay
    }

    pub(crate) fn address(&self) -> &RelayAddress {
        &self.address
    }

    /// Ends all that goes over it.
    fn stop(&self) {
        self.shared.is_stopped.store(true, Relaxed);
        // The listening thread notices, and its socket goes.
        while TcpStream::connect(self.address.to_string()).is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        for socket in self.shared.all.lock().unwrap().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    fn hear(&self, mut socket: TcpStream) {
        let all = &self.shared.all;
        all.lock().unwrap().push(socket.try_clone().unwrap());
        let Some(Hello { side, token, .. }) = first_words(&mut socket) else {
            return;
        };
        if let Some(refusal) = &*self.shared.refuses.lock().unwrap() {
            tell(&mut socket, std::slice::from_ref(refusal));
            return;
        }
        tell(&mut socket, &[State::Waiting(Text::default())]);
        let mut queues = self.shared.queues.lock().unwrap();
        let others = queues.entry((token.clone(), side.other())).or_default();
        while !others.is_empty() {
            let mut other = others.remove(0);
            let go = [State::Here(Text::default()), State::Go];
            if tell(&mut other, &go) {
                tell(&mut socket, &go);
                join(socket, other);
                return;
            }
        }
        queues.entry((token, side)).or_default().push(socket);
    }
}

fn first_words(socket: &mut TcpStream) -> Option<Hello> {
    let mut decoder = HelloDecoder::new();
    loop {
        let mut piece = vec![0; decoder.due()];
        let length = socket.read(&mut piece).ok().filter(|length| *length > 0)?;
        if let Some(hello) = decoder.take(&mut &piece[..length]).ok()? {
            return Some(hello);
        }
    }
}

fn tell(socket: &mut TcpStream, states: &[State]) -> bool {
    let mut bytes = Vec::new();
    states.iter().for_each(|state| state.encode(&mut bytes));
    socket.write_all(&bytes).is_ok()
}

/// Carries bytes both ways.
fn join(a: TcpStream, b: TcpStream) {
    let ways = [(a.try_clone().unwrap(), b.try_clone().unwrap()), (b, a)];
    for (mut from, mut to) in ways {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

/// Two parties that meet at one relay.
pub(crate) struct Parties {
    pub(crate) options: [Options; 2],
    pub(crate) at: [AtRelay; 2],
}

impl Parties {
    pub(crate) fn at(relay: &RelayAddress) -> Self {
        let [a, b] = [(); 2].map(|()| Identity::generate().unwrap());
        let [ours, theirs] = [&a, &b].map(Identity::fingerprint);
        let at = |ours, theirs| AtRelay::first_meeting(relay.clone(), ours, theirs);
        Self {
            options: [tls(&a, &b), tls(&b, &a)],
            at: [at(ours, theirs), at(theirs, ours)],
        }
    }

    /// Returns the place of the party that is this side.
    fn place_of(&self, side: Side) -> usize {
        usize::from(self.at[1].appointments[0].side == side)
    }

    fn token(&self) -> Token {
        self.at[0].appointments[0].token.clone()
    }

    /// Lets both meet, the second one this much later.
    pub(crate) fn meet(&self, later: Duration) -> [Meeting; 2] {
        thread::scope(|scope| {
            let [first, second] = [0, 1].map(|i| {
                scope.spawn(move || {
                    thread::sleep(later * i as u32);
                    Connection::meet_at_relay(&self.at[i], &self.options[i], &|_| {})
                })
            });
            [first, second].map(|meeting| meeting.join().unwrap())
        })
    }
}

/// Lets two parties that have met speak, and end well.
pub(crate) fn greet(meetings: [Meeting; 2]) {
    let [(a, mut to_b), (b, mut to_a)] = meetings.map(Result::unwrap);
    to_b.send(b"hello").unwrap();
    assert_eq!(&to_a.recv_array().unwrap(), b"hello");
    thread::scope(|scope| {
        let ended = scope.spawn(|| a.finish());
        b.finish().unwrap();
        ended.join().unwrap().unwrap();
    });
}

#[test]
fn parties_meet_in_any_order() {
    for later in [Duration::ZERO, Duration::from_millis(500)] {
        for _ in 0..2 {
            let relay = Relay::start();
            greet(Parties::at(relay.address()).meet(later));
        }
    }
}

/// Parties of which the first knows two others, in either part.
pub(crate) struct Several {
    pub(crate) options: [Options; 3],
    pub(crate) appointments: [Vec<Appointment>; 3],
}

impl Several {
    pub(crate) fn new() -> Self {
        let identity = |()| Identity::generate().unwrap();
        let [ann, bob, carol] = loop {
            let all = [(); 3].map(identity);
            let [ann, bob, carol] = all.each_ref().map(Identity::fingerprint);
            let sides = [bob, carol].map(|other| Side::between(ann, other));
            if sides == [Side::Client, Side::Server] {
                break all;
            }
        };
        let others = [&bob, &carol];
        let several = patient(Security::AnyOf {
            identity: ann.clone(),
            peers: others.map(|other| other.fingerprint().into()).to_vec(),
        });
        let with = |ours: &Identity, theirs: &Identity| {
            Appointment::of_strangers(ours.fingerprint(), theirs.fingerprint())
        };
        let all = others.map(|other| with(&ann, other));
        Self {
            options: [several, tls(&bob, &ann), tls(&carol, &ann)],
            appointments: [
                all.to_vec(),
                vec![with(&bob, &ann)],
                vec![with(&carol, &ann)],
            ],
        }
    }

    /// Returns the key of a party.
    pub(crate) fn key(&self, party: usize) -> Option<PublicKey> {
        self.options[party]
            .security
            .identity()
            .unwrap()
            .public_key()
    }
}

/// Lets the first of them meet one of the others, and then the other one, which may have come at
/// the same time.
pub(crate) fn meet_each(several: &Several, meet: impl Fn(usize) -> Meeting + Sync) {
    let meet = &meet;
    for first in [1, 2] {
        thread::scope(|scope| {
            let other = scope.spawn(move || meet(first));
            greet([meet(0), other.join().unwrap()]);
        });
    }
    let served = thread::scope(|scope| {
        let others = [1, 2].map(|party| scope.spawn(move || serve(meet(party))));
        let served = [0, 1].map(|_| {
            let (connection, mut channel) = meet(0).unwrap();
            channel.send(b"hello").unwrap();
            let key = connection.peer_key();
            connection.finish().unwrap();
            key
        });
        for other in others {
            other.join().unwrap();
        }
        served
    });
    assert_ne!(served[0], served[1]);
    for party in [1, 2] {
        assert!(served.contains(&several.key(party)));
    }
}

fn serve(meeting: Meeting) {
    let (connection, mut channel) = meeting.unwrap();
    assert_eq!(&channel.recv_array().unwrap(), b"hello");
    connection.finish().unwrap();
}

#[test]
fn one_of_several_is_met_and_the_other_after_it() {
    let relay = Relay::start();
    let several = Several::new();
    meet_each(&several, |party| {
        let at = AtRelay {
            relay: relay.address().clone(),
            appointments: several.appointments[party].clone(),
            access: None,
        };
        Connection::meet_at_relay(&at, &several.options[party], &|_| {})
    });
}

#[test]
fn one_of_several_meets_all_streams() {
    let relay = Relay::start();
    let several = Several::new();
    let seed = JointSeed::insecure_fixed([3; 32]);
    for other in [1, 2] {
        thread::scope(|scope| {
            let opened = [0, other].map(|party| {
                let (several, relay, seed) = (&several, &relay, &seed);
                scope.spawn(move || {
                    let at = AtRelay {
                        relay: relay.address().clone(),
                        appointments: several.appointments[party].clone(),
                        access: None,
                    };
                    let met = Connection::meet_at_relay(&at, &several.options[party], &|_| {});
                    let (mut connection, _) = met.unwrap();
                    let streams = connection.open_streams(2, seed).unwrap();
                    (connection, streams)
                })
            });
            let [(_a, mut ours), (_b, mut theirs)] = opened.map(|opened| opened.join().unwrap());
            for (one, other) in ours.iter_mut().zip(&mut theirs) {
                one.send(b"hello").unwrap();
                assert_eq!(&other.recv_array().unwrap(), b"hello");
            }
        });
    }
}

#[test]
fn streams_meet_there_too() {
    let relay = Relay::start();
    let parties = Parties::at(relay.address());
    let seed = JointSeed::insecure_fixed([3; 32]);
    let met = parties.meet(Duration::ZERO).map(Result::unwrap);
    let [a, b] = thread::scope(|scope| {
        met.map(|(mut connection, _)| {
            scope.spawn(move || {
                let streams = connection.open_streams(4, &seed).unwrap();
                (connection, streams)
            })
        })
        .map(|opened| opened.join().unwrap())
    });
    let (mut ours, mut theirs) = (a.1, b.1);
    for (i, stream) in ours.iter_mut().enumerate() {
        stream.send(&[i as u8]).unwrap();
    }
    for (i, stream) in theirs.iter_mut().enumerate() {
        assert_eq!(stream.recv_array().unwrap(), [i as u8]);
    }
}

#[test]
fn people_hear_what_is_seen() {
    let relay = Relay::start();
    let parties = Parties::at(relay.address());
    let heard = RefCell::new(Vec::new());
    let early = parties.place_of(Side::Client);
    thread::scope(|scope| {
        let late = scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            let (at, options) = (&parties.at[1 - early], &parties.options[1 - early]);
            Connection::meet_at_relay(at, options, &|_| {})
        });
        let sees = |sight| heard.borrow_mut().push(sight);
        let (at, options) = (&parties.at[early], &parties.options[early]);
        let early = Connection::meet_at_relay(at, options, &sees);
        greet([early, late.join().unwrap()]);
    });
    assert_eq!(*heard.borrow(), [Sight::Waiting, Sight::Here]);
}

/// Takes a place of one side, and says nothing further.
fn squat(relay: &RelayAddress, side: Side, token: &Token, number: u64) -> TcpStream {
    let mut socket = TcpStream::connect(relay.to_string()).unwrap();
    let hello = Hello {
        side,
        token: token.clone(),
        client: number.to_le_bytes(),
        has_key: false,
    };
    socket.write_all(&hello.encode()).unwrap();
    socket
}

/// Fifty a second, all of whom the server of TLS hears.
#[test]
fn who_takes_the_place_of_the_client_again_and_again_does_not_keep_it_out() {
    let relay = Relay::start();
    let parties = Parties::at(relay.address());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut kept = Vec::new();
            for number in 0.. {
                if is_over.load(Relaxed) {
                    break;
                }
                kept.push(squat(
                    relay.address(),
                    Side::Client,
                    &parties.token(),
                    number,
                ));
                thread::sleep(Duration::from_millis(20));
            }
        });
        thread::sleep(Duration::from_millis(200));
        let started = Instant::now();
        greet(parties.meet(Duration::ZERO));
        is_over.store(true, Relaxed);
        assert_soon(started);
    });
}

/// The client is alone with somebody silent until it has enough of that.
#[test]
fn who_takes_the_place_of_the_server_does_not_keep_it_out() {
    let relay = Relay::start();
    let parties = Parties::at(relay.address());
    let _squatter = squat(relay.address(), Side::Server, &parties.token(), 7);
    thread::sleep(Duration::from_millis(200));
    let started = Instant::now();
    greet(parties.meet(Duration::ZERO));
    assert_soon(started);
}

#[test]
fn a_relay_that_stops_in_mid_session_is_told_on_both_sides() {
    let relay = Relay::start();
    let met = Parties::at(relay.address()).meet(Duration::ZERO);
    let [(_a, mut to_b), (_b, mut to_a)] = met.map(Result::unwrap);
    relay.stop();
    for channel in [&mut to_a, &mut to_b] {
        let error = channel.recv_array::<1>().unwrap_err();
        assert!(matches!(error, ChannelError::Cut), "{error}");
        assert!(error.to_string().contains("the relay"), "{error}");
    }
}

#[test]
fn a_relay_that_comes_back_is_found_again() {
    let free = free_address().as_str().to_owned();
    let parties = Parties::at(&free.parse().unwrap());
    thread::scope(|scope| {
        let met = scope.spawn(|| parties.meet(Duration::ZERO));
        thread::sleep(Duration::from_millis(300));
        let relay = Relay::at(&free);
        thread::sleep(Duration::from_millis(50));
        relay.stop();
        drop(relay);
        thread::sleep(Duration::from_millis(300));
        let again = thread::spawn(move || {
            // The port may be in use for a moment.
            loop {
                if TcpListener::bind(&free).is_ok() {
                    return Relay::at(&free);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let _relay = again.join().unwrap();
        greet(met.join().unwrap());
    });
}

/// Returns the error of a party alone at a relay for so long, and what it saw.
fn alone_for(
    meet: Duration,
    relay: &RelayAddress,
    side: Side,
    key: Option<AccessKey>,
) -> (Error, Vec<Sight>) {
    let mut parties = Parties::at(relay);
    let place = parties.place_of(side);
    parties.at[place].access = key;
    let options = patient_for(meet, parties.options[place].clone());
    let heard = RefCell::new(Vec::new());
    let sees = |sight| heard.borrow_mut().push(sight);
    let error = Connection::meet_at_relay(&parties.at[place], &options, &sees).unwrap_err();
    (error, heard.into_inner())
}

/// As [`alone_for`], for a moment in which it is heard.
fn alone(relay: &RelayAddress, side: Side, key: Option<AccessKey>) -> (Error, Vec<Sight>) {
    alone_for(Duration::from_secs(2), relay, side, key)
}

#[test]
fn each_reason_of_a_relay_is_told_at_once_and_in_the_end() {
    for side in [Side::Server, Side::Client] {
        let relay = Relay::start();
        for (refusal, said) in [
            (
                State::Refused(Text::new("too many wait under this name")),
                "refuses that: too many wait under this name",
            ),
            (State::Draining(Text::default()), "is about to stop"),
        ] {
            *relay.shared.refuses.lock().unwrap() = Some(refusal);
            let (error, heard) = alone(relay.address(), side, None);
            let text = error.to_string();
            assert!(matches!(error, Error::NobodyAtRelay { .. }), "{text}");
            assert!(
                text.contains(&format!("the relay {} {said}", relay.address())),
                "{text}"
            );
            assert_eq!(error.kind(), Kind::Network);
            let [Sight::Trouble(trouble)] = &heard[..] else {
                panic!("{heard:?}");
            };
            assert!(trouble.contains(said), "{trouble}");
        }
        let forbidden = State::Forbidden(Text::new("that key is not known"));
        *relay.shared.refuses.lock().unwrap() = Some(forbidden);
        let started = Instant::now();
        let (error, _) = alone_for(LONG, relay.address(), side, None);
        assert!(
            error.to_string().contains("that key is not known"),
            "{error}"
        );
        assert_soon(started);
        *relay.shared.refuses.lock().unwrap() = Some(State::Challenge([1; 16]));
        let (error, _) = alone(relay.address(), side, None);
        assert!(error.to_string().contains("access key"), "{error}");
        assert_eq!(error.kind(), Kind::Usage);
        relay.stop();
        let (error, _) = alone(relay.address(), side, None);
        // The system may have taken one more for it.
        let gone = ["cannot connect to", "ended the connection"];
        let text = error.to_string();
        assert!(gone.iter().any(|gone| text.contains(gone)), "{text}");
    }
}

#[test]
fn something_else_at_the_address_is_no_relay() {
    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = web.local_addr().unwrap().to_string().parse().unwrap();
    thread::spawn(move || {
        for socket in web.incoming() {
            let _ = socket
                .unwrap()
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    for side in [Side::Server, Side::Client] {
        let (error, _) = alone(&address, side, None);
        assert!(
            error
                .to_string()
                .contains("is none, or one of another release"),
            "{error}"
        );
    }
}

#[test]
fn a_challenge_is_answered_by_the_key() {
    let key = AccessKey::from_bytes([5; 32]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let asks = thread::spawn({
        let key = key.clone();
        move || {
            let (mut socket, _) = listener.accept().unwrap();
            let hello = first_words(&mut socket).unwrap();
            assert!(hello.has_key);
            let nonce = [9; 16];
            tell(&mut socket, &[State::Challenge(nonce)]);
            let expected = key.answer(&nonce, &hello).encode();
            let mut answer = expected;
            answer.fill(0);
            socket.read_exact(&mut answer).unwrap();
            assert_eq!(answer, expected);
            tell(&mut socket, &[State::Waiting(Text::default())]);
        }
    });
    let (_, heard) = alone(&address, Side::Client, Some(key));
    asks.join().unwrap();
    assert!(heard.contains(&Sight::Waiting), "{heard:?}");
}

#[test]
fn a_wait_can_be_interrupted() {
    let relay = Relay::start();
    for side in [Side::Server, Side::Client] {
        let parties = Parties::at(relay.address());
        let place = parties.place_of(side);
        let (at, options) = (&parties.at[place], &parties.options[place]);
        thread::scope(|scope| {
            let waits = scope.spawn(|| Connection::meet_at_relay(at, options, &|_| {}));
            thread::sleep(Duration::from_millis(200));
            let triggered = Instant::now();
            options.interrupt.trigger();
            let error = waits.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert_soon(triggered);
        });
    }
}

//! The exchange on a fresh connection until the other end has proved to be the peer: a state
//! machine that takes bytes and gives bytes, and knows no socket.

use std::{io::Write, sync::Arc};

use rustls::{
    ClientConfig, Connection, Error as TlsError, ServerConfig,
    server::{Accepted, AcceptedAlert, Acceptor},
};

use super::introduction::{Introduction, Purpose, Refusal};
use crate::{
    Error, Fingerprint, Identity, Security,
    knock::{self, Knock},
    preamble,
    stranger::{self, Guess},
    ticket::Ticket,
    tls,
};

/// The number of raw bytes that are taken in at once.
pub(super) const PIECE_BYTES: usize = 4096;

/// The most bytes that anybody may send before this side answers: several times what a ClientHello
/// takes.
const MAX_HELLO_BYTES: usize = 4 * PIECE_BYTES;

/// The state from which greetings begin.
pub(super) struct Greeter {
    protection: Protection,
    purpose: Purpose,
}

enum Protection {
    Plaintext,
    Connecting {
        config: Arc<ClientConfig>,
        identity: Identity,
        /// The party at whose door this one knocks.
        door: Fingerprint,
    },
    Listening(Arc<ServerConfig>, Fingerprint),
}

impl Greeter {
    /// Makes the greeter of the side that connects.
    pub(super) fn connecting(security: &Security, purpose: Purpose) -> Result<Self, Error> {
        security.check()?;
        let protection = match (security.identity(), security.known().first()) {
            (Some(identity), Some(door)) => Protection::Connecting {
                config: tls::connecting(identity, security.known())?,
                identity: identity.clone(),
                door: door.fingerprint,
            },
            (None, _) => Protection::Plaintext,
            (Some(_), None) => return Err(Error::NobodyToMeet),
        };
        Ok(Self {
            protection,
            purpose,
        })
    }

    /// Makes the greeter of the side that listens.
    pub(super) fn listening(security: &Security, purpose: Purpose) -> Result<Self, Error> {
        security.check()?;
        let protection = match security.identity() {
            None => Protection::Plaintext,
            Some(identity) => {
                let config = tls::listening(identity, security.pins_of_callers())?;
                Protection::Listening(config, identity.fingerprint())
            }
        };
        Ok(Self {
            protection,
            purpose,
        })
    }

    /// Begins a greeting, and returns with it what this side sends first.
    pub(super) fn greet(&self) -> Result<(Greeting, Vec<u8>), Error> {
        let mut first = Vec::new();
        let greeting = match &self.protection {
            Protection::Plaintext => {
                let introduction = Introduction::new(&self.purpose);
                first = introduction.first();
                Greeting::Plaintext(introduction.into())
            }
            Protection::Connecting {
                config,
                identity,
                door,
            } => {
                let mut tls = tls::client(config, self.knock(identity, *door))?;
                write_out(&mut tls, &mut first);
                let greeting = TlsGreeting {
                    tls,
                    ours: identity.fingerprint(),
                    has_greeted: false,
                    introduction: Introduction::in_tls(&self.purpose),
                };
                Greeting::Tls(Opening::default(), Box::new(greeting))
            }
            Protection::Listening(config, ours) => {
                let hello = Hello {
                    config: config.clone(),
                    ours: *ours,
                    heard_bytes: 0,
                    acceptor: Acceptor::default(),
                    accepted: None,
                    rest: Vec::new(),
                    introduction: Some(Introduction::in_tls(&self.purpose)),
                };
                Greeting::Hello(Opening::default(), Box::new(hello))
            }
        };
        Ok((greeting, first))
    }

    /// Returns what the other side is to recognise this one by. Without it, it takes this side for
    /// a stranger until TLS has shown who it is.
    fn knock(&self, identity: &Identity, door: Fingerprint) -> Option<Vec<u8>> {
        match &self.purpose {
            Purpose::Meet => Some(
                Knock::new(identity, door, knock::now())?
                    .seal(door)
                    .to_vec(),
            ),
            Purpose::Dial(ticket, _) => Some(ticket.knock(knock::fresh_nonce()?)),
            Purpose::Accept(key) => Some(Ticket::of_invitation(key).knock(knock::fresh_nonce()?)),
            Purpose::LetIn(_) | Purpose::Invite(_) => None,
        }
    }
}

/// A greeting under way.
pub(super) enum Greeting {
    Plaintext(Box<Introduction>),
    /// In TLS, at the side that listens, until it answers.
    Hello(Opening, Box<Hello>),
    Tls(Opening, Box<TlsGreeting>),
}

/// The state of a greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// More is to come from the other end.
    Part,
    /// The other end has said its first words, and waits for an [answer](Greeting::answer).
    Hello,
    /// The other end is the peer.
    Peer,
}

/// The reason that a greeting failed.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: Error,
    /// The party with the pinned key has said so, and not just anybody.
    pub(super) is_authenticated: bool,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self {
            error,
            is_authenticated: false,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(Refusal { error, .. }: Refusal) -> Self {
        error.into()
    }
}

impl Greeting {
    /// Returns how many bytes may be given to it next. More would belong to what follows.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Plaintext(introduction) => introduction.due(),
            Self::Hello(..) | Self::Tls(..) => PIECE_BYTES,
        }
    }

    /// Takes in bytes from the other end, appends the answer to `answer`, even if there is a fault,
    /// and returns the state of the greeting.
    pub(super) fn take_in(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<Heard, Fault> {
        match self {
            Self::Plaintext(introduction) => {
                introduction.hear(bytes);
                let last = introduction.judge()?;
                answer.extend(last.iter().flatten());
                Ok(last.map_or(Heard::Part, |_| Heard::Peer))
            }
            Self::Hello(opening, hello) => opening.hear(bytes, |bytes| hello.feed(bytes, answer)),
            Self::Tls(opening, greeting) => {
                opening.hear(bytes, |bytes| greeting.feed(bytes, answer))
            }
        }
    }

    /// Returns the bytes by which somebody who waits for an answer wants to be recognised.
    pub(super) fn knock(&self) -> Option<&[u8]> {
        match self {
            Self::Hello(_, hello) => hello.accepted.as_ref()?.client_hello().alpn()?.next(),
            Self::Plaintext(_) | Self::Tls(..) => None,
        }
    }

    /// Answers the other end's first words, which is work.
    pub(super) fn answer(&mut self, answer: &mut Vec<u8>) -> Result<Heard, Fault> {
        let Self::Hello(_, hello) = self else {
            return Ok(Heard::Part);
        };
        let (mut greeting, rest) = hello.answer(answer)?;
        let heard = greeting.feed(&rest, answer);
        *self = Self::Tls(Opening(None), Box::new(greeting));
        heard
    }

    /// Returns whether the parties' turns to speak tell anything about the network. Without TLS,
    /// both speak at once.
    pub(super) fn takes_turns(&self) -> bool {
        !matches!(self, Self::Plaintext(_))
    }

    /// Returns the number of the stream that has been opened: 0 for that of a meeting.
    pub(super) fn stream(&self) -> u32 {
        match self {
            Self::Plaintext(introduction) => introduction.stream(),
            Self::Hello(..) => 0,
            Self::Tls(_, greeting) => greeting.introduction.stream(),
        }
    }

    /// Returns the TLS state, which may hold messages that followed the greeting.
    pub(super) fn into_tls(self) -> Option<Connection> {
        match self {
            Self::Plaintext(_) | Self::Hello(..) => None,
            Self::Tls(_, greeting) => Some(greeting.tls),
        }
    }
}

/// The first bytes of the other end where TLS is due, held back while they could be those of a bare
/// preamble, or of a stranger.
pub(super) struct Opening(Option<Vec<u8>>);

impl Default for Opening {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

impl Opening {
    /// Hands on to TLS what is for it.
    fn hear(
        &mut self,
        bytes: &[u8],
        mut feed: impl FnMut(&[u8]) -> Result<Heard, Fault>,
    ) -> Result<Heard, Fault> {
        let Some(mut opening) = self.0.take() else {
            return feed(bytes);
        };
        opening.extend_from_slice(bytes);
        match stranger::guess(&opening) {
            Guess::Undecided => {
                self.0 = Some(opening);
                return Ok(Heard::Part);
            }
            Guess::Known(what) => return Err(Error::NotPsijoin(what).into()),
            Guess::Unknown => {}
        }
        match preamble::is_bare(&opening) {
            None => {
                self.0 = Some(opening);
                Ok(Heard::Part)
            }
            Some(false) => feed(&opening),
            Some(true) => {
                // The answer of TLS shows the other side what this one speaks.
                let _ = feed(&opening);
                Err(preamble::tls_was_due().into())
            }
        }
    }
}

/// The first words of whoever connected, as the side that listens hears them. They cost it
/// nothing but hearing.
pub(super) struct Hello {
    config: Arc<ServerConfig>,
    ours: Fingerprint,
    heard_bytes: usize,
    acceptor: Acceptor,
    accepted: Option<Accepted>,
    /// The bytes after them.
    rest: Vec<u8>,
    /// Until the answer.
    introduction: Option<Introduction>,
}

impl Hello {
    fn feed(&mut self, mut bytes: &[u8], answer: &mut Vec<u8>) -> Result<Heard, Fault> {
        self.heard_bytes += bytes.len();
        if self.heard_bytes > MAX_HELLO_BYTES {
            return Err(Error::NotPsijoin("its first words do not end").into());
        }
        while self.accepted.is_none() && !bytes.is_empty() {
            let read = self.acceptor.read_tls(&mut bytes);
            read.map_err(|_| Error::NotPsijoin("its first words do not end"))?;
            let accepted = self.acceptor.accept();
            self.accepted = accepted.map_err(|refused| self.refuse(refused, answer))?;
        }
        self.rest.extend_from_slice(bytes);
        Ok(match self.accepted {
            Some(_) => Heard::Hello,
            None => Heard::Part,
        })
    }

    /// Answers, and gives what is still to be heard.
    fn answer(&mut self, answer: &mut Vec<u8>) -> Result<(TlsGreeting, Vec<u8>), Fault> {
        let (Some(accepted), Some(introduction)) = (self.accepted.take(), self.introduction.take())
        else {
            return Err(Error::ClosedDuringSetup.into());
        };
        let mut tls =
            tls::server(accepted, &self.config).map_err(|refused| self.refuse(refused, answer))?;
        write_out(&mut tls, answer);
        let greeting = TlsGreeting {
            tls,
            ours: self.ours,
            has_greeted: false,
            introduction,
        };
        Ok((greeting, std::mem::take(&mut self.rest)))
    }

    fn refuse(&self, (error, mut alert): (TlsError, AcceptedAlert), answer: &mut Vec<u8>) -> Fault {
        alert
            .write_all(answer)
            .expect("writing to memory never fails");
        tls::explain(error, self.ours).into()
    }
}

/// The TLS handshake, and the introduction inside of it.
///
/// The side that connected is done with the handshake before the other has judged its key:
/// only the other's words show that it was accepted.
pub(super) struct TlsGreeting {
    tls: Connection,
    /// The fingerprint of this side.
    ours: Fingerprint,
    /// The handshake is over, and this side has said its first words.
    has_greeted: bool,
    introduction: Introduction,
}

impl TlsGreeting {
    fn feed(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<Heard, Fault> {
        let Self {
            tls, introduction, ..
        } = self;
        let taken_in = tls::take_in(tls, bytes, |tls| introduction.hear(tls.reader()));
        let was_authenticated = self.has_greeted;
        if taken_in.is_ok() && !self.has_greeted && !self.tls.is_handshaking() {
            self.introduction.enter(&self.tls, self.ours)?;
            self.say(&self.introduction.first());
            self.has_greeted = true;
        }
        write_out(&mut self.tls, answer);
        taken_in.map_err(|error| Fault {
            // Anybody on the way can damage what TLS then finds fault with.
            is_authenticated: was_authenticated && matches!(error, TlsError::AlertReceived(_)),
            error: tls::explain(error, self.ours),
        })?;
        let (last, heard) = match self.introduction.judge() {
            Ok(None) => return Ok(Heard::Part),
            Ok(Some(last)) => (last, Ok(Heard::Peer)),
            Err(Refusal { error, answer }) => {
                let is_authenticated = true;
                (
                    answer,
                    Err(Fault {
                        error,
                        is_authenticated,
                    }),
                )
            }
        };
        self.say(&last);
        write_out(&mut self.tls, answer);
        heard
    }

    fn say(&mut self, words: &[u8]) {
        let said = self.tls.writer().write_all(words);
        said.expect("the buffer has no limit");
    }
}

fn write_out(tls: &mut Connection, to: &mut Vec<u8>) {
    tls::write_out(tls, to).expect("writing to memory never fails");
}

#[cfg(test)]
mod tests {
    use std::{sync::LazyLock, time::Duration};

    use proptest::{collection::vec, prelude::*};
    use psijoin_channel::joint_seed::JointSeed;

    use super::super::introduction::Register;
    use super::*;
    use crate::{
        Identity,
        knock::{Ear, Used, Verdict},
        preamble::Occasion,
        ticket::Ticket,
    };

    /// One end of a connection without a network.
    struct End {
        greeting: Greeting,
        unsent: Vec<u8>,
    }

    impl End {
        fn new(greeter: &Greeter) -> Self {
            let (greeting, unsent) = greeter.greet().unwrap();
            Self { greeting, unsent }
        }

        /// Takes the other end's bytes, at most `piece_bytes` at a time.
        fn hear(&mut self, other: &mut Self, piece_bytes: usize) -> Result<bool, Fault> {
            let mut is_found = false;
            while !other.unsent.is_empty() {
                let room = self.greeting.room().min(piece_bytes);
                let piece: Vec<u8> = other.unsent.drain(..room.min(other.unsent.len())).collect();
                let mut heard = self.greeting.take_in(&piece, &mut self.unsent)?;
                if heard == Heard::Hello {
                    heard = self.greeting.answer(&mut self.unsent)?;
                }
                is_found |= heard == Heard::Peer;
            }
            Ok(is_found)
        }

        fn tls(&mut self) -> &mut TlsGreeting {
            match &mut self.greeting {
                Greeting::Tls(_, greeting) => greeting,
                _ => panic!("this greeting is in TLS, and answered"),
            }
        }
    }

    fn pinned(identity: &Identity, peer: &Identity) -> Security {
        Security::PinnedTls {
            identity: identity.clone(),
            peer: peer.fingerprint(),
        }
    }

    /// Returns a client and a server that meet.
    fn ends(client: &Security, server: &Security) -> (End, End) {
        ends_for([Purpose::Meet, Purpose::Meet], client, server)
    }

    fn ends_for(
        [client_is_for, server_is_for]: [Purpose; 2],
        client: &Security,
        server: &Security,
    ) -> (End, End) {
        (
            End::new(&Greeter::connecting(client, client_is_for).unwrap()),
            End::new(&Greeter::listening(server, server_is_for).unwrap()),
        )
    }

    /// Lets both ends speak until each knows whether the other is the peer.
    fn introduce(client: &mut End, server: &mut End, piece_bytes: usize) -> Result<(), Fault> {
        let mut found = (false, false);
        while found != (true, true) {
            let silent = client.unsent.is_empty() && server.unsent.is_empty();
            assert!(!silent, "both ends wait for each other");
            found.1 |= server.hear(client, piece_bytes)?;
            found.0 |= client.hear(server, piece_bytes)?;
        }
        Ok(())
    }

    fn ticket(byte: u8) -> Ticket {
        Ticket::of_streams(&JointSeed::insecure_fixed([byte; 32]))
    }

    fn pinned_ends() -> (End, End) {
        let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
        ends(&pinned(&a, &b), &pinned(&b, &a))
    }

    fn fault<T: std::fmt::Debug>(heard: Result<T, Fault>) -> Fault {
        heard.expect_err("a fault was due")
    }

    #[test]
    fn what_speaks_before_the_peer_is_named_on_both_sides() {
        for [client, server] in securities() {
            for words in [
                &b"PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n"[..],
                b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c",
                b"HTTP/1.1 400 Bad Request\r\n",
                b"GET /health HTTP/1.0\r\n",
                b"SSH-2.0-OpenSSH_9.6\r\n",
            ] {
                for piece_bytes in [1, 4096] {
                    let (client, server) = ends(&client, &server);
                    for mut end in [client, server] {
                        let mut stranger = End {
                            greeting: Greeter::listening(
                                &Security::InsecurePlaintext,
                                Purpose::Meet,
                            )
                            .unwrap()
                            .greet()
                            .unwrap()
                            .0,
                            unsent: words.to_vec(),
                        };
                        let named = fault(end.hear(&mut stranger, piece_bytes));
                        assert!(
                            matches!(named.error, Error::NotPsijoin(what) if what.contains(": ")),
                            "{}",
                            named.error
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn peers_find_each_other_in_any_pieces() {
        let plaintext = Security::InsecurePlaintext;
        for piece_bytes in [1, 5, 4096] {
            for (mut client, mut server) in [pinned_ends(), ends(&plaintext, &plaintext)] {
                introduce(&mut client, &mut server, piece_bytes).unwrap();
            }
        }
    }

    /// Securities of a client and a server.
    fn securities() -> [[Security; 2]; 2] {
        let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
        let plaintext = || Security::InsecurePlaintext;
        [[pinned(&a, &b), pinned(&b, &a)], [plaintext(), plaintext()]]
    }

    #[test]
    fn each_stream_is_let_in_once_in_any_pieces() {
        for [client, server] in securities() {
            let register = Register::new(ticket(1), 1..5);
            let dial = |stream, piece_bytes| {
                let dials = Purpose::Dial(ticket(1), stream);
                let lets_in = Purpose::LetIn(register.clone());
                let (mut client, mut server) = ends_for([dials, lets_in], &client, &server);
                introduce(&mut client, &mut server, piece_bytes)?;
                assert_eq!(
                    [client, server].map(|end| end.greeting.stream()),
                    [stream; 2]
                );
                Ok::<_, Fault>(())
            };
            for (stream, piece_bytes) in [(3, 1), (1, 5), (4, 4096)] {
                dial(stream, piece_bytes).unwrap();
            }
            // That of the meeting, one that is in, and those that nobody expects.
            for stream in [0, 1, 5, 255] {
                let other = dial(stream, 4096).unwrap_err();
                assert!(matches!(other.error, Error::OtherSession));
            }
            dial(2, 4096).unwrap();
        }
    }

    #[test]
    fn another_ticket_or_occasion_is_another_session() {
        let lets_in = || Purpose::LetIn(Register::new(ticket(1), 1..5));
        let dials = |byte| Purpose::Dial(ticket(byte), 1);
        for [client, server] in securities() {
            for purposes in [
                [dials(2), lets_in()],
                [dials(1), Purpose::Meet],
                [Purpose::Meet, lets_in()],
            ] {
                let (mut client, mut server) = ends_for(purposes, &client, &server);
                let other = introduce(&mut client, &mut server, 4096).unwrap_err();
                assert!(matches!(other.error, Error::OtherSession));
            }
        }
    }

    #[test]
    fn the_first_words_show_who_may_be_there_and_decide_nothing() {
        let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
        let ours = b.fingerprint();
        let hour = |time: u64| Knock::new(&a, ours, time).unwrap().seal(ours).to_vec();
        let now = knock::now();
        for (knock, expected) in [
            (Some(hour(now)), Some(Verdict::Peer)),
            (
                Some(hour(now - 3600)),
                Some(Verdict::ClocksDiffer(Duration::from_secs(3600))),
            ),
            (Some(vec![7; 9]), Some(Verdict::Anybody)),
            (None, None),
        ] {
            let (mut client, mut server) = ends(&pinned(&a, &b), &pinned(&b, &a));
            let config = tls::connecting(&a, vec![ours.into()]).unwrap();
            client.tls().tls = tls::client(&config, knock).unwrap();
            let mut hello = Vec::new();
            write_out(&mut client.tls().tls, &mut hello);
            client.unsent.clear();
            let heard = server.greeting.take_in(&hello, &mut server.unsent);
            assert_eq!(heard.unwrap(), Heard::Hello);
            // Nothing was said or computed yet.
            assert!(server.unsent.is_empty());
            let mut ear = Ear::new(a.fingerprint(), ours, &Used::default());
            let verdict = server.greeting.knock().map(|said| ear.judge(said, now));
            assert_eq!(verdict, expected);
            // Whatever it is, TLS shows that it is the peer.
            server.greeting.answer(&mut server.unsent).unwrap();
            introduce(&mut client, &mut server, 4096).unwrap();
        }
    }

    #[test]
    fn first_words_have_to_end() {
        let (_, mut server) = pinned_ends();
        // A record that announces as much as TLS allows, of a message that is longer still.
        let mut said = vec![0x16, 3, 1, 0x40, 0, 1, 0, 0x80, 0];
        said.resize(MAX_HELLO_BYTES + PIECE_BYTES, 0);
        let ended = said
            .chunks(PIECE_BYTES)
            .map(|piece| server.greeting.take_in(piece, &mut Vec::new()))
            .position(|heard| heard.is_err());
        assert!(ended.is_some());
    }

    /// Somebody in between who sends a party's words back to it.
    #[test]
    fn what_a_party_says_itself_is_no_answer() {
        let plaintext = Security::InsecurePlaintext;
        let dials = Greeter::connecting(&plaintext, Purpose::Dial(ticket(1), 1)).unwrap();
        let (mut greeting, first) = dials.greet().unwrap();
        let heard = &first[..greeting.room()];
        let echo = fault(greeting.take_in(heard, &mut Vec::new()));
        assert!(matches!(echo.error, Error::OtherSession));
    }

    #[test]
    fn a_refusal_counts_as_the_peers_only_from_the_peer() {
        let [a, b, c] = std::array::from_fn(|_| Identity::generate().unwrap());
        // The server expects somebody else, and sends that error after it has proved who it is.
        let (mut client, mut server) = ends(&pinned(&a, &b), &pinned(&b, &c));
        server.hear(&mut client, 4096).ok().unwrap();
        client.hear(&mut server, 4096).ok().unwrap();
        let wrong = fault(server.hear(&mut client, 4096));
        assert!(matches!(wrong.error, Error::WrongPeer { found, .. } if found == a.fingerprint()));
        let refused = fault(client.hear(&mut server, 4096));
        assert!(matches!(refused.error, Error::Refused { .. }));
        assert!(refused.is_authenticated);

        // Anybody can send the same alert before.
        let certificate_unknown = [0x15, 3, 3, 0, 2, 2, 46];
        let (mut client, mut server) = pinned_ends();
        let refuse =
            |end: &mut End| fault(end.greeting.take_in(&certificate_unknown, &mut Vec::new()));
        let [refused, no_hello] = [refuse(&mut client), refuse(&mut server)];
        assert!(matches!(refused.error, Error::Refused { .. }));
        assert!(matches!(no_hello.error, Error::NotPsijoin(_)));
        assert!(!refused.is_authenticated && !no_hello.is_authenticated);
    }

    #[test]
    fn a_wrong_key_is_anybodys() {
        let [a, b, c] = std::array::from_fn(|_| Identity::generate().unwrap());
        let (mut client, mut server) = ends(&pinned(&a, &b), &pinned(&c, &a));
        server.hear(&mut client, 4096).ok().unwrap();
        let wrong = fault(client.hear(&mut server, 4096));
        assert!(matches!(wrong.error, Error::WrongPeer { found, .. } if found == c.fingerprint()));
        assert!(!wrong.is_authenticated);
    }

    #[test]
    fn another_version_inside_of_tls_is_the_peers_answer() {
        let (mut client, mut server) = pinned_ends();
        server.hear(&mut client, 4096).ok().unwrap();
        // The server sends something else than its preamble.
        server.tls().has_greeted = true;
        client.hear(&mut server, 4096).ok().unwrap();
        server.hear(&mut client, 4096).ok().unwrap();
        let mut words = Vec::new();
        let tls = &mut server.tls().tls;
        tls.writer().write_all(b"psijoin\xff").unwrap();
        write_out(tls, &mut words);
        server.unsent = words;
        let version = fault(client.hear(&mut server, 4096));
        assert!(matches!(version.error, Error::Version { theirs: 255, .. }));
        assert!(version.is_authenticated);
    }

    #[test]
    fn what_was_damaged_on_the_way_is_nobodys_answer() {
        for damage in [[0x17, 3, 3, 0, 1, 9], [0x15, 3, 3, 0, 1, 9], [9; 6]] {
            let (mut client, mut server) = pinned_ends();
            server.hear(&mut client, 4096).ok().unwrap();
            client.hear(&mut server, 4096).ok().unwrap();
            let fault = fault(client.greeting.take_in(&damage, &mut Vec::new()));
            assert!(!fault.is_authenticated);
        }
    }

    /// The party that listens, and somebody who does not have the key that it expects.
    static STRANGERS: LazyLock<[Identity; 3]> =
        LazyLock::new(|| std::array::from_fn(|_| Identity::generate().unwrap()));

    proptest! {
        /// A greeting that a stranger begins like a party of TLS, like one without, or not at all.
        #[test]
        fn nothing_that_a_stranger_says_makes_it_the_peer(
            kept in 0..400_usize,
            begins_as in 0..3,
            pieces in vec(vec(any::<u8>(), 0..100), 0..6),
        ) {
            let [listener, peer, stranger] = &*STRANGERS;
            let (client, mut server) =
                ends(&pinned(stranger, listener), &pinned(listener, peer));
            let mut said = match begins_as {
                0 => client.unsent,
                1 => preamble::ours(Occasion::Meeting).to_vec(),
                _ => Vec::new(),
            };
            said.truncate(kept);
            for piece in [said].into_iter().chain(pieces) {
                let heard = match server.greeting.take_in(&piece, &mut Vec::new()) {
                    Ok(Heard::Hello) => server.greeting.answer(&mut Vec::new()),
                    heard => heard,
                };
                match heard {
                    Ok(heard) => prop_assert_ne!(heard, Heard::Peer),
                    Err(fault) => {
                        prop_assert!(!fault.is_authenticated);
                        break;
                    }
                }
            }
        }
    }
}

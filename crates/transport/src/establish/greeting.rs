//! The exchange on a fresh connection until the other end has proved to be the peer: a state
//! machine that takes bytes and gives bytes, and knows no socket.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use rustls::{ClientConfig, Connection, ServerConfig};

use crate::{
    Error, Fingerprint, Security,
    preamble::{self, PADDING_BYTES, PREAMBLE_BYTES},
    tls,
};

/// How many raw bytes are taken in at once.
pub(super) const PIECE_BYTES: usize = 4096;

/// What begins greetings.
pub(super) enum Greeter {
    Plaintext,
    Connecting(Arc<ClientConfig>, Fingerprint),
    Listening(Arc<ServerConfig>, Fingerprint),
}

impl Greeter {
    /// For the side that connects.
    pub(super) fn connecting(security: &Security) -> Result<Self, Error> {
        Ok(match security {
            Security::InsecurePlaintext => Self::Plaintext,
            Security::PinnedTls { identity, peer } => {
                Self::Connecting(tls::connecting(identity, *peer)?, identity.fingerprint())
            }
        })
    }

    /// For the side that listens.
    pub(super) fn listening(security: &Security) -> Result<Self, Error> {
        Ok(match security {
            Security::InsecurePlaintext => Self::Plaintext,
            Security::PinnedTls { identity, peer } => {
                Self::Listening(tls::listening(identity, *peer)?, identity.fingerprint())
            }
        })
    }

    /// Begins a greeting, and gives what this side says first.
    pub(super) fn greet(&self) -> Result<(Greeting, Vec<u8>), Error> {
        let (mut tls, ours) = match self {
            Self::Plaintext => {
                let greeting = Greeting::Plaintext(Preamble::bare());
                return Ok((greeting, preamble::ours().to_vec()));
            }
            Self::Connecting(config, ours) => (tls::client(config)?, *ours),
            Self::Listening(config, ours) => (tls::server(config)?, *ours),
        };
        let mut first = Vec::new();
        write_out(&mut tls, &mut first);
        let greeting = Greeting::Tls(Box::new(TlsGreeting {
            tls,
            ours,
            opening: Some(Vec::new()),
            has_greeted: false,
            theirs: Preamble::padded(),
        }));
        Ok((greeting, first))
    }
}

/// A greeting under way.
pub(super) enum Greeting {
    Plaintext(Preamble),
    Tls(Box<TlsGreeting>),
}

/// Why a greeting failed.
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

impl Greeting {
    /// How many bytes may be given to it next. More would belong to what follows.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Plaintext(theirs) => PREAMBLE_BYTES - theirs.filled,
            Self::Tls(_) => PIECE_BYTES,
        }
    }

    /// Takes in bytes from the other end, appends to `answer` what is to be said then, even in
    /// case of a fault, and tells whether the peer is found.
    pub(super) fn take_in(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<bool, Fault> {
        match self {
            Self::Plaintext(theirs) => {
                theirs.fill_from(bytes);
                Ok(theirs.check()?)
            }
            Self::Tls(greeting) => greeting.take_in(bytes, answer),
        }
    }

    /// Whether the parties' turns to speak say anything about the network. Without TLS, both speak
    /// at once.
    pub(super) fn takes_turns(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// The TLS state, which may hold messages that followed the greeting.
    pub(super) fn into_tls(self) -> Option<Connection> {
        match self {
            Self::Plaintext(_) => None,
            Self::Tls(greeting) => Some(greeting.tls),
        }
    }
}

/// The other end's preamble, as far as it has come.
pub(super) struct Preamble {
    bytes: [u8; PREAMBLE_BYTES],
    filled: usize,
    /// What is still to come after it.
    padding_left: usize,
}

impl Preamble {
    fn bare() -> Self {
        Self {
            bytes: [0; PREAMBLE_BYTES],
            filled: 0,
            padding_left: 0,
        }
    }

    fn padded() -> Self {
        Self {
            padding_left: PADDING_BYTES,
            ..Self::bare()
        }
    }

    fn fill_from(&mut self, mut source: impl Read) {
        // An error says that there is nothing now.
        self.filled += source.read(&mut self.bytes[self.filled..]).unwrap_or(0);
        if self.filled == PREAMBLE_BYTES && self.padding_left > 0 {
            let padding = &mut [0; PADDING_BYTES][..self.padding_left];
            self.padding_left -= source.read(padding).unwrap_or(0);
        }
    }

    /// Whether it is complete.
    fn check(&self) -> Result<bool, Error> {
        preamble::check(&self.bytes[..self.filled])?;
        Ok(self.filled == PREAMBLE_BYTES && self.padding_left == 0)
    }
}

/// The TLS handshake, and the preambles inside of it.
///
/// The side that connected is done with the handshake before the other has judged its key:
/// only the other's preamble shows that it was accepted.
pub(super) struct TlsGreeting {
    tls: Connection,
    /// Who this side is.
    ours: Fingerprint,
    /// The first bytes, held back while they could be those of a bare preamble.
    opening: Option<Vec<u8>>,
    /// The handshake is over, and this side has sent its preamble.
    has_greeted: bool,
    theirs: Preamble,
}

impl TlsGreeting {
    fn take_in(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<bool, Fault> {
        let Some(mut opening) = self.opening.take() else {
            return self.feed(bytes, answer);
        };
        opening.extend_from_slice(bytes);
        match preamble::is_bare(&opening) {
            None => {
                self.opening = Some(opening);
                Ok(false)
            }
            Some(false) => self.feed(&opening, answer),
            Some(true) => {
                // The answer of TLS shows the other side what this one speaks.
                let _ = self.feed(&opening, answer);
                Err(preamble::tls_was_due().into())
            }
        }
    }

    fn feed(&mut self, bytes: &[u8], answer: &mut Vec<u8>) -> Result<bool, Fault> {
        let Self { tls, theirs, .. } = self;
        let taken_in = tls::take_in(tls, bytes, |tls| theirs.fill_from(tls.reader()));
        let was_authenticated = self.has_greeted;
        if taken_in.is_ok() && !self.has_greeted && !self.tls.is_handshaking() {
            let greeted = self.tls.writer().write_all(&preamble::padded());
            greeted.expect("the buffer has no limit");
            self.has_greeted = true;
        }
        write_out(&mut self.tls, answer);
        taken_in.map_err(|error| Fault {
            // Anybody on the way can damage what TLS then finds fault with.
            is_authenticated: was_authenticated && matches!(error, rustls::Error::AlertReceived(_)),
            error: tls::explain(error, self.ours),
        })?;
        self.theirs.check().map_err(|error| Fault {
            error,
            is_authenticated: true,
        })
    }
}

fn write_out(tls: &mut Connection, to: &mut Vec<u8>) {
    tls::write_out(tls, to).expect("writing to memory never fails");
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::Identity;

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

        /// Takes what the other end has to say, at most `piece_bytes` at a time.
        fn hear(&mut self, other: &mut Self, piece_bytes: usize) -> Result<bool, Fault> {
            let mut is_found = false;
            while !other.unsent.is_empty() {
                let room = self.greeting.room().min(piece_bytes);
                let piece: Vec<u8> = other.unsent.drain(..room.min(other.unsent.len())).collect();
                is_found |= self.greeting.take_in(&piece, &mut self.unsent)?;
            }
            Ok(is_found)
        }

        fn tls(&mut self) -> &mut TlsGreeting {
            match &mut self.greeting {
                Greeting::Tls(greeting) => greeting,
                Greeting::Plaintext(_) => panic!("this greeting is in TLS"),
            }
        }
    }

    fn pinned(identity: &Identity, peer: &Identity) -> Security {
        Security::PinnedTls {
            identity: identity.clone(),
            peer: peer.fingerprint(),
        }
    }

    /// A client and a server.
    fn ends(client: &Security, server: &Security) -> (End, End) {
        (
            End::new(&Greeter::connecting(client).unwrap()),
            End::new(&Greeter::listening(server).unwrap()),
        )
    }

    fn pinned_ends() -> (End, End) {
        let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
        ends(&pinned(&a, &b), &pinned(&b, &a))
    }

    fn fault(heard: Result<bool, Fault>) -> Fault {
        heard.expect_err("a fault was due")
    }

    #[test]
    fn peers_find_each_other_in_any_pieces() {
        let plaintext = Security::InsecurePlaintext;
        for piece_bytes in [1, 5, 4096] {
            for (mut client, mut server) in [pinned_ends(), ends(&plaintext, &plaintext)] {
                let mut found = (false, false);
                while found != (true, true) {
                    found.1 |= server.hear(&mut client, piece_bytes).ok().unwrap();
                    found.0 |= client.hear(&mut server, piece_bytes).ok().unwrap();
                }
            }
        }
    }

    #[test]
    fn a_refusal_counts_as_the_peers_only_from_the_peer() {
        let [a, b, c] = std::array::from_fn(|_| Identity::generate().unwrap());
        // The server expects somebody else, and says so after it has proved who it is.
        let (mut client, mut server) = ends(&pinned(&a, &b), &pinned(&b, &c));
        server.hear(&mut client, 4096).ok().unwrap();
        client.hear(&mut server, 4096).ok().unwrap();
        let wrong = fault(server.hear(&mut client, 4096));
        assert!(matches!(wrong.error, Error::WrongPeer { found, .. } if found == a.fingerprint()));
        let refused = fault(client.hear(&mut server, 4096));
        assert!(matches!(refused.error, Error::Refused { .. }));
        assert!(refused.is_authenticated);

        // Anybody can say the same before.
        let certificate_unknown = [0x15, 3, 3, 0, 2, 2, 46];
        let (mut client, mut server) = pinned_ends();
        for end in [&mut client, &mut server] {
            let refused = fault(end.greeting.take_in(&certificate_unknown, &mut Vec::new()));
            assert!(matches!(refused.error, Error::Refused { .. }));
            assert!(!refused.is_authenticated);
        }
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
        // The server says something else than its preamble.
        server.tls().has_greeted = true;
        server.hear(&mut client, 4096).ok().unwrap();
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

    /// Who listens, and somebody who does not have the key that it expects.
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
                1 => preamble::ours().to_vec(),
                _ => Vec::new(),
            };
            said.truncate(kept);
            for piece in [said].into_iter().chain(pieces) {
                match server.greeting.take_in(&piece, &mut Vec::new()) {
                    Ok(is_peer) => prop_assert!(!is_peer),
                    Err(fault) => {
                        prop_assert!(!fault.is_authenticated);
                        break;
                    }
                }
            }
        }
    }
}

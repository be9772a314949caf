//! Both parties in one process, joined over loopback.

use std::thread;

use psijoin_channel::Channel;
use psijoin_transport::{Connection, Error, Identity, Listener, Options, Security};

/// The tools by which both parties meet each other on this machine.
pub struct Loopback {
    listener: Listener,
    listening: Options,
    connecting: Options,
}

impl Loopback {
    /// Makes a pair with TLS between two fresh identities.
    ///
    /// # Errors
    /// If there is no randomness, or no port.
    pub fn tls() -> Result<Self, Error> {
        let (a, b) = (Identity::generate()?, Identity::generate()?);
        let (a_is, b_is) = (a.fingerprint(), b.fingerprint());
        Self::new(
            Security::PinnedTls {
                identity: a,
                peer: b_is,
            },
            Security::PinnedTls {
                identity: b,
                peer: a_is,
            },
        )
    }

    /// Makes a pair with plain TCP.
    ///
    /// # Errors
    /// If there is no port.
    pub fn plaintext() -> Result<Self, Error> {
        Self::new(Security::InsecurePlaintext, Security::InsecurePlaintext)
    }

    fn new(listening: Security, connecting: Security) -> Result<Self, Error> {
        let mut listening = Options::new(listening);
        listening.streams = true;
        Ok(Self {
            listener: Listener::bind(&"127.0.0.1:0".parse()?)?,
            listening,
            connecting: Options::new(connecting),
        })
    }

    /// Lets both meet. They may open further streams.
    ///
    /// # Errors
    /// If they cannot.
    pub fn meet(self) -> Result<[(Connection, Channel); 2], Error> {
        let address = self.listener.address().clone();
        thread::scope(|scope| {
            let connecting = scope.spawn(|| Connection::connect(&address, &self.connecting));
            let listening = Connection::accept(self.listener, &self.listening);
            let connecting = match connecting.join() {
                Ok(connected) => connected,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok([listening?, connecting?])
        })
    }
}

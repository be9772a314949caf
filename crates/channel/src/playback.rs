//! A peer whose messages are known beforehand.
//!
//! A party that runs against its peer's messages of another run, with the same randomness, sends
//! and learns the same as then, and nobody else computes meanwhile: so it can be measured alone.
//!
//! ```
//! use psijoin_channel::{memory, playback::playback, transcript::recorded};
//!
//! let (alice, mut bob) = memory::pair();
//! let (mut alice, said) = recorded(alice);
//! alice.send(b"hello")?;
//! bob.recv_array::<5>()?;
//!
//! let mut bob_again = playback(said.messages());
//! assert_eq!(bob_again.recv_array()?, *b"hello");
//! bob_again.send(b"nobody hears this")?;
//! # Ok::<(), psijoin_channel::Error>(())
//! ```

use crate::{AbortCode, Channel, Error, Inbound, Outbound};

/// Returns a channel whose peer sends these messages, at once, and receives nothing.
pub fn playback(messages: Vec<Vec<u8>>) -> Channel {
    Channel::new(
        Nobody,
        Messages {
            said: messages,
            heard: 0,
        },
    )
}

struct Nobody;

impl Outbound for Nobody {
    fn send(&mut self, _message: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn abort(&mut self, _code: AbortCode) {}
}

/// They are kept until the end: giving them back one by one would look as if the party took less
/// memory.
struct Messages {
    said: Vec<Vec<u8>>,
    heard: usize,
}

impl Inbound for Messages {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let said = self.said.get(self.heard).ok_or(Error::Closed)?;
        self.heard += 1;
        if said.len() != message.len() {
            return Err(Error::MessageLength {
                expected: message.len(),
                received: said.len(),
            });
        }
        message.copy_from_slice(said);
        Ok(())
    }
}

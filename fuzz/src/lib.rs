//! The tools of the fuzz targets.

use std::collections::VecDeque;

use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound};

/// Returns a channel to a peer that sends these messages, each cut or padded to the length that is
/// expected, and then goes away.
pub fn scripted_channel(messages: Vec<Vec<u8>>) -> Channel {
    Channel::new(Nowhere, Script(messages.into()))
}

/// Returns a channel whose peer sends `honest` messages of an honest run. Then it is gone, and the
/// rest comes as from [`scripted_channel`].
pub fn scripted_after(honest: usize, channel: Channel, messages: Vec<Vec<u8>>) -> Channel {
    channel.decorate(Deaf, |inbound| Lapse {
        honest: Some((honest, inbound)),
        script: Script(messages.into()),
    })
}

struct Nowhere;

impl Outbound for Nowhere {
    fn send(&mut self, _message: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn abort(&mut self, _code: AbortCode) {}
}

/// Does not notice when the peer is gone.
struct Deaf(Box<dyn Outbound>);

impl Outbound for Deaf {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let _ = self.0.send(message);
        Ok(())
    }

    fn abort(&mut self, code: AbortCode) {
        self.0.abort(code);
    }
}

struct Script(VecDeque<Vec<u8>>);

impl Inbound for Script {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let scripted = self.0.pop_front().ok_or(Error::Closed)?;
        let length = scripted.len().min(message.len());
        message.fill(0);
        message[..length].copy_from_slice(&scripted[..length]);
        Ok(())
    }
}

struct Lapse {
    /// The number of messages left, and their source.
    honest: Option<(usize, Box<dyn Inbound>)>,
    script: Script,
}

impl Inbound for Lapse {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        match &mut self.honest {
            Some((left, inbound)) if *left > 0 => {
                *left -= 1;
                inbound.recv(message)
            }
            _ => {
                // Closed, so that the peer does not wait for room.
                self.honest = None;
                self.script.recv(message)
            }
        }
    }
}

//! What the fuzz targets share.

use std::collections::VecDeque;

use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound};

/// A channel to a peer that sends these messages, each cut or padded to the length that is
/// expected, and then goes away.
pub fn scripted_channel(messages: Vec<Vec<u8>>) -> Channel {
    Channel::new(Nowhere, Script(messages.into()))
}

struct Nowhere;

impl Outbound for Nowhere {
    fn send(&mut self, _message: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn abort(&mut self, _code: AbortCode) {}
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

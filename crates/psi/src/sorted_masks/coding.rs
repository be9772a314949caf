//! A stream of bits of a length known in advance, sent in messages.

use psijoin_channel::{Inbound, Outbound};

use super::MESSAGE_BYTES;
use crate::Error;

/// Bits to messages. The lowest bit of a byte comes first.
pub(super) struct Writer<'a> {
    outbound: &'a mut dyn Outbound,
    message: Vec<u8>,
    /// Bytes that are still to be sent, those of `message` included.
    left: u64,
    pending: u64,
    pending_bits: u32,
}

impl<'a> Writer<'a> {
    /// Will send `bytes` in all.
    pub(super) fn new(bytes: u64, outbound: &'a mut dyn Outbound) -> Self {
        Self {
            outbound,
            message: Vec::with_capacity(MESSAGE_BYTES),
            left: bytes,
            pending: 0,
            pending_bits: 0,
        }
    }

    /// So many zeros, and a one.
    #[inline]
    pub(super) fn unary(&mut self, mut zeros: u64) -> Result<(), Error> {
        while zeros >= 32 {
            self.push(0, 32)?;
            zeros -= 32;
        }
        self.push(1 << zeros, zeros as u32 + 1)
    }

    /// The lowest `count` bits, at most 128.
    #[inline]
    pub(super) fn bits(&mut self, mut value: u128, mut count: u32) -> Result<(), Error> {
        while count > 32 {
            self.push(value as u64 & 0xffff_ffff, 32)?;
            value >>= 32;
            count -= 32;
        }
        self.push(value as u64 & ((1 << count) - 1), count)
    }

    /// At most 33 bits, the others zero.
    #[inline]
    fn push(&mut self, value: u64, count: u32) -> Result<(), Error> {
        self.pending |= value << self.pending_bits;
        self.pending_bits += count;
        if self.pending_bits >= 64 {
            self.message.extend_from_slice(&self.pending.to_le_bytes());
            self.pending_bits -= 64;
            self.pending = value >> (count - self.pending_bits);
            if self.message.len() == MESSAGE_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.outbound.send(&self.message)?;
        self.left -= self.message.len() as u64;
        self.message.clear();
        Ok(())
    }

    /// Fills up with zeros.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let rest = self.left - self.message.len() as u64;
        let bytes = self.pending.to_le_bytes();
        let used = (rest as usize).min(bytes.len());
        self.message.extend_from_slice(&bytes[..used]);
        while self.left > 0 {
            let size = self.left.min(MESSAGE_BYTES as u64) as usize;
            let mut later = self.message.split_off(size.min(self.message.len()));
            self.message.resize(size, 0);
            self.flush()?;
            self.message.append(&mut later);
        }
        Ok(())
    }
}

/// Messages to bits.
pub(super) struct Reader<'a> {
    inbound: &'a mut dyn Inbound,
    message: Vec<u8>,
    next: usize,
    /// Bytes that are still to be received.
    left: u64,
    pending: u128,
    pending_bits: u32,
}

const TOO_FEW: Error = Error::Peer("its masks end too early");

impl<'a> Reader<'a> {
    /// Will receive `bytes` in all.
    pub(super) fn new(bytes: u64, inbound: &'a mut dyn Inbound) -> Self {
        Self {
            inbound,
            message: Vec::with_capacity(MESSAGE_BYTES),
            next: 0,
            left: bytes,
            pending: 0,
            pending_bits: 0,
        }
    }

    /// How many zeros come before a one.
    #[inline]
    pub(super) fn unary(&mut self) -> Result<u64, Error> {
        let mut zeros = 0;
        while self.pending == 0 {
            zeros += u64::from(self.pending_bits);
            self.pending_bits = 0;
            if !self.refill()? {
                return Err(TOO_FEW);
            }
        }
        let more = self.pending.trailing_zeros();
        self.take(more + 1);
        Ok(zeros + u64::from(more))
    }

    /// The next `count` bits, at most 128.
    #[inline]
    pub(super) fn bits(&mut self, count: u32) -> Result<u128, Error> {
        if count > 64 {
            let low = self.bits(64)?;
            return Ok(low | self.bits(count - 64)? << 64);
        }
        while self.pending_bits < count {
            if !self.refill()? {
                return Err(TOO_FEW);
            }
        }
        let bits = self.pending & ((1 << count) - 1);
        self.take(count);
        Ok(bits)
    }

    #[inline]
    fn take(&mut self, count: u32) {
        self.pending = self.pending.checked_shr(count).unwrap_or(0);
        self.pending_bits -= count;
    }

    /// Up to eight bytes more, with at most 64 bits pending; whether there were any.
    #[inline]
    fn refill(&mut self) -> Result<bool, Error> {
        if self.next == self.message.len() && !self.receive()? {
            return Ok(false);
        }
        let rest = &self.message[self.next..];
        let taken = rest.len().min(8);
        let mut word = [0; 8];
        word[..taken].copy_from_slice(&rest[..taken]);
        self.pending |= u128::from(u64::from_le_bytes(word)) << self.pending_bits;
        self.pending_bits += 8 * taken as u32;
        self.next += taken;
        Ok(true)
    }

    fn receive(&mut self) -> Result<bool, Error> {
        let size = self.left.min(MESSAGE_BYTES as u64);
        self.message.resize(size as usize, 0);
        self.next = 0;
        self.left -= size;
        if size > 0 {
            self.inbound.recv(&mut self.message)?;
        }
        Ok(size > 0)
    }

    /// Receives what is left, which must be zero.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let mut is_zero = self.pending == 0;
        loop {
            is_zero &= self.message[self.next..].iter().all(|byte| *byte == 0);
            if !self.receive()? {
                break;
            }
        }
        if !is_zero {
            return Err(Error::Peer("something follows its masks"));
        }
        Ok(())
    }
}

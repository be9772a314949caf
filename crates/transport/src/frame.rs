//! The layout of messages on the wire: a kind of 1 byte, the payload's length (4 bytes,
//! little-endian), the payload.
//!
//! | kind | payload | meaning |
//! |---|---|---|
//! | 1 | at most [`MAX_MESSAGE_BYTES`] | a message of the protocol |
//! | 2 | none | keep-alive: the party lives |
//! | 3 | 1 byte, an [`AbortCode`] | the party gives up |
//! | 4 | none | the party is done: it has received all it expects and will send no more |
//!
//! A reason to give up that only a later version knows counts as [`AbortCode::Unknown`].

use psijoin_channel::{AbortCode, MAX_MESSAGE_BYTES};

/// The length of what precedes each payload.
pub const HEADER_BYTES: usize = 5;

const DATA: u8 = 1;
const KEEP_ALIVE: u8 = 2;
const ABORT: u8 = 3;
const BYE: u8 = 4;

/// One frame, as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A message of the protocol.
    Data(Vec<u8>),
    /// The peer lives.
    KeepAlive,
    /// The peer gives up.
    Abort(AbortCode),
    /// The peer is done.
    Bye,
}

/// Appends a frame with a message of the protocol.
///
/// # Panics
/// If the message is longer than [`MAX_MESSAGE_BYTES`].
pub fn encode_data(message: &[u8], frame: &mut Vec<u8>) {
    assert!(
        message.len() <= MAX_MESSAGE_BYTES,
        "a message must be sent in smaller chunks"
    );
    frame.reserve(HEADER_BYTES + message.len());
    frame.push(DATA);
    frame.extend_from_slice(&(message.len() as u32).to_le_bytes());
    frame.extend_from_slice(message);
}

/// Returns the frame that shows that this party lives.
pub fn keep_alive() -> [u8; HEADER_BYTES] {
    [KEEP_ALIVE, 0, 0, 0, 0]
}

/// Returns the frame by which this party gives up.
pub fn abort(code: AbortCode) -> [u8; HEADER_BYTES + 1] {
    [ABORT, 1, 0, 0, 0, code as u8]
}

/// Returns the frame by which this party is done.
pub fn bye() -> [u8; HEADER_BYTES] {
    [BYE, 0, 0, 0, 0]
}

/// Cuts a stream of bytes into frames, however the bytes arrive.
///
/// It checks each header before it keeps anything of the payload, so that nothing longer
/// than [`MAX_MESSAGE_BYTES`] is ever stored. After an error, it must not be used further.
#[derive(Debug, Default)]
pub struct Decoder {
    header: [u8; HEADER_BYTES],
    header_filled: usize,
    payload: Vec<u8>,
}

/// The reason that bytes are not a frame, in words that fit
/// [`Malformed`](psijoin_channel::Error::Malformed).
pub type Fault = &'static str;

impl Decoder {
    /// Returns a decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes from the front of `input`, until a frame is complete or `input` is empty.
    ///
    /// # Errors
    /// If the bytes are not a frame.
    pub fn next_frame(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, Fault> {
        if self.header_filled < HEADER_BYTES {
            let taken = take(input, HEADER_BYTES - self.header_filled);
            self.header[self.header_filled..][..taken.len()].copy_from_slice(taken);
            self.header_filled += taken.len();
            if self.header_filled < HEADER_BYTES {
                return Ok(None);
            }
        }
        let payload_bytes = self.payload_bytes()?;
        self.payload.reserve(payload_bytes - self.payload.len());
        self.payload
            .extend_from_slice(take(input, payload_bytes - self.payload.len()));
        if self.payload.len() < payload_bytes {
            return Ok(None);
        }
        self.header_filled = 0;
        self.complete().map(Some)
    }

    /// Gives back a buffer for later payloads.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.payload.is_empty() && buffer.capacity() > self.payload.capacity() {
            buffer.clear();
            self.payload = buffer;
        }
    }

    /// Returns the length that the header announces, if a frame of its kind can be so long.
    fn payload_bytes(&self) -> Result<usize, Fault> {
        let [kind, length @ ..] = self.header;
        let length = u32::from_le_bytes(length) as usize;
        match kind {
            DATA if length <= MAX_MESSAGE_BYTES => Ok(length),
            DATA => Err("a message longer than any may be"),
            KEEP_ALIVE | BYE if length == 0 => Ok(0),
            ABORT if length == 1 => Ok(1),
            KEEP_ALIVE | BYE | ABORT => Err("a control frame of a wrong length"),
            _ => Err("a frame of an unknown kind"),
        }
    }

    fn complete(&mut self) -> Result<Frame, Fault> {
        Ok(match self.header[0] {
            DATA => Frame::Data(std::mem::take(&mut self.payload)),
            KEEP_ALIVE => Frame::KeepAlive,
            BYE => Frame::Bye,
            _ => {
                let code = self.payload.pop().map(AbortCode::from_wire);
                Frame::Abort(code.unwrap_or(AbortCode::Unknown))
            }
        })
    }
}

/// Cuts at most `limit` bytes from the front of `input`.
fn take<'a>(input: &mut &'a [u8], limit: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(limit.min(input.len()));
    *input = rest;
    taken
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn encode(frame: &Frame) -> Vec<u8> {
        match frame {
            Frame::Data(message) => {
                let mut bytes = Vec::new();
                encode_data(message, &mut bytes);
                bytes
            }
            Frame::KeepAlive => keep_alive().to_vec(),
            Frame::Abort(code) => abort(*code).to_vec(),
            Frame::Bye => bye().to_vec(),
        }
    }

    fn decode_all(decoder: &mut Decoder, mut input: &[u8]) -> Result<Vec<Frame>, Fault> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next_frame(&mut input)? {
            frames.push(frame);
        }
        assert!(input.is_empty());
        Ok(frames)
    }

    fn any_frame() -> impl Strategy<Value = Frame> {
        prop_oneof![
            vec(any::<u8>(), 0..300).prop_map(Frame::Data),
            Just(Frame::KeepAlive),
            Just(Frame::Bye),
            (1..=12u8).prop_map(|code| Frame::Abort(AbortCode::from_wire(code))),
        ]
    }

    #[test]
    fn the_longest_message_passes_and_one_byte_more_does_not() {
        let longest = Frame::Data(vec![7; MAX_MESSAGE_BYTES]);
        let decoded = decode_all(&mut Decoder::new(), &encode(&longest));
        assert_eq!(decoded, Ok(vec![longest]));

        let mut header = [DATA; HEADER_BYTES];
        header[1..].copy_from_slice(&(MAX_MESSAGE_BYTES as u32 + 1).to_le_bytes());
        let mut decoder = Decoder::new();
        assert!(decode_all(&mut decoder, &header).is_err());
        assert_eq!(decoder.payload.capacity(), 0);
    }

    #[test]
    fn what_is_no_frame_is_refused_at_its_header() {
        for (bytes, fault) in [
            ([0, 0, 0, 0, 0], "unknown kind"),
            ([5, 0, 0, 0, 0], "unknown kind"),
            ([KEEP_ALIVE, 1, 0, 0, 0], "wrong length"),
            ([BYE, 0, 0, 0, 1], "wrong length"),
            ([ABORT, 0, 0, 0, 0], "wrong length"),
            ([DATA, 255, 255, 255, 255], "longer than any"),
        ] {
            let error = decode_all(&mut Decoder::new(), &bytes).unwrap_err();
            assert!(error.contains(fault), "{error}");
        }
    }

    #[test]
    fn a_reason_of_a_later_version_is_a_reason() {
        let decoded = decode_all(&mut Decoder::new(), &[ABORT, 1, 0, 0, 0, 99]);
        assert_eq!(decoded, Ok(vec![Frame::Abort(AbortCode::Unknown)]));
    }

    proptest! {
        #[test]
        fn frames_survive_being_cut_anywhere(
            frames in vec(any_frame(), 0..8),
            piece_bytes in 1..64usize,
        ) {
            let bytes: Vec<u8> = frames.iter().flat_map(encode).collect();
            let mut decoder = Decoder::new();
            let mut decoded = Vec::new();
            for piece in bytes.chunks(piece_bytes) {
                decoded.extend(decode_all(&mut decoder, piece).unwrap());
                decoder.recycle(Vec::with_capacity(16));
            }
            prop_assert_eq!(decoded, frames);
        }

        #[test]
        fn random_bytes_never_panic(pieces in vec(vec(0..8u8, 0..32), 0..16)) {
            let mut decoder = Decoder::new();
            for piece in pieces {
                if decode_all(&mut decoder, &piece).is_err() {
                    break;
                }
            }
        }
    }
}

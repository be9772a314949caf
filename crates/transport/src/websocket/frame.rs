//! The frames of WebSocket (§5): messages as streams of bytes, and control frames.

use std::ops::Deref;

use blake3::{Hasher, OutputReader};
use ring::rand::{SecureRandom, SystemRandom};

use super::{Fault, Role};

/// The length of the longest content of a control frame.
pub const MAX_CONTROL_BYTES: usize = 125;

/// The length of the longest header of a frame.
pub const MAX_HEADER_BYTES: usize = 14;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;

/// The marks of lengths of two and of eight bytes.
const SHORT: u8 = 126;
const LONG: u8 = 127;

const MASK_BYTES: usize = 4;

type Mask = [u8; MASK_BYTES];

/// The content of a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    bytes: [u8; MAX_CONTROL_BYTES],
    length: usize,
}

impl Control {
    /// Returns a content, if it is short enough.
    pub fn new(content: &[u8]) -> Option<Self> {
        let mut control = Self::EMPTY;
        let bytes = control.bytes.get_mut(..content.len())?;
        bytes.copy_from_slice(content);
        control.length = content.len();
        Some(control)
    }

    const EMPTY: Self = Self {
        bytes: [0; MAX_CONTROL_BYTES],
        length: 0,
    };
}

impl Deref for Control {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The header of a frame, as it travels.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    bytes: [u8; MAX_HEADER_BYTES],
    length: usize,
}

impl Header {
    /// Returns the header of a whole message of `length` bytes from a server.
    pub fn of_server(length: usize) -> Self {
        Self::new(BINARY, length, None)
    }

    fn new(opcode: u8, length: usize, mask: Option<Mask>) -> Self {
        let mut header = Self {
            bytes: [0; MAX_HEADER_BYTES],
            length: 0,
        };
        let masked = if mask.is_some() { MASKED } else { 0 };
        header.push(&[FIN | opcode]);
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ 0..SHORT), _) => header.push(&[masked | short]),
            (_, Ok(short)) => {
                header.push(&[masked | SHORT]);
                header.push(&short.to_be_bytes());
            }
            _ => {
                header.push(&[masked | LONG]);
                header.push(&(length as u64).to_be_bytes());
            }
        }
        if let Some(mask) = mask {
            header.push(&mask);
        }
        header
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..][..bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}

impl Deref for Header {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Makes frames of one side. Every message is one frame.
pub struct Encoder {
    /// The source of a client's masks, which nobody may foresee (§10.3). A server has none.
    masks: Option<OutputReader>,
}

impl Encoder {
    /// Returns the encoder of a client, if the operating system gives randomness.
    pub fn client() -> Option<Self> {
        let mut seed = [0; blake3::KEY_LEN];
        SystemRandom::new().fill(&mut seed).ok()?;
        Some(Self {
            masks: Some(Hasher::new_keyed(&seed).finalize_xof()),
        })
    }

    /// Returns the encoder of a server.
    pub fn server() -> Self {
        Self { masks: None }
    }

    /// Appends a message.
    pub fn data(&mut self, message: &[u8], to: &mut Vec<u8>) {
        self.frame(BINARY, message, to);
    }

    /// Appends a ping.
    pub fn ping(&mut self, content: &Control, to: &mut Vec<u8>) {
        self.frame(PING, content, to);
    }

    /// Appends the answer to a ping of that content.
    pub fn pong(&mut self, content: &Control, to: &mut Vec<u8>) {
        self.frame(PONG, content, to);
    }

    /// Appends the end of what this side sends, with one of the codes of §7.4.1.
    pub fn close(&mut self, code: u16, to: &mut Vec<u8>) {
        self.frame(CLOSE, &code.to_be_bytes(), to);
    }

    fn frame(&mut self, opcode: u8, content: &[u8], to: &mut Vec<u8>) {
        let mask = self.masks.as_mut().map(|masks| {
            let mut mask = Mask::default();
            masks.fill(&mut mask);
            mask
        });
        to.extend_from_slice(&Header::new(opcode, content.len(), mask));
        let start = to.len();
        to.extend_from_slice(content);
        if let Some(mask) = mask {
            apply(mask, &mut to[start..]);
        }
    }
}

/// Masks bytes, or unmasks them.
fn apply(mask: Mask, bytes: &mut [u8]) {
    let word = u64::from_ne_bytes(
        [mask; 2]
            .as_flattened()
            .try_into()
            .expect("two of four are eight"),
    );
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for bytes in words {
        *bytes = (u64::from_ne_bytes(*bytes) ^ word).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// An event in what the other side sends.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Bytes of a message: all of it, or a part.
    Data(&'a mut [u8]),
    /// A ping, which wants a pong with its content.
    Ping(Control),
    /// A pong, which may answer no ping.
    Pong(Control),
    /// The end of what the other side sends, with its code.
    Close(Option<u16>),
}

/// Cuts a stream of bytes into events, however the bytes arrive. After an error, it must not be
/// used further.
#[derive(Debug)]
pub struct Decoder {
    from: Role,
    header: [u8; MAX_HEADER_BYTES],
    header_filled: usize,
    /// The frame whose header has come.
    frame: Option<Frame>,
    /// The first frame of a message has come, and not its last.
    is_within_message: bool,
    control: Control,
    is_closed: bool,
}

/// The rest of a frame.
#[derive(Debug, Clone, Copy)]
struct Frame {
    opcode: u8,
    left: u64,
    /// The mask of the next byte first.
    mask: Mask,
}

impl Decoder {
    /// Returns a decoder of what a side sends after the upgrade.
    pub fn new(from: Role) -> Self {
        Self {
            from,
            header: [0; MAX_HEADER_BYTES],
            header_filled: 0,
            frame: None,
            is_within_message: false,
            control: Control::EMPTY,
            is_closed: false,
        }
    }

    /// Takes bytes from the front of `input`, until there is an event or `input` is empty. Bytes of
    /// messages are unmasked where they are. After a close, nothing that comes counts.
    ///
    /// # Errors
    /// If the bytes are not frames that the other side may send.
    pub fn next_event<'a>(&mut self, input: &mut &'a mut [u8]) -> Result<Option<Event<'a>>, Fault> {
        while !input.is_empty() {
            if self.is_closed {
                take(input, u64::MAX);
                break;
            }
            let Some(mut frame) = self.frame else {
                self.gather(input)?;
                // A frame without content is complete when its header is.
                match self.frame {
                    Some(Frame { left: 0, .. }) => {}
                    _ => continue,
                }
                if let Some(event) = self.end_frame()? {
                    return Ok(Some(event));
                }
                continue;
            };
            let piece = take(input, frame.left);
            if self.from == Role::Client {
                apply(frame.mask, piece);
                frame.mask.rotate_left(piece.len() % MASK_BYTES);
            }
            frame.left -= piece.len() as u64;
            self.frame = Some(frame);
            if frame.opcode >= CLOSE {
                let control = &mut self.control;
                control.bytes[control.length..][..piece.len()].copy_from_slice(piece);
                control.length += piece.len();
                if frame.left == 0
                    && let Some(event) = self.end_frame()?
                {
                    return Ok(Some(event));
                }
            } else {
                if frame.left == 0 {
                    self.end_frame()?;
                }
                return Ok(Some(Event::Data(piece)));
            }
        }
        Ok(None)
    }

    /// Takes bytes of a header.
    fn gather(&mut self, input: &mut &mut [u8]) -> Result<(), Fault> {
        while self.header_filled < self.header_bytes() {
            let [byte] = take(input, 1) else {
                return Ok(());
            };
            self.header[self.header_filled] = *byte;
            self.header_filled += 1;
            self.check()?;
        }
        let rest = &self.header[2..];
        let (left, rest) = match self.header[1] & !MASKED {
            SHORT => (
                u64::from(u16::from_be_bytes([rest[0], rest[1]])),
                &rest[2..],
            ),
            LONG => {
                let (&length, rest) = rest.split_first_chunk().expect("it has come");
                (u64::from_be_bytes(length), rest)
            }
            short => (short.into(), rest),
        };
        let is_minimal = match self.header[1] & !MASKED {
            SHORT => left >= SHORT.into(),
            LONG => left > u16::MAX.into() && left <= i64::MAX as u64,
            _ => true,
        };
        if !is_minimal {
            return Err(Fault::Length);
        }
        let mask = match self.from {
            Role::Client => *rest.first_chunk().expect("it has come"),
            Role::Server => Mask::default(),
        };
        let opcode = self.header[0] & OPCODE;
        self.frame = Some(Frame { opcode, left, mask });
        Ok(())
    }

    /// Returns the length of the header, as far as its bytes show it.
    fn header_bytes(&self) -> usize {
        let length_bytes = match (self.header_filled, self.header[1] & !MASKED) {
            (0 | 1, _) => return 2,
            (_, SHORT) => 2,
            (_, LONG) => 8,
            _ => 0,
        };
        let mask_bytes = match self.from {
            Role::Client => MASK_BYTES,
            Role::Server => 0,
        };
        2 + length_bytes + mask_bytes
    }

    /// Checks the byte of a header that came last.
    fn check(&self) -> Result<(), Fault> {
        let first = self.header[0];
        let opcode = first & OPCODE;
        match self.header_filled {
            1 if first & RESERVED != 0 => Err(Fault::Reserved),
            1 => match opcode {
                CONTINUATION if !self.is_within_message => Err(Fault::Fragment),
                BINARY if self.is_within_message => Err(Fault::Fragment),
                CONTINUATION | BINARY => Ok(()),
                TEXT => Err(Fault::Text),
                CLOSE | PING | PONG if first & FIN == 0 => Err(Fault::Control),
                CLOSE | PING | PONG => Ok(()),
                _ => Err(Fault::Opcode),
            },
            2 => {
                let is_masked = self.header[1] & MASKED != 0;
                if is_masked != (self.from == Role::Client) {
                    return Err(Fault::Mask);
                }
                let is_long = usize::from(self.header[1] & !MASKED) > MAX_CONTROL_BYTES;
                match opcode >= CLOSE && is_long {
                    true => Err(Fault::Control),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Ends the frame, all of which has come. A control frame is an event.
    fn end_frame(&mut self) -> Result<Option<Event<'static>>, Fault> {
        self.header_filled = 0;
        let opcode = self.header[0] & OPCODE;
        self.frame = None;
        if opcode < CLOSE {
            self.is_within_message = self.header[0] & FIN == 0;
            return Ok(None);
        }
        let control = std::mem::replace(&mut self.control, Control::EMPTY);
        Ok(Some(match opcode {
            PING => Event::Ping(control),
            PONG => Event::Pong(control),
            _ => {
                self.is_closed = true;
                Event::Close(close_code(&control)?)
            }
        }))
    }
}

/// Reads the content of a close frame (§5.5.1): nothing, or a code and a text.
fn close_code(content: &[u8]) -> Result<Option<u16>, Fault> {
    let Some((code, reason)) = content.split_first_chunk() else {
        return content.is_empty().then_some(None).ok_or(Fault::Close);
    };
    let code = u16::from_be_bytes(*code);
    // Those of §7.4 that may stand in a frame.
    let is_known = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    match is_known && str::from_utf8(reason).is_ok() {
        true => Ok(Some(code)),
        false => Err(Fault::Close),
    }
}

/// Cuts at most `limit` bytes from the front of `input`.
fn take<'a>(input: &mut &'a mut [u8], limit: u64) -> &'a mut [u8] {
    let length = usize::try_from(limit).map_or(input.len(), |limit| limit.min(input.len()));
    let (taken, rest) = std::mem::take(input).split_at_mut(length);
    *input = rest;
    taken
}

#[cfg(test)]
mod tests;

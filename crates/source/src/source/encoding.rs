//! Texts that are not UTF-8: read as UTF-8, and written back with the bytes that they had.

use std::{
    borrow::Cow,
    fmt,
    io::{self, Read},
    str::FromStr,
};

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE};

use crate::SourceError;

/// The encoding of a text's characters as bytes: UTF-8, UTF-16 or one of the single-byte encodings
/// of the WHATWG Encoding Standard.
///
/// It is parsed from any label that the standard knows, as `windows-1252` or `latin1`, which are
/// one there, and shown by the standard's name. Only encodings that write each text in one way are
/// taken, so that rows can be written back byte for byte: in Shift_JIS, for one, some characters
/// have several codes, and ISO-2022-JP can switch between its sets anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

/// Stands for what an encoding does not define: a byte that UTF-8 never holds, so that the reader
/// of records finds it, with its line and field.
const UNDEFINED: u8 = 0xff;

/// The number of bytes that are decoded at once, and the most that they become.
const ENCODED_BYTES: usize = 1 << 16;
const DECODED_BYTES: usize = 3 * ENCODED_BYTES;

impl Encoding {
    /// UTF-8, with or without a byte order mark.
    pub const UTF_8: Self = Self(UTF_8);

    /// Returns the encoding of a text that begins like this, given what is said about it: that of
    /// its byte order mark, if there is one. No sensible text in another encoding begins with it.
    ///
    /// If UTF-16 is given, in either byte order, the mark decides the order.
    pub(crate) fn of_beginning(
        beginning: &[u8],
        said: Option<Self>,
        file: &str,
    ) -> Result<Self, SourceError> {
        let marked = match beginning {
            // Without a mark, in either byte order: no text begins with a character and three NULs.
            [0xff, 0xfe, 0, 0, ..]
            | [0, 0, 0xfe, 0xff, ..]
            | [1..=0xff, 0, 0, 0, ..]
            | [0, 0, 0, 1..=0xff, ..] => {
                return Err(SourceError::Utf32 {
                    file: file.to_owned(),
                });
            }
            [0xff, 0xfe, ..] => Self(UTF_16LE),
            [0xfe, 0xff, ..] => Self(UTF_16BE),
            [0xef, 0xbb, 0xbf, ..] => Self::UTF_8,
            _ => return Ok(said.unwrap_or(Self::UTF_8)),
        };
        match said {
            Some(said) if said != marked && !(said.is_utf_16() && marked.is_utf_16()) => {
                Err(SourceError::OtherEncoding {
                    file: file.to_owned(),
                    said,
                    marked,
                })
            }
            _ => Ok(marked),
        }
    }

    /// Returns the kind of UTF-16 that a text in ASCII characters without a byte order mark may be,
    /// if it begins like this. It is UTF-8 too, with a NUL at every second place.
    pub(crate) fn unmarked_utf_16(beginning: &[u8]) -> Option<Self> {
        match *beginning {
            [first, 0, second, 0, ..] if first != 0 && second != 0 => Some(Self(UTF_16LE)),
            [0, first, 0, second, ..] if first != 0 && second != 0 => Some(Self(UTF_16BE)),
            _ => None,
        }
    }

    fn is_utf_16(self) -> bool {
        self.0 == UTF_16LE || self.0 == UTF_16BE
    }

    /// Decodes a stream to UTF-8, its byte order mark included. Undefined bytes become something
    /// that is not UTF-8, in their place.
    pub(crate) fn reader<'a>(self, input: impl Read + 'a) -> Box<dyn Read + 'a> {
        if self == Self::UTF_8 {
            return Box::new(input);
        }
        Box::new(Decoded {
            input,
            decoder: self.0.new_decoder_without_bom_handling(),
            encoded: Buffer::new(ENCODED_BYTES),
            decoded: Buffer::new(DECODED_BYTES),
            at_end: false,
            done: false,
        })
    }

    /// Returns the bytes that were decoded to this text.
    ///
    /// # Panics
    /// May panic if the text was not decoded from this encoding.
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        let bytes = self.try_encode(text);
        bytes.expect("what was decoded is encoded by the same bytes")
    }

    /// Returns the text in this encoding; `None` if it has a character that the encoding lacks.
    pub fn try_encode(self, text: &str) -> Option<Cow<'_, [u8]>> {
        // `encoding_rs` encodes to UTF-8 in place of UTF-16.
        if self.0 == UTF_16LE {
            return Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        }
        if self.0 == UTF_16BE {
            return Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        let (bytes, _, is_lossy) = self.0.encode(text);
        (!is_lossy).then_some(bytes)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl FromStr for Encoding {
    type Err = SourceError;

    fn from_str(label: &str) -> Result<Self, SourceError> {
        let encoding = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
            .ok_or_else(|| SourceError::UnknownEncoding(label.to_owned()))?;
        match Self(encoding) {
            kept if kept == Self::UTF_8 || kept.is_utf_16() || encoding.is_single_byte() => {
                Ok(kept)
            }
            _ => Err(SourceError::AmbiguousEncoding(encoding.name())),
        }
    }
}

/// A stream that is decoded while it is read.
struct Decoded<R> {
    input: R,
    decoder: Decoder,
    encoded: Buffer,
    decoded: Buffer,
    /// `true` if the input has ended.
    at_end: bool,
    /// `true` if all of it is decoded.
    done: bool,
}

/// Bytes. Those before `start` are used up, and those from `end` on are yet to come.
struct Buffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes].into(),
            start: 0,
            end: 0,
        }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl<R: Read> Decoded<R> {
    /// Decodes up to the next undefined place, at most.
    fn decode(&mut self) -> io::Result<()> {
        if self.encoded.is_empty() && !self.at_end {
            let bytes = self.input.read(&mut self.encoded.bytes)?;
            (self.encoded.start, self.encoded.end) = (0, bytes);
            self.at_end = bytes == 0;
        }
        // A byte stays free for what is undefined.
        let room = &mut self.decoded.bytes[..DECODED_BYTES - 1];
        let (result, read, written) =
            self.decoder
                .decode_to_utf8_without_replacement(self.encoded.rest(), room, self.at_end);
        self.encoded.start += read;
        (self.decoded.start, self.decoded.end) = (0, written);
        match result {
            DecoderResult::InputEmpty => self.done = self.at_end,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                self.decoded.bytes[written] = UNDEFINED;
                self.decoded.end += 1;
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoded.is_empty() && !self.done {
            self.decode()?;
        }
        let bytes = self.decoded.rest().read(buffer)?;
        self.decoded.start += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A label of each encoding of the standard that is taken, and of each that is refused.
    const TAKEN: [&str; 32] = [
        "utf-8",
        "utf-16le",
        "utf-16be",
        "ibm866",
        "iso-8859-2",
        "iso-8859-3",
        "iso-8859-4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i",
        "iso-8859-10",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "macintosh",
        "windows-874",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1253",
        "windows-1254",
        "windows-1255",
        "windows-1256",
        "windows-1257",
        "windows-1258",
        "x-mac-cyrillic",
        "x-user-defined",
    ];
    const REFUSED: [&str; 7] = [
        "gbk",
        "gb18030",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "shift_jis",
        "euc-kr",
    ];

    fn taken() -> impl Iterator<Item = Encoding> {
        TAKEN.into_iter().map(|label| label.parse().unwrap())
    }

    fn decode(encoding: Encoding, bytes: impl Read) -> Vec<u8> {
        let mut text = Vec::new();
        encoding.reader(bytes).read_to_end(&mut text).unwrap();
        text
    }

    /// Gives one byte at a time, as a pipe may.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = buffer.len().min(1);
            self.0.read(&mut buffer[..bytes])
        }
    }

    #[test]
    fn every_encoding_that_writes_back_is_taken_and_no_other() {
        for label in REFUSED {
            let refused = label.parse::<Encoding>();
            assert!(
                matches!(refused, Err(SourceError::AmbiguousEncoding(_))),
                "{label}"
            );
        }
        for label in [
            "",
            "utf8000",
            "replacement",
            "hz-gb-2312",
            "utf-32",
            "utf-7",
        ] {
            let unknown = label.parse::<Encoding>();
            assert!(
                matches!(unknown, Err(SourceError::UnknownEncoding(_))),
                "{label}"
            );
        }
        for (label, name) in [("Latin1", "windows-1252"), ("utf-16", "UTF-16LE")] {
            assert_eq!(label.parse::<Encoding>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn every_byte_of_every_single_byte_encoding_is_written_back() {
        for encoding in taken().filter(|encoding| encoding.0.is_single_byte()) {
            let mut known = Vec::new();
            for byte in 0..=u8::MAX {
                let text = decode(encoding, &[byte][..]);
                match str::from_utf8(&text) {
                    Ok(text) => {
                        assert_eq!(*encoding.encode(text), [byte], "{encoding}");
                        assert_eq!(text.chars().count(), 1, "{encoding}");
                        assert!(text.is_ascii() == byte.is_ascii(), "{encoding}");
                        assert!(byte >= 0x80 || text.as_bytes() == [byte], "{encoding}");
                        known.push(byte);
                    }
                    Err(_) => {
                        assert_eq!(text, [UNDEFINED], "{encoding}");
                        assert!(byte >= 0x80, "{encoding}");
                    }
                }
            }
            assert!(known.len() > 200, "{encoding}");
            let text = String::from_utf8(decode(encoding, &known[..])).unwrap();
            assert_eq!(*encoding.encode(&text), known[..], "{encoding}");
        }
        let all = decode(
            "windows-1252".parse().unwrap(),
            &(0..=255).collect::<Vec<u8>>()[..],
        );
        assert_eq!(String::from_utf8(all).unwrap().chars().count(), 256);
    }

    #[test]
    fn every_character_of_utf_16_is_written_back() {
        let text: String = ('\0'..=char::MAX).collect();
        for (label, unit) in [
            ("utf-16le", u16::to_le_bytes as fn(u16) -> [u8; 2]),
            ("utf-16be", u16::to_be_bytes),
        ] {
            let encoding: Encoding = label.parse().unwrap();
            let bytes: Vec<u8> = text.encode_utf16().flat_map(unit).collect();
            assert!(decode(encoding, &bytes[..]) == text.as_bytes());
            assert!(*encoding.encode(&text) == bytes);
            for (units, expected) in [
                (&[0x61, 0xd800][..], &b"a\xff"[..]),
                (&[0xd800, 0x0a, 0x61], b"\xff\na"),
                (&[0xdc00, 0xd83d, 0xde00], b"\xff\xf0\x9f\x98\x80"),
                (&[0xd800, 0xd83d, 0xde00], b"\xff\xf0\x9f\x98\x80"),
            ] {
                let bytes: Vec<u8> = units.iter().copied().flat_map(unit).collect();
                assert_eq!(decode(encoding, &bytes[..]), expected);
            }
            let odd = [&unit(0x61)[..], &[0x61]].concat();
            assert_eq!(decode(encoding, &odd[..]), b"a\xff");
        }
    }

    #[test]
    fn a_mark_is_taken_at_its_word() {
        let [utf_8, le, be, latin] = ["utf-8", "utf-16le", "utf-16be", "windows-1252"]
            .map(|label| label.parse::<Encoding>().unwrap());
        let of = |bytes: &[u8], said| Encoding::of_beginning(bytes, said, "t");
        for (mark, marked) in [
            (&b"\xef\xbb\xbfi"[..], utf_8),
            (b"\xff\xfei\0", le),
            (b"\xff\xfe", le),
            (b"\xfe\xff\0i", be),
        ] {
            assert_eq!(of(mark, None).unwrap(), marked);
            for said in [utf_8, le, be, latin] {
                let taken = of(mark, Some(said));
                if said == marked || said.is_utf_16() && marked.is_utf_16() {
                    assert_eq!(taken.unwrap(), marked);
                } else {
                    assert!(matches!(taken, Err(SourceError::OtherEncoding { .. })));
                }
            }
        }
        for unmarked in [&b""[..], b"\xff", b"\xef\xbb", b"i\0d\0", b"id,b"] {
            assert_eq!(of(unmarked, None).unwrap(), utf_8);
            assert_eq!(of(unmarked, Some(le)).unwrap(), le);
        }
        for utf_32 in [b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"i\0\0\0", b"\0\0\0i"] {
            for said in [None, Some(le)] {
                assert!(matches!(of(utf_32, said), Err(SourceError::Utf32 { .. })));
            }
        }
        assert_eq!(Encoding::unmarked_utf_16(b"i\0d\0"), Some(le));
        assert_eq!(Encoding::unmarked_utf_16(b"\0i\0d"), Some(be));
        assert_eq!(Encoding::unmarked_utf_16(b"i\0\0\0"), None);
    }

    proptest! {
        /// Text that decodes at all is written back, however it comes in.
        #[test]
        fn what_is_decoded_is_written_back(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            index in 0..TAKEN.len(),
        ) {
            let encoding: Encoding = TAKEN[index].parse().unwrap();
            let text = decode(encoding, &bytes[..]);
            prop_assert_eq!(&decode(encoding, Dripping(&bytes)), &text);
            if let Ok(text) = str::from_utf8(&text) {
                prop_assert_eq!(&*encoding.encode(text), &bytes[..]);
            }
        }
    }
}

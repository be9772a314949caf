//! Compressed texts. The endings of their names tell it.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use flate2::bufread::GzDecoder;

/// The compression of a text.
///
/// Exhaustive: who writes texts has a way for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952), of one member or several, with zeros behind them or not: `.gz`.
    Gzip,
    /// Zstandard (RFC 8878), of one frame or several: `.zst`.
    Zstandard,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
        })
    }
}

impl Compression {
    /// Returns the compression of a file name's ending, in upper or lower case.
    pub fn of_ending(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "gz" => Self::Gzip,
            "zst" => Self::Zstandard,
            _ => return None,
        })
    }

    /// Returns the compression that the first bytes show. Neither is UTF-8: no text begins like
    /// that.
    pub(crate) fn of_beginning(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // Frames to be skipped may come first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Self::Zstandard)
            }
            _ => None,
        }
    }

    /// Returns its ending of file names.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstandard => ".zst",
        }
    }

    /// Returns the program that can check a file.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        }
    }

    /// Decompresses a stream to its end, all its members or frames.
    pub(crate) fn reader<'a>(self, input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(Members(Some(GzDecoder::new(BufReader::new(input))))),
            Self::Zstandard => Box::new(zstd::Decoder::new(input)?),
        })
    }
}

/// The members of gzip one after the other; `None` once all are read. Tapes and block devices leave
/// zeros behind a member, which `gzip` skips too.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let (Some(member), false) = (&mut self.0, buffer.is_empty()) {
            let bytes = member.read(buffer)?;
            if bytes > 0 {
                return Ok(bytes);
            }
            let is_last = skip_zeros(member.get_mut())?;
            let ended = self.0.take().map(GzDecoder::into_inner);
            self.0 = ended.filter(|_| !is_last).map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// Skips zeros, and tells whether nothing follows.
fn skip_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let filled = input.fill_buf()?;
        let zeros = filled.iter().take_while(|&&byte| byte == 0).count();
        let is_other_next = zeros < filled.len();
        input.consume(zeros);
        if zeros == 0 || is_other_next {
            return Ok(!is_other_next);
        }
    }
}

//! Compressed texts. The endings of their names tell it.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use flate2::{bufread::GzDecoder, write::GzEncoder};

/// The compression of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    pub(crate) fn of_ending(path: &Path) -> Option<Self> {
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

    /// Runs `write` with a writer that compresses to `output`, and ends the stream. If `write`
    /// fails the stream stays cut off, so nobody takes it for the whole. `failed` converts an error
    /// of `output`.
    pub(crate) fn written<T, E>(
        self,
        output: &mut (dyn Write + Send),
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<T, E> {
        let written = match self {
            Self::Gzip => {
                let gate = Gate {
                    output: &mut *output,
                    closed: false,
                };
                let mut encoder = GzEncoder::new(gate, flate2::Compression::default());
                let written =
                    write(&mut encoder).inspect_err(|_| encoder.get_mut().closed = true)?;
                encoder.finish().map_err(&failed)?;
                written
            }
            Self::Zstandard => {
                let level = zstd::DEFAULT_COMPRESSION_LEVEL;
                let mut encoder = zstd::Encoder::new(&mut *output, level).map_err(&failed)?;
                encoder.include_checksum(true).map_err(&failed)?;
                let written = write(&mut encoder)?;
                encoder.finish().map_err(&failed)?;
                written
            }
        };
        output.flush().map_err(failed)?;
        Ok(written)
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

/// Lets nothing pass any more once it is closed: the encoder of gzip ends its stream when it is
/// dropped.
struct Gate<'a> {
    output: &'a mut (dyn Write + Send),
    closed: bool,
}

impl Write for Gate<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.closed {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => self.output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, WriteError};

    #[test]
    fn a_failed_stream_stays_cut_off() {
        for compression in [Compression::Gzip, Compression::Zstandard] {
            let mut output = Vec::new();
            let written: Result<(), Error> = compression.written(
                &mut output,
                |writer| {
                    writer.write_all(b"id\n1\n").unwrap();
                    writer.flush().unwrap();
                    Err(Error::Interrupted)
                },
                |_| panic!("nothing is wrong with the output"),
            );
            assert!(matches!(written, Err(Error::Interrupted)));
            let mut text = Vec::new();
            let mut reader = compression.reader(&output[..]).unwrap();
            assert!(reader.read_to_end(&mut text).is_err(), "{compression}");
        }
    }

    #[test]
    fn an_output_that_fails_at_the_end_is_an_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for compression in [Compression::Gzip, Compression::Zstandard] {
            let failed = |source| {
                Error::Write(WriteError::Write {
                    file: "o".to_owned(),
                    cause: source,
                })
            };
            let written = compression.written(&mut Full, |_| Ok(()), failed);
            assert!(
                matches!(written, Err(Error::Write(WriteError::Write { .. }))),
                "{compression}"
            );
        }
    }
}

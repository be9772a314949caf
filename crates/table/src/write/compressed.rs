//! Compressed outputs.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use psijoin_source::Compression;

/// Runs `write` with a writer that compresses to `output`, and ends the stream. If `write` fails
/// the stream stays cut off, so nobody takes it for the whole. `failed` converts an error of
/// `output`.
pub(super) fn write_compressed<T, E>(
    compression: Compression,
    output: &mut (dyn Write + Send),
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, E>,
    failed: impl Fn(io::Error) -> E,
) -> Result<T, E> {
    let written = match compression {
        Compression::Gzip => {
            let gate = Gate {
                output: &mut *output,
                closed: false,
            };
            let mut encoder = GzEncoder::new(gate, flate2::Compression::default());
            let written = write(&mut encoder).inspect_err(|_| encoder.get_mut().closed = true)?;
            encoder.finish().map_err(&failed)?;
            written
        }
        Compression::Zstandard => {
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
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::{Error, WriteError};

    #[test]
    fn a_failed_stream_stays_cut_off() {
        for compression in [Compression::Gzip, Compression::Zstandard] {
            let mut output = Vec::new();
            let written: Result<(), Error> = write_compressed(
                compression,
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
            let mut reader: Box<dyn Read> = match compression {
                Compression::Gzip => Box::new(GzDecoder::new(&output[..])),
                Compression::Zstandard => Box::new(zstd::Decoder::new(&output[..]).unwrap()),
            };
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
            let written = write_compressed(compression, &mut Full, |_| Ok(()), failed);
            assert!(
                matches!(written, Err(Error::Write(WriteError::Write { .. }))),
                "{compression}"
            );
        }
    }
}

//! Reading and writing at a place of a file that other threads read and write, too.

use std::{fs::File, io};

/// Reads some bytes at a place: as many as there are, and no more than the buffer takes. Where the
/// file's own position is afterwards, differs between systems.
///
/// # Errors
/// Those of the operating system.
pub fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, place);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, place);
}

/// Fills a buffer with what is at a place.
///
/// # Errors
/// Of the kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file ends before. Those of
/// the operating system.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut place: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, place) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = &mut buffer[read..];
                place += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all bytes at a place.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut place: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match write_at(file, bytes, place) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                place += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, bytes, place);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, bytes, place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written_in_any_order() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"world", 6).unwrap();
        write_all_at(&file, b"hello ", 0).unwrap();
        let mut all = [0; 11];
        read_exact_at(&file, &mut all, 0).unwrap();
        assert_eq!(&all, b"hello world");
        let mut end = [0; 8];
        assert_eq!(read_at(&file, &mut end, 6).unwrap(), 5);
        let short = read_exact_at(&file, &mut end, 6).unwrap_err();
        assert_eq!(short.kind(), io::ErrorKind::UnexpectedEof);
    }
}

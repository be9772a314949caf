use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

use crate::{Escaped, is_printable};

/// A writer to a terminal that obeys nothing that it is given: what is not
/// [printable](is_printable) is escaped, except for tabs and the ends of lines, and a byte that is
/// no UTF-8 is shown as `\x9b`.
///
/// The open end of a write, as the first bytes of a character, waits for the next one; the last of
/// it goes out when the writer is dropped.
#[derive(Debug)]
pub struct Screen<W: Write> {
    to: W,
    /// The bytes that the next write may complete: a part of a character, or a carriage return.
    open: Vec<u8>,
}

impl<W: Write> Screen<W> {
    /// Escapes what goes to this writer.
    pub fn new(to: W) -> Self {
        let open = Vec::new();
        Self { to, open }
    }

    /// Returns a writer to this stream, which escapes if that is a terminal, and otherwise passes
    /// all on as it is.
    pub fn if_terminal<'a>(stream: W) -> Box<dyn Write + Send + 'a>
    where
        W: IsTerminal + Send + 'a,
    {
        match stream.is_terminal() {
            true => Box::new(Self::new(stream)),
            false => Box::new(stream),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut shown = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            show(chunk.valid(), &mut shown);
            for byte in chunk.invalid() {
                let _ = write!(shown, "\\x{byte:02x}");
            }
        }
        self.to.write_all(shown.as_bytes())
    }
}

/// Appends a text as it is shown.
fn show(text: &str, shown: &mut String) {
    let mut characters = text.char_indices();
    while let Some((at, one)) = characters.next() {
        let ends_line = one == '\r' && text[at + 1..].starts_with('\n');
        match one {
            '\n' | '\t' => shown.push(one),
            _ if ends_line || is_printable(one) => shown.push(one),
            _ => {
                let escaped = Escaped(&text[at..characters.offset()]);
                let _ = write!(shown, "{escaped}");
            }
        }
    }
}

/// Returns how many bytes at the end may go on in what follows.
fn open_bytes(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(last) if last.invalid().is_empty() => usize::from(last.valid().ends_with('\r')),
        // An invalid end may only be cut off.
        Some(last) => match str::from_utf8(last.invalid()) {
            Err(error) if error.error_len().is_none() => last.invalid().len(),
            _ => 0,
        },
        None => 0,
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.open);
        all.extend(bytes);
        self.open = all.split_off(all.len() - open_bytes(&all));
        self.put(&all)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        let open = std::mem::take(&mut self.open);
        // As a buffered writer does: whoever wants to know of an error has flushed before.
        let _ = self.put(&open);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::is_all_printable;

    fn shown<'a>(writes: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut to = Vec::new();
        let mut screen = Screen::new(&mut to);
        for bytes in writes {
            screen.write_all(bytes).unwrap();
        }
        drop(screen);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn lines_stay_and_commands_do_not() {
        for (bytes, text) in [
            (&b"id\tname\r\n1\tann\n"[..], "id\tname\r\n1\tann\n"),
            (b"a\x1b]0;x\x07b\rc\r", "a\\u{1b}]0;x\\u{7}b\\rc\\r"),
            ("é\u{9b}31m\u{202e}".as_bytes(), "é\\u{9b}31m\\u{202e}"),
            (b"\x9b31m\xff\xc3", "\\x9b31m\\xff\\xc3"),
            (b"a\0b", "a\\u{0}b"),
        ] {
            assert_eq!(shown([bytes]), text);
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_much_is_written_at_once(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(0xe2), Just(0x80), Just(0xae)], 0..40),
            at in 0..40usize,
        ) {
            let whole = shown([&bytes[..]]);
            let at = at.min(bytes.len());
            prop_assert_eq!(&shown([&bytes[..at], &bytes[at..]]), &whole);
            prop_assert_eq!(&shown(bytes.chunks(1)), &whole);
            prop_assert!(is_all_printable(&whole.replace("\r\n", "").replace(['\n', '\t'], "")));
        }
    }
}

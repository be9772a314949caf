//! The head of an HTTP/1.1 message (RFC 9112): a start line and fields.

use super::Fault;

/// The length of the longest head. Proxies add fields, and few are long.
pub const MAX_HEAD_BYTES: usize = 8192;

const END: &[u8] = b"\r\n\r\n";

/// Gathers a head, as it comes.
#[derive(Debug, Default)]
pub(super) struct HeadDecoder(Vec<u8>);

impl HeadDecoder {
    /// Takes bytes from the front of `input`, up to the end of the head.
    pub(super) fn take(&mut self, input: &mut &[u8]) -> Result<Option<Head>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.0.len() == MAX_HEAD_BYTES {
                return Err(Fault::LongHead);
            }
            self.0.push(byte);
            *input = rest;
            if self.0.ends_with(END) {
                return Head::read(&self.0).map(Some);
            }
        }
        Ok(None)
    }
}

/// A head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) start: String,
    /// Names in lower case, and values without spaces around them.
    fields: Vec<(String, String)>,
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let text = str::from_utf8(bytes).map_err(|_| Fault::NotHttp)?;
        let text = text.strip_suffix("\r\n\r\n").ok_or(Fault::NotHttp)?;
        let mut lines = text.split("\r\n");
        let start = lines.next().unwrap_or_default();
        let fields = lines.map(field).collect::<Result<_, _>>()?;
        if start.chars().any(char::is_control) {
            return Err(Fault::NotHttp);
        }
        Ok(Self {
            start: start.to_owned(),
            fields,
        })
    }

    /// Returns the values of a field, which is named in lower case.
    pub(super) fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        let fields = self.fields.iter();
        let named = fields.filter(move |(field, _)| field == name);
        named.map(|(_, value)| &**value)
    }

    /// Returns the value of a field that stands there once.
    pub(super) fn single(&self, name: &str) -> Option<&str> {
        let mut values = self.values(name);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// Returns whether a field's list has an element, in any case.
    pub(super) fn lists(&self, name: &str, element: &str) -> bool {
        let mut elements = self.values(name).flat_map(|value| value.split(','));
        elements.any(|it| it.trim().eq_ignore_ascii_case(element))
    }
}

/// Reads a line with a name and a value. A line that continues another (RFC 9112, §5.2) has no
/// name.
fn field(line: &str) -> Result<(String, String), Fault> {
    let (name, value) = line.split_once(':').ok_or(Fault::NotHttp)?;
    let is_token = |one: char| one.is_ascii_graphic() && !"\"(),/:;<=>?@[\\]{}".contains(one);
    let has_control = value.chars().any(|one| one.is_control() && one != '\t');
    if name.is_empty() || !name.chars().all(is_token) || has_control {
        return Err(Fault::NotHttp);
    }
    Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<Option<Head>, Fault> {
        HeadDecoder::default().take(&mut &*bytes)
    }

    #[test]
    fn fields_are_found_whatever_their_case() {
        let head = decode(b"GET / HTTP/1.1\r\nHOST: a\r\nConnection: keep-alive, Upgrade\r\n\r\n");
        let head = head.unwrap().unwrap();
        assert_eq!(head.start, "GET / HTTP/1.1");
        assert_eq!(head.single("host"), Some("a"));
        assert!(head.lists("connection", "upgrade"));
        assert!(!head.lists("connection", "up"));
        assert!(!head.lists("upgrade", "websocket"));
        let twice = decode(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
        assert_eq!(twice.unwrap().unwrap().single("host"), None);
    }

    #[test]
    fn nothing_behind_the_head_is_taken() {
        let mut input = &b"HTTP/1.1 101 x\r\n\r\nrest"[..];
        let mut decoder = HeadDecoder::default();
        assert!(decoder.take(&mut input).unwrap().is_some());
        assert_eq!(input, b"rest");
    }

    #[test]
    fn what_is_no_head_is_refused() {
        for bytes in [
            &b"GET / HTTP/1.1\r\nno colon\r\n\r\n"[..],
            b"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
            b"GET / HTTP/1.1\r\na b: c\r\n\r\n",
            b"GET / HTTP/1.1\r\n: c\r\n\r\n",
            b"GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n",
            b"GET / HTTP/1.1\r\na: \xff\r\n\r\n",
            b"GET /\n HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(decode(bytes), Err(Fault::NotHttp));
        }
        assert_eq!(decode(&[b'a'; MAX_HEAD_BYTES]), Ok(None));
        assert_eq!(decode(&[b'a'; MAX_HEAD_BYTES + 1]), Err(Fault::LongHead));
    }
}

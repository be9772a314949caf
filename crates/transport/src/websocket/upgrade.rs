//! The change from HTTP to WebSocket (§4).

use std::net::IpAddr;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::{
    digest::{SHA1_FOR_LEGACY_USE_ONLY, digest},
    rand::{SecureRandom, SystemRandom},
};

use super::{
    Fault,
    head::{Head, HeadDecoder},
};

const KEY_BYTES: usize = 16;

/// Returns the value by which a server shows that it has read a request (§4.2.2). SHA-1 protects
/// nothing here.
pub fn accept_key(key: &str) -> String {
    let text = [key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"].concat();
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

/// A client's request for a WebSocket.
#[derive(Debug, Clone)]
pub struct Request {
    host: String,
    path: String,
    key: String,
}

impl Request {
    /// Returns a request for `path`, which begins with `/`, at `host`, with the port if it is an
    /// unusual one. `None` if either has a character that a request cannot hold, or the operating
    /// system gives no randomness.
    pub fn new(host: &str, path: &str) -> Option<Self> {
        let is_plain =
            |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_graphic());
        let mut key = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut key).ok()?;
        (is_plain(host) && is_plain(path) && path.starts_with('/')).then(|| Self {
            host: host.to_owned(),
            path: path.to_owned(),
            key: STANDARD.encode(key),
        })
    }

    /// As it travels.
    pub fn encode(&self) -> Vec<u8> {
        let Self { host, path, key } = self;
        format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        .into_bytes()
    }
}

/// Reads a server's answer to a [`Request`], however it arrives.
#[derive(Debug)]
pub struct AnswerDecoder {
    head: HeadDecoder,
    accept: String,
}

impl AnswerDecoder {
    /// Returns a decoder of the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            head: HeadDecoder::default(),
            accept: accept_key(&request.key),
        }
    }

    /// Takes bytes from the front of `input`, and returns whether the server has agreed. What is
    /// left then are frames.
    ///
    /// # Errors
    /// If it has not.
    pub fn take(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        let Some(head) = self.head.take(input)? else {
            return Ok(false);
        };
        let status = head.start.strip_prefix("HTTP/1.1 ").ok_or(Fault::NotHttp)?;
        let status = status.get(..3).and_then(|digits| digits.parse().ok());
        match status.ok_or(Fault::NotHttp)? {
            101 => {}
            other => return Err(Fault::Status(other)),
        }
        let is_granted = head.lists("upgrade", "websocket")
            && head.lists("connection", "upgrade")
            && head.single("sec-websocket-accept") == Some(&*self.accept)
            && head.values("sec-websocket-extensions").next().is_none()
            && head.values("sec-websocket-protocol").next().is_none();
        is_granted.then_some(true).ok_or(Fault::NotGranted)
    }
}

/// Reads a client's request, however it arrives.
#[derive(Debug, Default)]
pub struct RequestDecoder(HeadDecoder);

impl RequestDecoder {
    /// Returns a decoder at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes from the front of `input`, up to the end of the request.
    ///
    /// # Errors
    /// If it is none for a WebSocket. [`Fault::answer`] is the answer then.
    pub fn take(&mut self, input: &mut &[u8]) -> Result<Option<Upgrade>, Fault> {
        let head = self.0.take(input)?;
        head.map(|head| Upgrade::read(&head)).transpose()
    }
}

/// A client's request, as a server reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    key: String,
    /// The address from which it came to the last server on the way, as that server tells it in
    /// `X-Forwarded-For`. Anybody can send that field.
    pub forwarded_for: Option<IpAddr>,
}

impl Upgrade {
    fn read(head: &Head) -> Result<Self, Fault> {
        let line: Vec<_> = head.start.split(' ').collect();
        let ["GET", _, "HTTP/1.1"] = line[..] else {
            return Err(match line.last() {
                Some(&("HTTP/1.1" | "HTTP/1.0")) => Fault::NoUpgrade,
                _ => Fault::NotHttp,
            });
        };
        let asks = head.lists("upgrade", "websocket")
            && head.lists("connection", "upgrade")
            && head.single("host").is_some();
        if !asks {
            return Err(Fault::NoUpgrade);
        }
        if head.single("sec-websocket-version") != Some("13") {
            return Err(Fault::Version);
        }
        let key = head.single("sec-websocket-key").ok_or(Fault::Key)?;
        match STANDARD.decode(key) {
            Ok(bytes) if bytes.len() == KEY_BYTES => {}
            _ => return Err(Fault::Key),
        }
        let forwarded = head.values("x-forwarded-for").next_back();
        let last = forwarded.and_then(|list| list.rsplit(',').next());
        Ok(Self {
            key: key.to_owned(),
            forwarded_for: last.and_then(|address| address.trim().parse().ok()),
        })
    }

    /// Returns the answer that grants it.
    pub fn answer(&self) -> Vec<u8> {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            accept_key(&self.key)
        )
        .into_bytes()
    }
}

impl Fault {
    /// Returns the answer to a request that has this fault.
    pub fn answer(self) -> Vec<u8> {
        let status = match self {
            Self::NoUpgrade | Self::Version => "426 Upgrade Required",
            Self::LongHead => "431 Request Header Fields Too Large",
            _ => "400 Bad Request",
        };
        let text = format!("This is a relay of psijoin, which speaks WebSocket: {self}.\n");
        format!(
            "HTTP/1.1 {status}\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\
             Sec-WebSocket-Version: 13\r\nContent-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{text}",
            text.len()
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// That of RFC 6455, §1.2, with the fields that a relay reads.
    const REQUEST: &str = "GET /chat HTTP/1.1\r\nHost: server.example.com\r\n\
        Upgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\n\
        Sec-WebSocket-Version: 13\r\n\r\n";

    fn read(request: &str) -> Result<Option<Upgrade>, Fault> {
        RequestDecoder::new().take(&mut request.as_bytes())
    }

    /// RFC 6455, §1.3.
    #[test]
    fn the_accept_key_is_that_of_the_standard() {
        let accepted = accept_key("dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accepted, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let answer = read(REQUEST).unwrap().unwrap().answer();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    }

    #[test]
    fn both_sides_agree_in_any_pieces() {
        for piece_bytes in [1, 7, 4096] {
            let request = Request::new("relay.example.org:8443", "/psijoin").unwrap();
            let mut server = RequestDecoder::new();
            let mut upgrade = None;
            for mut piece in request.encode().chunks(piece_bytes) {
                assert_eq!(upgrade, None);
                upgrade = server.take(&mut piece).unwrap();
            }
            let mut client = AnswerDecoder::new(&request);
            let answer = [&upgrade.unwrap().answer()[..], b"\x82\x00"].concat();
            let mut is_granted = false;
            let mut left: Vec<u8> = Vec::new();
            for mut piece in answer.chunks(piece_bytes) {
                if !is_granted {
                    is_granted = client.take(&mut piece).unwrap();
                }
                if is_granted {
                    left.extend(piece);
                }
            }
            assert!(is_granted);
            assert_eq!(left, b"\x82\x00");
        }
    }

    #[test]
    fn another_request_gets_an_answer_in_http() {
        for (from, to, fault, status) in [
            ("GET", "POST", Fault::NoUpgrade, "426"),
            ("HTTP/1.1", "HTTP/1.0", Fault::NoUpgrade, "426"),
            ("HTTP/1.1", "HTTP/2", Fault::NotHttp, "400"),
            ("Host: server.example.com\r\n", "", Fault::NoUpgrade, "426"),
            ("Upgrade: websocket\r\n", "", Fault::NoUpgrade, "426"),
            (
                "Connection: Upgrade",
                "Connection: close",
                Fault::NoUpgrade,
                "426",
            ),
            ("Version: 13", "Version: 8", Fault::Version, "426"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhl", Fault::Key, "400"),
            (
                "dGhlIHNhbXBsZSBub25jZQ==",
                "not base 64!",
                Fault::Key,
                "400",
            ),
        ] {
            let error = read(&REQUEST.replace(from, to)).unwrap_err();
            assert_eq!(error, fault, "{from} {to}");
            let answer = String::from_utf8(fault.answer()).unwrap();
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            let (_, text) = answer.split_once("\r\n\r\n").unwrap();
            assert!(answer.contains(&format!("\r\nContent-Length: {}\r\n", text.len())));
        }
    }

    #[test]
    fn the_last_server_on_the_way_tells_the_address() {
        for (field, address) in [
            ("X-Forwarded-For: 192.0.2.1\r\n", Some("192.0.2.1")),
            (
                "X-Forwarded-For: 10.0.0.1, 2001:db8::1\r\n",
                Some("2001:db8::1"),
            ),
            (
                "x-forwarded-for: 10.0.0.1\r\nX-Forwarded-For: 192.0.2.7\r\n",
                Some("192.0.2.7"),
            ),
            ("X-Forwarded-For: unknown\r\n", None),
            ("", None),
        ] {
            let request = REQUEST.replace("Origin: ", &format!("{field}Origin: "));
            let upgrade = read(&request).unwrap().unwrap();
            let expected = address.map(|address| address.parse().unwrap());
            assert_eq!(upgrade.forwarded_for, expected, "{field}");
        }
    }

    #[test]
    fn an_answer_that_grants_something_else_is_refused() {
        let request = Request::new("relay.example.org", "/").unwrap();
        let mut good = Vec::new();
        good.extend(
            read(&String::from_utf8(request.encode()).unwrap())
                .unwrap()
                .unwrap()
                .answer(),
        );
        let good = String::from_utf8(good).unwrap();
        let take = |answer: &str| AnswerDecoder::new(&request).take(&mut answer.as_bytes());
        assert_eq!(take(&good), Ok(true));
        for (from, to, fault) in [
            ("101", "200", Fault::Status(200)),
            ("101", "403", Fault::Status(403)),
            ("101", "x", Fault::NotHttp),
            ("HTTP/1.1", "ICY", Fault::NotHttp),
            ("Upgrade: websocket", "Upgrade: h2c", Fault::NotGranted),
            (
                "Connection: Upgrade",
                "Connection: close",
                Fault::NotGranted,
            ),
            ("Accept: ", "Accept: A", Fault::NotGranted),
            (
                "\r\n\r\n",
                "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
                Fault::NotGranted,
            ),
        ] {
            assert_eq!(take(&good.replace(from, to)), Err(fault), "{to}");
        }
    }

    #[test]
    fn a_request_holds_no_other_lines() {
        for (host, path) in [
            ("a\r\nb: c", "/"),
            ("a", "/ x"),
            ("a", "x"),
            ("", "/"),
            ("a", ""),
        ] {
            assert!(Request::new(host, path).is_none());
        }
    }

    proptest! {
        #[test]
        fn anything_can_be_said(said in vec(any::<u8>(), 0..300)) {
            let _ = RequestDecoder::new().take(&mut &said[..]);
            let request = Request::new("a", "/").unwrap();
            let _ = AnswerDecoder::new(&request).take(&mut &said[..]);
        }
    }
}

//! `CONNECT`: a proxy is asked to pass bytes to a place and back (RFC 9110, section 9.3.6).

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use super::{Failure, Proxy, ProxyFault};
use crate::{
    Error,
    endpoint::Address,
    patience::{POLL, Patience},
};

/// The wait for an answer: a proxy that hears nothing from the place may try for as long itself.
const ANSWER: Duration = Duration::from_secs(60);

/// The longest head of an answer.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// The longest first line that is shown.
const MAX_SHOWN_CHARS: usize = 80;

/// The ways to say who one is that are refused by name.
const UNSUPPORTED: [(&str, &str); 3] = [
    ("NTLM", "NTLM"),
    ("Negotiate", "Negotiate (Kerberos or NTLM)"),
    ("Kerberos", "Kerberos"),
];

/// Asks the proxy at the other end of `socket` to lead to `place`.
pub(super) fn open(
    socket: TcpStream,
    proxy: &Proxy,
    place: &Address,
    fault: impl Fn(ProxyFault) -> Error,
    patience: &Patience<'_>,
) -> Result<TcpStream, Failure> {
    let broken = |error: std::io::Error| match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            Failure::Passing(fault(ProxyFault::Closed))
        }
        _ => Failure::Passing(error.into()),
    };
    socket.set_nodelay(true).map_err(broken)?;
    socket.set_read_timeout(Some(POLL)).map_err(broken)?;
    // It is short, and a fresh socket has room for it.
    (&socket)
        .write_all(request(proxy, place).as_bytes())
        .map_err(broken)?;
    let waits = patience.anew(ANSWER);
    let mut head = Vec::new();
    // No byte more than the head is taken: what follows is the other party's, which may speak
    // first.
    while !has_ended(&head) {
        if waits.left().map_err(Failure::Lasting)?.is_none() {
            return Err(Failure::Passing(fault(ProxyFault::Silent(ANSWER))));
        }
        if patience.left().map_err(Failure::Lasting)?.is_none() {
            let waited = waits.started.elapsed();
            return Err(Failure::Unfinished(Some(fault(ProxyFault::Silent(waited)))));
        }
        let mut byte = [0];
        match (&socket).read(&mut byte) {
            Ok(0) => return Err(Failure::Passing(fault(ProxyFault::Closed))),
            Ok(_) => head.push(byte[0]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                _ => return Err(broken(error)),
            },
        }
        if let Some(why) = refuse_early(&head) {
            return Err(Failure::Passing(fault(why)));
        }
    }
    match judge(&head, proxy.credentials().is_some()) {
        Ok(()) => Ok(socket),
        Err(why) if passes(&why) => Err(Failure::Passing(fault(why))),
        Err(why) => Err(Failure::Lasting(fault(why))),
    }
}

fn request(proxy: &Proxy, place: &Address) -> zeroize::Zeroizing<String> {
    let place = place.as_str();
    let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n");
    if let Some(credentials) = proxy.credentials() {
        request += &format!("Proxy-Authorization: Basic {credentials}\r\n");
    }
    request += "\r\n";
    request.into()
}

/// Returns whether the head of an answer is whole.
fn has_ended(head: &[u8]) -> bool {
    head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")
}

/// Returns what is wrong with the beginning of an answer, whatever follows.
fn refuse_early(head: &[u8]) -> Option<ProxyFault> {
    const BEGINNING: &[u8] = b"HTTP/1.";
    let compared = head.len().min(BEGINNING.len());
    if head[..compared] != BEGINNING[..compared] {
        return Some(ProxyFault::NotHttp);
    }
    (head.len() >= MAX_HEAD_BYTES && !has_ended(head))
        .then_some(ProxyFault::TooLong(MAX_HEAD_BYTES))
}

/// Returns whether a later attempt may go better.
fn passes(why: &ProxyFault) -> bool {
    match why {
        ProxyFault::NeedsPassword
        | ProxyFault::WrongPassword
        | ProxyFault::Scheme(_)
        | ProxyFault::Forbidden => false,
        // What proxies answer while nobody listens there, or they are busy.
        ProxyFault::Answer(line) => line
            .split(' ')
            .nth(1)
            .is_some_and(|code| code.starts_with('5') || ["408", "429"].contains(&code)),
        _ => true,
    }
}

/// Reads an answer.
fn judge(head: &[u8], was_named: bool) -> Result<(), ProxyFault> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let code = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    match code {
        Some(200..300) => Ok(()),
        Some(403) => Err(ProxyFault::Forbidden),
        Some(407) => Err(judge_schemes(lines, was_named)),
        // As tinyproxy has it.
        Some(401) if was_named => Err(ProxyFault::WrongPassword),
        Some(code @ 502..=504) => Err(ProxyFault::NotReached(code)),
        Some(_) => Err(ProxyFault::Answer(
            first.chars().take(MAX_SHOWN_CHARS).collect(),
        )),
        None => Err(ProxyFault::NotHttp),
    }
}

/// Returns what to do where a proxy asks who this is.
fn judge_schemes<'a>(lines: impl Iterator<Item = &'a str>, was_named: bool) -> ProxyFault {
    let offered: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("Proxy-Authenticate"))
        .flat_map(|(_, value)| value.split(','))
        .filter_map(|challenge| challenge.split_whitespace().next())
        .collect();
    let offers = |scheme: &str| offered.iter().any(|it| it.eq_ignore_ascii_case(scheme));
    let unsupported: Vec<_> = UNSUPPORTED
        .iter()
        .filter(|(scheme, _)| offers(scheme))
        .map(|(_, shown)| *shown)
        .collect();
    match (offers("Basic"), was_named) {
        (false, _) if !unsupported.is_empty() => ProxyFault::Scheme(unsupported.join(" or ")),
        (_, true) => ProxyFault::WrongPassword,
        (_, false) => ProxyFault::NeedsPassword,
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::Interrupt;

    fn judged(head: &str, was_named: bool) -> String {
        match judge(head.as_bytes(), was_named) {
            Ok(()) => "yes".to_owned(),
            Err(why) => format!("{}{why}", if passes(&why) { "for now: " } else { "" }),
        }
    }

    #[test]
    fn each_answer_says_what_to_do() {
        for (head, was_named, said) in [
            ("HTTP/1.1 200 Connection established\r\n\r\n", false, "yes"),
            ("HTTP/1.0 200\n\n", false, "yes"),
            (
                "HTTP/1.1 403 Forbidden\r\n\r\n",
                false,
                "does not allow that (403)",
            ),
            (
                "HTTP/1.1 407 Who\r\nproxy-authenticate: Basic realm=\"NTLM, please\"\r\n\r\n",
                false,
                "asks for a user and a password",
            ),
            (
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
                true,
                "does not accept the user",
            ),
            (
                "HTTP/1.0 401 Unauthorized\r\n\r\n",
                true,
                "does not accept the user",
            ),
            (
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: NEGOTIATE\r\nProxy-Authenticate: NTLM\r\n\r\n",
                true,
                "asks who this is by NTLM or Negotiate (Kerberos or NTLM) (407)",
            ),
            (
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: NTLM, Basic realm=x\r\n\r\n",
                false,
                "asks for a user and a password",
            ),
            (
                "HTTP/1.1 407 Who\r\n\r\n",
                false,
                "asks for a user and a password",
            ),
            (
                "HTTP/1.1 503 Unavailable\r\n\r\n",
                false,
                "for now: could not connect there itself (503)",
            ),
            (
                "HTTP/1.0 500 Unable to connect\r\n\r\n",
                false,
                "for now: refuses that: it answers HTTP/1.0 500 Unable to connect",
            ),
            (
                "HTTP/1.1 405 Not here\r\n\r\n",
                false,
                "refuses that: it answers HTTP/1.1 405 Not here",
            ),
            (
                "HTTP/1.1 yes\r\n\r\n",
                false,
                "for now: does not answer in HTTP",
            ),
        ] {
            let judged = judged(head, was_named);
            assert!(judged.starts_with(said), "{judged}");
        }
    }

    /// Lets a proxy of this machine answer so, and gives what it was asked with what came of it.
    fn ask(proxy: &str, answer: &'static [u8]) -> (String, Result<TcpStream, Failure>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let answers = thread::spawn(move || {
            let (mut asked, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !has_ended(&request) {
                let mut byte = [0];
                asked.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            asked.write_all(answer).unwrap();
            String::from_utf8(request).unwrap()
        });
        let interrupt = Interrupt::new();
        let patience = Patience::new(Duration::from_secs(20), &interrupt);
        let place = "join.example.org:7000".parse().unwrap();
        let proxy = proxy.parse().unwrap();
        let fault = |why| Error::Proxy {
            proxy: "p".into(),
            address: "a".into(),
            why,
        };
        let opened = open(socket, &proxy, &place, fault, &patience);
        (answers.join().unwrap(), opened)
    }

    #[test]
    fn what_follows_the_answer_is_left_to_others() {
        let (asked, opened) = ask(
            "http://ann:s3@p:1",
            b"HTTP/1.1 200 OK\r\nA: b\r\n\r\npsijoin",
        );
        assert_eq!(
            asked,
            "CONNECT join.example.org:7000 HTTP/1.1\r\nHost: join.example.org:7000\r\n\
             Proxy-Authorization: Basic YW5uOnMz\r\n\r\n"
        );
        let mut rest = String::new();
        opened.unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "psijoin");
    }

    #[test]
    fn what_is_no_answer_is_told_at_once() {
        for (answer, said) in [
            (&b"SSH-2.0-OpenSSH_9.9\r\n"[..], "does not answer in HTTP"),
            (b"HTTP/1.1 200 OK\r\n", "closed the connection without"),
            (b"", "closed the connection without"),
        ] {
            let (asked, opened) = ask("p:1", answer);
            assert!(!asked.contains("Authorization"));
            let Err(Failure::Passing(error)) = opened else {
                panic!("{opened:?}");
            };
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn an_answer_has_to_end() {
        let mut head = b"HTTP/1.1 200 OK\r\nA: ".to_vec();
        assert!(refuse_early(&head).is_none());
        head.resize(MAX_HEAD_BYTES, b'x');
        assert!(matches!(refuse_early(&head), Some(ProxyFault::TooLong(_))));
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(bytes in vec(any::<u8>(), 0..300), was_named: bool) {
            let _ = refuse_early(&bytes);
            let _ = judge(&bytes, was_named);
            let _ = judge(&[b"HTTP/1.1 407 x\r\n", &bytes[..]].concat(), was_named);
        }
    }
}

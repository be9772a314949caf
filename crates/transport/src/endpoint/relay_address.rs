//! The address of a relay: bare, or behind a web server.

use std::{fmt, str::FromStr};

use super::{Address, MAX_ADDRESS_BYTES};
use crate::Error;

/// The address of a relay: `HOST:PORT`, or `wss://HOST/PATH` behind a web server that speaks TLS,
/// for which `wss://HOST:PORT/PATH` names another port than 443. With `ws://`, the web server, or
/// the relay itself, is spoken to without TLS.
///
/// What the parties say to each other is encrypted either way, between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayAddress {
    address: Address,
    web: Option<Web>,
}

/// What a web server before a relay is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Web {
    pub(crate) is_encrypted: bool,
    /// Begins with a slash.
    pub(crate) path: String,
}

impl Web {
    fn scheme(&self) -> &'static str {
        match self.is_encrypted {
            true => "wss://",
            false => "ws://",
        }
    }

    fn default_port(&self) -> u16 {
        match self.is_encrypted {
            true => 443,
            false => 80,
        }
    }
}

impl RelayAddress {
    /// Returns where connections go to.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn web(&self) -> Option<&Web> {
        self.web.as_ref()
    }
}

impl From<Address> for RelayAddress {
    fn from(address: Address) -> Self {
        Self { address, web: None }
    }
}

impl FromStr for RelayAddress {
    type Err = Error;

    /// # Errors
    /// [`Error::RelayAddress`] if the text has another form.
    fn from_str(text: &str) -> Result<Self, Error> {
        let is_short = |relay: &Self| relay.to_string().len() <= MAX_ADDRESS_BYTES;
        (read(text).filter(is_short)).ok_or_else(|| Error::RelayAddress(text.to_owned()))
    }
}

fn read(text: &str) -> Option<RelayAddress> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.parse().ok().map(|address: Address| address.into());
    };
    let (host, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, "/"),
    };
    let is_sound = path
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'#');
    let web = Web {
        is_encrypted: match &*scheme.to_ascii_lowercase() {
            "wss" => true,
            "ws" => false,
            _ => return None,
        },
        path: is_sound.then(|| path.to_owned())?,
    };
    let address = host
        .parse()
        .or_else(|_| format!("{host}:{}", web.default_port()).parse());
    Some(RelayAddress {
        address: address.ok()?,
        web: Some(web),
    })
}

impl fmt::Display for RelayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address.as_str();
        let Some(web) = &self.web else {
            return f.write_str(address);
        };
        let default = format!(":{}", web.default_port());
        let host = address.strip_suffix(&default).unwrap_or(address);
        write!(f, "{}{host}{}", web.scheme(), web.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_bare_or_behind_a_web_server() {
        for (text, address, web) in [
            ("relay.example.org:7000", "relay.example.org:7000", None),
            ("[::1]:7000", "[::1]:7000", None),
            (
                "wss://relay.example.org/psijoin",
                "relay.example.org:443",
                Some((true, "/psijoin")),
            ),
            (
                "wss://relay.example.org:8443/",
                "relay.example.org:8443",
                Some((true, "/")),
            ),
            (
                "ws://127.0.0.1:7000/a/b?c=d",
                "127.0.0.1:7000",
                Some((false, "/a/b?c=d")),
            ),
            (
                "wss://[2001:db8::1]/",
                "[2001:db8::1]:443",
                Some((true, "/")),
            ),
        ] {
            let relay: RelayAddress = text.parse().unwrap();
            assert_eq!(relay.address().as_str(), address);
            let read = relay.web().map(|web| (web.is_encrypted, &*web.path));
            assert_eq!(read, web);
            assert_eq!(relay.to_string(), text);
        }
        let relay: RelayAddress = "WSS://relay.example.org".parse().unwrap();
        assert_eq!(relay.to_string(), "wss://relay.example.org/");
    }

    #[test]
    fn anything_else_is_none() {
        let long = format!("wss://relay.example.org/{}", "x".repeat(232));
        for text in [
            &long,
            "",
            "relay.example.org",
            "https://relay.example.org/",
            "wss://",
            "wss:///path",
            "wss://relay.example.org/a b",
            "wss://relay.example.org/\r\nHost: x",
            "wss://relay.example.org/#part",
            "wss://user@relay.example.org/",
        ] {
            let error = text.parse::<RelayAddress>().unwrap_err();
            assert!(matches!(error, Error::RelayAddress(_)), "{text}");
        }
    }
}

//! Proxies: which one is on the way to a place, and what it may have against that.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::percent_decode_str;
use psijoin_printable::{Escaped, Word};
use zeroize::Zeroizing;

use super::{Way, exempt::Exempt};
use crate::{Endpoint, Error, endpoint::Address};

/// The port of a proxy whose address names none: that of HTTP.
const DEFAULT_PORT: u16 = 80;

/// A web proxy that passes bytes as they are, once it is asked to by `CONNECT`.
///
/// Its text is `http://HOST:PORT` or `http://USER:PASSWORD@HOST:PORT`, where user and password may
/// be percent-encoded. The port 80 may be left out, and `http://` where there is no user: so
/// whoever writes it down can tell that there is a password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    address: Address,
    /// User and password, as Basic authentication (RFC 7617) sends them.
    credentials: Option<Arc<Zeroizing<String>>>,
}

impl Proxy {
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn credentials(&self) -> Option<&str> {
        self.credentials.as_ref().map(|said| said.as_str())
    }
}

impl FromStr for Proxy {
    type Err = Error;

    /// # Errors
    /// [`Error::ProxyAddress`], which does not repeat the text: it may hold a password.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::read(text).map_err(Error::ProxyAddress)
    }
}

impl Proxy {
    /// Reads a proxy's address, or returns why it is none.
    fn read(text: &str) -> Result<Self, &'static str> {
        let refuse = Err;
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => {
                return refuse("a proxy that is itself spoken to in TLS is not supported");
            }
            Some((scheme, _)) if scheme.to_ascii_lowercase().starts_with("socks") => {
                return refuse("SOCKS is not supported, only HTTP with CONNECT is");
            }
            Some(_) => return refuse("it is of another kind than http://"),
            None if text.contains('@') => return refuse("it does not begin with http://"),
            None => text,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !path.is_empty() {
            return refuse("a path follows the address");
        }
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let has_port = host.rsplit_once(':').is_some_and(|(before, _)| {
            // A colon within brackets is one of an IPv6 address.
            !before.starts_with('[') || before.ends_with(']')
        });
        let address = match has_port {
            true => host.parse(),
            false => format!("{host}:{DEFAULT_PORT}").parse(),
        };
        let Ok(address) = address else {
            return refuse("its host or port is none");
        };
        Ok(Self {
            address,
            credentials: user.map(encoded).map(Arc::new),
        })
    }
}

/// Returns user and password as they are sent, from their text in an address.
fn encoded(user: &str) -> Zeroizing<String> {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut plain = Zeroizing::new(Vec::new());
    plain.extend(percent_decode_str(user));
    plain.push(b':');
    plain.extend(percent_decode_str(password));
    Zeroizing::new(BASE64_STANDARD.encode(&*plain))
}

/// Its address, without user and password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Word(self.address.as_str()))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.address).finish()
    }
}

/// The proxies on the ways of a party. None, by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    proxy: Option<Proxy>,
    exempt: Exempt,
    /// The reason that what the environment names is not used.
    unusable: Option<&'static str>,
}

impl Proxies {
    /// Returns one proxy for all ways.
    pub fn all(proxy: Proxy) -> Self {
        Self {
            proxy: Some(proxy),
            ..Self::default()
        }
    }

    /// Returns what the environment says, as other programs take it: `https_proxy` or `HTTPS_PROXY`
    /// names a proxy, and `no_proxy` or `NO_PROXY` the places that are reached without it, beside
    /// this machine itself: a list of hosts, domains, IP addresses and networks (`192.0.2.0/24`),
    /// with or without a port, or `*` for all. `variable` returns the value of a variable.
    ///
    /// A proxy that is named for other programs, and [cannot be used](Self::unusable) here, is none.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| {
            let value = variable(name).or_else(|| variable(&name.to_ascii_uppercase()))?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let Some(proxy) = value("https_proxy") else {
            return Self::default();
        };
        let (proxy, unusable) = match Proxy::read(&proxy) {
            Ok(proxy) => (Some(proxy), None),
            Err(why) => (None, Some(why)),
        };
        Self {
            proxy,
            exempt: Exempt::listed(&value("no_proxy").unwrap_or_default()),
            unusable,
        }
    }

    /// Returns why a proxy that the environment names is not used on the way there, if there is
    /// one.
    pub fn unusable(&self, endpoint: &Endpoint) -> Option<&'static str> {
        let place = match endpoint {
            Endpoint::Connect(address) => address,
            Endpoint::Relay(at) => at.relay.address(),
            Endpoint::Listen(_) | Endpoint::Folder(_) => return None,
        };
        self.unusable.filter(|_| !self.exempt.holds(place))
    }

    /// Returns the way to a place.
    pub(crate) fn way(&self, address: &Address) -> Way {
        let proxy = self.proxy.as_ref().filter(|_| !self.exempt.holds(address));
        Way {
            address: address.clone(),
            proxy: proxy.cloned(),
        }
    }
}

/// The reason that a proxy did not lead to a place, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyFault {
    /// It cannot be reached itself.
    #[error("cannot be reached: {0}")]
    Unreachable(#[source] Box<Error>),

    /// It wants to know who asks.
    #[error("asks for a user and a password (407): name it as http://USER:PASSWORD@HOST:PORT")]
    NeedsPassword,

    /// It knows no such user and password.
    #[error("does not accept the user and password that were given")]
    WrongPassword,

    /// It wants to know who asks, in a way that is not supported.
    #[error(
        "asks who this is by {0} (407), which is not supported, only Basic is: a helper on this machine that speaks it, \
         such as px or cntlm, can be named as the proxy instead, for example http://127.0.0.1:3128"
    )]
    Scheme(String),

    /// It does not lead there.
    #[error(
        "does not allow that (403): ask those who run it to allow CONNECT to this host and port, or meet at a relay \
         whose address begins with wss://; if there is a way without the proxy, no_proxy can name the host"
    )]
    Forbidden,

    /// It tried, and did not get there.
    #[error(
        "could not connect there itself ({0}): nobody may listen there yet, a firewall may be between, or the proxy may \
         not know the name"
    )]
    NotReached(u16),

    /// It has another reason.
    #[error("refuses that: it answers {}", Escaped(.0))]
    Answer(String),

    /// It is no web proxy.
    #[error("does not answer in HTTP: check its address and port")]
    NotHttp,

    /// Its answer does not end.
    #[error("answers with more than {0} bytes")]
    TooLong(usize),

    /// It hung up.
    #[error("closed the connection without an answer")]
    Closed,

    /// It keeps silent.
    #[error("did not answer within {} s", .0.as_secs())]
    Silent(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(text: &str) -> Proxy {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_is_read_with_and_without_user_scheme_and_port() {
        for (text, address, user) in [
            ("http://p.example.org:3128", "p.example.org:3128", None),
            ("HTTP://p.example.org:3128/", "p.example.org:3128", None),
            ("p.example.org:3128", "p.example.org:3128", None),
            ("http://p.example.org", "p.example.org:80", None),
            ("http://[2001:db8::1]", "[2001:db8::1]:80", None),
            ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080", None),
            ("http://ann:s3@p:1", "p:1", Some("ann:s3")),
            ("http://ann@p:1", "p:1", Some("ann:")),
            ("http://a%40b:c%3Ad%2F@p:1", "p:1", Some("a@b:c:d/")),
            ("http://dom%5Cann:p@ss@p:1", "p:1", Some("dom\\ann:p@ss")),
        ] {
            let read = proxy(text);
            assert_eq!(read.address().as_str(), address, "{text}");
            let expected = user.map(|user| BASE64_STANDARD.encode(user));
            assert_eq!(read.credentials(), expected.as_deref(), "{text}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_being_repeated() {
        for (text, said) in [
            ("https://ann:secret@p:1", "itself spoken to in TLS"),
            ("socks5h://ann:secret@p:1", "SOCKS is not supported"),
            ("ftp://ann:secret@p:1", "another kind"),
            ("http://ann:secret@p:1/path", "a path"),
            ("http://ann:secret@", "its host or port"),
            ("http://ann:secret@p:x", "its host or port"),
            ("ann:secret@p:1", "does not begin with http://"),
            ("", "its host or port"),
        ] {
            let error = text.parse::<Proxy>().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let proxy = proxy("http://ann:secret@p.example.org:1");
        for shown in [format!("{proxy}"), format!("{proxy:?}")] {
            assert!(shown.contains("p.example.org:1"), "{shown}");
            assert!(
                !shown.contains("ann") && !shown.contains("secret"),
                "{shown}"
            );
            assert!(!shown.contains(proxy.credentials().unwrap()), "{shown}");
        }
    }

    #[test]
    fn the_environment_names_one_and_its_exceptions() {
        let in_environment = |variables: &'static [(&str, &str)]| {
            let found = |name: &str| variables.iter().find(|(known, _)| *known == name);
            Proxies::from_environment(move |name| found(name).map(|(_, value)| (*value).into()))
        };
        let proxy_of = |proxies: &Proxies, place: &str| {
            let way = proxies.way(&place.parse().unwrap());
            way.proxy.map(|proxy| proxy.to_string())
        };
        let far = "join.example.org:7000";
        for (variables, expected) in [
            (&[][..], None),
            (&[("https_proxy", "")], None),
            (&[("https_proxy", "http://p:1")], Some("p:1")),
            (&[("HTTPS_PROXY", "http://p:1")], Some("p:1")),
            (
                &[("HTTPS_PROXY", "http://p:1"), ("https_proxy", "http://q:2")],
                Some("q:2"),
            ),
            (&[("https_proxy", "p:1"), ("no_proxy", "example.org")], None),
            (&[("https_proxy", "p:1"), ("NO_PROXY", "*")], None),
        ] {
            let proxies = in_environment(variables);
            assert_eq!(
                proxy_of(&proxies, far).as_deref(),
                expected,
                "{variables:?}"
            );
            assert_eq!(proxy_of(&proxies, "localhost:7000"), None);
        }
        let proxies = in_environment(&[("https_proxy", "socks5://ann:secret@p:1")]);
        assert_eq!(proxy_of(&proxies, far), None);
        let unusable = |place: &str| proxies.unusable(&Endpoint::Connect(place.parse().unwrap()));
        assert!(unusable(far).unwrap().contains("SOCKS"));
        assert_eq!(unusable("localhost:7000"), None);
        let all = Proxies::all(proxy("p:1"));
        assert_eq!(proxy_of(&all, "127.0.0.1:7000").as_deref(), Some("p:1"));
    }
}

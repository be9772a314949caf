//! Invitations, as they are sent: a line of text.
//!
//! `psijoin:1:` and, in base 32 with the alphabet of fingerprints:
//!
//! | bytes | |
//! |---|---|
//! | 32 | the inviter's Ed25519 key, as RFC 8032 encodes it |
//! | 16 | the one-time secret |
//! | 4 | the end, in seconds since 1970, little-endian |
//! | 1 | the number of places where the inviter can be met, at most 4 |
//! | 2 + n each | the kind of a place (1: an address to connect to, 2: a relay), the length of its text, and the text |
//! | 1 + n | the length of the name that the inviter suggests for itself, and the name; or 0 |
//! | 4 | a check sum: the first bytes of a hash of all before it |
//!
//! Reading is tolerant, as mails and telephones are not: white space and dashes are left out, upper
//! case is lower case, `o` is 0, and `i` and `l` are 1. Everything is checked before anything is
//! used; first of all the check sum, so that a link that was cut off or changed is called that.

use std::{fmt, str::FromStr, sync::LazyLock};

use data_encoding::{Encoding, Specification};
use psijoin_printable::Quoted;
use psijoin_transport::{
    Fingerprint, InvitationKey, PublicKey, RelayAddress, endpoint::Address,
    invitation::SECRET_BYTES,
};
use zeroize::Zeroizing;

use crate::{Name, Place, date};

/// Begins every link, before its version.
const SCHEME: &str = "psijoin:";

/// The version of links that this release writes and reads.
const VERSION: u32 = 1;

/// As those of fingerprints, without i, l, o and u.
const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";

const KEY_BYTES: usize = 32;

const CHECK_BYTES: usize = 4;

/// The most places.
const MAX_PLACES: usize = 4;

/// Everything of a link with the longest places and name.
const MAX_BYTES: usize =
    KEY_BYTES + SECRET_BYTES + 4 + 1 + MAX_PLACES * (2 + 255) + 1 + 64 + CHECK_BYTES;

/// The most characters of a link, without white space and dashes.
pub const MAX_LINK_CHARACTERS: usize = SCHEME.len() + 2 + (8 * MAX_BYTES).div_ceil(5);

/// The most characters of a text that is read, with them.
const MAX_TEXT_CHARACTERS: usize = 4 * MAX_LINK_CHARACTERS;

static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut specification = Specification::new();
    specification.symbols.push_str(ALPHABET);
    specification.encoding().expect("32 different symbols")
});

/// An invitation. Whoever has it can accept it, so it is shown only where it is to be sent.
#[derive(Clone)]
pub struct Link {
    key: PublicKey,
    secret: Zeroizing<[u8; SECRET_BYTES]>,
    ends: u32,
    places: Vec<Place>,
    name: Option<Name>,
}

impl Link {
    /// Makes the link of an inviter with this key, who can be met at these places: the first four
    /// addresses and relays among them.
    pub(crate) fn new(
        key: PublicKey,
        secret: Zeroizing<[u8; SECRET_BYTES]>,
        ends: u32,
        places: Vec<Place>,
        name: Option<Name>,
    ) -> Self {
        let can_be_told = |place: &Place| matches!(place, Place::Connect(_) | Place::Relay(_));
        let places = places.into_iter().filter(can_be_told);
        Self {
            key,
            secret,
            ends,
            places: places.take(MAX_PLACES).collect(),
            name,
        }
    }

    /// Returns the inviter's key.
    pub fn key(&self) -> PublicKey {
        self.key
    }

    /// Returns the name of the inviter's key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.key.fingerprint()
    }

    /// Returns the key by which its secret is proved.
    pub fn invitation_key(&self) -> InvitationKey {
        InvitationKey::of(&self.secret)
    }

    /// Returns its end, in seconds since 1970.
    pub fn ends(&self) -> u64 {
        self.ends.into()
    }

    /// Returns the places where the inviter can be met, the best one first.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns the name that the inviter suggests for itself, if it does.
    pub fn name(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    /// Reads the content of a link without its check sum, which a fuzzer would not guess.
    #[doc(hidden)]
    pub fn of_content(content: &[u8]) -> Result<Self, LinkError> {
        Self::from_bytes(&[content, &check_sum(content)].concat())
    }

    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
        bytes.extend(self.key.to_bytes());
        bytes.extend(&*self.secret);
        bytes.extend(self.ends.to_le_bytes());
        bytes.push(self.places.len() as u8);
        for place in &self.places {
            let (kind, text) = match place {
                Place::Relay(relay) => (2, relay.to_string()),
                Place::Connect(address) | Place::Listen(address) => {
                    (1, address.as_str().to_owned())
                }
                Place::Folder(_) => (0, String::new()),
            };
            bytes.extend([kind, text.len() as u8]);
            bytes.extend(text.as_bytes());
        }
        let name = self.name.as_ref().map_or("", Name::as_str);
        bytes.push(name.len() as u8);
        bytes.extend(name.as_bytes());
        let check = check_sum(&bytes);
        bytes.extend(check);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, LinkError> {
        let (said, check) = bytes
            .split_last_chunk::<CHECK_BYTES>()
            .ok_or(LinkError::Changed)?;
        if check_sum(said) != *check {
            return Err(LinkError::Changed);
        }
        let mut rest = Rest(said);
        let key =
            PublicKey::from_bytes(rest.array()?).ok_or(LinkError::Invalid("its key is none"))?;
        let secret = Zeroizing::new(rest.array()?);
        let ends = u32::from_le_bytes(rest.array()?);
        let [count] = rest.array()?;
        if usize::from(count) > MAX_PLACES {
            return Err(LinkError::Invalid("it has too many places"));
        }
        let places = (0..count).map(|_| rest.place()).collect::<Result<_, _>>()?;
        let name = match rest.text()? {
            "" => None,
            name => Some(
                name.parse()
                    .map_err(|_| LinkError::Invalid("its name is none"))?,
            ),
        };
        match rest.0 {
            [] => Ok(Self {
                key,
                secret,
                ends,
                places,
                name,
            }),
            _ => Err(LinkError::Invalid("it has something after its end")),
        }
    }
}

fn check_sum(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::derive_key("psijoin v1 check sum of an invitation", bytes);
    std::array::from_fn(|i| hash[i])
}

/// The rest of the bytes of a link.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], LinkError> {
        let (&array, rest) = (self.0)
            .split_first_chunk()
            .ok_or(LinkError::Invalid("a part of it is missing"))?;
        self.0 = rest;
        Ok(array)
    }

    /// Reads a text behind its length.
    fn text(&mut self) -> Result<&'a str, LinkError> {
        let [length] = self.array()?;
        let (text, rest) = (self.0)
            .split_at_checked(length.into())
            .ok_or(LinkError::Invalid("a part of it is missing"))?;
        self.0 = rest;
        str::from_utf8(text).map_err(|_| LinkError::Invalid("a part of it is not a text"))
    }

    fn place(&mut self) -> Result<Place, LinkError> {
        let [kind] = self.array()?;
        let text = self.text()?;
        let invalid = LinkError::Invalid("one of its places has no address");
        match kind {
            1 => text
                .parse::<Address>()
                .map(Place::Connect)
                .map_err(|_| invalid),
            2 => {
                let relay = text.parse::<RelayAddress>().map_err(|_| invalid.clone())?;
                // There is one link for each content.
                let is_as_written = relay.to_string() == text;
                is_as_written.then_some(Place::Relay(relay)).ok_or(invalid)
            }
            _ => Err(LinkError::Invalid(
                "one of its places is of an unknown kind",
            )),
        }
    }
}

/// Shows the whole link, to be sent.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = Zeroizing::new(BASE32.encode(&self.to_bytes()));
        write!(f, "{SCHEME}{VERSION}:{}", *encoded)
    }
}

/// Shows no secret.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("key", &self.fingerprint())
            .field("ends", &date(self.ends()))
            .field("places", &self.places)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The reason that a text is not an invitation. It never repeats more of it than a character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// It does not begin like one.
    #[error(
        "an invitation begins with psijoin:1: and goes on in one piece; copy all of it, in quotes"
    )]
    Scheme,
    /// It is of a later release.
    #[error(
        "this invitation is of version {0}, and this release reads version 1: update psijoin here, or \
         ask for an invitation by an older release"
    )]
    Version(u32),
    /// It holds a character that no invitation has.
    #[error(
        "{} does not occur in an invitation: copy it again, and nothing beside it",
        Quoted(.0.encode_utf8(&mut [0; 4]))
    )]
    Character(char),
    /// It is longer than any.
    #[error("this is longer than any invitation: copy one, and nothing beside it")]
    Long,
    /// It was cut off, or changed.
    #[error(
        "a part of the invitation is missing, or was changed on its way: copy all of it, or ask for it \
         again"
    )]
    Changed,
    /// It was made so.
    #[error("this invitation cannot be used, as {0}: ask for another one, and report this")]
    Invalid(&'static str),
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let text = plain(text)?;
        let behind = text.strip_prefix(SCHEME).ok_or(LinkError::Scheme)?;
        let (version, symbols) = behind.split_once(':').ok_or(LinkError::Scheme)?;
        match version.parse() {
            Ok(VERSION) => {}
            Ok(later) => return Err(LinkError::Version(later)),
            Err(_) => return Err(LinkError::Scheme),
        }
        let read_as = |c| match c {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        let symbols: Zeroizing<String> = Zeroizing::new(symbols.chars().map(read_as).collect());
        if let Some(other) = symbols.chars().find(|c| !ALPHABET.contains(*c)) {
            return Err(LinkError::Character(other));
        }
        let bytes = BASE32.decode(symbols.as_bytes());
        let bytes = Zeroizing::new(bytes.map_err(|_| LinkError::Changed)?);
        Self::from_bytes(&bytes)
    }
}

/// Returns a text without white space and dashes, in lower case.
fn plain(text: &str) -> Result<Zeroizing<String>, LinkError> {
    let mut plain = Zeroizing::new(String::with_capacity(MAX_LINK_CHARACTERS));
    for (at, c) in text.chars().enumerate() {
        if at == MAX_TEXT_CHARACTERS || plain.len() == MAX_LINK_CHARACTERS {
            return Err(LinkError::Long);
        }
        match c {
            '-' => {}
            c if c.is_whitespace() => {}
            c if c.is_ascii() => plain.push(c.to_ascii_lowercase()),
            other => return Err(LinkError::Character(other)),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::{collection::vec, prelude::*};
    use psijoin_transport::Identity;

    use super::*;

    static KEY: LazyLock<PublicKey> =
        LazyLock::new(|| Identity::generate().unwrap().public_key().unwrap());

    fn link(places: Vec<Place>, name: Option<&str>) -> Link {
        let name = name.map(|name| name.parse().unwrap());
        Link::new(
            *KEY,
            Zeroizing::new([0xa5; SECRET_BYTES]),
            2_000_000_000,
            places,
            name,
        )
    }

    fn relay() -> Place {
        Place::Relay("relay.example.org:7766".parse().unwrap())
    }

    fn address() -> Place {
        Place::Connect("ann.example.org:7766".parse().unwrap())
    }

    fn assert_same(a: &Link, b: &Link) {
        assert_eq!(a.to_bytes(), b.to_bytes());
        assert_eq!((&a.places, &a.name), (&b.places, &b.name));
    }

    /// Links are kept in mails until they are used.
    #[test]
    fn the_form_is_fixed() {
        let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let name = Some("ann".parse().unwrap());
        let secret = Zeroizing::new([0xa5; SECRET_BYTES]);
        let link = Link::new(
            key.parse().unwrap(),
            secret,
            2_000_000_000,
            vec![relay()],
            name,
        );
        let text = link.to_string();
        assert!(text.starts_with("psijoin:1:txd9g0c2p45bfna"), "{text}");
        assert_same(&text.parse().unwrap(), &link);
        assert_eq!(
            text.len(),
            10 + (8 * (32 + 16 + 4 + 1 + 2 + 22 + 1 + 3 + 4_usize)).div_ceil(5)
        );
    }

    #[test]
    fn links_are_read_as_they_are_written() {
        let longest: Name = "n".repeat(64).parse().unwrap();
        let far = format!("wss://{}/", "x".repeat(248));
        let far = Place::Relay(far.parse().unwrap());
        for link in [
            link(Vec::new(), None),
            link(vec![relay()], Some("ann")),
            link(vec![relay(), address()], Some("ann")),
            link(vec![far; 4], Some(longest.as_str())),
        ] {
            let text = link.to_string();
            assert!(text.len() <= MAX_LINK_CHARACTERS);
            assert_same(&text.parse().unwrap(), &link);
        }
    }

    #[test]
    fn folders_and_own_addresses_are_not_told() {
        let here = Place::Listen("0.0.0.0:7766".parse().unwrap());
        let link = link(
            vec![here, Place::Folder("/mnt/shared".into()), relay()],
            None,
        );
        assert_eq!(link.places(), [relay()]);
    }

    #[test]
    fn what_mails_and_telephones_do_to_a_link_is_undone() {
        let link = link(vec![relay()], Some("ann"));
        let text = link.to_string();
        let wrapped: Vec<_> = text
            .as_bytes()
            .chunks(40)
            .map(|line| str::from_utf8(line).unwrap())
            .collect();
        for variant in [
            text.to_uppercase(),
            wrapped.join("\n"),
            wrapped.join("\r\n  "),
            wrapped.join("-"),
            format!(" {text}\n"),
            format!(
                "{}{}",
                &text[..10],
                text[10..].replace('0', "O").replace('1', "l")
            ),
        ] {
            assert_same(&variant.parse().unwrap(), &link);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_what_to_do() {
        let text = link(vec![relay()], Some("ann")).to_string();
        let parse = |text: &str| text.parse::<Link>().unwrap_err();
        for other in [
            "",
            "psi1-qcnk",
            "psijoin",
            "psijoin:",
            "psijoin:x:00",
            "https://example.org",
        ] {
            assert_eq!(parse(other), LinkError::Scheme, "{other}");
        }
        assert_eq!(parse("psijoin:2:00"), LinkError::Version(2));
        assert_eq!(parse(&format!("{text}u")), LinkError::Character('u'));
        assert_eq!(parse(&format!("{text}ä")), LinkError::Character('ä'));
        assert_eq!(parse(&text.repeat(99)), LinkError::Long);
        assert_eq!(parse(&" ".repeat(99_999)), LinkError::Long);
        for cut in 10..text.len() {
            assert_eq!(parse(&text[..cut]), LinkError::Changed, "{cut}");
        }
        let error = parse(&format!("{text}\u{202e}")).to_string();
        assert!(!error.contains('\u{202e}'), "{error}");
    }

    #[test]
    fn every_change_of_a_symbol_is_caught() {
        let text = link(vec![relay()], Some("ann")).to_string();
        for at in 10..text.len() {
            let other = if text.as_bytes()[at] == b'7' {
                "8"
            } else {
                "7"
            };
            let mut changed = text.clone();
            changed.replace_range(at..=at, other);
            assert_eq!(
                changed.parse::<Link>().unwrap_err(),
                LinkError::Changed,
                "{at}"
            );
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?}", link(vec![relay()], None));
        assert!(!shown.contains("165") && !shown.contains("a5a5"), "{shown}");
        assert!(shown.contains(&KEY.fingerprint().to_string()), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,80}") {
            let _ = text.parse::<Link>();
            let _ = format!("psijoin:1:{text}").parse::<Link>();
        }

        /// What is read is written in the same way, so there is one link for each content.
        #[test]
        fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..200), with_key: bool) {
            let front = if with_key { KEY.to_bytes().to_vec() } else { Vec::new() };
            let bytes = [front, bytes].concat();
            if let Ok(link) = Link::of_content(&bytes) {
                prop_assert_eq!(&link.to_bytes()[..bytes.len()], &bytes[..]);
            }
        }

        #[test]
        fn round_trips(
            secret: [u8; SECRET_BYTES],
            ends: u32,
            ports in vec(any::<u16>(), 0..5),
            name in proptest::option::of("[a-z][a-z0-9_-]{0,20}"),
        ) {
            let place = |port: u16| match port % 2 {
                0 => Place::Relay(format!("relay.example:{port}").parse().unwrap()),
                _ => Place::Connect(format!("[::1]:{port}").parse().unwrap()),
            };
            let name = name.and_then(|name| name.parse().ok());
            let places = ports.into_iter().map(place).collect();
            let link = Link::new(*KEY, Zeroizing::new(secret), ends, places, name);
            assert_same(&link.to_string().parse().unwrap(), &link);
        }
    }
}

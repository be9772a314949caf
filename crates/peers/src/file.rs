//! The text of the file of peers.

use std::{collections::BTreeMap, fmt, str::FromStr};

use data_encoding::HEXLOWER_PERMISSIVE;
use psijoin_transport::{Fingerprint, InvitationKey, PairSecret, PublicKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    Confirmation, Invitation, Name, Peer, Peers, Place, Replaced, Side, Use,
    time::{from_text, to_text},
};

/// The version of the file that this release writes, and the last one that it reads.
pub(crate) const VERSION: u32 = 1;

/// Begins the file.
const PREFACE: &str = "\
# The parties that you know by name, as `psijoin peers` shows them. It holds secrets: keep it to
# yourself. Each change has a command; what you write here by hand, the next one writes anew.

";

/// The version alone, which says how the rest is read.
#[derive(Deserialize)]
pub(crate) struct Version {
    pub(crate) version: u32,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    peers: BTreeMap<Name, Written>,
}

/// A peer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Text<PublicKey>>,
    since: Time,
    #[serde(default, skip_serializing_if = "is_false")]
    was_invited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_secret: Option<Hidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<WrittenReplaced>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invitation: Option<WrittenInvitation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenReplaced {
    key: Text<Fingerprint>,
    until: Time,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInvitation {
    side: WrittenSide,
    key: Hidden,
    ends: Time,
    #[serde(default, skip_serializing_if = "is_false")]
    confirm: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<Text<Fingerprint>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<WrittenUse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turned_away: Option<WrittenUse>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenSide {
    Inviter,
    Guest,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUse {
    by: Text<Fingerprint>,
    when: Time,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Reads the file of this release's version.
pub(crate) fn read(text: &str) -> Result<Peers, String> {
    // The error's own text would show the line, which may hold a secret.
    let file: File = toml::from_str(text).map_err(|error| fault(text, &error))?;
    let peers = file.peers.into_iter();
    let peer = |(name, written): (Name, Written)| match written.read() {
        Ok(peer) => Ok((name, peer)),
        Err(why) => Err(format!("of {name}, {why}")),
    };
    peers.map(peer).collect()
}

/// Returns what is wrong with a text, and where, without the text itself.
pub(crate) fn fault(text: &str, error: &toml::de::Error) -> String {
    let what = error.message();
    let place = error.span().and_then(|span| text.get(..span.start));
    match place {
        Some(before) => format!("in line {}, {what}", before.matches('\n').count() + 1),
        None => what.to_owned(),
    }
}

/// Writes the file.
pub(crate) fn write(peers: &Peers) -> Zeroizing<String> {
    let written = |(name, peer): (&Name, &Peer)| (name.clone(), Written::of(peer));
    let file = File {
        version: VERSION,
        peers: peers.iter().map(written).collect(),
    };
    let body = Zeroizing::new(toml::to_string(&file).expect("texts, numbers and tables of these"));
    let mut text = Zeroizing::new(String::with_capacity(PREFACE.len() + body.len()));
    text.push_str(PREFACE);
    text.push_str(&body);
    text
}

impl Written {
    fn of(peer: &Peer) -> Self {
        let mut written = Self {
            key: peer.key.map(Text),
            since: Time(peer.since),
            was_invited: peer.was_invited,
            pair_secret: peer
                .pair_secret
                .as_ref()
                .map(|secret| Hidden(*secret.as_bytes())),
            listen: None,
            connect: None,
            relay: None,
            folder: None,
            replaced: peer.replaced.iter().map(WrittenReplaced::of).collect(),
            invitation: peer.invitation.as_ref().map(WrittenInvitation::of),
        };
        match &peer.place {
            None => {}
            Some(Place::Listen(address)) => written.listen = Some(address.as_str().to_owned()),
            Some(Place::Connect(address)) => written.connect = Some(address.as_str().to_owned()),
            Some(Place::Relay(relay)) => written.relay = Some(relay.to_string()),
            Some(Place::Folder(folder)) => written.folder = Some(folder.clone()),
        }
        written
    }

    fn read(self) -> Result<Peer, String> {
        if self.key.is_none() && self.invitation.is_none() {
            return Err("there is neither a key nor an invitation".to_owned());
        }
        let place = self.place()?;
        let replaced = self.replaced.into_iter().map(|replaced| Replaced {
            key: replaced.key.0,
            until: replaced.until.0,
        });
        Ok(Peer {
            key: self.key.map(|key| key.0),
            since: self.since.0,
            was_invited: self.was_invited,
            pair_secret: self
                .pair_secret
                .map(|secret| PairSecret::from_bytes(secret.0)),
            place,
            replaced: replaced.collect(),
            invitation: self.invitation.map(WrittenInvitation::read),
        })
    }

    fn place(&self) -> Result<Option<Place>, String> {
        let invalid = |error: &dyn fmt::Display| error.to_string();
        let mut places = Vec::new();
        if let Some(address) = &self.listen {
            places.push(Place::Listen(address.parse().map_err(|e| invalid(&e))?));
        }
        if let Some(address) = &self.connect {
            places.push(Place::Connect(address.parse().map_err(|e| invalid(&e))?));
        }
        if let Some(relay) = &self.relay {
            places.push(Place::Relay(relay.parse().map_err(|e| invalid(&e))?));
        }
        if let Some(folder) = &self.folder {
            places.push(Place::Folder(folder.clone()));
        }
        match places.len() {
            0 | 1 => Ok(places.pop()),
            _ => Err("there is more than one of listen, connect, relay and folder".to_owned()),
        }
    }
}

impl WrittenReplaced {
    fn of(replaced: &Replaced) -> Self {
        Self {
            key: Text(replaced.key),
            until: Time(replaced.until),
        }
    }
}

impl WrittenInvitation {
    fn of(invitation: &Invitation) -> Self {
        let (confirm, confirmed) = match invitation.confirmation {
            Confirmation::NotNeeded => (false, None),
            Confirmation::Needed => (true, None),
            Confirmation::Given(fingerprint) => (true, Some(Text(fingerprint))),
        };
        Self {
            side: match invitation.side {
                Side::Inviter => WrittenSide::Inviter,
                Side::Guest => WrittenSide::Guest,
            },
            key: Hidden(*invitation.key.as_bytes()),
            ends: Time(invitation.ends),
            confirm,
            confirmed,
            used: invitation.used.map(WrittenUse::of),
            turned_away: invitation.turned_away.map(WrittenUse::of),
        }
    }

    fn read(self) -> Invitation {
        Invitation {
            side: match self.side {
                WrittenSide::Inviter => Side::Inviter,
                WrittenSide::Guest => Side::Guest,
            },
            key: InvitationKey::from_bytes(self.key.0),
            ends: self.ends.0,
            confirmation: match (self.confirmed, self.confirm) {
                (Some(fingerprint), _) => Confirmation::Given(fingerprint.0),
                (None, true) => Confirmation::Needed,
                (None, false) => Confirmation::NotNeeded,
            },
            used: self.used.map(WrittenUse::read),
            turned_away: self.turned_away.map(WrittenUse::read),
        }
    }
}

impl WrittenUse {
    fn of(used: Use) -> Self {
        Self {
            by: Text(used.by),
            when: Time(used.when),
        }
    }

    fn read(self) -> Use {
        Use {
            by: self.by.0,
            when: self.when.0,
        }
    }
}

/// What is written as its text.
struct Text<T>(T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}

/// A time.
struct Time(u64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = from_text(&text);
        let expected = "a time such as 2026-11-18T11:06:40Z was due";
        time.map(Self).ok_or_else(|| de::Error::custom(expected))
    }
}

/// A secret, in hexadecimal digits.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Hidden([u8; 32]);

impl Serialize for Hidden {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = Zeroizing::new(HEXLOWER_PERMISSIVE.encode(&self.0));
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = Zeroizing::new(String::deserialize(deserializer)?);
        let bytes = HEXLOWER_PERMISSIVE
            .decode(digits.as_bytes())
            .map(Zeroizing::new);
        let bytes = bytes
            .ok()
            .and_then(|bytes| bytes.as_slice().try_into().ok());
        let expected = "64 hexadecimal digits of a secret were due";
        bytes.map(Self).ok_or_else(|| de::Error::custom(expected))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use psijoin_transport::Identity;

    use super::*;

    fn key() -> PublicKey {
        Identity::generate().unwrap().public_key().unwrap()
    }

    fn examples() -> Vec<Peer> {
        let used = Use {
            by: key().fingerprint(),
            when: 1_795_000_000,
        };
        let invitation = |side, confirmation| Invitation {
            side,
            key: InvitationKey::from_bytes([3; 32]),
            ends: 1_795_000_001,
            confirmation,
            used: Some(used),
            turned_away: None,
        };
        let given = Confirmation::Given(key().fingerprint());
        vec![
            Peer {
                since: 5,
                was_invited: true,
                place: Some(Place::Relay("wss://relay.example.org/".parse().unwrap())),
                invitation: Some(invitation(Side::Inviter, Confirmation::Needed)),
                ..Peer::default()
            },
            Peer {
                key: Some(key()),
                pair_secret: Some(PairSecret::from_bytes([0xab; 32])),
                place: Some(Place::Listen("0.0.0.0:7766".parse().unwrap())),
                replaced: vec![Replaced {
                    key: key().fingerprint(),
                    until: 9,
                }],
                invitation: Some(invitation(Side::Inviter, given)),
                ..Peer::default()
            },
            Peer {
                key: Some(key()),
                place: Some(Place::Connect("ann.example.org:7766".parse().unwrap())),
                invitation: Some(invitation(Side::Guest, Confirmation::NotNeeded)),
                ..Peer::default()
            },
            Peer {
                key: Some(key()),
                place: Some(Place::Folder("/mnt/shared folder".into())),
                ..Peer::default()
            },
        ]
    }

    fn all() -> Peers {
        let names = ["ann", "bob", "carol", "dan"].map(|name| name.parse().unwrap());
        names.into_iter().zip(examples()).collect()
    }

    #[test]
    fn peers_are_read_as_they_are_written() {
        let peers = all();
        let text = write(&peers);
        let again = read(&text).unwrap();
        assert_eq!(*write(&again), *text);
        for ((name, peer), (other, read)) in peers.iter().zip(again.iter()) {
            assert_eq!(name, other);
            assert_eq!(
                (peer.key, peer.since, peer.was_invited, &peer.place),
                (read.key, read.since, read.was_invited, &read.place)
            );
            assert_eq!(peer.replaced, read.replaced);
            assert_eq!(
                peer.invitation
                    .as_ref()
                    .map(|it| (it.side, it.ends, it.confirmation, it.used)),
                read.invitation
                    .as_ref()
                    .map(|it| (it.side, it.ends, it.confirmation, it.used)),
            );
            let secret = |peer: &Peer| peer.pair_secret.as_ref().map(|secret| *secret.as_bytes());
            assert_eq!(secret(peer), secret(read));
        }
        assert_eq!(read(&write(&Peers::default())).unwrap().iter().count(), 0);
    }

    #[test]
    fn a_fault_is_told_with_its_line_and_no_secret() {
        let text = write(&all()).to_string();
        let secret = "ab".repeat(32);
        for (from, to, told) in [
            (&*secret, "abcd", "64 hexadecimal digits"),
            ("side = \"guest\"", "side = \"ghost\"", "ghost"),
            ("2026-11-18T11:06:40Z", "yesterday", "a time such as"),
            ("[peers.bob", "[peers.\"b b\"", "the name of a peer"),
            (
                "listen = ",
                "connect = \"b:1\"\nlisten = ",
                "more than one of listen",
            ),
            ("listen = ", "lisen = ", "lisen"),
            ("0.0.0.0:7766", "0.0.0.0", "is not an address"),
            ("version = 1", "version = 1\nversion = 1", "line 5"),
        ] {
            assert!(text.contains(from), "{from}");
            let error = read(&text.replace(from, to)).unwrap_err();
            assert!(error.contains(told), "{error}");
            assert!(!error.contains(&secret), "{error}");
        }
        let error = read("version = 1\n[peers.bob]\nsince = \"2026-11-18T11:06:40Z\"\n");
        assert!(
            error
                .unwrap_err()
                .contains("neither a key nor an invitation")
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}", line in 0..60_usize) {
            let _ = read(&text);
            let good = write(&all());
            let mut lines: Vec<_> = good.lines().collect();
            let place = line.min(lines.len());
            lines.insert(place, &text);
            let _ = read(&lines.join("\n"));
        }
    }
}

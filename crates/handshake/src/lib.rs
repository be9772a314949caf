//! The session handshake: both parties check that they were set up alike before any data
//! moves, and draw a seed that neither controls.
//!
//! It runs over any [`Channel`] and knows no protocol. A list of named [settings](Hello::setting)
//! must agree. A list of named [facts](Hello::fact) is what one party has to tell the other, its
//! [measurements](Hello::measured) of the network among them. Both parties speak at the same time:
//!
//! 1. *opening*, 16 bytes, the same in all versions: magic, and the versions that this party
//!    speaks; both take the newest that both know;
//! 2. *[hello](Hello)*, [`HELLO_BYTES`]: role, set size, settings, facts, and a commitment to a
//!    random share of the seed. From both sizes and both parties' facts the caller then derives
//!    the protocol's parameters;
//! 3. *confirmation*, 64 bytes: the digest of what was derived, and the opened share.
//!
//! Each party sends before it compares, so a disagreement is an error on both sides that
//! names each such setting and both values.
//!
//! ```
//! use std::thread;
//!
//! use psijoin_channel::{Channel, joint_seed::JointSeed, memory};
//! use psijoin_handshake::{Error, Hello, Role, begin};
//!
//! /// Both parties run this, in different roles.
//! fn agree(channel: &mut Channel, hello: Hello) -> Result<JointSeed, Error> {
//!     let pending = begin(channel, hello.setting("protocol", "kkrt"))?;
//!     println!("the other party has {} items", pending.peer().set_size());
//!     pending.confirm(channel, &[b"what both derive from the sizes"])
//! }
//!
//! let (mut alice, mut bob) = memory::pair();
//! let sender = thread::spawn(move || agree(&mut alice, Hello::new(Role::Sender, 1000)));
//! let seed = agree(&mut bob, Hello::new(Role::Receiver, 50))?;
//! let purpose = "example 2026 a key that both have";
//! assert_eq!(seed.key(purpose), sender.join().expect("no panic")?.key(purpose));
//! # Ok::<(), Error>(())
//! ```
//!
//! # The seed
//! It hashes both hellos and both shares: see [`psijoin_channel::joint_seed`].

#![forbid(unsafe_code)]

use psijoin_channel::{
    Channel, Error as ChannelError, MAX_MESSAGE_BYTES,
    joint_seed::{JointSeed, Revealed, SHARE_BYTES, Share, Transcript},
};

mod entries;
mod error;
mod hello;
mod measured;
mod version;

pub use entries::MAX_ENTRIES;
pub use error::{Disagreement, Error};
pub use hello::{HELLO_BYTES, Hello, MAX_SET_SIZE};
pub use psijoin_params::Role;
pub use version::{OLDEST_VERSION, VERSION, Versions};

use version::OPENING_BYTES;

/// The name in [`Error::Mismatch`] of the digest of what both parties derived, such as parameters.
pub const DERIVED_PARAMETERS: &str = "the derived parameters";

const DIGEST_BYTES: usize = 32;
const CONFIRMATION_BYTES: usize = DIGEST_BYTES + SHARE_BYTES;

const _: () = assert!(HELLO_BYTES <= MAX_MESSAGE_BYTES);

/// A handshake whose hellos have been exchanged.
pub struct Pending {
    version: u16,
    /// That of this party, and that of the peer.
    openings: [[u8; OPENING_BYTES]; 2],
    ours: Hello,
    theirs: Hello,
    our_hello: Box<[u8; HELLO_BYTES]>,
    their_hello: Box<[u8; HELLO_BYTES]>,
    our_share: Share,
    their_commitment: [u8; DIGEST_BYTES],
}

/// Exchanges hellos. [`Pending::compare`] tells whether their settings agree.
///
/// # Errors
/// [`Error::Setting`] or [`Error::SetTooLarge`] if `hello` cannot be sent;
/// [`Error::NotPsijoin`], [`Error::Version`], [`Error::SameRole`] and [`Error::Malformed`] if the
/// peer's is another; and [`Error::Channel`].
pub fn begin(channel: &mut Channel, hello: Hello) -> Result<Pending, Error> {
    begin_speaking(Versions::OURS, channel, hello)
}

/// As [`begin`], for a party that speaks these versions. [`Versions::OURS`] are those of this
/// release; others are for tests of what neighbouring releases do.
///
/// # Errors
/// As [`begin`].
pub fn begin_speaking(
    versions: Versions,
    channel: &mut Channel,
    hello: Hello,
) -> Result<Pending, Error> {
    let our_opening = versions.to_opening();
    let our_share = Share::draw(hello.role() == Role::Sender)?;
    let our_hello = hello.encode(&our_share.commitment())?;

    let mut their_hello = Box::new([0; HELLO_BYTES]);
    let mut their_opening = [0; OPENING_BYTES];
    let ((), version) = channel.exchange(
        |outbound| {
            outbound.send(&our_opening)?;
            Ok(outbound.send(&*our_hello)?)
        },
        |inbound| {
            inbound.recv(&mut their_opening).map_err(not_psijoin)?;
            let theirs = versions.of_opening(&their_opening)?;
            let version = versions.common(theirs)?;
            inbound.recv(&mut *their_hello).map_err(not_psijoin)?;
            Ok::<_, Error>(version)
        },
    )?;
    let (theirs, their_commitment) = Hello::decode(&their_hello)?;
    if hello.role() == theirs.role() {
        return Err(Error::SameRole(hello.role()));
    }
    Ok(Pending {
        version,
        openings: [our_opening, their_opening],
        ours: hello,
        theirs,
        our_hello,
        their_hello,
        our_share,
        their_commitment,
    })
}

impl Pending {
    /// Returns the version that both speak from here on: the newest that both know.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Returns what this party said.
    pub fn own(&self) -> &Hello {
        &self.ours
    }

    /// Returns what the peer said.
    pub fn peer(&self) -> &Hello {
        &self.theirs
    }

    /// Checks that both parties have the same settings.
    ///
    /// # Errors
    /// [`Error::Mismatch`] names all that differ.
    pub fn compare(&self) -> Result<(), Error> {
        self.ours.compare(&self.theirs)
    }

    /// Draws the joint seed, once both parties are known to have the same settings, and to have
    /// derived the same from the hellos, such as parameters. `derived` is what this party derived,
    /// part by part.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if they have not or did not, [`Error::Malformed`] if the peer opens
    /// another share than it committed to, [`Error::Channel`].
    pub fn confirm(self, channel: &mut Channel, derived: &[&[u8]]) -> Result<JointSeed, Error> {
        self.compare()?;
        let our_digest = digest(derived);
        let mut confirmation = [0; CONFIRMATION_BYTES];
        let (digest, share) = confirmation.split_at_mut(DIGEST_BYTES);
        digest.copy_from_slice(&our_digest);
        share.copy_from_slice(self.our_share.reveal());

        let ((), theirs) = channel.exchange(
            |outbound| outbound.send(&confirmation),
            |inbound| {
                let mut theirs = [0; CONFIRMATION_BYTES];
                inbound.recv(&mut theirs).map(|()| theirs)
            },
        )?;
        let (their_digest, their_share) = theirs.split_at(DIGEST_BYTES);
        if their_digest != our_digest {
            return Err(Error::mismatch(
                DERIVED_PARAMETERS,
                short_hex(&our_digest),
                short_hex(their_digest),
            ));
        }
        let their_share = their_share.try_into().expect("half of a confirmation");
        self.joint_seed(&our_digest, their_share)
    }

    fn joint_seed(
        self,
        derived: &[u8; DIGEST_BYTES],
        their_share: &[u8; SHARE_BYTES],
    ) -> Result<JointSeed, Error> {
        let theirs = Revealed {
            commitment: &self.their_commitment,
            share: their_share,
        };
        let [our_opening, their_opening] = &self.openings;
        let (openings, said) = match self.ours.role() {
            Role::Sender => (
                [our_opening, their_opening],
                [&self.our_hello[..], &self.their_hello[..]],
            ),
            Role::Receiver => (
                [their_opening, our_opening],
                [&self.their_hello[..], &self.our_hello[..]],
            ),
        };
        let transcript = Transcript {
            purpose: "psijoin v1 handshake: joint seed",
            opening: &version::sealed(self.version, openings),
            said,
            derived,
        };
        let seed = self.our_share.combine(theirs, &transcript);
        seed.map_err(|error| match error {
            ChannelError::Malformed(what) => Error::Malformed(what),
            other => other.into(),
        })
    }
}

fn not_psijoin(error: ChannelError) -> Error {
    match error {
        ChannelError::MessageLength { .. } => {
            Error::NotPsijoin("its first messages have other lengths")
        }
        other => other.into(),
    }
}

/// Returns a digest of all parts.
fn digest(parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin v2 handshake: derived parameters");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns enough of a digest to tell two apart by eye.
fn short_hex(digest: &[u8]) -> String {
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests;

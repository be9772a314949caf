//! The versions of what follows TLS, and which of them two parties speak.
//!
//! An opening tells the versions that a release speaks, from its oldest to its newest:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `PSIJOIN` and a line feed |
//! | 2 | the layout of opening, hello and confirmation: [`LAYOUT`] |
//! | 2 | the newest version |
//! | 2 | the oldest version |
//! | 2 | zero; left to later releases |
//!
//! Numbers are little-endian. Both parties take the newest version that both speak. Nobody waits
//! for that: hellos have one layout for all versions, and go out along with the openings.
//!
//! Releases before the negotiation send zeros behind the layout and speak version 4 alone. They
//! leave out of account what stands there, so a party that speaks 4 among others meets them.

use crate::Error;

/// The newest version of the handshake and of all that follows it.
pub const VERSION: u16 = 5;

/// The oldest version that this release still speaks: see docs/versions.md.
pub const OLDEST_VERSION: u16 = 4;

/// The layout of the three messages. It is the version of the releases before the negotiation.
const LAYOUT: u16 = 4;

const MAGIC: &[u8; 8] = b"PSIJOIN\n";

pub(crate) const OPENING_BYTES: usize = 16;

/// The versions that a party speaks: from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// The oldest.
    pub oldest: u16,
    /// The newest.
    pub newest: u16,
}

/// Those of this release.
impl Default for Versions {
    fn default() -> Self {
        Self::OURS
    }
}

impl Versions {
    /// Those of this release.
    pub const OURS: Self = Self {
        oldest: OLDEST_VERSION,
        newest: VERSION,
    };

    /// Returns the opening that tells them.
    pub(crate) fn to_opening(self) -> [u8; OPENING_BYTES] {
        let mut opening = [0; OPENING_BYTES];
        opening[..8].copy_from_slice(MAGIC);
        opening[8..10].copy_from_slice(&LAYOUT.to_le_bytes());
        opening[10..12].copy_from_slice(&self.newest.to_le_bytes());
        opening[12..14].copy_from_slice(&self.oldest.to_le_bytes());
        opening
    }

    /// Reads the peer's opening.
    pub(crate) fn of_opening(self, opening: &[u8; OPENING_BYTES]) -> Result<Self, Error> {
        if &opening[..8] != MAGIC {
            return Err(Error::NotPsijoin("its first message is something else"));
        }
        let number = |at: usize| u16::from_le_bytes([opening[at], opening[at + 1]]);
        let [layout, newest, oldest] = [8, 10, 12].map(number);
        match (layout, newest, oldest) {
            (LAYOUT, 0, 0) => Ok(Self {
                oldest: LAYOUT,
                newest: LAYOUT,
            }),
            (LAYOUT, newest, oldest @ 1..) if oldest <= newest => Ok(Self { oldest, newest }),
            (LAYOUT, ..) => Err(Error::Malformed("it speaks no version at all")),
            (theirs, ..) => Err(Error::Version {
                ours: self.newest,
                theirs,
            }),
        }
    }

    /// Returns the newest version that both speak.
    pub(crate) fn common(self, theirs: Self) -> Result<u16, Error> {
        let newest = self.newest.min(theirs.newest);
        match newest >= self.oldest.max(theirs.oldest) {
            true => Ok(newest),
            false => Err(Error::Version {
                ours: self.newest,
                theirs: theirs.newest,
            }),
        }
    }
}

/// Returns what of the openings goes into the joint seed, if both speak this version: those of the
/// sender and of the receiver, so that nobody on the way has made them speak an older one. Version
/// 4 has its own opening in place of both.
pub(crate) fn sealed(version: u16, openings: [&[u8; OPENING_BYTES]; 2]) -> Vec<u8> {
    match version {
        LAYOUT => {
            let unsaid = Versions {
                oldest: 0,
                newest: 0,
            };
            unsaid.to_opening().to_vec()
        }
        _ => openings.map(|opening| &opening[..]).concat(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn versions(oldest: u16, newest: u16) -> Versions {
        Versions { oldest, newest }
    }

    #[test]
    fn both_take_the_newest_version_that_both_speak() {
        for (ours, theirs, common) in [
            ((4, 4), (4, 4), Some(4)),
            ((4, 6), (4, 5), Some(5)),
            ((4, 6), (6, 9), Some(6)),
            ((5, 6), (4, 4), None),
            ((4, 4), (5, 6), None),
        ] {
            let [ours, theirs] = [ours, theirs].map(|(oldest, newest)| versions(oldest, newest));
            assert_eq!(ours.common(theirs).ok(), common);
            assert_eq!(theirs.common(ours).ok(), common);
        }
        let behind = versions(4, 4)
            .common(versions(5, 6))
            .unwrap_err()
            .to_string();
        assert!(behind.contains("update psijoin on this side"), "{behind}");
        let ahead = versions(5, 6)
            .common(versions(4, 4))
            .unwrap_err()
            .to_string();
        assert!(
            ahead.contains("update psijoin on the other side"),
            "{ahead}"
        );
    }

    #[test]
    fn openings_are_read_as_they_are_written() {
        for said in [versions(4, 4), versions(4, 7), versions(6, 6)] {
            let read = Versions::OURS.of_opening(&said.to_opening());
            assert_eq!(read.unwrap(), said);
        }
    }

    #[test]
    fn a_release_before_the_negotiation_speaks_one_version() {
        let mut opening = versions(0, 0).to_opening();
        assert_eq!(opening, *b"PSIJOIN\n\x04\0\0\0\0\0\0\0");
        assert_eq!(Versions::OURS.of_opening(&opening).unwrap(), versions(4, 4));
        assert_eq!(sealed(4, [&[1; 16], &[2; 16]]), opening);
        assert_ne!(
            sealed(5, [&[1; 16], &[2; 16]]),
            sealed(5, [&[1; 16], &[3; 16]])
        );
        // Another layout.
        opening[8] = 3;
        let error = Versions::OURS.of_opening(&opening).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Version {
                    ours: VERSION,
                    theirs: 3
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn no_version_at_all_is_a_fault() {
        for (oldest, newest) in [(0, 5), (5, 0), (6, 5)] {
            let opening = versions(oldest, newest).to_opening();
            let error = Versions::OURS.of_opening(&opening).unwrap_err();
            assert!(matches!(error, Error::Malformed(_)), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_common_version_is_one_of_both(ours: [u16; 2], opening: [u8; OPENING_BYTES]) {
            let ours = versions(ours[0].min(ours[1]), ours[0].max(ours[1]));
            let mut opening = opening;
            opening[..10].copy_from_slice(&versions(4, 4).to_opening()[..10]);
            if let Ok(theirs) = ours.of_opening(&opening)
                && let Ok(common) = ours.common(theirs)
            {
                for both in [ours, theirs] {
                    prop_assert!((both.oldest..=both.newest).contains(&common));
                }
            }
        }
    }
}

//! What the two sides say to each other: see the [module above](super).

use blake3::{Hash, Hasher};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{InvitationFault, InvitationKey, Verdict};
use crate::{Fingerprint, fingerprint::HASH_SYMBOLS};

/// The two ends of a greeting.
#[derive(Clone, Copy)]
enum Side {
    Guest = 1,
    Inviter = 2,
}

/// A value that both ends of a connection have and nobody else.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Binding([u8; 32]);

impl Binding {
    /// The name by which TLS derives it.
    pub(crate) const LABEL: &str = "EXPORTER psijoin v1 invitation";

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Returns the proof of a side that says this. Two are compared in constant time.
fn proof(key: &InvitationKey, side: Side, binding: &Binding, said: &[u8]) -> Hash {
    let mut hasher = Hasher::new_keyed(key.as_bytes());
    for part in [&[side as u8][..], &binding.0, said] {
        hasher.update(part);
    }
    hasher.finalize()
}

/// Begins a note.
const MARK: [u8; 4] = *b"inv1";

const PROOF_BYTES: usize = blake3::OUT_LEN;

const TIME_BYTES: usize = 8;

/// The verdict, its time, and the fingerprint.
const SAID_BYTES: usize = 1 + TIME_BYTES + HASH_SYMBOLS;

/// The length of the longer note.
pub(crate) const NOTE_BYTES: usize = MARK.len() + SAID_BYTES + PROOF_BYTES;

/// Returns the note of a guest.
pub(crate) fn guests_note(key: &InvitationKey, binding: &Binding) -> Vec<u8> {
    let proved = proof(key, Side::Guest, binding, &[]);
    [&MARK[..], proved.as_bytes()].concat()
}

/// The proof of a guest, as the inviter hears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It has the invitation.
    Proved,
    /// It has another one, or a part of it was changed on its way.
    Wrong,
    /// It has not said that it has one.
    Nothing,
}

/// Reads the note of a guest.
pub(crate) fn hear_guest(note: &[u8; NOTE_BYTES], key: &InvitationKey, binding: &Binding) -> Shown {
    let Some(rest) = note.strip_prefix(&MARK) else {
        return Shown::Nothing;
    };
    let shown: [u8; PROOF_BYTES] = std::array::from_fn(|i| rest[i]);
    match proof(key, Side::Guest, binding, &[]) == shown {
        true => Shown::Proved,
        false => Shown::Wrong,
    }
}

/// The answer of an inviter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Judged(Verdict),
    /// It has another invitation.
    Unknown,
}

impl Answer {
    /// Returns it as it travels, without the proof: the kind, a time, a fingerprint.
    fn said(self) -> [u8; SAID_BYTES] {
        let (kind, time, about) = match self {
            Self::Judged(Verdict::Welcome) => (1, 0, None),
            Self::Judged(Verdict::Used { when, by }) => (2, when, Some(by)),
            Self::Judged(Verdict::Expired { at }) => (3, at, None),
            Self::Judged(Verdict::Unconfirmed) => (4, 0, None),
            Self::Judged(Verdict::Another) => (5, 0, None),
            Self::Judged(Verdict::NotKept) => (6, 0, None),
            Self::Unknown => (7, 0, None),
        };
        let mut said = [0; SAID_BYTES];
        said[0] = kind;
        said[1..][..TIME_BYTES].copy_from_slice(&time.to_le_bytes());
        if let Some(about) = about {
            said[1 + TIME_BYTES..].copy_from_slice(about.symbols());
        }
        said
    }

    fn read(said: &[u8; SAID_BYTES]) -> Option<Self> {
        let (&[kind], rest) = said.split_first_chunk::<1>()?;
        let (&time, about) = rest.split_first_chunk::<TIME_BYTES>()?;
        let time = u64::from_le_bytes(time);
        Some(Self::Judged(match kind {
            1 => Verdict::Welcome,
            2 => Verdict::Used {
                when: time,
                by: Fingerprint::from_symbols(about.try_into().ok()?)?,
            },
            3 => Verdict::Expired { at: time },
            4 => Verdict::Unconfirmed,
            5 => Verdict::Another,
            6 => Verdict::NotKept,
            7 => return Some(Self::Unknown),
            _ => return None,
        }))
    }
}

/// Returns the note of an inviter.
pub(crate) fn inviters_note(key: &InvitationKey, binding: &Binding, answer: Answer) -> Vec<u8> {
    let said = answer.said();
    let proved = proof(key, Side::Inviter, binding, &said);
    [&MARK[..], &said, proved.as_bytes()].concat()
}

/// Reads the note of an inviter, for the guest that `ours` names. Without a note, the other side
/// knows the guest already.
pub(crate) fn hear_inviter(
    note: &[u8; NOTE_BYTES],
    key: &InvitationKey,
    binding: &Binding,
    ours: Fingerprint,
) -> Result<(), InvitationFault> {
    let Some(rest) = note.strip_prefix(&MARK) else {
        return Ok(());
    };
    let (said, shown) = rest.split_first_chunk().expect("it is as long");
    let shown: [u8; PROOF_BYTES] = shown.try_into().expect("it is as long");
    let answer = Answer::read(said).ok_or(InvitationFault::Unproved)?;
    if let Answer::Judged(verdict) = answer {
        if proof(key, Side::Inviter, binding, said) != shown {
            return Err(InvitationFault::Unproved);
        }
        return InvitationFault::of_guest(verdict, ours).map_or(Ok(()), Err);
    }
    Err(InvitationFault::Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::{super::SECRET_BYTES, *};

    fn key(byte: u8) -> InvitationKey {
        InvitationKey::of(&[byte; SECRET_BYTES])
    }

    fn binding(byte: u8) -> Binding {
        Binding([byte; 32])
    }

    fn fingerprint(of: u8) -> Fingerprint {
        Fingerprint::of_public_key(&[of])
    }

    fn padded(note: &[u8]) -> [u8; NOTE_BYTES] {
        std::array::from_fn(|i| note.get(i).copied().unwrap_or_default())
    }

    #[test]
    fn a_guest_proves_one_invitation_in_one_connection() {
        let note = padded(&guests_note(&key(1), &binding(1)));
        assert_eq!(hear_guest(&note, &key(1), &binding(1)), Shown::Proved);
        assert_eq!(hear_guest(&note, &key(2), &binding(1)), Shown::Wrong);
        assert_eq!(hear_guest(&note, &key(1), &binding(2)), Shown::Wrong);
        for at in MARK.len()..MARK.len() + PROOF_BYTES {
            let mut changed = note;
            changed[at] ^= 1;
            assert_eq!(hear_guest(&changed, &key(1), &binding(1)), Shown::Wrong);
        }
        let nothing = hear_guest(&[0; NOTE_BYTES], &key(1), &binding(1));
        assert_eq!(nothing, Shown::Nothing);
        // What an inviter says is no guest's proof.
        let welcome = Answer::Judged(Verdict::Welcome);
        let echo = padded(&inviters_note(&key(1), &binding(1), welcome));
        assert_eq!(hear_guest(&echo, &key(1), &binding(1)), Shown::Wrong);
    }

    #[test]
    fn a_guest_hears_each_verdict_and_can_rely_on_it() {
        let (ours, by) = (fingerprint(1), fingerprint(2));
        let hear = |note: &[u8]| hear_inviter(&padded(note), &key(1), &binding(1), ours);
        for (verdict, heard) in [
            (Verdict::Welcome, Ok(())),
            (
                Verdict::Used { when: 5, by },
                Err(InvitationFault::Used { when: 5, by, ours }),
            ),
            (
                Verdict::Expired { at: 9 },
                Err(InvitationFault::Expired { at: 9 }),
            ),
            (
                Verdict::Unconfirmed,
                Err(InvitationFault::Unconfirmed { ours }),
            ),
            (Verdict::Another, Err(InvitationFault::Another { ours })),
            (Verdict::NotKept, Err(InvitationFault::NotKept)),
        ] {
            let note = inviters_note(&key(1), &binding(1), Answer::Judged(verdict));
            assert_eq!(hear(&note), heard);
            for at in MARK.len()..NOTE_BYTES {
                let mut changed = note.clone();
                changed[at] ^= 0x10;
                assert!(hear(&changed).is_err(), "{verdict:?}, byte {at}");
            }
        }
        let unknown = inviters_note(&key(2), &binding(1), Answer::Unknown);
        assert_eq!(hear(&unknown), Err(InvitationFault::Unknown));
        let unproved = inviters_note(&key(2), &binding(1), Answer::Judged(Verdict::Welcome));
        assert_eq!(hear(&unproved), Err(InvitationFault::Unproved));
        assert_eq!(hear(&[]), Ok(()));
    }

    proptest! {
        #[test]
        fn whatever_the_other_side_says_is_read(bytes in vec(any::<u8>(), NOTE_BYTES), marked: bool) {
            let mut note = padded(&bytes);
            if marked {
                note[..MARK.len()].copy_from_slice(&MARK);
            }
            let _ = hear_inviter(&note, &key(1), &binding(1), fingerprint(1));
            prop_assert_ne!(hear_guest(&note, &key(1), &binding(1)), Shown::Proved);
        }
    }
}

//! What is in a file of a mailbox.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `psimail1` |
//! | 8 | the time of the writer's run, in milliseconds since 1970 |
//! | 1 | 1 if the writer will write no more, else 0 |
//! | 8 | the length of the content |
//! | 32 | the hash of the file's name, of all above, and of the content |
//! | | the content |
//!
//! Numbers are little-endian. The hash protects nothing, as anybody can compute it: it tells when a
//! file has come whole. What was changed, TLS notices.

const MAGIC: &[u8; 8] = b"psimail1";

const TIME_AT: usize = 8;
const IS_LAST_AT: usize = 16;
const LENGTH_AT: usize = 17;
const HASH_AT: usize = 25;

/// The length of a file beside its content.
pub(super) const HEADER_BYTES: usize = HASH_AT + blake3::OUT_LEN;

/// The longest content.
pub(super) const MAX_CONTENT_BYTES: usize = 16 << 20;

/// See the [module](self).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Letter {
    pub(super) time: u64,
    pub(super) is_last: bool,
    pub(super) content: Vec<u8>,
}

impl Letter {
    /// Returns the file of this name.
    pub(super) fn encode(&self, name: &str) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(self.time.to_le_bytes());
        file.push(self.is_last.into());
        file.extend((self.content.len() as u64).to_le_bytes());
        let hash = hash(name, &file, &self.content);
        file.extend(hash.as_bytes());
        file.extend_from_slice(&self.content);
        file
    }

    /// Reads the file of this name; `None` if it is not whole, or none.
    pub(super) fn decode(name: &str, file: &[u8]) -> Option<Self> {
        let (header, content) = file.split_at_checked(HEADER_BYTES)?;
        let (fields, their_hash) = header.split_at(HASH_AT);
        let number = |at: usize| {
            let bytes = fields[at..].first_chunk().expect("it fits");
            u64::from_le_bytes(*bytes)
        };
        let length = usize::try_from(number(LENGTH_AT)).ok()?;
        // What writes files at the other end may have made room for more.
        let content = content.get(..length)?;
        let their_hash: [u8; blake3::OUT_LEN] = their_hash.try_into().ok()?;
        let is_whole = fields.starts_with(MAGIC) && hash(name, fields, content) == their_hash;
        is_whole.then(|| Self {
            time: number(TIME_AT),
            is_last: fields[IS_LAST_AT] != 0,
            content: content.to_vec(),
        })
    }
}

fn hash(name: &str, fields: &[u8], content: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 letter in a mailbox");
    hasher.update(&(name.len() as u64).to_le_bytes());
    for part in [name.as_bytes(), fields, content] {
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn letter() -> Letter {
        Letter {
            time: 7,
            is_last: true,
            content: b"some bytes".to_vec(),
        }
    }

    #[test]
    fn a_letter_is_read_as_it_was_written_and_under_its_name_alone() {
        let file = letter().encode("a");
        assert_eq!(file.len(), HEADER_BYTES + 10);
        assert_eq!(Letter::decode("a", &file), Some(letter()));
        assert_eq!(Letter::decode("b", &file), None);
        // Room that a program made in advance.
        let longer = [&file[..], &[0; 100]].concat();
        assert_eq!(Letter::decode("a", &longer), Some(letter()));
    }

    #[test]
    fn a_part_of_it_or_another_byte_is_none() {
        let file = letter().encode("a");
        for length in 0..file.len() {
            assert_eq!(Letter::decode("a", &file[..length]), None);
            // A file whose end is not there yet, but its length is.
            let mut holey = file.clone();
            holey[length..].fill(0);
            assert_eq!(Letter::decode("a", &holey), None);
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert_eq!(Letter::decode("a", &changed), None, "{at}");
        }
    }

    proptest! {
        #[test]
        fn any_file_can_be_read(file in vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(Letter::decode("a", &file), None);
            let file = [MAGIC, &file[..]].concat();
            prop_assert_eq!(Letter::decode("a", &file), None);
        }
    }
}

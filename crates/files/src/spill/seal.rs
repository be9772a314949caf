//! Sealing chunks: AES-256-GCM under a key of the store.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, Tag, UnboundKey};
use zeroize::{Zeroizing, optimization_barrier};

/// A key. It exists once: boxed where it is made, and overwritten there when it is dropped.
pub(super) struct Key(Box<LessSafeKey>);

/// The place that a chunk is bound to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding {
    /// Its number among all chunks under this key. None is used twice.
    pub(super) number: u64,
    pub(super) partition: usize,
    /// Its place among the chunks of the partition.
    pub(super) place: usize,
}

/// A chunk is not what was sealed.
#[derive(Debug)]
pub(super) struct Forged;

impl Key {
    /// Draws a key from the operating system.
    ///
    /// # Panics
    /// If that gives no randomness.
    pub(super) fn draw() -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).expect("the operating system gives no randomness");
        Self(Box::new(expanded(&bytes)))
    }

    /// Encrypts a chunk in place.
    pub(super) fn seal(&self, chunk: &mut [u8], binding: &Binding) -> Tag {
        let sealed =
            (self.0).seal_in_place_separate_tag(binding.nonce(), binding.authenticated(), chunk);
        sealed.expect("a chunk is far smaller than what AES-GCM can seal at once")
    }

    /// Decrypts a chunk in place, if it is what was sealed.
    pub(super) fn open(&self, chunk: &mut [u8], binding: &Binding, tag: Tag) -> Result<(), Forged> {
        let (nonce, authenticated) = (binding.nonce(), binding.authenticated());
        let opened = (self.0).open_in_place_separate_tag(nonce, authenticated, tag, chunk, 0..);
        opened.map(drop).map_err(|_| Forged)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        *self.0 = expanded(&[0; 32]);
        // Nobody reads this again; without a barrier the compiler might leave it out.
        optimization_barrier(&*self.0);
    }
}

impl Binding {
    fn nonce(&self) -> Nonce {
        let mut nonce = [0; NONCE_LEN];
        nonce[..8].copy_from_slice(&self.number.to_le_bytes());
        Nonce::assume_unique_for_key(nonce)
    }

    fn authenticated(&self) -> Aad<[u8; 16]> {
        let [partition, place] = [self.partition, self.place].map(|number| number as u64);
        Aad::from((u128::from(partition) << 64 | u128::from(place)).to_le_bytes())
    }
}

fn expanded(bytes: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, bytes).expect("32 bytes are a key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINDING: Binding = Binding {
        number: 7,
        partition: 3,
        place: 1,
    };

    #[test]
    fn what_is_sealed_opens_as_it_was() {
        let key = Key::draw();
        let mut chunk = *b"sixteen letters, and a few more";
        let tag = key.seal(&mut chunk, &BINDING);
        assert_ne!(&chunk, b"sixteen letters, and a few more");
        key.open(&mut chunk, &BINDING, tag).unwrap();
        assert_eq!(&chunk, b"sixteen letters, and a few more");
    }

    #[test]
    fn nothing_else_opens() {
        let key = Key::draw();
        let mut sealed = [1; 40];
        let tag = key.seal(&mut sealed, &BINDING);
        let opens = |key: &Key, mut chunk: Vec<u8>, binding| key.open(&mut chunk, &binding, tag);
        for place in 0..sealed.len() {
            let mut changed = sealed;
            changed[place] ^= 0x10;
            opens(&key, changed.to_vec(), BINDING).unwrap_err();
        }
        opens(&key, sealed[..39].to_vec(), BINDING).unwrap_err();
        let others = [
            Binding {
                number: 8,
                ..BINDING
            },
            Binding {
                partition: 4,
                ..BINDING
            },
            Binding {
                place: 0,
                ..BINDING
            },
        ];
        for other in others {
            opens(&key, sealed.to_vec(), other).unwrap_err();
        }
        opens(&Key::draw(), sealed.to_vec(), BINDING).unwrap_err();
        opens(&key, sealed.to_vec(), BINDING).unwrap();
    }
}

//! Sealing payloads of 32 bytes, each under a key of its own: as `payloads` does it, with
//! everything that the sender does there, and by an authenticated cipher of a library:
//! `cargo bench -p psijoin-psi --bench payloads`.

use std::hint::black_box;

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg};
use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound, joint_seed::JointSeed};
use psijoin_params::Sizes;
use psijoin_psi::{
    Context, Payloads,
    output_hash::Outputs,
    payloads::{Delivery, Holding},
    sorted_masks::SortedMasks,
};
use psijoin_runtime::parallel::Pool;
use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

const ITEMS: usize = 1 << 20;

const BYTES: u32 = 32;

fn main() {
    divan::main();
}

fn outputs() -> Outputs {
    let mut outputs = Outputs::with_keys(ITEMS);
    let mut prg = Prg::from_seed(Block(1));
    prg.fill(bytemuck::cast_slice_mut(&mut outputs.hashes));
    prg.fill(bytemuck::cast_slice_mut(&mut outputs.keys));
    outputs
}

/// Masks and sealed payloads of the sender, and only masks.
#[divan::bench(args = [0, BYTES], sample_count = 10, sample_size = 1)]
fn delivery(bencher: Bencher, bytes: u32) {
    let pool = Pool::new(1).expect("a pool");
    let items = ITEMS as u64;
    let delivery = Delivery {
        masks: SortedMasks::new(ITEMS, 3 << 79),
        payloads: Payloads {
            from_sender: bytes,
            back: None,
        },
        sizes: Sizes::new(items, items).expect("few enough"),
    };
    let payloads = vec![5; ITEMS * bytes as usize];
    let positions: Vec<u32> = (0..ITEMS as u32).rev().collect();
    let seed = JointSeed::insecure_fixed([1; 32]);
    let bencher = bencher.counter(ItemsCount::new(ITEMS));
    bencher.with_inputs(outputs).bench_local_values(|outputs| {
        let holding = Holding {
            outputs,
            positions: &positions,
            payloads: &payloads,
        };
        pool.run(|| {
            let mut channel = Channel::new(Nowhere, Nowhere);
            delivery.send(holding, &seed, &mut Context::new(&mut channel))
        })
        .expect("nothing breaks")
    });
}

/// With a key for each item, and the nonce zero.
#[divan::bench(args = ["AES-128-GCM", "ChaCha20-Poly1305"], sample_count = 5, sample_size = 1)]
fn library(bencher: Bencher, cipher: &str) {
    let (algorithm, key_bytes) = match cipher {
        "AES-128-GCM" => (&AES_128_GCM, 16),
        _ => (&CHACHA20_POLY1305, 32),
    };
    let keys = outputs().keys;
    let mut sealed = vec![5; ITEMS * BYTES as usize];
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        for (key, payload) in keys.iter().zip(sealed.chunks_exact_mut(BYTES as usize)) {
            let key = [key.to_le_bytes(); 2];
            let key = UnboundKey::new(algorithm, &key.as_flattened()[..key_bytes]);
            let key = LessSafeKey::new(key.expect("of the right length"));
            let nonce = Nonce::assume_unique_for_key([0; 12]);
            let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), payload);
            let _ = black_box(tag.expect("it is short"));
        }
    });
}

/// A channel that leads nowhere.
struct Nowhere;

impl Outbound for Nowhere {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        black_box(message);
        Ok(())
    }

    fn abort(&mut self, _: AbortCode) {}
}

impl Inbound for Nowhere {
    fn recv(&mut self, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
}

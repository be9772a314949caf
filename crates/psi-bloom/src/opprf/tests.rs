use std::{collections::HashMap, thread};

use proptest::{collection::hash_map, prelude::*};
use psijoin_channel::{
    count::{Snapshot, counted},
    memory,
};
use psijoin_psi_testing::uniform::assert_uniform;

use super::*;

fn share() -> Log2Prob {
    Log2Prob::from_log2(-40.0)
}

/// Runs a function once for each list of the receiver's keys: what it gets, and the traffic.
fn run(
    opprf: Opprf,
    programmed: &HashMap<u64, u128>,
    queries: &[Vec<u64>],
) -> (Vec<Vec<Block>>, Snapshot) {
    let (sending, mut receiving) = memory::pair();
    let (mut sending, counters) = counted(sending);
    let digests = |keys: &[u64]| -> Vec<[u8; 16]> {
        let digests = keys.iter().map(|key| u128::from(*key).to_le_bytes());
        digests.collect()
    };
    let key = |number: usize| [number as u8; 32];
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            let rng = &mut Prg::from_os();
            let mut ots = opprf.extension().set_up_sender(&mut sending, rng).unwrap();
            let (keys, values): (Vec<u64>, Vec<u128>) = programmed.iter().unzip();
            let keys = digests(&keys);
            for number in 0..queries.len() {
                let values = values.iter().copied().map(Block).collect();
                let (keys, opprf) = (Digests::Short(&keys), opprf.nth(number));
                let sent = opprf.send(key(number), keys, values, &mut ots, &mut sending, rng);
                sent.unwrap();
            }
        });
        let rng = &mut Prg::from_os();
        let mut ots = (opprf.extension().set_up_receiver(&mut receiving, rng)).unwrap();
        let mut found = Vec::new();
        for (number, queries) in queries.iter().enumerate() {
            let keys = digests(queries);
            let (keys, opprf) = (Digests::Short(&keys), opprf.nth(number));
            let outputs = opprf.receive(key(number), keys, &mut ots, &mut receiving);
            found.push(outputs.unwrap());
        }
        found
    });
    (found, counters.snapshot())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Of any sizes, in two uses.
    #[test]
    fn programmed_keys_have_their_values_and_others_random_ones(
        programmed in hash_map(0..300_u64, any::<u128>(), 1..120),
        queries in prop::collection::vec(
            prop::collection::hash_set(0..300_u64, 1..30).prop_map(Vec::from_iter),
            1..3,
        ),
        bits in 40..=128_u32,
        silent: bool,
    ) {
        let extension = if silent { Extension::SILENT } else { Extension::IKNP };
        let size = Size {
            programmed: programmed.len() as u64,
            queried: 30,
            uses: 2,
        };
        let opprf = Opprf::derive(size, bits, extension, share()).unwrap();
        let (found, traffic) = run(opprf, &programmed, &queries);
        let cut = |value: u128| value & u128::MAX >> (128 - bits);
        for (query, output) in queries.iter().flatten().zip(found.iter().flatten()) {
            match programmed.get(query) {
                Some(value) => prop_assert!(output.0 == cut(*value)),
                None => prop_assert!(programmed.values().all(|value| output.0 != cut(*value))),
            }
            prop_assert!(output.0 == cut(output.0));
        }
        let uses = queries.len() as u64;
        let said = opprf.ots().setup().then(opprf.conversation().repeated(uses));
        let said = said.traffic();
        prop_assert_eq!(traffic.sent.bytes, said.sender_bytes);
        prop_assert_eq!(traffic.received.bytes, said.receiver_bytes);
        prop_assert_eq!(traffic.flights, said.flights);
    }
}

/// For all values zero, too.
#[test]
fn outputs_of_other_keys_are_uniform() {
    let programmed: HashMap<u64, u128> = (0..500).map(|key| (key, 0)).collect();
    let size = Size {
        programmed: 500,
        queried: 900,
        uses: 1,
    };
    let opprf = Opprf::derive(size, 64, Extension::IKNP, share()).unwrap();
    let (found, _) = run(opprf, &programmed, &[(1000..1900).collect()]);
    for shift in [0, 31, 60] {
        let nibbles = |offset| {
            found[0]
                .iter()
                .map(move |sum| (sum.0 >> offset) as usize & 15)
        };
        // Two lists, to have enough of them.
        assert_uniform(nibbles(shift).chain(nibbles((shift + 4) % 64)));
    }
}

/// Events of all uses together are within the share that they are derived for, and the filter is
/// the smallest.
#[test]
fn all_uses_keep_the_share() {
    for uses in [1, 2, 1000, 1 << 26] {
        for (programmed, queried) in [(1, 1), (1 << 12, 1), (1 << 26, 1), (3 << 12, 1 << 12)] {
            let size = Size {
                programmed,
                queried,
                uses,
            };
            let opprf = Opprf::derive(size, 64, Extension::IKNP, share()).unwrap();
            let mut smaller = opprf;
            smaller.transfer.filter.shape.slice_cells -= 1;
            let total = |opprf: Opprf| opprf.dependent().or(opprf.stuck());
            // Rounding of logarithms.
            assert!(total(opprf).log2() <= -40.0 + 1e-9, "{size:?}");
            assert!(total(smaller).log2() > -40.0, "{size:?}");
        }
    }
}

/// Three cells for each of the sender's keys, where the paper has 57.6.
#[test]
fn a_filter_for_one_item_has_room_for_the_set_and_little_more() {
    for log2 in [12, 14, 16, 20] {
        let size = Size {
            programmed: 1 << log2,
            queried: 1,
            uses: 1,
        };
        let shape = Opprf::derive(size, 64, Extension::IKNP, share())
            .unwrap()
            .shape();
        let cells = shape.cells() as f64 / f64::from(1 << log2);
        assert_eq!(shape.slices, 6);
        assert!((2.9..3.0).contains(&cells), "{cells} at 2^{log2}");
    }
}

#[test]
fn the_end_is_bad_luck_if_there_is_no_filter() {
    let size = Size {
        programmed: 30,
        queried: 1,
        uses: 1,
    };
    let mut opprf = Opprf::derive(size, 64, Extension::IKNP, share()).unwrap();
    opprf.transfer.filter.shape.slice_cells = 2;
    let (mut sending, mut receiving) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            let rng = &mut Prg::from_os();
            Extension::IKNP
                .set_up_receiver(&mut receiving, rng)
                .map(drop)
        });
        let rng = &mut Prg::from_os();
        let mut ots = Extension::IKNP.set_up_sender(&mut sending, rng).unwrap();
        let keys: Vec<[u8; 16]> = (0..30).map(|key| [key; 16]).collect();
        let values = vec![Block::ZERO; 30];
        let keys = Digests::Short(&keys);
        let sent = opprf.send([1; 32], keys, values, &mut ots, &mut sending, rng);
        assert!(matches!(sent, Err(Error::BadLuck(_, 40))), "{sent:?}");
    });
}

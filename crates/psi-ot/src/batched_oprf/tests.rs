use std::thread;

use psijoin_block::{Block, Prg};
use psijoin_channel::{count::counted, memory};
use psijoin_psi_testing::JOINT_SEED;

use super::*;
use psijoin_psi::Context;

fn params(functions: usize, code_bits: usize, bits: u32) -> Params {
    Params {
        functions,
        code_bits,
        values: MaskLength { bits },
        base_ots: BaseOts::DiffieHellman,
    }
}

fn input(number: u32) -> Input {
    let words: [u8; 32] = Prg::from_seed(Block(number.into())).bytes();
    Input::new(bytemuck::cast(words), number as u8 % 4)
}

/// Returns the receiver's values, and the sender's functions. Every third function has no input.
fn run(params: Params) -> (Vec<u128>, Functions) {
    let joint_seed = &JointSeed::insecure_fixed(JOINT_SEED);
    let (sender, mut receiver) = memory::pair();
    let (mut sender, counters) = counted(sender);
    let result = thread::scope(|scope| {
        let functions = scope.spawn(move || {
            let sender_of = Sender::setup(&params, &mut Context::new(&mut sender)).unwrap();
            sender_of.receive(joint_seed, sender.halves().1).unwrap()
        });
        let party = Receiver::setup(&params, &mut Context::new(&mut receiver)).unwrap();
        let input_of = |function| (function % 3 != 0).then(|| input(function));
        let values = party.evaluate(&input_of, joint_seed, receiver.halves().0);
        (values.unwrap().to_vec(), functions.join().unwrap())
    });
    let planned = params.setup().receiver(params.online_bytes()).traffic();
    let traffic = counters.snapshot();
    assert_eq!(traffic.sent.bytes, planned.sender_bytes);
    assert_eq!(traffic.received.bytes, planned.receiver_bytes);
    result
}

#[test]
fn both_get_the_same_values_where_there_is_an_input_and_only_there() {
    for code_bits in [448, 480, 488, 544] {
        let params = params(5000, code_bits, 128);
        let (received, functions) = run(params);
        let all = (0..5000).map(|function| (function, input(function)));
        let sent = functions.evaluate(all);
        for (function, (received, sent)) in received.iter().zip(&sent).enumerate() {
            assert_eq!(
                received == sent,
                function % 3 != 0,
                "{function}, {code_bits}"
            );
        }
        // Other inputs, and the inputs of other functions.
        let others = (1..5000).map(|function| (function, input(function - 1)));
        let others = functions.evaluate(others);
        assert!(
            others
                .iter()
                .zip(&received[1..])
                .all(|(one, other)| one != other)
        );
    }
}

#[test]
fn values_are_cut_and_do_not_depend_on_the_batch() {
    let (received, functions) = run(params(10, 448, 20));
    assert!(received.iter().all(|value| value >> 20 == 0));
    let queries: Vec<_> = (0..7000).map(|i| (i % 10, input(i))).collect();
    let values = functions.evaluate(queries.iter().copied());
    assert_eq!(values[1], received[1]);
    for (query, value) in queries.iter().zip(&values).step_by(391) {
        assert_eq!(functions.evaluate([*query]), [*value]);
    }
}

/// The eight bits beyond the 256 are a part of the input.
#[test]
fn every_bit_of_an_input_counts() {
    let (_, functions) = run(params(3, 544, 128));
    let mut flipped = vec![(1, input(1))];
    for bit in (0..256).step_by(51).chain(256..264) {
        let mut words = input(1).0;
        words[bit / 64] ^= 1 << (bit % 64);
        flipped.push((1, Input(words)));
    }
    let mut values = functions.evaluate(flipped);
    values.sort_unstable();
    let count = values.len();
    values.dedup();
    assert_eq!(values.len(), count);
}

/// KKRT16 Table 2.
#[test]
fn the_code_is_as_wide_as_published() {
    let share = Log2Prob::from_log2(-40.0);
    for (log_n, stash, published) in [(8, 12, 424), (16, 4, 440), (20, 3, 448)] {
        let evaluations = (3 + stash) << log_n;
        let params = Params::new(1, evaluations, MaskLength { bits: 80 }, share).unwrap();
        assert_eq!(params.code_bits, published);
        assert!(params.near_code_words(evaluations) <= share);
    }
}

/// Without it, parties would still agree; but H would be asked twice about related inputs.
#[test]
fn the_number_of_a_row_stands_in_its_last_bits() {
    for words in [8, 16] {
        let mut row = vec![1; words];
        code::tag(&mut row, 5);
        let (last, others) = row.split_last().unwrap();
        assert_eq!(*last, 5 << 32 | 1);
        assert!(others.iter().all(|word| *word == 1));
    }
}

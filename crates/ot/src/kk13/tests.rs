use std::thread;

use proptest::prelude::*;
use psijoin_channel::{count::counted, memory};

use super::*;
use crate::base::BASE;

fn setup() -> (Sender, Receiver) {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        let sender =
            scope.spawn(move || Sender::setup(BASE, &mut a, &mut Prg::from_seed(Block(1))));
        let receiver = Receiver::setup(BASE, &mut b, &mut Prg::from_seed(Block(2))).unwrap();
        (sender.join().unwrap().unwrap(), receiver)
    })
}

/// Returns rows of both for these choices from OT `first` on.
fn extend(
    (sender, receiver): &(Sender, Receiver),
    first: u64,
    choices: &[Choice],
) -> (Vec<Row>, Vec<Row>) {
    let (mut message, mut t, mut q) = (Vec::new(), Vec::new(), Vec::new());
    let mut scratch = Scratch::default();
    receiver.choose(first, choices, &mut scratch, &mut message, &mut t);
    assert_eq!(message.len(), message_bytes(choices.len()));
    sender.rows(first, choices.len(), &message, &mut scratch, &mut q);
    assert_eq!((t.len(), q.len()), (choices.len(), choices.len()));
    (t, q)
}

fn distance(a: &Row, b: &Row) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Known answers: the rows of a Sylvester-Hadamard matrix.
#[test]
fn code_words_of_some_letters() {
    assert_eq!(code_word(0), [0; 4]);
    assert_eq!(code_word(1), [0xaaaa_aaaa_aaaa_aaaa; 4]);
    assert_eq!(code_word(2), [0xcccc_cccc_cccc_cccc; 4]);
    assert_eq!(code_word(3), [0x6666_6666_6666_6666; 4]);
    assert_eq!(code_word(64), [0, u64::MAX, 0, u64::MAX]);
    assert_eq!(code_word(128), [0, 0, u64::MAX, u64::MAX]);
}

#[test]
fn any_two_words_differ_in_128_places_and_the_blank_from_all() {
    let words: Vec<Row> = (0..=255).map(code_word).collect();
    for (i, word) in words.iter().enumerate() {
        assert!(words[..i].iter().all(|other| distance(word, other) == 128));
        assert_eq!(
            distance(word, &[u64::MAX; 4]),
            if i == 0 { 256 } else { 128 }
        );
    }
}

/// The receiver's row is that of its letter and of no other; a blank's is that of none.
#[test]
fn each_choice_opens_its_own_string_only() {
    let parties = setup();
    let choices: Vec<Choice> = (0..=256).map(Choice).collect();
    let (t, q) = extend(&parties, 128, &choices);
    for (j, (t, q)) in t.iter().zip(&q).enumerate() {
        let number = 128 + j as u64;
        let own = parties.1.input(t, number);
        for letter in 0..=255 {
            let input = parties.0.input(q, letter, number);
            assert_eq!(input == own, usize::from(letter) == j, "{letter} in OT {j}");
            // Many bits of Δ lie between any two of them.
            if input != own {
                let row = |input: &HashInput| -> Row { input[..4].try_into().unwrap() };
                assert!(distance(&row(&input), &row(&own)) > 24);
            }
        }
    }
}

#[test]
fn equal_rows_of_different_ots_have_different_strings() {
    let hash = Hash::new([3; 32]);
    let inputs = [numbered([1, 2, 3, 4], 7), numbered([1, 2, 3, 4], 8)];
    let mut strings = [Block::ZERO; 2];
    hash.strings(&inputs, &mut strings);
    assert!(strings[0] != strings[1]);
    let bytes: Vec<u8> = inputs[0]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let expected = blake3::keyed_hash(&[3; 32], &bytes);
    assert_eq!(strings[0].to_bytes(), expected.as_bytes()[..16]);
}

/// The receiver's messages look random, whatever it chooses.
#[test]
fn messages_are_balanced() {
    let (_, receiver) = setup();
    for choice in [Choice::letter(0), Choice::letter(255), Choice::BLANK] {
        let mut message = Vec::new();
        let choices = vec![choice; 1024];
        receiver.choose(
            0,
            &choices,
            &mut Scratch::default(),
            &mut message,
            &mut Vec::new(),
        );
        let ones: u32 = message.iter().map(|byte| byte.count_ones()).sum();
        // Six standard deviations of 256 about the mean of 2^18 coins.
        assert!(ones.abs_diff(1 << 17) < 6 * 256, "{ones}");
    }
}

#[test]
fn setup_costs_what_it_says() {
    let (mut a, b) = memory::pair();
    let (mut b, counters) = counted(b);
    thread::scope(|scope| {
        scope.spawn(move || Sender::setup(BASE, &mut a, &mut Prg::from_os()).map(|_| ()));
        Receiver::setup(BASE, &mut b, &mut Prg::from_os()).unwrap();
    });
    let traffic = counters.snapshot();
    assert_eq!(traffic.sent.bytes, setup_receiver_bytes(BASE));
    assert_eq!(traffic.received.bytes, setup_sender_bytes(BASE));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn strings_agree_at_any_length_and_place(
        letters in prop::collection::vec(0_u16..=256, 0..1200),
        block in 0_u64..1 << 33,
        other: u8,
    ) {
        let parties = setup();
        let choices: Vec<Choice> = letters.iter().map(|letter| Choice(*letter)).collect();
        let (t, q) = extend(&parties, 128 * block, &choices);
        for ((t, q), letter) in t.iter().zip(&q).zip(letters) {
            let own = parties.1.input(t, 9);
            prop_assert_eq!(parties.0.input(q, other, 9) == own, u16::from(other) == letter);
        }
    }
}

/// It compiles only if what is secret is wiped when it is dropped.
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |sender: &Sender, receiver: &Receiver, scratch: &Scratch| {
        wiped(&sender.secrets);
        wiped(&sender.columns);
        wiped(&receiver.columns);
        wiped(scratch);
    };
}

//! The order of the sender's items never shows in its messages.
//!
//! They hold one unit (a group element, some masks) per item, or are sorted. Two facts together
//! show that permuting the input does not change their distribution: the units are the same set
//! whatever the order of the input, and their order on the wire is no more likely to be that of the
//! input than any other.

use std::collections::HashSet;

use psijoin_channel::{memory, transcript::recorded};
use psijoin_psi::{OutputKind, Payloads};

use crate::{
    Sets, Setup, Subject,
    run::{assert_output, run_pair},
};

/// Sets of more items than fit into a message.
fn sets(subject: &Subject) -> Sets {
    subject.sized(Sets::new(2500, 100, 50))
}

/// The sender's messages: a unit per item, and the rest.
#[derive(PartialEq)]
struct Sent {
    units: Vec<Vec<bool>>,
    rest: Vec<Vec<u8>>,
}

/// Runs a protocol with the same randomness at every call.
fn sent(subject: &Subject, sets: &Sets) -> Sent {
    let payloads = sets.request(OutputKind::Payloads(Payloads {
        from_sender: 9,
        back: None,
    }));
    // Payloads are in the order of masks that are sorted, and no units.
    let request = match subject.units.is_none() && subject.serves(&payloads) {
        true => payloads,
        false => sets.request(OutputKind::Rows),
    };
    let plan = subject.plan(&request);
    let (sender, receiver) = memory::pair();
    let (sender, recorder) = recorded(sender);
    let setup = Setup {
        seeds: Some([3, 7]),
        ..Setup::default()
    };
    let results = run_pair(&plan, sets, (sender, receiver), &setup);
    assert_output(subject, sets, &request, results);

    let mut messages = recorder.messages();
    // Sorted units: then nothing at all may depend on the order.
    let Some(units) = subject.units else {
        return Sent {
            units: Vec::new(),
            rest: messages,
        };
    };
    if !units.in_first_messages {
        messages.reverse();
    }
    let mut with_units = Vec::new();
    let mut found = 0;
    let mut rest = messages.into_iter();
    while found < sets.sender.len() {
        let units = units.of(&plan, &rest.next().expect("messages with units"));
        found += units.len();
        with_units.push(units);
    }
    assert_eq!(found, sets.sender.len());
    if !units.in_first_messages {
        with_units.reverse();
    }
    Sent {
        units: with_units.concat(),
        rest: rest.collect(),
    }
}

/// With the same randomness, all else stays.
pub fn another_order_of_the_input_changes_the_order_of_units_only(subject: &Subject) {
    let sets = sets(subject);
    let mut rotated = sets.clone();
    rotated.sender.rotate_left(sets.sender.len() / 2 - 16);
    let mut reversed = sets.clone();
    reversed.sender.reverse();
    let sorted = |sets| {
        let mut sent = sent(subject, sets);
        sent.units.sort();
        sent
    };
    let original = sorted(&sets);
    for permuted in [&rotated, &reversed] {
        assert!(sorted(permuted) == original);
    }
}

/// Items of the first half of the input fall into the first half of the units as often as
/// into the second, and stand beside items of the second half as often as beside their own.
pub fn the_order_of_units_is_not_that_of_the_input(subject: &Subject) {
    if subject.units.is_none() {
        return;
    }
    let sets = sets(subject);
    let half = sets.sender.len() / 2;
    // The first half's units are those that stay when the second half is another.
    let mut other = sets.clone();
    for item in &mut other.sender[half..] {
        *item += 1 << 50;
    }
    let stays: HashSet<Vec<bool>> = sent(subject, &other).units.into_iter().collect();
    let units = sent(subject, &sets).units;
    let of_first_half: Vec<bool> = units.iter().map(|unit| stays.contains(unit)).collect();
    let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
    assert_eq!(count(&of_first_half), half);

    // Six standard deviations (√n/4 and √n/2) about the means of a random order.
    let deviation = sets.sender.len().isqrt() + 1;
    let early = count(&of_first_half[..half]);
    assert!(early.abs_diff(half / 2) < 6 * deviation / 4, "{early}");
    let changes = of_first_half.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(changes.abs_diff(half) < 6 * deviation / 2, "{changes}");
}

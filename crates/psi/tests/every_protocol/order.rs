//! The order of the sender's items never shows in its messages.
//!
//! They hold one unit (an element of a group, some masks) for each item. Two facts together
//! say that a permuted input leaves their distribution as it is: the units are the same set
//! whatever the order of the input, and their order on the wire is that of the input no more
//! than any other.

use std::collections::HashSet;

use psijoin_channel::{memory, transcript::recorded};
use psijoin_psi::{Plan, Protocol, registry::PROTOCOLS};

use crate::harness::{Sets, Setup, assert_result, run_pair};

/// Sets of more items than fit into a message.
fn sets(protocol: &dyn Protocol) -> Sets {
    Sets::new(2500, 100, 50).sized_for(protocol)
}

/// What the sender sends: a unit for each of its items, and the rest.
#[derive(PartialEq)]
struct Sent {
    units: Vec<Unit>,
    rest: Vec<Vec<u8>>,
}

type Unit = Vec<bool>;

/// Where units stand.
struct Layout {
    /// In the first of the sender's messages, or in the last.
    first: bool,
    /// A message holds so many lists, one after the other, of a part of each unit.
    lists: usize,
    part_bits: usize,
}

impl Layout {
    /// `None` where units are sorted: then nothing at all may depend on the order.
    fn of(plan: &dyn Plan) -> Option<Self> {
        let parameter = |name| {
            let parameters = plan.parameters();
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            parameter.unwrap().value as usize
        };
        let layout = match plan.info().name {
            "psz-none" | "psz-simple" | "psz-balanced" | "psz-cuckoo" | "pssz" => return None,
            "gbf" | "gbf-silent" | "random-gbf" | "random-gbf-silent" => return None,
            name if name.starts_with("circuit-") => return None,
            "cm20" | "cm20-malicious-sender" | "rr22" | "rr22-malicious" => return None,
            "rr22-circuit" | "kk20" | "kk20-silent" => return None,
            "spot-fast" | "spot-low" | "spot-low-malicious-sender" => return None,
            "naive" => Self {
                first: true,
                lists: 1,
                part_bits: parameter("mask bits"),
            },
            "dh" => Self {
                first: true,
                lists: 1,
                part_bits: 256,
            },
            "dh-ffdhe3072" => Self {
                first: true,
                lists: 1,
                part_bits: 3072,
            },
            "rsa" => Self {
                first: false,
                lists: 1,
                part_bits: parameter("mask bits"),
            },
            "kkrt" => Self {
                first: false,
                lists: 3 + parameter("stash places"),
                part_bits: parameter("mask bits"),
            },
            other => panic!("where are the units of {other}?"),
        };
        Some(layout)
    }

    /// The units of a message.
    fn units(&self, message: &[u8]) -> Vec<Unit> {
        let bits: Unit = message
            .iter()
            .flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1))
            .collect();
        let count = bits.len() / (self.lists * self.part_bits);
        let part = |number: usize| &bits[number * self.part_bits..][..self.part_bits];
        (0..count)
            .map(|i| {
                let parts = (0..self.lists).map(|list| part(list * count + i));
                parts.flatten().copied().collect()
            })
            .collect()
    }
}

/// Runs a protocol with the same randomness at every call.
fn sent(protocol: &dyn Protocol, sets: &Sets) -> Sent {
    let plan = sets.plan(protocol);
    let (sender, receiver) = memory::pair();
    let (sender, recorder) = recorded(sender);
    let setup = Setup {
        seeds: Some([3, 7]),
        ..Setup::default()
    };
    let results = run_pair(&*plan, sets, (sender, receiver), &setup);
    assert_result(protocol, sets, results);

    let mut messages = recorder.messages();
    let Some(layout) = Layout::of(&*plan) else {
        return Sent {
            units: Vec::new(),
            rest: messages,
        };
    };
    if !layout.first {
        messages.reverse();
    }
    let mut with_units = Vec::new();
    let mut found = 0;
    let mut rest = messages.into_iter();
    while found < sets.sender.len() {
        let units = layout.units(&rest.next().expect("messages with units"));
        found += units.len();
        with_units.push(units);
    }
    assert_eq!(found, sets.sender.len());
    if !layout.first {
        with_units.reverse();
    }
    Sent {
        units: with_units.concat(),
        rest: rest.collect(),
    }
}

#[test]
fn another_order_of_the_input_changes_the_order_of_units_only() {
    for protocol in PROTOCOLS {
        let sets = sets(*protocol);
        let mut rotated = sets.clone();
        rotated.sender.rotate_left(sets.sender.len() / 2 - 16);
        let mut reversed = sets.clone();
        reversed.sender.reverse();
        let sorted = |sets| {
            let mut sent = sent(*protocol, sets);
            sent.units.sort();
            sent
        };
        let original = sorted(&sets);
        for permuted in [&rotated, &reversed] {
            assert!(sorted(permuted) == original, "{}", protocol.info().name);
        }
    }
}

/// Items of the first half of the input fall into the first half of the units as often as
/// into the second, and stand beside items of the second half as often as beside their own.
#[test]
fn the_order_of_units_is_not_that_of_the_input() {
    for protocol in PROTOCOLS {
        let sets = sets(*protocol);
        let half = sets.sender.len() / 2;
        // The first half's units are those that stay when the second half is another.
        let mut other = sets.clone();
        for item in &mut other.sender[half..] {
            *item += 1 << 50;
        }
        if Layout::of(&*sets.plan(*protocol)).is_none() {
            continue;
        }
        let stays: HashSet<Unit> = sent(*protocol, &other).units.into_iter().collect();
        let units = sent(*protocol, &sets).units;
        let of_first_half: Vec<bool> = units.iter().map(|unit| stays.contains(unit)).collect();
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        assert_eq!(count(&of_first_half), half);

        // Six standard deviations (√n/4 and √n/2) about the means of a random order.
        let name = protocol.info().name;
        let deviation = sets.sender.len().isqrt() + 1;
        let early = count(&of_first_half[..half]);
        assert!(
            early.abs_diff(half / 2) < 6 * deviation / 4,
            "{name}: {early}"
        );
        let changes = of_first_half.windows(2).filter(|w| w[0] != w[1]).count();
        assert!(
            changes.abs_diff(half) < 6 * deviation / 2,
            "{name}: {changes}"
        );
    }
}

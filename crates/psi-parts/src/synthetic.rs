//! Random tables that are made part by part: for benches of sets that would not fit into memory.
//! Payloads are zeros, and are not looked at.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use psijoin_block::{Block, Prg};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::Lanes;
use psijoin_psi::{Error, Fingerprint, Output, OutputKind, Plan, Role, Shares};
use psijoin_runtime::memory::Buffer;

use crate::{Part, Table};

/// The sets of both parties: random items, a number of them shared.
pub struct Synthetic<'a> {
    plan: &'a Plan,
    joint_seed: &'a JointSeed,
    seed: Block,
    /// For each part, how many items before it are shared, the sender's alone, and the receiver's
    /// alone; and at last how many there are.
    before: Vec<[u64; 3]>,
}

/// The owner of an item.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Both,
    One(Role),
}

impl Owner {
    fn index(self) -> usize {
        match self {
            Self::Both => 0,
            Self::One(Role::Sender) => 1,
            Self::One(Role::Receiver) => 2,
        }
    }
}

impl<'a> Synthetic<'a> {
    /// Returns random sets for a plan in parts, which have `shared` items in common. The numbers of
    /// items per part are those of items that fall into random parts.
    ///
    /// # Panics
    /// If the plan is not in parts, or a set has fewer items than are shared.
    pub fn new(plan: &'a Plan, shared: u64, joint_seed: &'a JointSeed) -> Self {
        let sizes = plan.request().sizes;
        let parts = plan.parts().expect("a plan in parts").shape.parts;
        let mut prg = Prg::from_os();
        let mut before = vec![[0; 3]; 1 + parts as usize];
        let alone = [sizes.sender(), sizes.receiver()].map(|items| items - shared);
        for (owner, items) in [shared, alone[0], alone[1]].into_iter().enumerate() {
            throw(items, owner, &mut before[1..], &mut prg);
        }
        let mut sums = [0; 3];
        for counts in &mut before[1..] {
            for (count, sum) in counts.iter_mut().zip(&mut sums) {
                *sum += *count;
                *count = *sum;
            }
        }
        Self {
            plan,
            joint_seed,
            seed: prg.block(),
            before,
        }
    }

    /// Returns a party's table.
    pub fn table(&self, role: Role) -> SyntheticTable<'_> {
        SyntheticTable {
            sets: self,
            role,
            found: AtomicU64::new(0),
            is_wrong: AtomicBool::new(false),
        }
    }

    /// Returns how many items are shared.
    pub fn shared(&self) -> u64 {
        self.before.last().map_or(0, |all| all[Owner::Both.index()])
    }

    fn len(&self, part: u32, owner: Owner) -> usize {
        let [before, after] = [0, 1].map(|next| self.before[part as usize + next]);
        (after[owner.index()] - before[owner.index()]) as usize
    }

    fn fill(&self, part: u32, owner: Owner, fingerprints: &mut [Fingerprint]) {
        let mut prg = self.prg(part, owner, 0);
        prg.fill_bytes(fingerprints.as_flattened_mut());
    }

    /// Returns the numbers of an owner's items in a column of a party: of 32 bits, so that no sum
    /// overflows.
    fn numbers(&self, part: u32, owner: Owner, role: Role, column: usize) -> Vec<i64> {
        let mut numbers = vec![0_i32; self.len(part, owner)];
        let stream = 1 + 2 * column + usize::from(role == Role::Receiver);
        let mut prg = self.prg(part, owner, stream);
        prg.fill_bytes(bytemuck::cast_slice_mut(&mut numbers));
        numbers.into_iter().map(i64::from).collect()
    }

    /// Randomness of its own for everything.
    fn prg(&self, part: u32, owner: Owner, stream: usize) -> Prg {
        let tweak = ((1 + stream as u128) << 64) | (u128::from(part) << 2) | owner.index() as u128;
        Prg::from_seed(self.seed ^ Block(tweak))
    }

    /// Returns whether these are the outputs that the parties should have, and the rows that the
    /// receiver's table was told.
    pub fn is_met(&self, sent: &Output, received: &Output, receiver: &SyntheticTable<'_>) -> bool {
        let request = self.plan.request();
        let shared = self.shared();
        if shared < request.min_intersection {
            return [sent, received] == [&Output::TooFew; 2];
        }
        match (&request.output, sent, received) {
            (OutputKind::Rows | OutputKind::Payloads(_), Output::Nothing, Output::Nothing) => {
                receiver.found() == Some(shared)
            }
            (OutputKind::Count, Output::Nothing, Output::Count(count)) => *count == shared,
            (OutputKind::Threshold(least), Output::Nothing, Output::Reached(reached)) => {
                *reached == (shared >= *least)
            }
            (OutputKind::Sums(_), Output::Nothing, Output::Sums(sums)) => *sums == self.sums(),
            (OutputKind::Shares(_), Output::Shares(sent), Output::Shares(received)) => {
                self.add_up(sent, received, receiver)
            }
            _ => false,
        }
    }

    /// Returns the sum of each column over the shared items.
    fn sums(&self) -> Vec<i64> {
        let columns = self.plan.request().output.columns();
        let of = |role| (0..columns.of(role)).map(move |column| (role, column));
        let sum = |(role, column)| {
            let parts = 0..self.before.len() as u32 - 1;
            let of_part = |part| {
                self.numbers(part, Owner::Both, role, column)
                    .iter()
                    .sum::<i64>()
            };
            parts.map(of_part).sum()
        };
        of(Role::Sender)
            .chain(of(Role::Receiver))
            .map(sum)
            .collect()
    }

    /// Returns whether the shares of each place open to whether its item is shared, and those of
    /// each column to its sum.
    fn add_up(&self, sent: &Shares, received: &Shares, receiver: &SyntheticTable<'_>) -> bool {
        let places = received.items().unwrap_or_default();
        let mut shared = vec![false; places.len()];
        let parts = 0..self.before.len() as u32 - 1;
        for row in parts.flat_map(|part| receiver.rows(part)[1].clone()) {
            shared[row as usize] = true;
        }
        let members = sent.membership() ^ received.membership();
        let is_right = |(place, item): (usize, &Option<u32>)| {
            members.get(place) == item.is_some_and(|item| shared[item as usize])
        };
        let columns = sent.columns().iter().zip(received.columns());
        let sums = columns.map(|(ours, theirs)| {
            let shares = ours.iter().chain(theirs);
            shares.fold(0_u64, |sum, share| sum.wrapping_add(*share)) as i64
        });
        members.lanes() == places.len()
            && members.count_ones() as u64 == self.shared()
            && places.iter().enumerate().all(is_right)
            && sums.eq(self.sums())
    }
}

/// Counts, for each part, how many items of an owner fall into it.
fn throw(items: u64, owner: usize, counts: &mut [[u64; 3]], prg: &mut Prg) {
    const AT_ONCE: usize = 1 << 12;
    let parts = counts.len() as u64;
    let mut words = vec![0_u32; AT_ONCE];
    for first in (0..items).step_by(AT_ONCE) {
        let words = &mut words[..AT_ONCE.min((items - first) as usize)];
        prg.fill_bytes(bytemuck::cast_slice_mut(words));
        for word in words {
            counts[((u64::from(*word) * parts) >> 32) as usize][owner] += 1;
        }
    }
}

/// Some items of a party.
pub struct Portion {
    /// Their fingerprints.
    pub fingerprints: Buffer<Fingerprint>,
    /// The position of each of them in the table.
    pub positions: Vec<u32>,
    /// One number per item for each of the party's columns.
    pub columns: Vec<Vec<i64>>,
}

/// The table of one party, which checks what is found.
pub struct SyntheticTable<'a> {
    sets: &'a Synthetic<'a>,
    role: Role,
    found: AtomicU64,
    is_wrong: AtomicBool,
}

impl SyntheticTable<'_> {
    /// Returns how many rows were found; nothing if they are not those that are shared.
    pub fn found(&self) -> Option<u64> {
        let is_right = !self.is_wrong.load(Ordering::Relaxed);
        is_right.then(|| self.found.load(Ordering::Relaxed))
    }

    /// Returns some items, for a table that sorts them into parts by their digests: those that this
    /// one gives as a part.
    pub fn portion(&self, number: u32) -> Portion {
        let [alone, shared] = self.rows(number);
        let mut fingerprints = Buffer::zeroed(alone.len() + shared.len());
        let (own, both) = fingerprints.split_at_mut(alone.len());
        self.sets.fill(number, Owner::One(self.role), own);
        self.sets.fill(number, Owner::Both, both);
        let columns = self.sets.plan.request().output.columns().of(self.role);
        let numbers = |column| {
            let of = |owner| self.sets.numbers(number, owner, self.role, column);
            [of(Owner::One(self.role)), of(Owner::Both)].concat()
        };
        Portion {
            fingerprints,
            positions: alone.chain(shared).collect(),
            columns: (0..columns).map(numbers).collect(),
        }
    }

    /// Checks the rows that another table of the same items was told: a bit per row, the lowest of
    /// a word first.
    pub fn check(&self, found: &[u64]) {
        for part in 0..self.portions() {
            let rows = self.rows(part).into_iter().flatten();
            let is_found = |row: &u32| found[*row as usize / 64] >> (row % 64) & 1 == 1;
            let rows: Vec<u32> = rows.filter(is_found).collect();
            self.note(part, &rows);
        }
    }

    /// Returns the number of portions: as many as parts.
    pub fn portions(&self) -> u32 {
        self.sets.before.len() as u32 - 1
    }

    /// Notes which rows of a part were found, and whether they are those that are shared.
    fn note(&self, part: u32, rows: &[u32]) {
        let [_, shared] = self.rows(part);
        if !rows.iter().copied().eq(shared) {
            self.is_wrong.store(true, Ordering::Relaxed);
        }
        self.found.fetch_add(rows.len() as u64, Ordering::Relaxed);
    }

    /// Returns the rows of a part: those that are the party's alone, and those that are shared.
    fn rows(&self, part: u32) -> [Range<u32>; 2] {
        let own = Owner::One(self.role);
        let before = self.sets.before[part as usize];
        let first = (before[own.index()] + before[Owner::Both.index()]) as u32;
        let alone = first..first + self.sets.len(part, own) as u32;
        let shared = alone.end..alone.end + self.sets.len(part, Owner::Both) as u32;
        [alone, shared]
    }
}

impl Table for SyntheticTable<'_> {
    fn part(&self, part: u32) -> Result<Part, Error> {
        let portion = self.portion(part);
        let payload_bytes = self.sets.plan.request().output.payload_bytes(self.role);
        Ok(Part {
            payloads: vec![0; portion.positions.len() * payload_bytes],
            items: (self.sets.plan).items(&portion.fingerprints, self.sets.joint_seed),
            positions: portion.positions,
            columns: portion.columns,
        })
    }

    fn found(&self, part: u32, rows: &[u32], _payloads: &[u8]) -> Result<(), Error> {
        self.note(part, rows);
        Ok(())
    }
}

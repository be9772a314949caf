//! The interface that every protocol implements.
//!
//! 1. A [`Protocol`] makes a [`Plan`] from a [`Request`]: every parameter derived, the cost
//!    known to the byte. Both parties make the same plan, and compare its
//!    [digest](Plan::digest) before data moves.
//! 2. [`prepare`] runs the offline phase, which needs no input, and returns what is
//!    [`Prepared`]. It borrows nothing: it may be kept, and used over a later channel.
//! 3. [`Prepared::run`] runs the online phase on an [`Input`] and returns an [`Output`].
//!
//! [`run`] does 2 and 3, overlapping where a protocol can. All of these check what they are given,
//! and tell the peer if this party gives up. A protocol writes [`Plan::offline`], [`Party::run`] and,
//! where it overlaps, [`Plan::at_once`], which check nothing: they are not to be called but from
//! here.

use std::{fmt, time::Instant};

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_params::{FailureBudget, Security, Sizes};

use crate::{Cost, Error, Items, Output, OutputKind};

/// Which side of a protocol a party plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Helps the receiver to its result.
    Sender,
    /// Learns the result.
    Receiver,
}

impl Role {
    /// The role of the other party.
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }

    /// This party's part of the sizes.
    pub fn items(self, sizes: Sizes) -> u64 {
        match self {
            Self::Sender => sizes.sender(),
            Self::Receiver => sizes.receiver(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}

/// How the parties may deviate for the protocol still to be secure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Adversary {
    /// It protects nothing: a baseline to measure against.
    Insecure,
    /// Both follow the protocol, and are curious.
    SemiHonest,
    /// The sender may do what it likes; the receiver follows the protocol, and is curious.
    MaliciousSender,
    /// Either may do what it likes.
    Malicious,
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Insecure => "INSECURE",
            Self::SemiHonest => "semi-honest",
            Self::MaliciousSender => "malicious sender",
            Self::Malicious => "malicious",
        })
    }
}

/// What both parties agreed to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// How many distinct items each has.
    pub sizes: Sizes,
    /// How likely a statistical failure may be.
    pub security: Security,
    /// What is to be learned.
    pub output: OutputKind,
    /// Unless at least so many items are shared, nothing is learned but that they are fewer.
    pub min_intersection: u64,
}

impl Request {
    /// The receiver's shared rows, at the default security level.
    ///
    /// # Errors
    /// If a set is larger than [`Sizes::MAX_ITEMS`].
    pub fn rows(sender_items: u64, receiver_items: u64) -> Result<Self, Error> {
        Ok(Self {
            sizes: Sizes::new(sender_items, receiver_items)?,
            security: Security::default(),
            output: OutputKind::Rows,
            min_intersection: 0,
        })
    }
}

/// What a person should know before choosing a protocol.
#[derive(Debug)]
pub struct Info {
    /// The name on the command line and in the handshake.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Against whom it is secure.
    pub adversary: Adversary,
    /// What either party learns beyond the output.
    pub leaks: &'static str,
    /// Raised by any change of what goes over the wire.
    pub version: u32,
}

/// A protocol of the registry.
pub trait Protocol: Send + Sync {
    /// What it is.
    fn info(&self) -> &'static Info;

    /// What its plan for this request is of: another protocol only if it is
    /// [`auto`](crate::auto).
    fn info_for(&self, _request: &Request) -> &'static Info {
        self.info()
    }

    /// Whether it computes this output. Most protocols find rows only.
    fn computes(&self, output: &OutputKind) -> bool {
        matches!(output, OutputKind::Rows)
    }

    /// Whether it can withhold what it computes where too few items are shared
    /// ([`Request::min_intersection`]). A protocol in which the receiver finds the intersection
    /// itself cannot.
    fn withholds(&self) -> bool {
        false
    }

    /// Derives every parameter for a run. Call [`registry::plan`](crate::registry::plan) instead: it
    /// takes care of results that follow from the sizes, and of outputs that the protocol does not
    /// compute.
    ///
    /// # Errors
    /// If the protocol cannot serve the request, or no parameters reach the security level.
    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error>;
}

/// A derived parameter that both parties must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// All that is known of a run before it starts.
pub trait Plan: Send + Sync {
    /// The protocol that made it.
    fn info(&self) -> &'static Info;

    /// What it was made for.
    fn request(&self) -> &Request;

    /// The derived parameters.
    fn parameters(&self) -> Vec<Parameter>;

    /// The failure events, and how likely each is at most.
    fn budget(&self) -> &FailureBudget;

    /// The exact cost on the wire, of a run whose result is not withheld.
    fn cost(&self) -> Cost;

    /// Whether a run is refused though it could be planned, because it would take longer than
    /// anyone waits.
    ///
    /// # Errors
    /// What to do instead.
    fn feasible(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Bytes of the item digests that it works on: 16 or 32.
    fn digest_bytes(&self) -> usize;

    /// Runs the offline phase. This is what a protocol implements, and [`prepare`] is what a
    /// caller takes: what it returns checks its input.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error>;

    /// Runs both phases, on an input that [`run`] has checked. A protocol that gains from it lets
    /// them overlap here. The messages of either party are the same then, in the same order: the
    /// peer may have prepared long ago.
    ///
    /// # Errors
    /// As [`offline`](Self::offline) and [`Party::run`].
    fn at_once(
        &self,
        role: Role,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let party = self.offline(role, channel, context)?;
        party.run(input, channel, context)
    }

    /// A digest of protocol, request and parameters: equal on both sides, or the run would
    /// not make sense.
    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 plan");
        let request = self.request();
        let mut field = |name: &str, value: u64| {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes()).update(&value.to_le_bytes());
        };
        field(self.info().name, self.info().version.into());
        field(&request.output.to_string(), request.min_intersection);
        field("sender items", request.sizes.sender());
        field("receiver items", request.sizes.receiver());
        field("sigma", request.security.statistical_bits().into());
        for Parameter { name, value } in self.parameters() {
            field(name, value);
        }
        *hasher.finalize().as_bytes()
    }
}

/// One party after the offline phase, as a protocol implements it. Callers have it
/// [`Prepared`].
pub trait Party: Send {
    /// Runs the online phase, on an input that was checked.
    ///
    /// # Errors
    /// If the channel breaks, the peer misbehaves, or luck fails.
    ///
    /// # Panics
    /// It may, if the input does not fit the plan.
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error>;
}

/// A party's private input, and the randomness that both share.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The digests of its distinct items.
    pub items: &'a Items,
    /// The columns that it brings ([`OutputKind::columns`]): a number an item each. Of no column
    /// may the positive numbers, or the negative ones, add up to more than an `i64` holds.
    pub columns: &'a [Vec<i64>],
    /// Public randomness to which both parties contributed after both sets were fixed.
    pub joint_seed: &'a [u8; 32],
}

impl Input<'_> {
    /// A public value for one use, derived from the joint seed.
    pub(crate) fn joint_key(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.joint_seed)
    }
}

/// What a run needs from its surroundings.
pub struct Context<'a> {
    /// This party's own randomness.
    pub rng: Prg,
    observer: Option<&'a dyn Observer>,
}

/// Is told how a run proceeds.
pub trait Observer: Sync {
    /// A phase of this name begins, and the one before it ends.
    fn phase(&self, name: &'static str, now: Instant);
}

impl<'a> Context<'a> {
    /// Randomness from the operating system, and nobody who listens.
    pub fn new() -> Self {
        Self {
            rng: Prg::from_os(),
            observer: None,
        }
    }

    /// The same, and `observer` is told of the phases.
    pub fn observed(observer: &'a dyn Observer) -> Self {
        Self {
            rng: Prg::from_os(),
            observer: Some(observer),
        }
    }

    pub(crate) fn phase(&self, name: &'static str) {
        if let Some(observer) = self.observer {
            observer.phase(name, Instant::now());
        }
    }
}

impl Default for Context<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// One party after the offline phase. It borrows nothing and no channel, so that it may be kept for
/// a later session with the same peer.
pub struct Prepared {
    party: Box<dyn Party>,
    demands: Demands,
}

impl Prepared {
    /// Runs the online phase. If it fails, the peer is told why.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the input does not fit the plan. Else if the channel breaks, the peer
    /// misbehaves, or luck fails.
    pub fn run(
        self,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        self.demands
            .check(&input)
            .and_then(|()| self.party.run(input, channel, context))
            .inspect_err(|error| channel.abort(error.abort_code()))
    }
}

/// Runs the offline phase of one party of a plan. If it fails, the peer is told why.
///
/// # Errors
/// If the plan is refused ([`Plan::feasible`]), the channel breaks, or the peer misbehaves.
pub fn prepare(
    plan: &dyn Plan,
    role: Role,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Prepared, Error> {
    let party = plan
        .feasible()
        .and_then(|()| plan.offline(role, channel, context))
        .inspect_err(|error| channel.abort(error.abort_code()))?;
    Ok(Prepared {
        party,
        demands: Demands::of(plan, role),
    })
}

/// Runs one party of a plan, offline and online. If it fails, the peer is told why.
///
/// # Errors
/// As [`prepare`] and [`Prepared::run`].
pub fn run(
    plan: &dyn Plan,
    role: Role,
    input: Input<'_>,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Output, Error> {
    Demands::of(plan, role)
        .check(&input)
        .and_then(|()| plan.feasible())
        .and_then(|()| plan.at_once(role, input, channel, context))
        .inspect_err(|error| channel.abort(error.abort_code()))
}

/// What a plan demands of a party's input.
struct Demands {
    items: u64,
    digest_bytes: usize,
    columns: usize,
}

impl Demands {
    fn of(plan: &dyn Plan, role: Role) -> Self {
        let request = plan.request();
        Self {
            items: role.items(request.sizes),
            digest_bytes: plan.digest_bytes(),
            columns: request.output.columns().of(role),
        }
    }

    fn check(&self, input: &Input<'_>) -> Result<(), Error> {
        if input.items.len() as u64 != self.items {
            return Err(Error::Misuse(
                "the number of items is not the one that was agreed on",
            ));
        }
        if input.items.digest_bytes() != self.digest_bytes {
            return Err(Error::Misuse(
                "the item digests do not have the length that the plan demands",
            ));
        }
        if input.columns.len() != self.columns {
            return Err(Error::Misuse(
                "the number of columns is not the one that was agreed on",
            ));
        }
        if (input.columns.iter()).any(|column| column.len() != input.items.len()) {
            return Err(Error::Misuse("a column does not have a number an item"));
        }
        if !input.columns.iter().all(|column| can_be_added_up(column)) {
            return Err(Error::Misuse(
                "the numbers of a column are too large: the sum of some of them could exceed 64 bits",
            ));
        }
        Ok(())
    }
}

/// Whether the sum of any of these numbers fits: then the sum of those that are shared does.
fn can_be_added_up(numbers: &[i64]) -> bool {
    let sums = numbers
        .iter()
        .try_fold([0_i64; 2], |[negative, positive], number| {
            Some([
                negative.checked_add(*number.min(&0))?,
                positive.checked_add(*number.max(&0))?,
            ])
        });
    sums.is_some()
}

/// The output of a receiver of `items` items, from the positions that it found, in any order
/// and perhaps more than once.
pub(crate) fn rows(found: impl IntoIterator<Item = u32>, items: usize) -> Output {
    Output::Rows(ascending(found, items))
}

/// Positions among `items`, each once, from as many as there may be, in any order.
pub(crate) fn ascending(found: impl IntoIterator<Item = u32>, items: usize) -> Vec<u32> {
    // Marks are faster than sorting, and take a bit per item.
    let mut marks = vec![0_u64; items.div_ceil(64)];
    for position in found {
        marks[position as usize / 64] |= 1 << (position % 64);
    }
    marked(&marks)
}

/// The positions of all ones.
fn marked(marks: &[u64]) -> Vec<u32> {
    let count = marks.iter().map(|word| word.count_ones() as usize).sum();
    let mut rows = Vec::with_capacity(count);
    for (word, start) in marks.iter().zip((0_u32..).step_by(64)) {
        let mut word = *word;
        while word != 0 {
            rows.push(start + word.trailing_zeros());
            word &= word - 1;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_overflow_is_noticed() {
        for (numbers, fits) in [
            (&[][..], true),
            (&[i64::MAX, i64::MIN], true),
            (&[i64::MAX, 0, -1], true),
            (&[i64::MAX, -5, 1], false),
            (&[-1, 7, i64::MIN], false),
        ] {
            assert_eq!(can_be_added_up(numbers), fits, "{numbers:?}");
        }
    }

    #[test]
    fn rows_ascend_and_are_told_once() {
        let found = [130, 0, 63, 64, 0, 129, 63];
        assert_eq!(rows(found, 131), Output::Rows(vec![0, 63, 64, 129, 130]));
        assert_eq!(rows([], 0), Output::Rows(vec![]));
    }
}

//! Everything that is known about a run before it starts, and what runs it.
//!
//! A protocol writes its parameters, which make a [`Plan`], and two [`Party`]s. A caller uses
//! [`prepare`], [`Prepared::run`] and [`run`]: they check their input, and tell the peer if this
//! party gives up.

use std::sync::Arc;

use psijoin_channel::joint_seed::JointSeed;
use psijoin_params::{FailureBudget, key_encapsulation, parts};
use psijoin_runtime::memory::keep_pages;

use crate::{
    BaseOts, BaseParams, BatchInput, Context, Cost, Dialogue, Error, Fingerprint, Groups, Info,
    Input, Items, Ledger, Output, Request, Result, Role, Router, decided, ledger,
};

/// A derived parameter that both parties must agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// Parameters from their names and values.
pub fn parameters(named: &[(&'static str, u64)]) -> Vec<Parameter> {
    let parameter = |(name, value): &(&'static str, u64)| Parameter {
        name,
        value: *value,
    };
    named.iter().map(parameter).collect()
}

/// The numbers that a protocol derived for a request.
#[derive(Debug)]
pub struct Derived {
    /// The protocol.
    pub info: &'static Info,
    /// The request, the length of digests, and the failure events.
    pub base: BaseParams,
    /// The parameters, all of which both parties must agree on.
    pub parameters: Vec<Parameter>,
    /// All that is said in a run whose result is not withheld.
    pub dialogue: Dialogue,
}

impl Derived {
    /// Adds the parameter set of ML-KEM, if base OTs are made by it and the plan has any.
    fn name_base_ots(&mut self) {
        const NAME: &str = "ML-KEM of base OTs";
        let is_named = self.parameters.iter().any(|it| it.name == NAME);
        let request = &self.base.request;
        if request.base_ots == BaseOts::MlKem && !request.is_decided() && !is_named {
            let value = key_encapsulation::parameter_set().number as u64;
            self.parameters.push(Parameter { name: NAME, value });
        }
    }
}

/// The parts of a session in parts.
pub struct Parts {
    /// The number of parts, and the size of each.
    pub shape: parts::Shape,
    /// The plan of each part.
    pub plan: Plan,
}

impl Parts {
    /// Returns a party's items: digests under the seed that both parties agreed on after both had
    /// fixed their sets, and the part of each.
    pub fn items(&self, fingerprints: &[Fingerprint], joint_seed: &JointSeed) -> Items {
        let digest_bytes = self.plan.digest_bytes();
        Items::digest_in_parts(fingerprints, joint_seed, digest_bytes, self.shape.parts)
    }

    /// Returns the way of a party's items to their parts.
    pub fn router(&self, joint_seed: &JointSeed) -> Router {
        Router::new(joint_seed, self.plan.digest_bytes(), self.shape.parts)
    }
}

/// Everything that is known about a run before it starts: every parameter, the cost to the byte,
/// and both parties. Both make the same plan, and compare its [digest](Self::digest) before data
/// moves.
pub struct Plan {
    derived: Derived,
    refusal: Option<&'static str>,
    places: usize,
    parts: Option<Arc<Parts>>,
    kept_bytes: Option<[u64; 2]>,
    sender: Box<dyn Driver>,
    receiver: Box<dyn Driver>,
}

impl Plan {
    /// Returns what was derived, and the parties that it is for.
    pub fn new<S: Party, R: Party<Params = S::Params>>(
        mut derived: Derived,
        params: S::Params,
    ) -> Self {
        derived.name_base_ots();
        let params = Arc::new(params);
        Self {
            derived,
            refusal: None,
            places: 0,
            parts: None,
            kept_bytes: None,
            sender: Box::new(Planned::<S>(params.clone())),
            receiver: Box::new(Planned::<R>(params)),
        }
    }

    /// Refuses a run, since it would take longer than anyone waits. The error is `what_to_do`,
    /// which names an alternative.
    #[must_use]
    pub fn refused(self, what_to_do: &'static str) -> Self {
        Self {
            refusal: Some(what_to_do),
            ..self
        }
    }

    /// Sets how many places [`Shares`](crate::Shares) have.
    #[must_use]
    pub fn places(self, places: usize) -> Self {
        Self { places, ..self }
    }

    /// Turns the plan into a session in these parts; refused if a part is.
    #[must_use]
    pub fn in_parts(self, parts: Arc<Parts>) -> Self {
        Self {
            refusal: parts.plan.refusal,
            parts: Some(parts),
            ..self
        }
    }

    /// Lets the plan also take items batch by batch ([`run_batches`]). The sender and the receiver
    /// then keep this many bytes, in memory or on disk.
    #[must_use]
    pub fn by_batches(self, kept_bytes: [u64; 2]) -> Self {
        Self {
            kept_bytes: Some(kept_bytes),
            ..self
        }
    }

    /// Returns how many bytes a party keeps, in memory or on disk, of a run that takes its items
    /// batch by batch; `None` if all items must be there at once.
    pub fn kept_bytes(&self, role: Role) -> Option<u64> {
        self.kept_bytes.map(|bytes| bytes[role as usize])
    }

    /// Returns whether it takes items batch by batch ([`run_batches`]).
    pub fn takes_batches(&self) -> bool {
        self.kept_bytes.is_some()
    }

    /// Returns how many places the [`Shares`](crate::Shares) have that it gives.
    pub fn share_places(&self) -> usize {
        self.places
    }

    /// Returns the parts that it runs in, if they are more than one.
    pub fn parts(&self) -> Option<&Arc<Parts>> {
        self.parts.as_ref()
    }

    /// Returns a party's items as this plan takes them: digests under the seed that both parties
    /// agreed on after both had fixed their sets, and the part of each item if there are parts; or
    /// [numbers](Self::number_bits).
    pub fn items(&self, fingerprints: &[Fingerprint], joint_seed: &JointSeed) -> Items {
        match (&self.parts, self.number_bits()) {
            (Some(parts), _) => parts.items(fingerprints, joint_seed),
            (None, Some(_)) => Items::of_numbers(fingerprints),
            (None, None) => Items::digest(fingerprints, joint_seed, self.digest_bytes()),
        }
    }

    /// Returns the bits of the items, if they are [numbers](Request::numbers) that this plan takes
    /// as they are; `None` if it digests them.
    pub fn number_bits(&self) -> Option<u32> {
        self.derived.base.number_bits
    }

    fn driver(&self, role: Role) -> &dyn Driver {
        match role {
            Role::Sender => &*self.sender,
            Role::Receiver => &*self.receiver,
        }
    }

    /// Returns the protocol that made it.
    pub fn info(&self) -> &'static Info {
        self.derived.info
    }

    /// Returns what it was made for.
    pub fn request(&self) -> &Request {
        &self.derived.base.request
    }

    /// Returns the derived parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.derived.parameters
    }

    /// Returns the failure events, and how likely each is at most.
    pub fn budget(&self) -> &FailureBudget {
        &self.derived.base.budget
    }

    /// Returns the exact cost on the wire, of a run whose result is not withheld.
    pub fn cost(&self) -> Cost {
        self.derived.dialogue.cost()
    }

    /// Returns all that is said in a run whose result is not withheld.
    pub fn dialogue(&self) -> &Dialogue {
        &self.derived.dialogue
    }

    /// Returns the number of bytes of the item digests that it works on: 16 or 32.
    pub fn digest_bytes(&self) -> usize {
        self.derived.base.digest_bytes
    }

    /// Returns a party's output, if it follows from the sizes of the sets, so that nothing runs.
    pub fn decided(&self, role: Role) -> Option<Output> {
        let request = self.request();
        request.is_decided().then(|| decided::output(request, role))
    }

    /// Returns whether a run is refused though it could be planned, because it would take longer
    /// than anyone waits.
    ///
    /// # Errors
    /// If it is refused. The error names an alternative.
    pub fn feasible(&self) -> Result<(), Error> {
        self.refusal.map_or(Ok(()), |why| Err(Error::Misuse(why)))
    }

    /// Returns whether the phases of a party overlap if it [runs both](run). Otherwise that is
    /// nothing but one after the other.
    pub fn overlaps(&self) -> bool {
        let overlaps = |role| self.driver(role).overlaps();
        overlaps(Role::Sender) || overlaps(Role::Receiver)
    }

    /// Returns a digest of protocol, request and parameters: equal on both sides, or the run would
    /// not make sense.
    pub fn digest(&self) -> [u8; 32] {
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
        if let Some(bits) = request.item_bits {
            field("item bits", bits.into());
        }
        for Parameter { name, value } in self.parameters() {
            field(name, *value);
        }
        *hasher.finalize().as_bytes()
    }
}

/// One party, as a protocol implements it: nothing here checks its input, which
/// [`prepare`], [`Prepared::run`] and [`run`] do. The value is the party after the offline phase.
pub trait Party: Sized + Send + 'static {
    /// The parameters that the protocol derived for the run.
    type Params: Send + Sync + 'static;

    /// Whether the phases overlap in [`at_once`](Self::at_once): `true` if it is implemented.
    const OVERLAPS: bool = false;

    /// Runs the offline phase.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    fn offline(params: &Self::Params, context: &mut Context) -> Result<Self, Error>;

    /// Runs the online phase, on an input that was checked.
    ///
    /// # Errors
    /// If the channel breaks, the peer misbehaves, or luck fails.
    ///
    /// # Panics
    /// It may, if the input does not fit the plan.
    fn online(self, params: &Self::Params, input: &Input, context: &mut Context) -> Result<Output>;

    /// Runs both phases, on an input that was checked. A protocol that gains from it lets them
    /// overlap here. The messages of either party are the same then, in the same order: the peer
    /// may have prepared long ago.
    ///
    /// # Errors
    /// As [`offline`](Self::offline) and [`online`](Self::online).
    fn at_once(
        params: &Self::Params,
        input: &Input,
        context: &mut Context,
    ) -> Result<Output, Error> {
        Self::offline(params, context)?.online(params, input, context)
    }

    /// Runs both phases on items that come batch by batch, if the plan takes them so
    /// ([`Plan::by_batches`]). The messages are those of [`at_once`](Self::at_once).
    ///
    /// # Errors
    /// As [`at_once`](Self::at_once), and if items cannot be had, or what exceeds memory cannot be
    /// kept.
    fn batch_by_batch(_: &Self::Params, _: &BatchInput, _: &mut Context) -> Result<Output, Error> {
        Err(Error::Misuse("this plan takes all items at once"))
    }
}

/// A party of a protocol, whichever it is.
trait Driver: Send + Sync {
    fn overlaps(&self) -> bool;

    fn offline(&self, context: &mut Context) -> Result<Box<dyn Online>, Error>;

    fn at_once(&self, input: &Input, context: &mut Context) -> Result<Output, Error>;

    fn batch_by_batch(&self, input: &BatchInput, context: &mut Context) -> Result<Output, Error>;
}

/// A party after the offline phase.
trait Online: Send {
    fn online(self: Box<Self>, input: &Input, context: &mut Context) -> Result<Output, Error>;
}

/// The party P, before a run.
struct Planned<P: Party>(Arc<P::Params>);

/// The party P in a run.
struct Running<P: Party> {
    party: P,
    params: Arc<P::Params>,
}

impl<P: Party> Driver for Planned<P> {
    fn overlaps(&self) -> bool {
        P::OVERLAPS
    }

    fn offline(&self, context: &mut Context) -> Result<Box<dyn Online>, Error> {
        let party = P::offline(&self.0, context)?;
        let params = self.0.clone();
        Ok(Box::new(Running { party, params }))
    }

    fn at_once(&self, input: &Input, context: &mut Context) -> Result<Output, Error> {
        P::at_once(&self.0, input, context)
    }

    fn batch_by_batch(&self, input: &BatchInput, context: &mut Context) -> Result<Output, Error> {
        P::batch_by_batch(&self.0, input, context)
    }
}

impl<P: Party> Online for Running<P> {
    fn online(self: Box<Self>, input: &Input, context: &mut Context) -> Result<Output, Error> {
        self.party.online(&self.params, input, context)
    }
}

/// One party after the offline phase. It borrows nothing and no channel, so it may be kept for
/// a later session with the same peer.
pub struct Prepared {
    online: Box<dyn Online>,
    demands: Demands,
}

impl Prepared {
    /// Runs the online phase. If it fails, this tells the peer why.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the input does not fit the plan. Otherwise if the channel breaks, the
    /// peer misbehaves, or a statistical failure occurs.
    pub fn run(self, input: &Input, context: &mut Context) -> Result<Output, Error> {
        let _kept = keep_pages();
        self.demands
            .check(input, context)
            .and_then(|()| self.online.online(input, context))
            .inspect_err(|error| error.tell(context.channel))
    }
}

/// Runs the offline phase of one party of a plan. If it fails, this tells the peer why.
///
/// # Errors
/// If the plan is refused ([`Plan::feasible`]), the channel breaks, or the peer misbehaves.
pub fn prepare(plan: &Plan, role: Role, context: &mut Context) -> Result<Prepared, Error> {
    let _kept = keep_pages();
    let online = plan
        .feasible()
        .and_then(|()| plan.driver(role).offline(context))
        .inspect_err(|error| error.tell(context.channel))?;
    Ok(Prepared {
        online,
        demands: Demands::of(plan, role),
    })
}

/// Runs the only step of a plan that is not in parts, unless it is done.
fn run_once(
    ledger: &dyn Ledger,
    role: Role,
    context: &mut Context,
    run: impl FnOnce(&mut Context) -> Result<Output>,
) -> Result<Output> {
    match ledger.has(0) {
        true => ledger.output(0),
        false => ledger::keeping(ledger, 0, role, context, run),
    }
}

/// Runs one party of a plan, offline and online, overlapping where the protocol can. If it fails,
/// this tells the peer why.
///
/// # Errors
/// As [`prepare`] and [`Prepared::run`], and if the [ledger](Context::ledger) fails.
pub fn run(plan: &Plan, role: Role, input: &Input, context: &mut Context) -> Result<Output, Error> {
    let _kept = keep_pages();
    Demands::of(plan, role)
        .check(input, context)
        .and_then(|()| plan.feasible())
        .and_then(|()| match (context.ledger, plan.parts()) {
            (Some(ledger), None) => run_once(ledger, role, context, |context| {
                plan.driver(role).at_once(input, context)
            }),
            // A session in parts keeps each of them.
            _ => plan.driver(role).at_once(input, context),
        })
        .inspect_err(|error| error.tell(context.channel))
}

/// As [`run`], of a plan that [takes batches](Plan::takes_batches). The peer may run all of its
/// items at once.
///
/// # Errors
/// As [`run`]; and if items cannot be had, or what exceeds the budget cannot be written, or there
/// is no room for it.
pub fn run_batches(
    plan: &Plan,
    role: Role,
    input: &BatchInput,
    context: &mut Context,
) -> Result<Output, Error> {
    let _kept = keep_pages();
    let run = |context: &mut Context| plan.driver(role).batch_by_batch(input, context);
    input
        .check(plan, role)
        .and_then(|()| plan.feasible())
        .and_then(|()| match context.ledger {
            Some(ledger) => run_once(ledger, role, context, run),
            None => run(context),
        })
        .inspect_err(|error| error.tell(context.channel))
}

/// The demands of a plan on a party's input.
struct Demands {
    items: u64,
    digest_bytes: usize,
    number_bits: Option<u32>,
    in_parts: bool,
    columns: usize,
    payload_bytes: usize,
    noise: usize,
    /// The groups whose labels are among the columns of a party in this role.
    groups: Option<(Groups, Role)>,
}

impl Demands {
    fn of(plan: &Plan, role: Role) -> Self {
        let request = plan.request();
        Self {
            items: role.items(request.sizes),
            digest_bytes: plan.digest_bytes(),
            number_bits: plan.number_bits(),
            in_parts: plan.parts.is_some(),
            columns: request.output.columns().of(role),
            payload_bytes: request.output.payload_bytes(role),
            noise: request.noise(role),
            groups: request.output.groups().map(|groups| (groups, role)),
        }
    }

    fn check(&self, input: &Input, context: &Context) -> Result<(), Error> {
        if input.items.len() as u64 != self.items {
            return Err(Error::OTHER_NUMBER);
        }
        if input.items.digest_bytes() != self.digest_bytes {
            return Err(Error::OTHER_DIGESTS);
        }
        if (self.number_bits).is_some_and(|bits| !input.items.are_numbers(bits)) {
            return Err(Error::Misuse(
                "an item is not a number of as many bits as was agreed on",
            ));
        }
        if self.in_parts && input.items.parts().len() != input.items.len() {
            return Err(Error::Misuse(
                "the items do not know their parts, which the plan demands",
            ));
        }
        if input.columns.len() != self.columns {
            return Err(Error::Misuse(
                "the number of columns is not the one that was agreed on",
            ));
        }
        if (input.columns.iter()).any(|column| column.len() != input.items.len()) {
            return Err(Error::Misuse("a column must have one number per item"));
        }
        if (self.groups).is_some_and(|(groups, role)| !groups.are_labels(role, input.columns)) {
            return Err(Error::Misuse(
                "a label is not below the number of labels that was agreed on",
            ));
        }
        if input.payloads.len() != input.items.len() * self.payload_bytes {
            return Err(Error::Misuse(
                "the payloads do not have the length that was agreed on",
            ));
        }
        if context.noise.len() != self.noise {
            return Err(Error::OTHER_NOISE);
        }
        let mut columns = input.columns.iter();
        columns.try_for_each(|column| ColumnSum::default().add(column))
    }
}

/// The bounds of the sum of a column's numbers: the sum of any of them must fit, and so the sum of
/// those that are shared does.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnSum {
    negative: i64,
    positive: i64,
}

impl ColumnSum {
    /// Adds numbers of the column.
    ///
    /// # Errors
    /// If a sum of some of them could exceed 64 bits.
    pub fn add(&mut self, numbers: &[i64]) -> Result<(), Error> {
        for number in numbers {
            let sums = (self.negative.checked_add(*number.min(&0)))
                .zip(self.positive.checked_add(*number.max(&0)));
            let (negative, positive) = sums.ok_or(Error::Misuse(
                "the numbers of a column are too large: the sum of some of them could exceed 64 bits",
            ))?;
            *self = Self { negative, positive };
        }
        Ok(())
    }

    /// Returns the sums of the negative and of the positive numbers.
    pub fn bounds(&self) -> [i64; 2] {
        [self.negative, self.positive]
    }

    /// Returns what has these bounds, if a sum can have them.
    pub fn of_bounds([negative, positive]: [i64; 2]) -> Option<Self> {
        (negative <= 0 && positive >= 0).then_some(Self { negative, positive })
    }

    /// Adds other numbers of the column, with these bounds.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.add(&[other.negative, other.positive])
    }
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
            let added = ColumnSum::default().add(numbers);
            assert_eq!(added.is_ok(), fits, "{numbers:?}");
        }
    }
}

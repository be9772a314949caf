//! The parties of a session in parts.
//!
//! [`run`] is all of it, over the streams of one connection. Its stages can also be called one by
//! one, wherever a part's items are: [`Session::run_part`] for each part, over any channel; then
//! all [`Gathered`] in one place, and [`Session::conclude`] there.

use std::sync::{Arc, Mutex};

use psijoin_block::Prg;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_ot::block_accumulate;
use psijoin_psi::{
    ColumnSum, Context, Error, Input, Ledger, Matched, Output, OutputKind, Parts, Party, Plan,
    Request, Result, Role, ledger,
};
use psijoin_psi_functions::functions::opening::{self, Opened};
use psijoin_runtime::memory::keep_pages;

use crate::{
    Done, Gathered, InMemory, Part, SharedPlaces, Table, lanes,
    output::{opening, output_of_a_part},
};

/// Runs one party of a plan in parts on a table that gives its items part by part. If it fails,
/// this tells the peer why. The table gets the rows that are found; everything else is in the
/// output.
///
/// Rows that are opened in the end, as a minimum was demanded, are in the output, too.
///
/// With a [ledger](Context::ledger), only parts that are not done run; the table gets the rows of
/// the others, too.
///
/// # Errors
/// If the plan is refused, the table fails or does not fit the plan, the channel breaks, the peer
/// misbehaves, or luck fails.
///
/// # Panics
/// If the plan is not in parts.
pub fn run(
    plan: &Plan,
    role: Role,
    table: &dyn Table,
    joint_seed: &JointSeed,
    context: &mut Context,
) -> Result<Output> {
    let session = Session::new(plan, role, joint_seed);
    plan.feasible()
        .and_then(|()| session.run(table, context))
        .inspect_err(|error| error.tell(context.channel))
}

/// The party that helps.
pub(crate) struct Sender;

/// The party that learns the result.
pub(crate) struct Receiver;

impl Party for Sender {
    type Params = (Request, Arc<Parts>);

    fn offline(_: &Self::Params, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, params: &Self::Params, input: &Input, context: &mut Context) -> Result<Output> {
        run_in_memory(Role::Sender, params, input, context)
    }
}

impl Party for Receiver {
    type Params = (Request, Arc<Parts>);

    fn offline(_: &Self::Params, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, params: &Self::Params, input: &Input, context: &mut Context) -> Result<Output> {
        run_in_memory(Role::Receiver, params, input, context)
    }
}

/// Runs on a table in memory.
fn run_in_memory(
    role: Role,
    (request, parts): &(Request, Arc<Parts>),
    input: &Input,
    context: &mut Context,
) -> Result<Output> {
    let session = Session {
        role,
        request,
        parts,
        joint_seed: input.joint_seed,
    };
    let table = InMemory::new(input, parts.shape.parts);
    match session.run(&table, context)? {
        Output::Nothing if session.finds_rows() => Ok(table.rows()),
        Output::Nothing if session.finds_payloads() => Ok(table.matched()),
        output => Ok(output),
    }
}

/// One party of a session.
///
/// [`run`] does all of it. Whoever has the parts' items in several places calls the stages one by
/// one instead: [`Self::run_part`] for each part, over a channel and with randomness of its own;
/// then [`Gathered::take`] of all that the parts gave, and [`Self::conclude`]. The other party need
/// not do so.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    role: Role,
    request: &'a Request,
    parts: &'a Parts,
    joint_seed: &'a JointSeed,
}

impl<'a> Session<'a> {
    /// Returns the session of one party of a plan in parts, whose items were digested under this
    /// seed.
    ///
    /// # Panics
    /// If the plan is not in parts.
    pub fn new(plan: &'a Plan, role: Role, joint_seed: &'a JointSeed) -> Self {
        Self {
            role,
            request: plan.request(),
            parts: plan.parts().expect("a plan in parts"),
            joint_seed,
        }
    }

    /// Returns the party's role.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Returns what both parties have agreed to run.
    pub(crate) fn request(&self) -> &'a Request {
        self.request
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> u32 {
        self.parts.shape.parts
    }

    /// Runs one part with the other party, which runs the same part at the other end of the
    /// context's channel. The context's randomness must be of this part alone.
    ///
    /// # Errors
    /// As [`psijoin_psi::run`], and if there are more items than the part has room for: neither
    /// has been told to the peer.
    pub fn run_part(&self, part: u32, own: Part, context: &mut Context<'_>) -> Result<Done, Error> {
        let (items, columns) = self.check_part(&own)?;
        let (output, count) = match self.output_of_part(part, own, context) {
            Err(Error::Payload) => (None, 0),
            output => {
                let (output, count) = self.without_ones(output?);
                (Some(output), count)
            }
        };
        Ok(Done {
            items,
            count,
            columns,
            output,
        })
    }

    /// Opens what is to be learned once all parts are done, with the other party at the other end
    /// of the context's channel, and returns it: of rows that no minimum withholds there is
    /// nothing left to learn. Of others, it learns at which places they stand.
    ///
    /// # Errors
    /// [`Error::Payload`] if a payload of the other party could not be opened; if the parts had
    /// other items than were agreed on; if the channel breaks or the peer misbehaves.
    pub fn conclude(&self, gathered: &Gathered, context: &mut Context<'_>) -> Result<Learned> {
        if gathered.has_wrong_payloads {
            return Err(Error::Payload);
        }
        self.check_total(gathered.items)?;
        self.learn(gathered, context)
    }

    fn finds_rows(&self) -> bool {
        self.role == Role::Receiver && self.request.output == OutputKind::Rows
    }

    fn finds_payloads(&self) -> bool {
        match self.request.output {
            OutputKind::Payloads(payloads) => {
                self.role == Role::Receiver || payloads.back.is_some()
            }
            _ => false,
        }
    }

    /// Checks the numbers of items that are known before anything is sent.
    fn check_items(&self, table: &dyn Table) -> Result<(), Error> {
        let mut total = Some(0);
        for part in 0..self.parts.shape.parts {
            let items = table.items(part);
            items.map_or(Ok(()), |items| self.check_room(items))?;
            total = total.zip(items).map(|(total, items)| total + items);
        }
        total.map_or(Ok(()), |total| self.check_total(total))
    }

    /// Checks that a part is whole, and fits; returns how many items it has, and the bounds of its
    /// columns' sums.
    fn check_part(&self, part: &Part) -> Result<(u64, Vec<ColumnSum>), Error> {
        let items = part.items.len();
        self.check_room(items as u64)?;
        let output = &self.request.output;
        if part.positions.len() != items
            || part.columns.len() != output.columns().of(self.role)
            || part.columns.iter().any(|column| column.len() != items)
            || part.payloads.len() != items * output.payload_bytes(self.role)
        {
            return Err(Error::Misuse(
                "a part must have a position, a number of each column, and a payload, if there are any, for each of its items",
            ));
        }
        let bounds = part.columns.iter().map(|column| {
            let mut bound = ColumnSum::default();
            bound.add(column).map(|()| bound)
        });
        Ok((items as u64, bounds.collect::<Result<_, Error>>()?))
    }

    /// Checks that all parts together have as many items as was agreed on.
    fn check_total(&self, items: u64) -> Result<(), Error> {
        if items != self.role.items(self.request.sizes) {
            return Err(Error::Misuse(
                "the number of items in all parts is not the one that was agreed on",
            ));
        }
        Ok(())
    }

    /// Checks that a part has room for this number of items.
    fn check_room(&self, items: u64) -> Result<(), Error> {
        if items > self.role.items(self.parts.shape.capacities) {
            let what = "more items fall into one part than it has room for";
            return Err(self.request.bad_luck(what));
        }
        Ok(())
    }

    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Output> {
        let parts = self.parts();
        let ledger = context.ledger;
        let is_done = |step: &u32| ledger.is_some_and(|ledger| ledger.has(*step));
        let before = |step| ledger.expect("what is done was kept").output(step);
        let opens = opening(self.request).is_some();
        if opens && is_done(&parts) {
            return before(parts);
        }
        self.check_items(table)?;
        context.phases.begin("parts");
        let _kept = (block_accumulate::kept::keep(), keep_pages());
        let gathered = Mutex::new(Gathered::new(self));
        let (done, left): (Vec<u32>, Vec<u32>) = (0..parts).partition(is_done);
        for part in &done {
            self.take(*part, before(*part), table, &gathered)?;
        }
        lanes::run_all(&left, context, &|part, context| {
            let own = table.part(part)?;
            let (items, columns) = self.check_part(&own)?;
            let count = || gathered.lock().expect("no panic").count(items, &columns);
            count()?;
            let output = keeping(ledger, part, self.role, context, |context| {
                self.output_of_part(part, own, context)
            });
            self.take(part, output, table, &gathered)
        })?;
        let gathered = gathered.into_inner().expect("no panic");
        if gathered.has_wrong_payloads {
            return Err(Error::Payload);
        }
        // Parts that are done were counted when they ran.
        if done.is_empty() {
            self.check_total(gathered.items)?;
        }
        if opens {
            context.phases.begin("opening");
        }
        let ledger = ledger.filter(|_| opens);
        keeping(ledger, parts, self.role, context, |context| {
            Ok(match self.learn(&gathered, context)? {
                Learned::Output(output) => output,
                Learned::Places(shared) => Output::Rows(gathered.rows(&shared)),
            })
        })
    }

    /// Runs a part, and returns what it gave, with the items' positions.
    fn output_of_part(&self, part: u32, mut own: Part, context: &mut Context) -> Result<Output> {
        self.fill_up(&mut own, &mut context.rng);
        let input = Input {
            items: &own.items,
            columns: &own.columns,
            payloads: &own.payloads,
            joint_seed: &self.joint_seed.part(part),
        };
        let output = psijoin_psi::run(&self.parts.plan, self.role, &input, context)?;
        Ok(in_table(output, &own.positions))
    }

    /// Takes what a part gave to where it belongs.
    fn take(
        &self,
        part: u32,
        output: Result<Output>,
        table: &dyn Table,
        gathered: &Mutex<Gathered>,
    ) -> Result<(), Error> {
        match output {
            Ok(Output::Rows(rows)) => table.found(part, &rows, &[]),
            Ok(Output::Matched(Matched { rows, payloads })) => table.found(part, &rows, &payloads),
            // The peer must not see it, so all other parts run.
            Err(Error::Payload) => {
                gathered.lock().expect("no panic").has_wrong_payloads = true;
                Ok(())
            }
            output => {
                let (output, count) = self.without_ones(output?);
                gathered.lock().expect("no panic").keep(part, output, count);
                Ok(())
            }
        }
    }

    /// Learns what is to be learned in the end.
    fn learn(&self, gathered: &Gathered, context: &mut Context) -> Result<Learned> {
        match opening(self.request) {
            Some(opening) => self.open(opening, gathered, context),
            None => Ok(Learned::Output(gathered.output(&self.request.output))),
        }
    }

    /// Fills a part up to its capacity.
    fn fill_up(&self, part: &mut Part, rng: &mut Prg) {
        let capacity = self.role.items(self.parts.shape.capacities) as usize;
        part.items.fill_up(capacity, rng);
        for column in &mut part.columns {
            column.resize(capacity, 0);
        }
        let payload_bytes = self.request.output.payload_bytes(self.role);
        part.payloads.resize(capacity * payload_bytes, 0);
        if self.counts_in_a_column() {
            part.columns.push(vec![1; capacity]);
        }
    }

    /// Returns whether this party brings a column of ones.
    fn counts_in_a_column(&self) -> bool {
        self.finds_rows() && self.withholds_rows()
    }

    /// Returns whether rows are found only if enough of them are shared.
    fn withholds_rows(&self) -> bool {
        self.request.output == OutputKind::Rows
            && output_of_a_part(self.request) != OutputKind::Rows
    }

    /// Adds up the column of ones that counts rows that may be withheld, and drops it: returns the
    /// rest, and a share of their number.
    fn without_ones(&self, output: Output) -> (Output, u64) {
        match output {
            Output::Shares(shares) if self.withholds_rows() => {
                let ones = shares.columns().iter().flatten();
                let count = ones.fold(0_u64, |sum, one| sum.wrapping_add(*one));
                (Output::Shares(shares.without_columns()), count)
            }
            output => (output, 0),
        }
    }

    /// Opens what the parts gave.
    fn open(
        &self,
        opening: opening::Opening,
        gathered: &Gathered,
        context: &mut Context,
    ) -> Result<Learned> {
        let (totals, bits) = (gathered.totals(), gathered.bits());
        let (channel, rng) = (&mut *context.channel, &mut context.rng);
        if self.role == Role::Sender {
            let sender = opening::Sender::offline(opening, channel, rng)?;
            return sender.release(totals, &bits, context).map(Learned::Output);
        }
        let receiver = opening::Receiver::offline(opening, channel, rng)?;
        Ok(match receiver.learn(totals, &bits, channel)? {
            Opened::Output(output) => Learned::Output(output),
            Opened::Bits(shared) => {
                Learned::Places(shared.into_iter().map(SharedPlaces::new).collect())
            }
        })
    }
}

/// What a party learns in the end.
#[derive(Debug)]
pub enum Learned {
    /// The output, without the rows that parts gave.
    Output(Output),
    /// The shared places of each part, in their order: those of rows that a minimum has withheld
    /// until now.
    Places(Vec<SharedPlaces>),
}

impl Learned {
    /// Returns it as an output, which tells nothing of places.
    pub fn output(&self) -> &Output {
        match self {
            Self::Output(output) => output,
            Self::Places(_) => &Output::Nothing,
        }
    }
}

/// As [`ledger::keeping`], if there is a ledger.
fn keeping(
    ledger: Option<&dyn Ledger>,
    step: u32,
    role: Role,
    context: &mut Context<'_>,
    run: impl FnOnce(&mut Context<'_>) -> Result<Output>,
) -> Result<Output> {
    match ledger {
        Some(ledger) => ledger::keeping(ledger, step, role, context, run),
        None => run(context),
    }
}

/// Returns what a part gave, with the positions of its items in the whole table. Digests that fill
/// the part up have none.
fn in_table(output: Output, positions: &[u32]) -> Output {
    let position = |item: u32| positions.get(item as usize).copied();
    match output {
        // A random digest is shared only if a mask is equal by chance.
        Output::Rows(rows) => Output::Rows(rows.into_iter().map_while(position).collect()),
        Output::Matched(Matched { rows, mut payloads }) => {
            let bytes = payloads.len().checked_div(rows.len()).unwrap_or(0);
            let rows: Vec<u32> = rows.into_iter().map_while(position).collect();
            payloads.truncate(rows.len() * bytes);
            Output::Matched(Matched { rows, payloads })
        }
        Output::Shares(shares) => Output::Shares(shares.at_positions(position)),
        output => output,
    }
}

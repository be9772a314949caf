//! The parties of a session in parts.

use std::sync::{Arc, Mutex};

use psijoin_block::Prg;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::{Bits, Lanes};
use psijoin_ot::block_accumulate;
use psijoin_psi::{
    ColumnSum, Context, Error, Input, Ledger, Matched, Output, OutputKind, Parts, Party, Plan,
    Request, Result, Role, Shares, TotalShares, ledger,
};
use psijoin_psi_functions::functions::opening::{self, Opened};

use crate::{
    InMemory, Part, Table, lanes,
    plan::{opening, output_of_a_part},
};

/// Runs one party of a plan in parts on a table that gives its items part by part. If it fails,
/// this tells the peer why. What is found of rows, the table gets; everything else is in the
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
    let parts = plan.parts().expect("a plan in parts");
    let session = Session {
        role,
        request: plan.request(),
        parts,
        joint_seed,
    };
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
struct Session<'a> {
    role: Role,
    request: &'a Request,
    parts: &'a Parts,
    joint_seed: &'a JointSeed,
}

impl Session<'_> {
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
        let parts = self.parts.shape.parts;
        let ledger = context.ledger;
        let is_done = |step: &u32| ledger.is_some_and(|ledger| ledger.has(*step));
        let before = |step| ledger.expect("what is done was kept").output(step);
        let opening = opening(self.request);
        if opening.is_some() && is_done(&parts) {
            return before(parts);
        }
        self.check_items(table)?;
        context.phases.begin("parts");
        let _codes = block_accumulate::kept::keep();
        let kept = Mutex::new(Kept::new(self));
        let (done, left): (Vec<u32>, Vec<u32>) = (0..parts).partition(is_done);
        for part in &done {
            self.take(*part, before(*part), table, &kept)?;
        }
        lanes::run_all(&left, context, &|part, context| {
            self.run_part(part, table, ledger, &kept, context)
        })?;
        let kept = kept.into_inner().expect("no panic");
        if kept.has_wrong_payloads {
            return Err(Error::Payload);
        }
        // Parts that are done were counted when they ran.
        if done.is_empty() {
            self.check_total(kept.items)?;
        }
        match opening {
            Some(opening) => {
                context.phases.begin("opening");
                keeping(ledger, parts, self.role, context, |context| {
                    self.open(opening, &kept, context)
                })
            }
            None => Ok(kept.into_output(&self.request.output)),
        }
    }

    /// Runs a part, and keeps what it gives.
    fn run_part(
        &self,
        part: u32,
        table: &dyn Table,
        ledger: Option<&dyn Ledger>,
        kept: &Mutex<Kept>,
        context: &mut Context,
    ) -> Result<(), Error> {
        let mut own = table.part(part)?;
        kept.lock().expect("no panic").take_in(&own, self)?;
        let output = keeping(ledger, part, self.role, context, |context| {
            self.fill_up(&mut own, &mut context.rng);
            let input = Input {
                items: &own.items,
                columns: &own.columns,
                payloads: &own.payloads,
                joint_seed: &self.joint_seed.part(part),
            };
            let output = psijoin_psi::run(&self.parts.plan, self.role, &input, context)?;
            Ok(in_table(output, &own.positions))
        });
        drop(own);
        self.take(part, output, table, kept)
    }

    /// Takes what a part gave to where it belongs.
    fn take(
        &self,
        part: u32,
        output: Result<Output>,
        table: &dyn Table,
        kept: &Mutex<Kept>,
    ) -> Result<(), Error> {
        let lock = || kept.lock().expect("no panic");
        match output {
            Ok(Output::Rows(rows)) => table.found(part, &rows, &[]),
            Ok(Output::Matched(Matched { rows, payloads })) => table.found(part, &rows, &payloads),
            // The peer must not see it, so all other parts run.
            Err(Error::Payload) => {
                lock().has_wrong_payloads = true;
                Ok(())
            }
            output => {
                lock().keep(part, output?);
                Ok(())
            }
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
        self.finds_rows() && output_of_a_part(self.request) != OutputKind::Rows
    }

    /// Opens what the parts gave. Rows are those of all parts, in order.
    fn open(
        &self,
        opening: opening::Opening,
        kept: &Kept,
        context: &mut Context,
    ) -> Result<Output> {
        let (totals, bits) = (kept.totals(), kept.bits());
        let (channel, rng) = (&mut *context.channel, &mut context.rng);
        if self.role == Role::Sender {
            let sender = opening::Sender::offline(opening, channel, rng)?;
            return sender.release(&totals, &bits, channel);
        }
        let receiver = opening::Receiver::offline(opening, channel, rng)?;
        match receiver.learn(&totals, &bits, channel)? {
            Opened::Output(output) => Ok(output),
            Opened::Bits(shared) => {
                let rows = (0..).zip(&shared);
                let mut rows = rows
                    .flat_map(|(part, bits)| kept.rows(part, bits))
                    .collect::<Vec<_>>();
                rows.sort_unstable();
                Ok(Output::Rows(rows))
            }
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

/// What a party has of the parts that are done.
struct Kept {
    items: u64,
    columns: Vec<ColumnSum>,
    totals: TotalShares,
    shares: Vec<Option<Shares>>,
    /// Whether a payload could not be opened.
    has_wrong_payloads: bool,
}

impl Kept {
    fn new(session: &Session<'_>) -> Self {
        let columns = session.request.output.columns();
        Self {
            items: 0,
            columns: vec![ColumnSum::default(); columns.of(session.role)],
            totals: TotalShares::zero(columns.total()),
            shares: Vec::new(),
            has_wrong_payloads: false,
        }
    }

    /// Counts the items of a part, and checks that they fit the session.
    fn take_in(&mut self, part: &Part, session: &Session<'_>) -> Result<(), Error> {
        let items = part.items.len();
        session.check_room(items as u64)?;
        if part.positions.len() != items
            || part.columns.len() != self.columns.len()
            || part.columns.iter().any(|column| column.len() != items)
            || part.payloads.len() != items * session.request.output.payload_bytes(session.role)
        {
            return Err(Error::Misuse(
                "a part must have a position, a number of each column, and a payload, if there are any, for each of its items",
            ));
        }
        self.items += items as u64;
        for (sum, column) in self.columns.iter_mut().zip(&part.columns) {
            sum.add(column)?;
        }
        Ok(())
    }

    fn keep(&mut self, part: u32, output: Output) {
        match output {
            Output::Totals(totals) => self.totals.add(&totals),
            Output::Shares(shares) => {
                let part = part as usize;
                if self.shares.len() <= part {
                    self.shares.resize_with(part + 1, || None);
                }
                self.shares[part] = Some(shares);
            }
            // The sender learns nothing of rows.
            _ => {}
        }
    }

    /// Shares of the totals of all parts.
    fn totals(&self) -> TotalShares {
        let mut totals = self.totals.clone();
        // A column of ones counts rows that may be withheld.
        let ones = (self.shares.iter().flatten()).flat_map(|part| part.columns().first());
        totals.count = (ones.flatten()).fold(totals.count, |sum, one| sum.wrapping_add(*one));
        totals
    }

    /// Shares of the bits of all parts.
    fn bits(&self) -> Vec<Bits> {
        let parts = self.shares.iter().flatten();
        parts.map(|part| part.membership().clone()).collect()
    }

    /// Returns the rows of a part whose bits are one.
    fn rows(&self, part: u32, shared: &Bits) -> Vec<u32> {
        let Some(part) = &self.shares[part as usize] else {
            return Vec::new();
        };
        let places = part.items().unwrap_or_default().iter().enumerate();
        let found = places.filter(|(place, _)| shared.get(*place));
        let mut rows: Vec<u32> = found.filter_map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows
    }

    fn into_output(self, kind: &OutputKind) -> Output {
        match kind {
            OutputKind::Totals(_) => Output::Totals(self.totals),
            OutputKind::Shares(columns) => Output::Shares(self.all_shares(columns.total())),
            _ => Output::Nothing,
        }
    }

    /// Returns the shares of all parts, one part after the other.
    fn all_shares(&self, columns: usize) -> Shares {
        let (mut bits, mut sums) = (Bits::default(), vec![Vec::new(); columns]);
        let mut items: Option<Vec<Option<u32>>> = None;
        for part in self.shares.iter().flatten() {
            bits.append(part.membership());
            for (all, column) in sums.iter_mut().zip(part.columns()) {
                all.extend_from_slice(column);
            }
            if let Some(of_part) = part.items() {
                items.get_or_insert_default().extend_from_slice(of_part);
            }
        }
        Shares::new(bits, sums, items)
    }
}

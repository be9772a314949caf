//! One lane of a join whose table lies elsewhere, in a process that knows nothing else of it.
//!
//! The process that has met the other party ([`Agreed`](crate::Agreed)) hands a [`LaneTicket`] to
//! each process that is to run a lane. That one opens it ([`Lane::open`]), runs its parts in
//! ascending order, wherever it has their items from, and says goodbye. What the parts gave, rows
//! and their places aside, goes back as a [`LaneReport`].

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use psijoin::{
    BaseOts, Context, Fingerprint, Items, JointSeed, Plan, Role,
    parts::{self, Part, Remaining, Session},
};
use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, counted},
};
use psijoin_runtime::memory::{KeptPages, keep_pages};
use psijoin_table::portions::{LabelPlaces, Packing};
use psijoin_transport::{Connection, Proxies};

use crate::{ElsewhereFault, Error, Noising, Stop};

mod in_order;
mod recipe;
mod report;
mod ticket;

pub use in_order::{FoundKeys, LaneInOrder};
pub use report::LaneReport;
pub use ticket::LaneTicket;
pub(crate) use ticket::Tickets;

/// A lane that is open.
pub struct Lane {
    lane: u32,
    lanes: u32,
    role: Role,
    plan: Plan,
    joint_seed: JointSeed,
    numbers: Vec<(String, u32)>,
    /// Brings them within their bounds.
    noising: Noising,
    labels: Option<LabelPlaces>,
    packing: Option<Packing>,
    connection: Connection,
    channel: Channel,
    counters: Counters,
    waits: Arc<AtomicBool>,
    report: LaneReport,
    /// Of one part, for the next.
    _pages: KeptPages,
}

impl Lane {
    /// Opens the lane of this ticket. The other side waits for it as long as for a meeting, and so
    /// does this one for the other.
    ///
    /// # Errors
    /// [`ElsewhereFault::Ticket`]; that this release makes another plan; that it
    /// [met nobody](psijoin_transport::Error::LaneAlone), and other failures of meeting;
    /// [`Error::KeyExchange`].
    pub fn open(ticket: &LaneTicket, proxies: Proxies, stop: &Stop) -> Result<Self, Error> {
        let content = ticket.read()?;
        let (lane, lanes) = (content.lane, content.lanes);
        let plan = content.plan.plan()?;
        let joint_seed = JointSeed::kept(content.joint_seed);
        let role = match content.is_receiver {
            true => Role::Receiver,
            false => Role::Sender,
        };
        let at = content.at.read().ok_or(ElsewhereFault::Ticket)?;
        let packing = content.packing()?;
        let labels = content.places_of_labels()?;
        let these = content.lanes(joint_seed)?;
        let waits = Arc::default();
        let options = content.options(proxies, stop, &waits);
        let (connection, channel) = these.open(lane, &at, &options)?;
        let exchange = connection.key_exchange().filter(|it| !it.is_post_quantum());
        if let (BaseOts::MlKem, Some(exchange)) = (plan.request().base_ots, exchange) {
            let error = Error::KeyExchange(exchange);
            connection.abort(error.abort_code());
            return Err(error);
        }
        let traffic = Remaining::all(&plan).lane_traffic(lane, lanes);
        let (sent, received) = match role {
            Role::Sender => (traffic.sender_bytes, traffic.receiver_bytes),
            Role::Receiver => (traffic.receiver_bytes, traffic.sender_bytes),
        };
        // It ends at the last byte, before anybody looks at what that tells.
        let (channel, counters) = counted(connection.ends_after(channel, sent, received));
        Ok(Self {
            lane,
            lanes,
            role,
            plan,
            joint_seed,
            numbers: content.numbers.clone(),
            noising: content.noising(),
            labels,
            packing,
            connection,
            channel,
            counters,
            waits,
            report: LaneReport::default(),
            _pages: keep_pages(),
        })
    }

    /// Says whether this side waits for items from whoever has them. The other side counts on it
    /// meanwhile, as it does while this one computes.
    fn is_waiting(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Returns the parts that it runs, in their order.
    pub fn parts(&self) -> impl Iterator<Item = u32> + use<> {
        let parts = self.session().parts();
        (self.lane..parts).step_by(self.lanes as usize)
    }

    /// Returns this party's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the plan that both parties have agreed on.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of all lanes.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns this party's columns of numbers that are added up, in their order, and the decimals
    /// at which their numbers are.
    pub fn numbers(&self) -> &[(String, u32)] {
        &self.numbers
    }

    /// Returns what finds the places of keys' labels, if this party has some. They are a further
    /// column, behind those of numbers.
    pub fn labels(&self) -> Option<&LabelPlaces> {
        self.labels.as_ref()
    }

    /// Returns the number of columns that a part needs.
    fn columns(&self) -> usize {
        self.numbers.len() + usize::from(self.labels.is_some())
    }

    /// Returns the bytes that this party gives for each of its items.
    fn payload_bytes(&self) -> usize {
        self.plan.request().output.payload_bytes(self.role)
    }

    /// Returns what makes payloads of rows that were read in portions, if this party gives columns.
    pub fn packing(&mut self) -> Option<&mut Packing> {
        self.packing.as_mut()
    }

    /// Returns the items of these fingerprints, with the part of each.
    pub fn items(&self, fingerprints: &[Fingerprint]) -> Items {
        self.plan.items(fingerprints, &self.joint_seed)
    }

    /// Runs the next of its [parts](Self::parts), and returns what it gave. The rows of that are
    /// the caller's to keep; so are its places, if a minimum may withhold rows. If there is noise,
    /// numbers are brought within their bounds first.
    ///
    /// # Errors
    /// As [`Session::run_part`]; the other side is told.
    pub fn run_part(&mut self, mut own: Part) -> Result<parts::Done, Error> {
        self.noising.bring_within(&mut own.columns);
        let done = self.report.parts.len() * self.lanes as usize;
        let part = self.lane + done as u32;
        let session = Session::new(&self.plan, self.role, &self.joint_seed);
        let ran = session.run_part(part, own, &mut Context::new(&mut self.channel));
        let ran = ran.inspect_err(|error| self.connection.abort(error.abort_code()))?;
        let found = ran.rows().map_or(0, |(rows, _)| rows.len() as u64);
        self.report.shared += found;
        self.report.parts.push((part, ran.to_bytes()));
        Ok(ran)
    }

    /// Ends the lane, and returns what its parts gave, for [`Agreed::take`](crate::Agreed::take).
    ///
    /// # Errors
    /// If the other side has not come to the end of it.
    pub fn finish(mut self) -> Result<LaneReport, Error> {
        self.report.lane = self.lane;
        let Snapshot { sent, received, .. } = self.counters.snapshot();
        self.report.bytes = [sent.bytes, received.bytes];
        self.connection.finish()?;
        Ok(self.report)
    }

    fn session(&self) -> Session<'_> {
        Session::new(&self.plan, self.role, &self.joint_seed)
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("lane", &self.lane)
            .field("lanes", &self.lanes)
            .finish_non_exhaustive()
    }
}

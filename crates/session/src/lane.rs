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
    time::Duration,
};

use psijoin::{
    BaseOts, Context, Fingerprint, Items, JointSeed, Plan, Role,
    parts::{self, Part, Remaining, Session},
};
use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, counted},
};
use psijoin_table::{
    portions::Packing,
    share::{GivenColumns, PayloadLayout},
};
use psijoin_transport::{
    AtRelay, Connection, Fingerprint as KeyName, Identity, LaneKeys, Lanes, LanesAt, Options,
    Proxies, Security, Timeouts,
    rendezvous::{AccessKey, Side},
};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::{ElsewhereFault, Error, Stop, pulse};

use recipe::Recipe;

mod in_order;
mod recipe;

pub use in_order::{FoundKeys, LaneInOrder};

/// All that a process needs to run one lane. It is secret: whoever has it can take part in this
/// lane in place of this party, while the session lasts, and can test guesses of the other party's
/// items against their digests. The keys that a party is known by are not in it.
#[derive(Clone)]
pub struct LaneTicket(Zeroizing<Vec<u8>>);

/// The layout of a ticket.
const LAYOUT: u32 = 2;

/// More than a ticket takes, columns aside.
const TICKET_BYTES: usize = 1 << 14;

#[derive(Serialize, Deserialize)]
struct Content {
    layout: u32,
    lane: u32,
    lanes: u32,
    is_receiver: bool,
    plan: Recipe,
    joint_seed: [u8; 32],
    /// The PEM of this side's key of the session, and the name of the other side's.
    keys: Option<(String, String)>,
    at: At,
    /// This side's columns of numbers that are added up, and their decimals.
    numbers: Vec<(String, u32)>,
    /// The columns in which its rows were read, and the layout of those that it gives.
    gives: Option<(Vec<u8>, Vec<u8>)>,
    /// In milliseconds: for the lane to be open, and for signs of life.
    wait: u64,
    idle: u64,
    keep_alive: u64,
}

/// Wipes what is secret in it.
impl Drop for Content {
    fn drop(&mut self) {
        self.joint_seed.zeroize();
        self.keys.zeroize();
        if let At::Relay { access, .. } = &mut self.at {
            access.zeroize();
        }
    }
}

/// [`LanesAt`], as it is written.
#[derive(Serialize, Deserialize)]
enum At {
    Address(String),
    Relay {
        relay: String,
        is_server: bool,
        access: Option<String>,
    },
}

/// The lanes of a session, for tickets of each.
pub(crate) struct Tickets<'a> {
    pub(crate) role: Role,
    pub(crate) plan: &'a Plan,
    pub(crate) lanes: &'a Lanes,
    pub(crate) numbers: &'a [(String, u32)],
    pub(crate) gives: Option<(&'a GivenColumns, &'a PayloadLayout)>,
    pub(crate) at: &'a LanesAt,
    pub(crate) timeouts: Timeouts,
}

impl Tickets<'_> {
    /// Returns the ticket of one lane.
    ///
    /// # Panics
    /// If the plan is not in parts, or there are fewer lanes.
    pub(crate) fn of(&self, lane: u32) -> LaneTicket {
        let Lanes {
            count,
            joint_seed,
            keys,
            wait,
            are_elsewhere: _,
        } = self.lanes;
        assert!(lane < *count, "lane {lane} of {count}");
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let content = Content {
            layout: LAYOUT,
            lane,
            lanes: *count,
            is_receiver: self.role == Role::Receiver,
            plan: Recipe::of(self.plan).expect("a plan in parts"),
            joint_seed: joint_seed.to_kept(),
            keys: (keys.as_ref())
                .map(|LaneKeys { own, peer }| (own.to_pem().to_owned(), peer.to_string())),
            numbers: self.numbers.to_vec(),
            gives: (self.gives).map(|(columns, layout)| (columns.to_bytes(), layout.to_bytes())),
            at: At::of(self.at),
            wait: millis(*wait),
            idle: millis(self.timeouts.idle),
            keep_alive: millis(self.timeouts.keep_alive),
        };
        content.to_ticket()
    }
}

impl At {
    fn of(at: &LanesAt) -> Self {
        match at {
            LanesAt::Address(address) => Self::Address(address.as_str().to_owned()),
            LanesAt::Relay(at, side) => Self::Relay {
                relay: at.relay.to_string(),
                is_server: *side == Side::Server,
                access: at.access.as_ref().map(AccessKey::to_text),
            },
        }
    }

    fn read(&self) -> Option<LanesAt> {
        Some(match self {
            Self::Address(address) => LanesAt::Address(address.parse().ok()?),
            Self::Relay {
                relay,
                is_server,
                access,
            } => {
                let at = AtRelay {
                    relay: relay.parse().ok()?,
                    appointments: Vec::new(),
                    access: match access {
                        Some(text) => Some(text.parse::<AccessKey>().ok()?),
                        None => None,
                    },
                };
                let side = match is_server {
                    true => Side::Server,
                    false => Side::Client,
                };
                LanesAt::Relay(at, side)
            }
        })
    }
}

impl LaneTicket {
    /// Returns the ticket of these bytes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the ticket of another lane of the session. Tickets differ in nothing else, so that
    /// whoever has one of them has all.
    ///
    /// # Errors
    /// [`ElsewhereFault::Ticket`] if there is no such lane, or this is no ticket.
    pub fn of_lane(&self, lane: u32) -> Result<Self, Error> {
        let mut content = self.read()?;
        content.lane = lane;
        match lane < content.lanes {
            true => Ok(content.to_ticket()),
            false => Err(ElsewhereFault::Ticket.into()),
        }
    }

    fn read(&self) -> Result<Content, ElsewhereFault> {
        let content: Content =
            serde_json::from_slice(&self.0).map_err(|_| ElsewhereFault::Ticket)?;
        match content.layout == LAYOUT && content.lane < content.lanes {
            true => Ok(content),
            false => Err(ElsewhereFault::Ticket),
        }
    }
}

/// A lane that is open.
pub struct Lane {
    lane: u32,
    lanes: u32,
    role: Role,
    plan: Plan,
    joint_seed: JointSeed,
    numbers: Vec<(String, u32)>,
    packing: Option<Packing>,
    connection: Connection,
    channel: Channel,
    counters: Counters,
    waits: Arc<AtomicBool>,
    report: LaneReport,
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
            packing,
            connection,
            channel,
            counters,
            waits,
            report: LaneReport::default(),
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
    /// the caller's to keep; so are its places, if a minimum may withhold rows.
    ///
    /// # Errors
    /// As [`Session::run_part`]; the other side is told.
    pub fn run_part(&mut self, own: Part) -> Result<parts::Done, Error> {
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

impl Content {
    fn to_ticket(&self) -> LaneTicket {
        // Enough, so that no copy is left behind when the vector grows: a byte has up to three
        // digits, and a comma.
        let names = self.numbers.iter().map(|(name, _)| 8 * name.len() + 32);
        let gives = self.gives.as_ref();
        let gives = gives.map_or(0, |(columns, layout)| 4 * (columns.len() + layout.len()));
        let capacity = TICKET_BYTES + names.sum::<usize>() + gives;
        let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
        serde_json::to_writer(&mut *bytes, self).expect("texts and numbers can be written");
        LaneTicket(bytes)
    }

    fn lanes(&self, joint_seed: JointSeed) -> Result<Lanes, Error> {
        let keys = self.keys.as_ref().map(|(own, peer)| {
            let own = Identity::of_pem(own)?;
            let peer = peer.parse::<KeyName>().ok()?;
            Some(LaneKeys { own, peer })
        });
        let keys = match keys {
            Some(None) => return Err(ElsewhereFault::Ticket.into()),
            Some(keys) => keys,
            None => None,
        };
        Ok(Lanes {
            count: self.lanes,
            joint_seed,
            keys,
            wait: Duration::from_millis(self.wait),
            // It opens one, and knows of no others.
            are_elsewhere: false,
        })
    }

    fn packing(&self) -> Result<Option<Packing>, Error> {
        let Some((columns, layout)) = &self.gives else {
            return Ok(None);
        };
        let columns = GivenColumns::from_bytes(columns)?;
        let packing = Packing::new(&columns, PayloadLayout::from_bytes(layout)?);
        Ok(Some(packing.ok_or(ElsewhereFault::Ticket)?))
    }

    fn options(&self, proxies: Proxies, stop: &Stop, waits: &Arc<AtomicBool>) -> Options {
        let mut options = Options::new(Security::InsecurePlaintext);
        options.timeouts.idle = Duration::from_millis(self.idle);
        options.timeouts.keep_alive = Duration::from_millis(self.keep_alive);
        options.pulse = pulse::with_waits(&stop.progress, waits);
        options.interrupt = stop.interrupt.clone();
        options.proxies = proxies;
        options
    }
}

/// What the parts of a lane gave, rows and places aside. It is secret, as it holds this party's
/// shares.
#[derive(Clone, Default)]
pub struct LaneReport {
    lane: u32,
    /// That were sent, and received.
    bytes: [u64; 2],
    /// The keys that were found to be shared.
    shared: u64,
    parts: Vec<(u32, Zeroizing<Vec<u8>>)>,
}

impl LaneReport {
    /// Returns it as bytes, for the process that has met the other party.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let parts = self.parts.iter().map(|(_, done)| 12 + done.len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(28 + parts.sum::<usize>()));
        bytes.extend(self.lane.to_le_bytes());
        bytes.extend(self.bytes.iter().flat_map(|bytes| bytes.to_le_bytes()));
        bytes.extend(self.shared.to_le_bytes());
        for (part, done) in &self.parts {
            bytes.extend(part.to_le_bytes());
            bytes.extend((done.len() as u64).to_le_bytes());
            bytes.extend_from_slice(done);
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] has written.
    ///
    /// # Errors
    /// [`ElsewhereFault::Report`] if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::read(bytes).ok_or(ElsewhereFault::Report)?)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (lane, rest) = bytes.split_first_chunk()?;
        let (sent, rest) = rest.split_first_chunk()?;
        let (received, rest) = rest.split_first_chunk()?;
        let (shared, mut rest) = rest.split_first_chunk()?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, after) = rest.split_first_chunk()?;
            let (length, after) = after.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (done, after) = after.split_at_checked(length)?;
            parts.push((u32::from_le_bytes(*part), Zeroizing::new(done.to_vec())));
            rest = after;
        }
        Some(Self {
            lane: u32::from_le_bytes(*lane),
            bytes: [sent, received].map(|bytes| u64::from_le_bytes(*bytes)),
            shared: u64::from_le_bytes(*shared),
            parts,
        })
    }

    /// Returns its lane.
    pub(crate) fn lane(&self) -> u32 {
        self.lane
    }

    /// Returns the number of keys that were found to be shared.
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// Returns the bytes that were sent, and received.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Returns whether it is of all parts that this lane runs, of so many over so many lanes, in
    /// their order.
    pub(crate) fn has_all(&self, parts: u32, lanes: u32) -> bool {
        let of_lane = (self.lane..parts).step_by(lanes as usize);
        (self.parts.iter().map(|(part, _)| *part)).eq(of_lane)
    }

    /// Returns what each part gave.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Result<(u32, parts::Done), Error>> {
        self.parts.iter().map(|(part, done)| {
            let done = parts::Done::from_bytes(done).ok_or(ElsewhereFault::Report)?;
            Ok((*part, done))
        })
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

impl fmt::Debug for LaneTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneTicket").finish_non_exhaustive()
    }
}

impl fmt::Debug for LaneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneReport")
            .field("lane", &self.lane)
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}

//! What a process needs to run a lane, as the driver hands it out.

use std::{
    fmt,
    ops::RangeInclusive,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use psijoin::{JointSeed, Plan, Role};
use psijoin_table::{
    portions::{LabelPlaces, Packing},
    share::{GivenColumns, PayloadLayout},
};
use psijoin_transport::{
    AtRelay, Fingerprint as KeyName, Identity, LaneKeys, Lanes, LanesAt, Options, Proxies,
    Security, Timeouts,
    rendezvous::{AccessKey, Side},
};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use super::recipe::Recipe;
use crate::{ElsewhereFault, Error, Noising, Stop, pulse};

/// All that a process needs to run one lane. It is secret: whoever has it can take part in this
/// lane in place of this party, while the session lasts, and can test guesses of the other party's
/// items against their digests. The keys that a party is known by are not in it.
#[derive(Clone)]
pub struct LaneTicket(Zeroizing<Vec<u8>>);

/// The layout of a ticket.
const LAYOUT: u32 = 3;

/// More than a ticket takes, columns aside.
const TICKET_BYTES: usize = 1 << 14;

#[derive(Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) layout: u32,
    pub(super) lane: u32,
    pub(super) lanes: u32,
    pub(super) is_receiver: bool,
    pub(super) plan: Recipe,
    pub(super) joint_seed: [u8; 32],
    /// The PEM of this side's key of the session, and the name of the other side's.
    pub(super) keys: Option<(String, String)>,
    pub(super) at: At,
    /// This side's columns of numbers that are added up, and their decimals.
    pub(super) numbers: Vec<(String, u32)>,
    /// Their bounds, if there is noise.
    pub(super) bounds: Vec<(i64, i64)>,
    /// The hashes of the labels of each of its columns of labels.
    pub(super) labels: Vec<Vec<u64>>,
    /// The columns in which its rows were read, and the layout of those that it gives.
    pub(super) gives: Option<(Vec<u8>, Vec<u8>)>,
    /// In milliseconds: for the lane to be open, and for signs of life.
    pub(super) wait: u64,
    pub(super) idle: u64,
    pub(super) keep_alive: u64,
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
pub(super) enum At {
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
    /// The bounds of its numbers, if there is noise.
    pub(crate) bounds: &'a [RangeInclusive<i64>],
    /// The hashes of the labels of each of its columns of labels.
    pub(crate) labels: &'a [Vec<u64>],
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
            bounds: (self.bounds.iter())
                .map(|bounds| (*bounds.start(), *bounds.end()))
                .collect(),
            labels: self.labels.to_vec(),
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

    pub(super) fn read(&self) -> Option<LanesAt> {
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

    pub(super) fn read(&self) -> Result<Content, ElsewhereFault> {
        let content: Content =
            serde_json::from_slice(&self.0).map_err(|_| ElsewhereFault::Ticket)?;
        match content.layout == LAYOUT && content.lane < content.lanes {
            true => Ok(content),
            false => Err(ElsewhereFault::Ticket),
        }
    }
}

impl Content {
    fn to_ticket(&self) -> LaneTicket {
        // Enough, so that no copy is left behind when the vector grows: a byte has up to three
        // digits, and a comma.
        let names = self.numbers.iter().map(|(name, _)| 8 * name.len() + 32);
        let bounds = 48 * self.bounds.len();
        let labels = self.labels.iter().map(|list| 24 * list.len() + 8);
        let gives = self.gives.as_ref();
        let gives = gives.map_or(0, |(columns, layout)| 4 * (columns.len() + layout.len()));
        let columns = names.chain(labels).sum::<usize>() + bounds + gives;
        let capacity = TICKET_BYTES + columns;
        let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
        serde_json::to_writer(&mut *bytes, self).expect("texts and numbers can be written");
        LaneTicket(bytes)
    }

    pub(super) fn lanes(&self, joint_seed: JointSeed) -> Result<Lanes, Error> {
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

    pub(super) fn packing(&self) -> Result<Option<Packing>, Error> {
        let Some((columns, layout)) = &self.gives else {
            return Ok(None);
        };
        let columns = GivenColumns::from_bytes(columns)?;
        let packing = Packing::new(&columns, PayloadLayout::from_bytes(layout)?);
        Ok(Some(packing.ok_or(ElsewhereFault::Ticket)?))
    }

    /// Returns what finds the places of labels, if this party has some.
    pub(super) fn places_of_labels(&self) -> Result<Option<LabelPlaces>, Error> {
        match &self.labels[..] {
            [] => Ok(None),
            lists => Ok(Some(LabelPlaces::new(lists).ok_or(ElsewhereFault::Ticket)?)),
        }
    }

    pub(super) fn noising(&self) -> Noising {
        Noising::within(self.bounds.iter().map(|(low, high)| *low..=*high).collect())
    }

    pub(super) fn options(
        &self,
        proxies: Proxies,
        stop: &Stop,
        waits: &Arc<AtomicBool>,
    ) -> Options {
        let mut options = Options::new(Security::InsecurePlaintext);
        options.timeouts.idle = Duration::from_millis(self.idle);
        options.timeouts.keep_alive = Duration::from_millis(self.keep_alive);
        options.pulse = pulse::with_waits(&stop.progress, waits);
        options.interrupt = stop.interrupt.clone();
        options.proxies = proxies;
        options
    }
}

impl fmt::Debug for LaneTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneTicket").finish_non_exhaustive()
    }
}

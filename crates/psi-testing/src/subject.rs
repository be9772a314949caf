use psijoin_channel::memory::Window;
use psijoin_params::Sizes;
use psijoin_psi::{BaseOts, Error, Plan, Protocol, Request};

use crate::Sets;

/// A protocol, and the facts that its tests need and that it does not have itself.
#[derive(Debug, Clone)]
pub struct Subject {
    pub(crate) protocol: &'static Protocol,
    pub(crate) is_slow: bool,
    pub(crate) most_pairs: u128,
    tested_pairs: u128,
    pub(crate) many: usize,
    pub(crate) faulty: Sets,
    pub(crate) layered: bool,
    pub(crate) takes_a_million: bool,
    pub(crate) limit: Limit,
    pub(crate) units: Option<Units>,
    pub(crate) parts: Option<u32>,
    pub(crate) window: Window,
    pub(crate) item_bits: Option<u32>,
    pub(crate) base_ots: BaseOts,
}

impl Subject {
    /// Returns a protocol that needs nothing else said: an item costs microseconds, a message holds
    /// a thousand items or so, and the sender's masks are sorted.
    pub fn new(protocol: &'static Protocol) -> Self {
        Self {
            protocol,
            is_slow: false,
            most_pairs: u128::MAX,
            tested_pairs: u128::MAX,
            many: 1 << 16,
            faulty: Sets::new(3000, 2100, 700),
            layered: false,
            takes_a_million: true,
            limit: Limit::BothLargest,
            units: None,
            parts: None,
            window: Window::default(),
            item_bits: None,
            base_ots: BaseOts::default(),
        }
    }

    /// Marks a protocol in which an item costs milliseconds in a development build, as large
    /// numbers to large powers do: tests take a sixteenth of the items.
    #[must_use]
    pub fn slow(self) -> Self {
        Self {
            is_slow: true,
            ..self
        }
    }

    /// Refuses runs with more pairs of items. A run takes seconds for a million of them.
    #[must_use]
    pub fn most_pairs(self, most_pairs: u128) -> Self {
        Self {
            most_pairs,
            tested_pairs: 1 << 20,
            ..self
        }
    }

    /// Sets how many pairs of items take seconds, so that tests compare no more.
    #[must_use]
    pub fn tested_pairs(self, tested_pairs: u128) -> Self {
        Self {
            tested_pairs,
            ..self
        }
    }

    /// Sets how many items per party are many; 2^16 by default.
    #[must_use]
    pub fn many(self, many: usize) -> Self {
        Self { many, ..self }
    }

    /// Sets the items of the sender, of the receiver, and of both that take two or three messages
    /// of each kind. In a run of them, each message is hit by each fault.
    #[must_use]
    pub fn faults(self, sender: usize, receiver: usize, shared: usize) -> Self {
        Self {
            faulty: Sets::new(sender, receiver, shared),
            ..self
        }
    }

    /// Marks a protocol that evaluates a circuit layer by layer: it is slow, layers are messages
    /// that are all alike, so that faults hit some of them only, and a million items are refused.
    #[must_use]
    pub fn layered(self) -> Self {
        Self {
            layered: true,
            takes_a_million: false,
            limit: Limit::EitherLargest,
            ..self.slow().faults(10, 7, 3)
        }
    }

    /// Sets for which of the largest sets no parameters reach σ = 80; two of them by default, since
    /// all pairs of masks of 128 bits are compared.
    #[must_use]
    pub fn limit(self, limit: Limit) -> Self {
        Self { limit, ..self }
    }

    /// Promises that items are numbers of this many bits.
    #[must_use]
    pub fn numbers(self, item_bits: u32) -> Self {
        Self {
            item_bits: Some(item_bits),
            ..self
        }
    }

    /// Marks a protocol whose sender's messages hold a unit per item, in random order.
    #[must_use]
    pub fn units(self, units: Units) -> Self {
        Self {
            units: Some(units),
            ..self
        }
    }

    pub(crate) fn name(&self) -> String {
        let name = self.protocol.info().name;
        match self.item_bits {
            Some(bits) => format!("{name}-of-{bits}-bits"),
            None => name.to_owned(),
        }
    }

    /// Returns these sets, or a sixteenth of them for a slow protocol, or as many sixteenths as
    /// leave few enough pairs. Their messages hold as much less.
    pub(crate) fn sized(&self, sets: Sets) -> Sets {
        let items = sets.sender.len() + sets.receiver.len();
        let mut step = if self.is_slow && items >= 64 { 16 } else { 1 };
        loop {
            let some = sets.one_in(step);
            let pairs = some.sender.len() as u128 * some.receiver.len() as u128;
            if pairs <= self.tested_pairs {
                return some;
            }
            step *= 16;
        }
    }

    /// Returns the subject in this number of parts, however few the items. Units of all parts
    /// together are not told apart.
    pub(crate) fn in_parts(&self, parts: u32) -> Self {
        Self {
            parts: Some(parts),
            units: None,
            ..self.clone()
        }
    }

    /// Returns the subject with base OTs by ML-KEM, and with fewer items for faults: what follows
    /// base OTs is as it was.
    pub(crate) fn post_quantum(self) -> Self {
        Self {
            base_ots: BaseOts::MlKem,
            faulty: match self.faulty.sender.len() {
                ..64 => self.faulty,
                _ => self.faulty.one_in(16),
            },
            ..self
        }
    }

    /// Tries faults over channels that hold one message.
    pub(crate) fn waiting_for_room(self) -> Self {
        Self {
            window: Window::ONE_MESSAGE,
            ..self
        }
    }

    /// Returns the plan of a request that must be possible.
    pub(crate) fn plan(&self, request: &Request) -> Plan {
        self.try_plan(request).expect("it can be planned")
    }

    pub(crate) fn try_plan(&self, request: &Request) -> Result<Plan, Error> {
        let request = request.clone().base_ots(self.base_ots);
        let request = &match self.item_bits {
            Some(bits) => request.numbers(bits)?,
            None => request,
        };
        match self.parts {
            Some(parts) => psijoin_psi_parts::in_parts(self.protocol, request, parts),
            None => self.protocol.plan(request),
        }
    }

    /// Returns whether it serves this request. A protocol that counts without shares does not count
    /// in parts.
    pub(crate) fn serves(&self, request: &Request) -> bool {
        self.protocol.serves(request).is_ok()
            && !matches!(self.try_plan(request), Err(Error::NotInParts { .. }))
    }

    /// Returns all requests on these sets that the protocol serves.
    pub(crate) fn requests(&self, sets: &Sets) -> Vec<Request> {
        let mut requests = sets.requests();
        requests.retain(|request| self.serves(request));
        requests
    }
}

/// For which sets of 2^26 items no parameters reach σ = 80.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// If either set is that large.
    EitherLargest,
    /// If both are.
    BothLargest,
    /// Never.
    None,
}

impl Limit {
    /// Returns whether it forbids these sets.
    pub(crate) fn forbids(self, sender: u64, receiver: u64) -> bool {
        let items = match self {
            Self::EitherLargest => sender.max(receiver),
            Self::BothLargest => sender.min(receiver),
            Self::None => 0,
        };
        items == Sizes::MAX_AT_ONCE
    }
}

/// The places in the sender's messages that represent its items: a group element, some masks.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    pub(crate) in_first_messages: bool,
    part_bits: fn(&Plan) -> u64,
    lists: fn(&Plan) -> u64,
}

impl Units {
    /// Makes units in the sender's first messages, with this many bits each.
    pub fn first(part_bits: fn(&Plan) -> u64) -> Self {
        Self {
            in_first_messages: true,
            part_bits,
            lists: |_| 1,
        }
    }

    /// Makes units in its last messages.
    pub fn last(part_bits: fn(&Plan) -> u64) -> Self {
        Self {
            in_first_messages: false,
            ..Self::first(part_bits)
        }
    }

    /// Sets the number of lists in a message, one after the other, with a part of each unit.
    #[must_use]
    pub fn lists(self, lists: fn(&Plan) -> u64) -> Self {
        Self { lists, ..self }
    }

    /// Returns the units of a message.
    pub(crate) fn of(self, plan: &Plan, message: &[u8]) -> Vec<Vec<bool>> {
        let (lists, part_bits) = ((self.lists)(plan) as usize, (self.part_bits)(plan) as usize);
        let bits: Vec<bool> = message
            .iter()
            .flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1))
            .collect();
        let count = bits.len() / (lists * part_bits);
        let part = |number: usize| &bits[number * part_bits..][..part_bits];
        (0..count)
            .map(|i| {
                let parts = (0..lists).map(|list| part(list * count + i));
                parts.flatten().copied().collect()
            })
            .collect()
    }
}

/// Returns the value of a plan's parameter.
///
/// # Panics
/// If it has none of this name.
pub fn parameter(plan: &Plan, name: &str) -> u64 {
    let found = plan.parameters().iter().find(|found| found.name == name);
    found.expect("the plan has this parameter").value
}

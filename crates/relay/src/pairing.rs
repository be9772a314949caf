//! Who is joined with whom, and who has no place. It knows no sockets and no clock.
//!
//! Guests stand in queues: one for each side of each token. A queue is first come, first served,
//! and addresses take turns in it. The crate's documentation has the reasons.

use std::collections::HashMap;

use psijoin_transport::{
    rendezvous::{Side, Token},
    room::Source,
};

use crate::{Limits, refusal::Refusal};

/// The number of a connection. A newer one has a larger number.
pub(crate) type Id = u64;

/// The number of addresses that a queue remembers having served.
const MAX_SERVED: usize = 64;

/// Somebody who has said whom it meets.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) side: Side,
    pub(crate) token: Token,
    /// The number of its place.
    pub(crate) client: [u8; 8],
    pub(crate) source: Source,
    /// It has proved an access key, and does not count for its address.
    pub(crate) has_access: bool,
}

/// Two guests that are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) server: Id,
    pub(crate) client: Id,
    /// The address that the pair counts for, to be given back by [`Pairing::end`].
    pub(crate) charged: Option<Source>,
}

/// See the [module](self).
pub(crate) struct Pairing {
    limits: Limits,
    guests: HashMap<Id, Present>,
    meetings: HashMap<Token, Meeting>,
    /// Those without access, in the order in which they came.
    of_source: HashMap<Source, Vec<Id>>,
    /// Running pairs, by the address that they count for.
    charged: HashMap<Source, usize>,
    running: usize,
    /// Counts arrivals and turns.
    clock: u64,
}

struct Present {
    guest: Guest,
    arrived: u64,
}

/// The queues of both sides of a token.
#[derive(Default)]
struct Meeting([Queue; 2]);

#[derive(Default)]
struct Queue {
    /// In the order in which they came.
    guests: Vec<Id>,
    /// The time at which an address had its last turn.
    served: HashMap<Source, u64>,
}

impl Pairing {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            guests: HashMap::new(),
            meetings: HashMap::new(),
            of_source: HashMap::new(),
            charged: HashMap::new(),
            running: 0,
            clock: 0,
        }
    }

    /// Returns the number of guests.
    pub(crate) fn waiting(&self) -> usize {
        self.guests.len()
    }

    /// Returns the number of running pairs.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Lets the older connections of a guest's place go, and gives their numbers.
    pub(crate) fn replace(&mut self, guest: &Guest) -> Vec<Id> {
        let queue = self.queue(&guest.token, guest.side);
        let is_older = |id: &&Id| self.guests[*id].guest.client == guest.client;
        let older: Vec<_> = queue.iter().filter(is_older).copied().collect();
        for id in &older {
            self.leave(*id);
        }
        older
    }

    /// Gives a guest a place, and the number of the one that had to leave for it, if there is one.
    ///
    /// # Errors
    /// If there is no place.
    pub(crate) fn arrive(&mut self, id: Id, guest: Guest) -> Result<Option<Id>, Refusal> {
        self.check_pairs(&guest)?;
        let of_source = self.of_source.get(&guest.source).map_or(0, Vec::len);
        if !guest.has_access && of_source >= self.limits.waiting_per_address {
            return Err(Refusal::WaitingOfAddress(of_source));
        }
        let displaced = self.make_room(&guest)?;
        if let Some(displaced) = displaced {
            self.leave(displaced);
        }
        self.clock += 1;
        if !guest.has_access {
            self.of_source.entry(guest.source).or_default().push(id);
        }
        let meeting = self.meetings.entry(guest.token.clone()).or_default();
        meeting.0[guest.side as usize].guests.push(id);
        let arrived = self.clock;
        self.guests.insert(id, Present { guest, arrived });
        Ok(displaced)
    }

    /// Lets a guest go. Nothing happens if it is none.
    pub(crate) fn leave(&mut self, id: Id) -> Option<Guest> {
        let Present { guest, .. } = self.guests.remove(&id)?;
        if let Some(ids) = self.of_source.get_mut(&guest.source) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.of_source.remove(&guest.source);
            }
        }
        if let Some(meeting) = self.meetings.get_mut(&guest.token) {
            let queue = &mut meeting.0[guest.side as usize].guests;
            queue.retain(|other| *other != id);
            if meeting.0.iter().all(|queue| queue.guests.is_empty()) {
                self.meetings.remove(&guest.token);
            }
        }
        Some(guest)
    }

    /// Joins two guests of a token, if there is one on each side, and forgets them.
    pub(crate) fn meet(&mut self, token: &Token) -> Option<Met> {
        let [server, client] = [Side::Server, Side::Client].map(|side| self.next(token, side));
        let (server, client) = (server?, client?);
        self.clock += 1;
        for id in [server, client] {
            self.serve(id);
        }
        self.leave(server);
        let guest = self.leave(client)?;
        self.running += 1;
        let charged = (!guest.has_access).then_some(guest.source);
        if let Some(source) = charged {
            *self.charged.entry(source).or_default() += 1;
        }
        Some(Met {
            server,
            client,
            charged,
        })
    }

    /// A pair has ended.
    pub(crate) fn end(&mut self, charged: Option<Source>) {
        self.running = self.running.saturating_sub(1);
        let Some(source) = charged else {
            return;
        };
        if let Some(count) = self.charged.get_mut(&source) {
            *count -= 1;
            if *count == 0 {
                self.charged.remove(&source);
            }
        }
    }

    fn queue(&self, token: &Token, side: Side) -> &[Id] {
        match self.meetings.get(token) {
            Some(meeting) => &meeting.0[side as usize].guests,
            None => &[],
        }
    }

    /// Refuses a guest with whom there would be more pairs than there may be.
    fn check_pairs(&self, guest: &Guest) -> Result<(), Refusal> {
        let has_peer = !self.queue(&guest.token, guest.side.other()).is_empty();
        if has_peer && self.running >= self.limits.pairs {
            return Err(Refusal::Pairs(self.running));
        }
        let charged = self.charged.get(&guest.source).copied().unwrap_or(0);
        let counts = guest.side == Side::Client && !guest.has_access;
        match counts && charged >= self.limits.pairs_per_address {
            true => Err(Refusal::PairsOfAddress(charged)),
            false => Ok(()),
        }
    }

    /// Returns who has to leave for a guest, if anybody.
    fn make_room(&self, guest: &Guest) -> Result<Option<Id>, Refusal> {
        let queue = self.queue(&guest.token, guest.side);
        if queue.len() >= self.limits.waiting_per_side {
            let mut parties: HashMap<Source, Vec<Id>> = HashMap::new();
            for id in queue {
                parties
                    .entry(self.guests[id].guest.source)
                    .or_default()
                    .push(*id);
            }
            let leaves = newest_of_largest(&parties, guest.source);
            return leaves.map(Some).ok_or(Refusal::Queue(queue.len()));
        }
        if self.guests.len() >= self.limits.waiting {
            let leaves = newest_of_largest(&self.of_source, guest.source);
            return leaves.map(Some).ok_or(Refusal::Waiting(self.guests.len()));
        }
        Ok(None)
    }

    /// Returns whose turn it is in a queue: the longest-waiting guest of the address whose turn is
    /// longest ago, where coming counts as a turn.
    fn next(&self, token: &Token, side: Side) -> Option<Id> {
        let queue = &self.meetings.get(token)?.0[side as usize];
        let mut seen: Vec<Source> = Vec::new();
        let turns = queue.guests.iter().filter_map(|id| {
            let Present { guest, arrived } = &self.guests[id];
            if seen.contains(&guest.source) {
                return None;
            }
            seen.push(guest.source);
            let served = queue.served.get(&guest.source).copied().unwrap_or(0);
            Some((served.max(*arrived), *id))
        });
        turns.min().map(|(_, id)| id)
    }

    /// Notes that it was the turn of a guest's address.
    fn serve(&mut self, id: Id) {
        let clock = self.clock;
        let Some(Present { guest, .. }) = self.guests.get(&id) else {
            return;
        };
        if let Some(meeting) = self.meetings.get_mut(&guest.token) {
            let served = &mut meeting.0[guest.side as usize].served;
            served.insert(guest.source, clock);
            if served.len() > MAX_SERVED {
                let longest_ago = served.values().min().copied();
                served.retain(|_, turn| Some(*turn) != longest_ago);
            }
        }
    }
}

/// Returns the newest of the address that has most, if that is more than `source` would have with
/// one more.
fn newest_of_largest(parties: &HashMap<Source, Vec<Id>>, source: Source) -> Option<Id> {
    let own = parties.get(&source).map_or(0, Vec::len);
    let sizes = parties.values().map(|ids| (ids.len(), ids.last()));
    let (largest, newest) = sizes.max()?;
    newest.filter(|_| largest > own + 1).copied()
}

#[cfg(test)]
mod tests;

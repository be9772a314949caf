//! The way in: files become bytes.

use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{Correspondence, LOOK, Letter, Name};
use crate::{
    bridge::{Given, Source, Stop},
    rendezvous::Side,
};

/// The time between two looks whether the other party has begun anew.
const RIVALS: Duration = Duration::from_secs(1);

/// The time after which a file that is there, and never becomes whole, is worth a line in the log.
const GROWING: Duration = Duration::from_secs(60);

/// See the [module](self).
pub(super) struct Inbox {
    shared: Arc<Correspondence>,
    stop: Stop,
    /// The number of the next file.
    next: u64,
    /// A file that was read before.
    heard: Option<Letter>,
    /// The time of the newest run of the other party that is known, by its own clock.
    newest: Option<u64>,
    pause: Duration,
    looked_for_rivals: Instant,
    waits_since: Instant,
    has_complained: bool,
    /// Files that were read, and could not be removed yet.
    unremoved: Vec<Name>,
}

impl Inbox {
    pub(super) fn new(
        shared: Arc<Correspondence>,
        next: u64,
        heard: Option<Letter>,
        stop: Stop,
    ) -> Self {
        Self {
            shared,
            stop,
            next,
            heard,
            newest: None,
            pause: LOOK[0],
            looked_for_rivals: Instant::now(),
            waits_since: Instant::now(),
            has_complained: false,
            unremoved: Vec::new(),
        }
    }

    /// Returns the next file, if it is there.
    fn look(&mut self) -> io::Result<Option<Letter>> {
        if let Some(letter) = self.heard.take() {
            return Ok(Some(letter));
        }
        self.unremoved
            .retain(|name| self.shared.room.remove(name).is_err());
        // Looking at the folder as a whole makes network drives look again, too.
        let names = self.shared.room.names()?;
        if self.shared.server.get().is_none() {
            self.find_server(&names);
        }
        self.check_rivals(&names)?;
        let from = self.shared.side.other();
        let Some(name) = self.shared.name(from, self.next) else {
            return Ok(None);
        };
        let Some(letter) = self.shared.room.read(&name)? else {
            self.complain(&name, &names);
            return Ok(None);
        };
        // It may be here before the file that tells of its writer.
        self.newest = self.newest.max(Some(letter.time));
        self.next += 1;
        if self.shared.room.remove(&name).is_err() {
            self.unremoved.push(name);
        }
        // Its writer has the answer to its first one, which no later run of this side is to answer.
        if self.shared.side == Side::Server && self.shared.be_done_with_first().is_err() {
            self.unremoved.push(Name::First(self.shared.client));
        }
        Ok(Some(letter))
    }

    /// Learns which run of the server has answered.
    fn find_server(&self, names: &[Name]) {
        let answer = names.iter().find_map(|name| match *name {
            Name::Letter {
                from: Side::Server,
                client,
                server,
                number: 0,
            } if client == self.shared.client => Some(server),
            _ => None,
        });
        if let Some(server) = answer {
            let _ = self.shared.server.set(server);
        }
    }

    /// Fails if a later run of the other party is there.
    fn check_rivals(&mut self, names: &[Name]) -> io::Result<()> {
        if self.newest.is_some() && self.looked_for_rivals.elapsed() < RIVALS {
            return Ok(());
        }
        self.looked_for_rivals = Instant::now();
        // Of a server, those that are there at the beginning may be dead, or the one that answers,
        // and the first that comes may be that, too.
        let known = match self.shared.side {
            Side::Client => self.newest.filter(|time| *time > 0),
            Side::Server => Some(self.shared.client_began),
        };
        let mut newest = self.newest.unwrap_or_default();
        for name in names {
            let is_this_one = match (self.shared.side, name) {
                (Side::Client, Name::Here(server)) => self.shared.server.get() == Some(server),
                (Side::Server, Name::First(client)) => self.shared.client == *client,
                _ => continue,
            };
            let Some(letter) = self.shared.room.read(name)? else {
                continue;
            };
            if !is_this_one && known.is_some_and(|known| letter.time > known) {
                return Err(io::Error::other("the other party has begun anew"));
            }
            newest = newest.max(letter.time);
        }
        self.newest = Some(newest);
        Ok(())
    }

    /// Tells of a file that does not become whole.
    fn complain(&mut self, name: &Name, names: &[Name]) {
        if names.contains(name)
            && self.waits_since.elapsed() >= GROWING
            && !std::mem::replace(&mut self.has_complained, true)
        {
            tracing::warn!("the file {name} of the mailbox is there for long, and is not whole");
        }
    }
}

impl Source for Inbox {
    fn give(&mut self, bytes: &mut Vec<u8>) -> io::Result<Given> {
        let looked = self.look().inspect_err(|why| {
            tracing::warn!("the session in the folder ends: {why}");
        });
        let Some(letter) = looked? else {
            let rest = self.pause;
            self.pause = LOOK[1].min(rest.mul_f32(1.5));
            let until = Instant::now() + rest;
            while Instant::now() < until && !self.stop.is_stopped() {
                thread::sleep(LOOK[0].min(until.saturating_duration_since(Instant::now())));
            }
            return Ok(Given::Nothing);
        };
        (self.pause, self.waits_since) = (LOOK[0], Instant::now());
        bytes.extend(letter.content);
        Ok(match letter.is_last {
            true => Given::End,
            false => Given::Bytes,
        })
    }
}

//! The way out: bytes become files.

use std::{
    collections::VecDeque,
    io, mem,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{Correspondence, LOOK, Letter, Name, letter::MAX_CONTENT_BYTES};
use crate::bridge::{Sink, Stop};

/// A file is written once nothing has come for this long: the flight is over, or its maker
/// computes.
const PAUSE: Duration = Duration::from_millis(150);

/// It is written after this time although more keeps coming.
const LONGEST: Duration = Duration::from_secs(10);

/// The files of this side that may be there unread.
const MAX_UNREAD: usize = 6;

/// See the [module](self).
pub(super) struct Outbox {
    shared: Arc<Correspondence>,
    stop: Stop,
    content: Vec<u8>,
    /// When the first and the last of it came.
    came: Option<(Instant, Instant)>,
    /// The number of the next file.
    number: u64,
    /// The files that may not have been read yet.
    unread: VecDeque<Name>,
}

impl Outbox {
    pub(super) fn new(shared: Arc<Correspondence>, stop: Stop) -> Self {
        Self {
            shared,
            stop,
            content: Vec::new(),
            came: None,
            number: 0,
            unread: VecDeque::new(),
        }
    }

    /// Writes a file of all that has come.
    fn post(&mut self, is_last: bool) -> io::Result<()> {
        self.wait_for_reader();
        let Some(name) = self.shared.name(self.shared.side, self.number) else {
            // Nobody has answered, and this party waits for that.
            return Ok(());
        };
        let letter = Letter {
            time: self.shared.began,
            is_last,
            content: mem::take(&mut self.content),
        };
        let written = self.shared.room.write(&name, &letter);
        written.inspect_err(|why| {
            tracing::warn!("a file of the session in the folder cannot be written: {why}");
        })?;
        self.came = None;
        self.number += 1;
        self.unread.push_back(name);
        Ok(())
    }

    /// Waits until the reader has removed enough, unless this side hangs up.
    fn wait_for_reader(&mut self) {
        let [mut pause, longest] = LOOK;
        while self.unread.len() >= MAX_UNREAD && !self.stop.is_stopped() {
            match self.unread.front() {
                Some(oldest) if self.shared.room.has(oldest) => {
                    thread::sleep(pause);
                    pause = (longest / 4).min(pause.mul_f32(1.5));
                }
                _ => drop(self.unread.pop_front()),
            }
        }
    }
}

impl Sink for Outbox {
    const HALF_CLOSES: bool = true;

    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = MAX_CONTENT_BYTES - self.content.len();
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.content.extend_from_slice(taken);
            bytes = rest;
            if self.content.len() == MAX_CONTENT_BYTES {
                self.post(false)?;
            }
            if self.content.len() == MAX_CONTENT_BYTES {
                return Err(io::Error::other(
                    "much is said to somebody who has not answered",
                ));
            }
        }
        let now = Instant::now();
        let first = self.came.map_or(now, |(first, _)| first);
        self.came = (!self.content.is_empty()).then_some((first, now));
        match now.duration_since(first) >= LONGEST {
            true => self.post(false),
            false => Ok(()),
        }
    }

    fn idle(&mut self) -> io::Result<()> {
        match self.came {
            Some((_, last)) if last.elapsed() >= PAUSE => self.post(false),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.post(true)
    }
}

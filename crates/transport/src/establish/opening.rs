//! The opening of further streams by a party that has met its peer: of all of them, or the session
//! is over.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use psijoin_channel::AbortCode;

use super::{
    Established, Patience,
    streams::{Door, Streams},
};
use crate::{
    Attempt, Error,
    line::Line,
    link::{Bond, Link},
};

/// Streams that are being opened.
pub(crate) struct Opening<'a> {
    streams: &'a Streams,
    /// That of the meeting. If it fails, so does the opening.
    session: &'a Link,
    bond: &'a Arc<Bond>,
    patience: Patience<'a>,
    /// Those that are open, with their numbers. They hear at once if the others fail.
    open: Mutex<Vec<(u32, Line)>>,
}

impl<'a> Opening<'a> {
    /// Prepares these streams.
    pub(crate) fn new(streams: &'a Streams, session: &'a Link, bond: &'a Arc<Bond>) -> Self {
        let patience = Patience {
            session: Some(session),
            ..streams.patience()
        };
        Self {
            streams,
            session,
            bond,
            patience,
            open: Mutex::default(),
        }
    }

    /// Opens them. This side waits for the peer meanwhile, whose lanes may have to be started.
    ///
    /// # Errors
    /// If they cannot all be opened. Then the session has ended, and the peer knows why.
    pub(crate) fn through(&self, door: Door) -> Result<(), Error> {
        let opened = self.bond.waits(|| self.go_through(door));
        opened.map_err(|error| {
            let open = self.open.lock().expect(UNPOISONED);
            let numbers: Vec<u32> = open.iter().map(|(stream, _)| *stream).collect();
            self.streams.missing(error, &numbers)
        })
    }

    fn go_through(&self, door: Door) -> Result<(), Error> {
        if !door.lets_in() {
            return self.dial(&door);
        }
        let start = |established| self.start(established);
        let opened = self.streams.let_in(&door, &self.patience, start);
        opened.inspect_err(|error| self.give_up(error))
    }

    /// Returns those that are open, in the order of their numbers.
    pub(crate) fn into_lines(self) -> Vec<Line> {
        let mut open = self.open.into_inner().expect(UNPOISONED);
        open.sort_unstable_by_key(|&(stream, _)| stream);
        open.into_iter().map(|(_, line)| line).collect()
    }

    fn dial(&self, door: &Door) -> Result<(), Error> {
        let dial = |stream| {
            (self.streams.dial(door, stream, &self.patience))
                .and_then(|established| self.start(established))
                // This ends the other attempts, too.
                .inspect_err(|error| self.give_up(error))
        };
        let failures: Vec<_> = thread::scope(|scope| {
            let start = |stream| {
                thread::Builder::new()
                    .name("psijoin-dial".into())
                    .spawn_scoped(scope, move || dial(stream))
                    .map_err(Error::Thread)
                    .inspect_err(|error| self.give_up(error))
            };
            let dialling: Vec<_> = self.streams.numbers.clone().map(start).collect();
            let dialled = dialling.into_iter().map(|thread| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.and_then(|thread| thread.join().unwrap_or_else(panicked))
            });
            dialled.filter_map(Result::err).collect()
        });
        // That the session has ended is what others make of the failure of one.
        let is_consequence = |error: &Error| matches!(error, Error::Channel(_));
        match failures.into_iter().min_by_key(is_consequence) {
            None => Ok(()),
            Some(error) => Err(self.explain(error)),
        }
    }

    /// Keeps a stream alive from now on.
    fn start(&self, established: Established) -> Result<(), Error> {
        let stream = established.stream;
        let line = Line::start(established, self.streams.options(), self.bond)?;
        self.open.lock().expect(UNPOISONED).push((stream, line));
        Ok(())
    }

    /// Returns why not all streams could be opened, from why one could not be dialled.
    fn explain(&self, error: Error) -> Error {
        let attempt = match error {
            Error::Interrupted | Error::Thread(_) | Error::Channel(_) => return error,
            Error::NobodyListened { attempt, .. }
            | Error::NobodyAtRelay { attempt, .. }
            | Error::NobodyInFolder { attempt, .. } => attempt,
            lasting => Some(Attempt {
                why: Box::new(lasting),
                is_last: true,
            }),
        };
        Error::TooFewStreams {
            opened: self.open.lock().expect(UNPOISONED).len() as u32,
            agreed: self.streams.numbers.len() as u32,
            waited: self.patience.started.elapsed(),
            attempt: attempt.map(Box::new),
            strangers: None,
        }
    }

    /// Ends the session, if it has not ended yet.
    fn give_up(&self, error: &Error) {
        match error {
            Error::Channel(_) => {}
            // Whoever triggers it may not have come to this session yet.
            Error::Interrupted => {
                let code = self.streams.options().interrupt.reason();
                self.session
                    .interrupt(code.unwrap_or(AbortCode::Interrupted));
            }
            Error::Thread(_) => self.session.abort(AbortCode::OutOfMemory),
            _ if self.streams.are_elsewhere() => self.session.abort(AbortCode::TimedOut),
            _ => self.session.abort(AbortCode::TooFewStreams),
        }
    }
}

const UNPOISONED: &str = "no thread panics while it holds this lock";

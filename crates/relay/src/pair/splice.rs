//! Carrying bytes from socket to socket within the kernel.

use std::{io, os::fd::OwnedFd};

use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use super::{Pair, Why, is_pause};

/// The pipe that bytes pass, as `splice(2)` demands.
pub(super) struct Pipe {
    front: OwnedFd,
    back: OwnedFd,
}

impl Pipe {
    /// Returns one, unless the system has none left.
    pub(super) fn new() -> Option<Self> {
        let (front, back) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        Some(Self { front, back })
    }

    /// Carries what comes from one side until it ends.
    pub(super) fn carry(&self, pair: &Pair, from: usize) -> Result<(), Why> {
        let socket = &pair.sides[from].socket;
        loop {
            pair.check(from)?;
            let moved = pair.within_rate(|allowed| {
                let spliced = splice(socket, None, &self.back, None, allowed, SpliceFlags::MOVE);
                spliced.map_err(io::Error::from)
            })?;
            match moved {
                None => {}
                Some(0) => return Ok(()),
                Some(bytes) => {
                    pair.moves(from, bytes);
                    self.empty(pair, 1 - from, bytes)?;
                }
            }
        }
    }

    /// Passes on the bytes that are in the pipe.
    fn empty(&self, pair: &Pair, to: usize, mut bytes: usize) -> Result<(), Why> {
        let socket = &pair.sides[to].socket;
        while bytes > 0 {
            let spliced = splice(&self.front, None, socket, None, bytes, SpliceFlags::MOVE);
            match spliced.map_err(io::Error::from) {
                Ok(0) => return Err(Why::Lost),
                Ok(moved) => bytes -= moved,
                Err(error) if is_pause(&error) => pair.check(1 - to)?,
                Err(_) => return Err(Why::Lost),
            }
        }
        Ok(())
    }
}

//! One direction of a link: buffers on their way between a caller and a thread.

use std::collections::VecDeque;

use crate::frame::HEADER_BYTES;

/// The bytes that may wait in a lane. One more buffer than fits is let in, so that any message can
/// pass.
const CAPACITY_BYTES: usize = 4 << 20;

/// The size that a buffer counts beyond its bytes, so that very many empty ones fill a lane too.
const OVERHEAD_BYTES: usize = 64;

/// Messages up to this total share one buffer, and so one system call.
const GATHERED_BYTES: usize = 64 << 10;

/// Buffers kept for reuse.
const SPARE_BUFFERS: usize = 4;

#[derive(Default)]
pub(super) struct Lane {
    buffers: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    spare: Vec<Vec<u8>>,
}

impl Lane {
    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting_bytes >= CAPACITY_BYTES
    }

    pub(super) fn push(&mut self, buffer: Vec<u8>) {
        self.waiting_bytes += buffer.len() + OVERHEAD_BYTES;
        self.buffers.push_back(buffer);
    }

    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        let buffer = self.buffers.pop_front()?;
        self.waiting_bytes -= buffer.len() + OVERHEAD_BYTES;
        Some(buffer)
    }

    /// Returns the last buffer, if a message of `message_bytes` may be appended to it, by `append`.
    pub(super) fn gather(
        &mut self,
        message_bytes: usize,
        append: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let frame_bytes = HEADER_BYTES + message_bytes;
        match self.buffers.back_mut() {
            Some(last) if last.len() + frame_bytes <= GATHERED_BYTES => {
                append(last);
                self.waiting_bytes += frame_bytes;
                true
            }
            _ => false,
        }
    }

    pub(super) fn clear(&mut self) {
        self.buffers.clear();
        self.waiting_bytes = 0;
    }

    /// Returns an empty buffer, perhaps with room already.
    pub(super) fn take_spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps a buffer's room for later.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

//! A bounded queue of messages between two threads: the wire of [`memory`](crate::memory)
//! and the waiting room of [`link`](crate::link).
//!
//! The bytes of all queued messages lie in one ring, so a message costs no allocation and
//! memory never exceeds the window by more than one message.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard},
    time::Duration,
};

use crate::{AbortCode, Error, MAX_MESSAGE_BYTES, turns};

/// The bytes that may be under way before a sender has to wait.
///
/// An empty queue admits any message, so even a window of zero bytes lets messages through
/// one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Payload bytes.
    pub bytes: usize,
    /// Messages.
    pub messages: usize,
}

impl Window {
    /// One message at a time. A protocol that runs over this relies on no buffering.
    pub const ONE_MESSAGE: Self = Self {
        bytes: 0,
        messages: 1,
    };

    /// Returns whether a message of `bytes` bytes may join `queued`.
    fn admits(&self, queued: Self, bytes: usize) -> bool {
        queued.messages == 0
            || (queued.messages < self.messages && queued.bytes + bytes <= self.bytes)
    }

    /// Returns whether `queued` fills at most half of the window.
    fn is_half_empty(&self, queued: Self) -> bool {
        queued.messages <= self.messages / 2 && queued.bytes <= self.bytes / 2
    }
}

impl Default for Window {
    /// Returns 4 MiB, in at most 65,536 messages.
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            messages: 1 << 16,
        }
    }
}

/// The way the sending side ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Closed,
    Aborted(AbortCode),
}

/// The result of [`Queue::pop`]. `S` is the sender's stamp.
pub(crate) enum Popped<R, S> {
    Message(R),
    Ended(Ending, S),
    TimedOut,
}

/// The queue. Each message, and the ending, carries a stamp of type `S`.
///
/// One thread pushes and one thread pops.
pub(crate) struct Queue<S> {
    window: Window,
    state: Mutex<State<S>>,
    arrival: Condvar,
    room: Condvar,
}

struct State<S> {
    bytes: VecDeque<u8>,
    messages: VecDeque<(usize, S)>,
    ending: Option<(Ending, S)>,
    refusal: Option<Error>,
    // Waking nobody is still a system call, so each side notes when it sleeps.
    receiver_sleeps: bool,
    sender_sleeps: bool,
}

impl<S> State<S> {
    fn queued(&self) -> Window {
        Window {
            bytes: self.bytes.len(),
            messages: self.messages.len(),
        }
    }

    /// Returns whether nothing the receiver does can let the sender push.
    fn is_over(&self) -> bool {
        self.refusal.is_some() || self.ending.is_some()
    }
}

impl<S: Copy> Queue<S> {
    pub(crate) fn new(window: Window) -> Self {
        Self {
            window,
            state: Mutex::new(State {
                bytes: VecDeque::new(),
                messages: VecDeque::new(),
                ending: None,
                refusal: None,
                receiver_sleeps: false,
                sender_sleeps: false,
            }),
            arrival: Condvar::new(),
            room: Condvar::new(),
        }
    }

    /// Queues `message` as soon as there is room. `stamp` is asked for at that moment.
    ///
    /// # Errors
    /// The error that the receiving side refused with; [`Error::Closed`] after [`Self::end`];
    /// [`Error::TimedOut`] if there was no room for `timeout`.
    pub(crate) fn push(
        &self,
        message: &[u8],
        timeout: Duration,
        stamp: impl FnOnce() -> S,
    ) -> Result<(), Error> {
        assert!(
            message.len() <= MAX_MESSAGE_BYTES,
            "a message of {} bytes exceeds MAX_MESSAGE_BYTES",
            message.len()
        );
        turns::give_way(message.len());
        let mut state = self.lock();
        if !state.is_over() && !self.window.admits(state.queued(), message.len()) {
            drop(state);
            turns::while_waiting_to_send(|| self.wait_for_room(message.len(), timeout))?;
            state = self.lock();
        }
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone());
        }
        if state.ending.is_some() {
            return Err(Error::Closed);
        }
        state.bytes.extend(message);
        state.messages.push_back((message.len(), stamp()));
        self.wake_receiver(state);
        Ok(())
    }

    /// Sleeps until the window is half empty rather than until one message fits: a wake-up
    /// for every message would cost more than the message. Nobody else pushes, so there is room
    /// afterwards.
    fn wait_for_room(&self, bytes: usize, timeout: Duration) -> Result<(), Error> {
        let mut state = self.lock();
        state.sender_sleeps = true;
        let (mut state, waited) = self
            .room
            .wait_timeout_while(state, timeout, |state| {
                let queued = state.queued();
                let roomy = self.window.is_half_empty(queued) && self.window.admits(queued, bytes);
                !roomy && !state.is_over()
            })
            .expect(NEVER_POISONED);
        state.sender_sleeps = false;
        let in_vain = waited.timed_out() && !self.window.admits(state.queued(), bytes);
        if in_vain {
            Err(Error::TimedOut(timeout))
        } else {
            Ok(())
        }
    }

    /// Takes the next message, waiting for it up to `timeout`, and shows it to `read` in
    /// two parts that follow each other.
    pub(crate) fn pop<R>(
        &self,
        timeout: Duration,
        read: impl FnOnce(&[u8], &[u8], S) -> R,
    ) -> Popped<R, S> {
        let mut state = self.lock();
        if state.messages.is_empty() && state.ending.is_none() {
            drop(state);
            turns::while_waiting(|| self.wait_for_arrival(timeout));
            state = self.lock();
        }
        let Some((bytes, stamp)) = state.messages.pop_front() else {
            return match state.ending {
                Some((ending, stamp)) => Popped::Ended(ending, stamp),
                None => Popped::TimedOut,
            };
        };
        let (front, back) = state.bytes.as_slices();
        let in_front = bytes.min(front.len());
        let read = read(&front[..in_front], &back[..bytes - in_front], stamp);
        state.bytes.drain(..bytes);
        if state.sender_sleeps && self.window.is_half_empty(state.queued()) {
            drop(state);
            self.room.notify_one();
        }
        Popped::Message(read)
    }

    fn wait_for_arrival(&self, timeout: Duration) {
        let mut state = self.lock();
        state.receiver_sleeps = true;
        let nothing = |state: &mut State<S>| state.messages.is_empty() && state.ending.is_none();
        let waited = self.arrival.wait_timeout_while(state, timeout, nothing);
        state = waited.expect(NEVER_POISONED).0;
        state.receiver_sleeps = false;
    }

    /// Returns whether no message waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().messages.is_empty()
    }

    /// Ends the sending side. Queued messages are still delivered; only the first ending counts.
    pub(crate) fn end(&self, ending: Ending, stamp: S) {
        let mut state = self.lock();
        if state.ending.is_none() {
            state.ending = Some((ending, stamp));
            self.wake_receiver(state);
        }
    }

    /// Makes every push from now on fail with `error`, a sleeping one included. Only the
    /// first refusal counts.
    pub(crate) fn refuse(&self, error: Error) {
        let mut state = self.lock();
        if state.refusal.is_none() {
            state.refusal = Some(error);
            drop(state);
            self.room.notify_one();
        }
    }

    fn wake_receiver(&self, state: MutexGuard<'_, State<S>>) {
        let sleeps = state.receiver_sleeps;
        drop(state);
        if sleeps {
            self.arrival.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().expect(NEVER_POISONED)
    }
}

const NEVER_POISONED: &str = "nothing panics while it holds the queue";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_WAIT: Duration = Duration::ZERO;

    fn pop(queue: &Queue<u32>) -> Option<(Vec<u8>, u32)> {
        match queue.pop(NO_WAIT, |front, back, stamp| {
            ([front, back].concat(), stamp)
        }) {
            Popped::Message(message) => Some(message),
            _ => None,
        }
    }

    #[test]
    fn window_limits_bytes_and_messages_but_admits_a_first_message_of_any_size() {
        let queue = Queue::new(Window {
            bytes: 10,
            messages: 3,
        });
        let push = |bytes| queue.push(&vec![0; bytes], NO_WAIT, || 0);
        push(100).unwrap();
        assert!(matches!(push(1), Err(Error::TimedOut(_))));
        pop(&queue).unwrap();
        push(4).unwrap();
        push(6).unwrap();
        push(0).unwrap();
        assert!(matches!(push(0), Err(Error::TimedOut(_))));
    }

    #[test]
    fn first_ending_counts_and_comes_after_what_is_queued() {
        let queue = Queue::new(Window::default());
        queue.push(b"last words", NO_WAIT, || 1).unwrap();
        queue.end(Ending::Aborted(AbortCode::BadLuck), 2);
        queue.end(Ending::Closed, 3);
        assert!(matches!(queue.push(b"", NO_WAIT, || 4), Err(Error::Closed)));
        assert_eq!(pop(&queue), Some((b"last words".to_vec(), 1)));
        for _ in 0..2 {
            assert!(matches!(
                queue.pop(NO_WAIT, |_, _, _| ()),
                Popped::Ended(Ending::Aborted(AbortCode::BadLuck), 2)
            ));
        }
    }

    #[test]
    #[should_panic(expected = "exceeds MAX_MESSAGE_BYTES")]
    fn message_beyond_the_limit_panics() {
        let _ = Queue::new(Window::default()).push(&vec![0; MAX_MESSAGE_BYTES + 1], NO_WAIT, || 0);
    }

    proptest! {
        /// Any mix of pushes and pops behaves as a plain queue would, wherever the ring wraps.
        #[test]
        fn is_first_in_first_out(steps in prop::collection::vec(prop::option::of(0usize..40), 0..200)) {
            let queue = Queue::new(Window { bytes: 64, messages: 8 });
            let mut model = VecDeque::new();
            for (stamp, step) in (0u32..).zip(steps) {
                let Some(bytes) = step else {
                    prop_assert_eq!(pop(&queue), model.pop_front());
                    continue;
                };
                let message: Vec<u8> = (0..bytes).map(|i| (i as u8) ^ (stamp as u8)).collect();
                if queue.push(&message, NO_WAIT, || stamp).is_ok() {
                    model.push_back((message, stamp));
                }
            }
            while let Some(expected) = model.pop_front() {
                prop_assert_eq!(pop(&queue), Some(expected));
            }
            prop_assert!(queue.is_empty());
        }
    }
}

//! Turns: more threads than may compute at a time, and than should send at a time.
//!
//! A party that runs several parts of a session at a time has more of them than cores. While one
//! waits for the other party, another computes. A thread [holds](Turns::hold) a turn while it
//! computes, and every channel gives it away [while it waits](while_waiting).
//!
//! Each thread has a rank, the number of its part, and the lowest goes first. That holds for the
//! line too: while half as many threads as may compute wait for room to send, those of higher rank
//! [give way](give_way). If all sent at once, each would have a share of the line, all would be
//! through at about the same time, and the line would be idle while all of them compute what comes
//! next. Half of them may send, as it may also be the other party that is slow: it needs something
//! to do for all of its threads.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};

/// Messages of at least this many bytes give way. Shorter ones begin a part, or are what the other
/// party waits for.
const LONG: usize = 16 << 10;

/// The time for which a message gives way. The earlier ones may wait for something that depends on
/// it, so it must not wait for ever.
const PATIENCE: Duration = Duration::from_millis(300);

thread_local! {
    /// The turn of this thread.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// The number of threads that may compute at a time.
#[derive(Debug)]
pub struct Turns {
    /// The number that may wait for room to send, before others give way.
    senders: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Turns that nobody holds.
    free: usize,
    /// The ranks of those that wait for one.
    waiting: BTreeSet<u32>,
    /// The ranks of those that wait for room to send.
    sending: BTreeSet<u32>,
}

impl State {
    fn may_compute(&self, rank: u32) -> bool {
        self.free > 0 && self.waiting.first() == Some(&rank)
    }
}

impl Turns {
    /// Makes turns for this many threads at a time.
    ///
    /// # Panics
    /// If none may compute.
    pub fn new(threads: usize) -> Arc<Self> {
        assert!(threads > 0, "somebody computes");
        let state = State {
            free: threads,
            waiting: BTreeSet::new(),
            sending: BTreeSet::new(),
        };
        Arc::new(Self {
            senders: threads.div_ceil(2),
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    /// Computes, once it is this thread's turn. No two threads may have the same rank at the same
    /// time.
    ///
    /// # Panics
    /// If the thread holds a turn already.
    pub fn hold<R>(self: &Arc<Self>, rank: u32, compute: impl FnOnce() -> R) -> R {
        /// Gives the thread's turn back, even if it panics.
        struct GivesBack;
        impl Drop for GivesBack {
            fn drop(&mut self) {
                drop(HELD.take());
            }
        }
        assert!(HELD.with_borrow(Option::is_none), "a thread holds one turn");
        let _gives_back = GivesBack;
        HELD.set(Some(self.take(rank)));
        compute()
    }

    fn take(self: &Arc<Self>, rank: u32) -> Held {
        self.change(|state| state.waiting.insert(rank));
        let state = (self.changed).wait_while(self.lock(), |state| !state.may_compute(rank));
        let mut state = state.expect(NEVER_POISONED);
        state.waiting.remove(&rank);
        state.free -= 1;
        // The party that is first now may be able to continue.
        self.changed.notify_all();
        Held {
            turns: self.clone(),
            rank,
        }
    }

    /// Returns whether this thread gives way, because enough threads of lower rank wait for room to
    /// send.
    fn is_to_give_way(&self, state: &State, rank: u32) -> bool {
        state.sending.range(..rank).count() >= self.senders
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(NEVER_POISONED)
    }
}

const NEVER_POISONED: &str = "nothing panics while it counts turns";

/// A turn.
struct Held {
    turns: Arc<Turns>,
    rank: u32,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.turns.change(|state| state.free += 1);
    }
}

/// Returns the turns and the rank of this thread, if it holds a turn.
fn held() -> Option<(Arc<Turns>, u32)> {
    HELD.with_borrow(|held| held.as_ref().map(|held| (held.turns.clone(), held.rank)))
}

/// Waits for the other party, or for another thread of this one, and gives the thread's turn away
/// meanwhile, if it has one. Whoever calls this must hold no lock that another thread needs to
/// finish its turn.
pub fn while_waiting<R>(wait: impl FnOnce() -> R) -> R {
    let Some(held) = HELD.take() else {
        return wait();
    };
    let (turns, rank) = (held.turns.clone(), held.rank);
    drop(held);
    let result = wait();
    HELD.set(Some(turns.take(rank)));
    result
}

/// Waits for room to send, as [`while_waiting`]. Others may have to [give way](give_way) meanwhile.
pub fn while_waiting_to_send<R>(wait: impl FnOnce() -> R) -> R {
    let Some((turns, rank)) = held() else {
        return wait();
    };
    while_waiting(|| {
        turns.change(|state| state.sending.insert(rank));
        let result = wait();
        turns.change(|state| state.sending.remove(&rank));
        result
    })
}

/// Lets threads of lower rank that wait for room send first, before a message of this many bytes is
/// sent, though not for ever. Whoever calls this must hold no lock, as for [`while_waiting`].
pub fn give_way(bytes: usize) {
    if bytes < LONG {
        return;
    }
    let Some((turns, rank)) = held() else {
        return;
    };
    if turns.is_to_give_way(&turns.lock(), rank) {
        while_waiting(|| {
            let state = turns.lock();
            let others_send = |state: &mut State| turns.is_to_give_way(state, rank);
            drop((turns.changed).wait_timeout_while(state, PATIENCE, others_send));
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicUsize, Ordering},
            mpsc,
        },
        thread,
        time::Instant,
    };

    use super::*;
    use crate::{
        Error, Inbound,
        memory::{Builder, Window},
        read_ahead,
    };

    /// Two threads and one turn: one sends what the other waits for.
    #[test]
    fn whoever_waits_lets_others_compute() {
        let turns = &Turns::new(1);
        let computing = &AtomicUsize::new(0);
        let (mut a, mut b) = Builder::new().window(Window::ONE_MESSAGE).pair();
        let compute = || {
            assert_eq!(computing.fetch_add(1, Ordering::SeqCst), 0, "alone");
            thread::yield_now();
            computing.fetch_sub(1, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                turns.hold(0, || {
                    for i in 0..100_u8 {
                        compute();
                        a.send(&[i]).unwrap();
                    }
                });
            });
            scope.spawn(|| {
                turns.hold(1, || {
                    for i in 0..100_u8 {
                        assert_eq!(b.recv_array().unwrap(), [i]);
                        compute();
                    }
                });
            });
        });
        assert_eq!(turns.lock().free, 1, "the turn is back");
    }

    /// Both halves of an exchange, and what one reads ahead for the other: the thread that holds
    /// the turn waits for threads that have none.
    #[test]
    fn an_exchange_gives_the_turn_away() {
        let turns = &Turns::new(1);
        let (a, b) = Builder::new().window(Window::ONE_MESSAGE).pair();
        thread::scope(|scope| {
            for (rank, mut channel) in [(0, a), (1, b)] {
                scope.spawn(move || {
                    turns.hold(rank, || {
                        let (reader, mut ahead) = read_ahead::queue(&channel);
                        let swapped = channel.exchange(
                            |outbound| {
                                outbound.send(&[1])?;
                                let mut read = [0];
                                ahead.recv(&mut read)?;
                                outbound.send(&read)
                            },
                            |inbound| {
                                reader.read(inbound, [1].into_iter())?;
                                let mut last = [0];
                                inbound.recv(&mut last)?;
                                Ok::<_, Error>(last)
                            },
                        );
                        assert_eq!(swapped.unwrap().1, [1]);
                    });
                });
            }
        });
    }

    #[test]
    fn a_panic_gives_the_turn_back() {
        let turns = Turns::new(1);
        let of_thread = turns.clone();
        let panicked = thread::spawn(move || of_thread.hold(0, || panic!("on purpose"))).join();
        assert!(panicked.is_err());
        turns.hold(0, || ());
    }

    #[test]
    fn the_lowest_rank_goes_first() {
        let turns = &Turns::new(1);
        let (order, ordered) = mpsc::channel();
        thread::scope(|scope| {
            turns.hold(0, || {
                for rank in [3, 1, 2] {
                    let order = order.clone();
                    scope.spawn(move || turns.hold(rank, || order.send(rank).unwrap()));
                }
                while turns.lock().waiting.len() < 3 {
                    thread::yield_now();
                }
            });
        });
        drop(order);
        assert_eq!(ordered.iter().collect::<Vec<_>>(), [1, 2, 3]);
    }

    /// A long message of a part waits while an earlier part's has not got through. Short messages
    /// pass, and in the end long ones do, too.
    #[test]
    fn long_messages_give_way_to_earlier_parts() {
        let turns = &Turns::new(1);
        let (is_through, through) = mpsc::channel();
        let took = |rank, bytes| {
            turns.hold(rank, || {
                let started = Instant::now();
                give_way(bytes);
                started.elapsed()
            })
        };
        // A busy machine may make it wait for other reasons, but not again and again.
        let passes = |rank, bytes| (0..100).any(|_| took(rank, bytes) < PATIENCE);
        thread::scope(|scope| {
            scope.spawn(move || turns.hold(5, || while_waiting_to_send(|| through.recv())));
            while turns.lock().sending.is_empty() {
                thread::yield_now();
            }
            assert!(took(6, LONG) >= PATIENCE);
            assert!(passes(6, LONG - 1) && passes(4, LONG));
            is_through.send(()).unwrap();
        });
        assert!(passes(6, LONG));
    }
}

//! Computing in turns: more threads than may compute at a time.
//!
//! A party that runs several parts of a session at a time has more of them than cores. While one waits
//! for the other party, another computes. A thread [holds](Turns::hold) a turn while it computes, and
//! every channel gives it away [while it waits](while_waiting).

use std::{
    cell::RefCell,
    sync::{Arc, Condvar, Mutex},
};

thread_local! {
    /// The turn of this thread.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// How many threads may compute at a time.
#[derive(Debug)]
pub struct Turns {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Turns {
    /// For this many threads at a time.
    ///
    /// # Panics
    /// If none may compute.
    pub fn new(threads: usize) -> Arc<Self> {
        assert!(threads > 0, "somebody computes");
        Arc::new(Self {
            free: Mutex::new(threads),
            freed: Condvar::new(),
        })
    }

    /// Computes, once it is this thread's turn.
    ///
    /// # Panics
    /// If the thread holds a turn already.
    pub fn hold<R>(self: &Arc<Self>, compute: impl FnOnce() -> R) -> R {
        /// Gives the thread's turn back, even if it panics.
        struct GivesBack;
        impl Drop for GivesBack {
            fn drop(&mut self) {
                drop(HELD.take());
            }
        }
        assert!(HELD.with_borrow(Option::is_none), "a thread holds one turn");
        let _gives_back = GivesBack;
        HELD.set(Some(self.take()));
        compute()
    }

    fn take(self: &Arc<Self>) -> Held {
        let free = self.free.lock().expect(NEVER_POISONED);
        let free = self.freed.wait_while(free, |free| *free == 0);
        *free.expect(NEVER_POISONED) -= 1;
        Held(self.clone())
    }
}

const NEVER_POISONED: &str = "nothing panics while it counts turns";

/// A turn.
struct Held(Arc<Turns>);

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.free.lock().expect(NEVER_POISONED) += 1;
        self.0.freed.notify_one();
    }
}

/// Waits for the other party, or for another thread of this one, and gives the thread's turn away meanwhile,
/// if it has one. Whoever calls this must hold no lock that another thread needs to finish its turn.
pub fn while_waiting<R>(wait: impl FnOnce() -> R) -> R {
    let Some(held) = HELD.take() else {
        return wait();
    };
    let turns = held.0.clone();
    drop(held);
    let result = wait();
    HELD.set(Some(turns.take()));
    result
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
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
                turns.hold(|| {
                    for i in 0..100_u8 {
                        compute();
                        a.send(&[i]).unwrap();
                    }
                });
            });
            scope.spawn(|| {
                turns.hold(|| {
                    for i in 0..100_u8 {
                        assert_eq!(b.recv_array().unwrap(), [i]);
                        compute();
                    }
                });
            });
        });
        assert_eq!(*turns.free.lock().unwrap(), 1, "the turn is back");
    }

    /// Both halves of an exchange, and what one reads ahead for the other: the thread that holds the turn
    /// waits for threads that have none.
    #[test]
    fn an_exchange_gives_the_turn_away() {
        let turns = &Turns::new(1);
        let (a, b) = Builder::new().window(Window::ONE_MESSAGE).pair();
        thread::scope(|scope| {
            for mut channel in [a, b] {
                scope.spawn(move || {
                    turns.hold(|| {
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
        let panicked = thread::spawn(move || of_thread.hold(|| panic!("on purpose"))).join();
        assert!(panicked.is_err());
        turns.hold(|| ());
    }
}

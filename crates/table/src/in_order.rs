//! Work that threads do in parallel, and whose results are taken in order.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard},
    thread,
};

use psijoin_runtime::parallel;

use crate::Error;

/// The most tasks per thread that may be done, or be under way, and are not taken yet. This bounds
/// the memory that results take while they wait for a slow one before them.
const AHEAD_PER_THREAD: u64 = 4;

/// Takes what `work` makes of each task, in the order in which `next` gives the tasks.
///
/// The threads of the caller's pool work, each with a `scratch` of its own. No further thread
/// takes results: whoever has done the next one in order takes it, and those behind it that wait.
/// `work` and `take` must not wait for other work of the pool.
///
/// # Errors
/// The first of `take`, after which no more results are taken.
pub(crate) fn in_order<T: Send, S, R: Send>(
    next: &mut (dyn FnMut() -> Option<T> + Send),
    scratch: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(T, &mut S) -> R + Sync),
    take: &mut (dyn FnMut(R) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    in_order_by_pieces(next, scratch, &|task, scratch, _| work(task, scratch), take)
}

/// Takes a piece of a result before the rest of it is there, when all results before it are taken.
pub(crate) type HandOver<'h, R> = dyn FnMut(R) -> Result<(), Error> + 'h;

/// As [`in_order`], where the result of a task may be too large to wait for its turn as a whole:
/// `work` hands pieces of it over, each of which it waits with, and returns the last one.
///
/// # Errors
/// As that. Handing over fails once no more results are taken.
pub(crate) fn in_order_by_pieces<T: Send, S, R: Send>(
    next: &mut (dyn FnMut() -> Option<T> + Send),
    scratch: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(T, &mut S, &mut HandOver<'_, R>) -> R + Sync),
    take: &mut (dyn FnMut(R) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let threads = parallel::threads();
    let line = Line {
        state: Mutex::new(State {
            next,
            given: 0,
            taken: 0,
            done: VecDeque::new(),
            is_taking: false,
            is_over: false,
            error: None,
        }),
        moved: Condvar::new(),
        take: Mutex::new(take),
        ahead: AHEAD_PER_THREAD * threads as u64,
    };
    parallel::for_each(threads, &|_| {
        let _guard = StopsIfPanicking(&line);
        let mut scratch = scratch();
        while let Some((number, task)) = line.next_task() {
            let mut hand_over = |piece| line.hand_over(number, piece);
            let last = work(task, &mut scratch, &mut hand_over);
            line.put(number, last);
        }
    });
    let state = line.state.into_inner().expect("no thread has panicked");
    state.error.map_or(Ok(()), Err)
}

/// Results that wait until it is their turn.
struct Line<'a, T, R> {
    state: Mutex<State<'a, T, R>>,
    /// A result was taken, or there is nothing more to do.
    moved: Condvar,
    /// Locked by the thread that takes only, without the state.
    take: Mutex<&'a mut (dyn FnMut(R) -> Result<(), Error> + Send)>,
    ahead: u64,
}

struct State<'a, T, R> {
    next: &'a mut (dyn FnMut() -> Option<T> + Send),
    /// The number of tasks given to threads, and of results taken.
    given: u64,
    taken: u64,
    /// The results of the tasks from number `taken` on, as far as they are there.
    done: VecDeque<Option<R>>,
    is_taking: bool,
    is_over: bool,
    error: Option<Error>,
}

impl<'a, T, R> Line<'a, T, R> {
    fn state(&self) -> MutexGuard<'_, State<'a, T, R>> {
        self.state.lock().expect("no thread has panicked")
    }

    /// Returns the next task and its number, once it is not too far ahead of what is taken.
    fn next_task(&self) -> Option<(u64, T)> {
        let mut state = self.state();
        // Some other thread has the task that all wait for, and does not wait itself.
        while !state.is_over && state.given - state.taken >= self.ahead {
            state = self.moved.wait(state).expect("no thread has panicked");
        }
        if state.is_over {
            return None;
        }
        let task = (state.next)()?;
        state.given += 1;
        Some((state.given - 1, task))
    }

    /// Takes a piece of the result of this task, once it is the next one.
    fn hand_over(&self, number: u64, piece: R) -> Result<(), Error> {
        let mut state = self.state();
        // The thread that has the next task waits for the one that takes, which waits for nobody.
        while !state.is_over && (state.taken < number || state.is_taking) {
            state = self.moved.wait(state).expect("no thread has panicked");
        }
        if state.is_over {
            return Err(Error::Interrupted);
        }
        state.is_taking = true;
        drop(state);
        let taken = self.take.lock().expect("no thread has panicked")(piece);
        state = self.state();
        state.is_taking = false;
        if let Err(error) = taken {
            state.is_over = true;
            state.error = Some(error);
            self.moved.notify_all();
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Puts a result into the line, and takes those whose turn it is, unless a thread does so
    /// already.
    fn put(&self, number: u64, result: R) {
        let mut state = self.state();
        let place = (number - state.taken) as usize;
        if state.done.len() <= place {
            state.done.resize_with(place + 1, || None);
        }
        state.done[place] = Some(result);
        if state.is_taking {
            return;
        }
        state.is_taking = true;
        while !state.is_over
            && let Some(result) = state.done.front_mut().and_then(Option::take)
        {
            state.done.pop_front();
            state.taken += 1;
            drop(state);
            let taken = self.take.lock().expect("no thread has panicked")(result);
            state = self.state();
            if let Err(error) = taken {
                state.is_over = true;
                state.error = Some(error);
            }
            self.moved.notify_all();
        }
        state.is_taking = false;
    }
}

/// Tells the other threads to stop when this one panics: they would wait for its result for ever.
struct StopsIfPanicking<'a, 'b, T, R>(&'a Line<'b, T, R>);

impl<T, R> Drop for StopsIfPanicking<'_, '_, T, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            if let Ok(mut state) = self.0.state.lock() {
                state.is_over = true;
            }
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{self, AssertUnwindSafe},
        time::Duration,
    };

    use super::*;
    use crate::ShareError;

    /// Returns what is taken of the squares below `tasks`, computed by this many threads, if `take`
    /// fails at `last`, and how far ahead work was at most.
    fn squares(threads: usize, tasks: u64, last: u64) -> (Vec<u64>, bool, u64) {
        let (mut taken, furthest) = (Vec::new(), Mutex::new(0));
        let mut numbers = 0..tasks;
        let done = Mutex::new(0);
        let result = parallel::Pool::new(threads).unwrap().run(|| {
            in_order(
                &mut || numbers.next(),
                &|| (),
                &|number, ()| {
                    // The later ones of each four are done first.
                    thread::sleep(Duration::from_micros(300 * (3 - number % 4)));
                    let ahead = number - *done.lock().unwrap();
                    let mut furthest = furthest.lock().unwrap();
                    *furthest = ahead.max(*furthest);
                    number * number
                },
                &mut |square| {
                    taken.push(square);
                    *done.lock().unwrap() += 1;
                    match square == last * last {
                        true => Err(Error::Interrupted),
                        false => Ok(()),
                    }
                },
            )
        });
        (taken, result.is_err(), furthest.into_inner().unwrap())
    }

    #[test]
    fn results_are_taken_in_order_and_none_is_far_ahead() {
        for threads in [1, 2, 5] {
            let (taken, has_failed, furthest) = squares(threads, 100, 1000);
            let expected: Vec<u64> = (0..100).map(|number| number * number).collect();
            assert_eq!(taken, expected);
            assert!(!has_failed);
            assert!(furthest <= AHEAD_PER_THREAD * threads as u64, "{furthest}");
        }
    }

    #[test]
    fn nothing_is_taken_after_an_error() {
        for threads in [1, 2, 5] {
            let (taken, has_failed, _) = squares(threads, 100, 7);
            assert_eq!(taken.last(), Some(&49));
            assert!(has_failed);
        }
    }

    #[test]
    fn pieces_are_taken_in_order() {
        for (threads, last) in [(1, 1000), (2, 1000), (5, 1000), (1, 51), (5, 51)] {
            let (mut taken, mut tasks) = (Vec::new(), 0..30_u64);
            let result = parallel::Pool::new(threads).unwrap().run(|| {
                in_order_by_pieces(
                    &mut || tasks.next(),
                    &|| (),
                    &|task, (), hand_over| {
                        thread::sleep(Duration::from_micros(300 * (3 - task % 4)));
                        for piece in 0..task % 3 {
                            hand_over(Ok(10 * task + piece))?;
                        }
                        Ok(10 * task + 9)
                    },
                    &mut |piece: Result<u64, Error>| {
                        let piece = piece?;
                        taken.push(piece);
                        match piece == last {
                            true => Err(Error::Share(ShareError::GivenCount)),
                            false => Ok(()),
                        }
                    },
                )
            });
            let of_task = |task: u64| (0..task % 3).chain([9]).map(move |piece| 10 * task + piece);
            let all = (0..30).flat_map(of_task);
            let expected: Vec<u64> = all.take_while(|piece| *piece <= last).collect();
            assert_eq!(taken, expected);
            assert_eq!(result.is_ok(), last == 1000);
            assert!(!matches!(result, Err(Error::Interrupted)));
        }
    }

    #[test]
    fn a_panic_ends_the_wait_of_all() {
        let mut numbers = 0..1000;
        let pool = parallel::Pool::new(3).unwrap();
        let run = || {
            let work = |number, _: &mut ()| assert_ne!(number, 5, "task");
            in_order(&mut || numbers.next(), &|| (), &work, &mut |()| Ok(()))
        };
        let result = panic::catch_unwind(AssertUnwindSafe(|| pool.run(run)));
        assert!(result.is_err());
    }
}

//! The door to parallel work: the threads of the caller's [`Pool`], compiled once.
//!
//! Work is cut into tasks of thousands of items, so a call through a `dyn` closure costs nothing
//! that could be measured. In return no caller instantiates the machinery of a thread pool: the
//! loops behind the door are plain ones, over ranges and slices.
//!
//! To fill several slices at once, put a chunk of each into one task:
//!
//! ```
//! use psijoin_runtime::parallel;
//!
//! let inputs = [1_u32, 2, 3, 4, 5];
//! let (mut squares, mut cubes) = ([0; 5], [0; 5]);
//! let mut tasks: Vec<_> = squares.chunks_mut(2).zip(cubes.chunks_mut(2)).collect();
//! parallel::each_mut(&mut tasks, &|task, (squares, cubes)| {
//!     for (i, input) in inputs[2 * task..].iter().take(2).enumerate() {
//!         (squares[i], cubes[i]) = (input.pow(2), input.pow(3));
//!     }
//! });
//! assert_eq!(squares, [1, 4, 9, 16, 25]);
//! assert_eq!(cubes, [1, 8, 27, 64, 125]);
//! ```

use std::{
    io,
    ops::Range,
    slice,
    sync::atomic::{AtomicUsize, Ordering},
};

use rayon::prelude::*;

/// Threads that work together.
#[derive(Debug)]
pub struct Pool(rayon::ThreadPool);

impl Pool {
    /// Returns a pool of this many threads; 0 means one for each processor.
    ///
    /// # Errors
    /// If the operating system gives no more threads.
    pub fn new(threads: usize) -> io::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(Self).map_err(io::Error::other)
    }

    /// Returns how many threads it has.
    pub fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Calls `work` on one of its threads. The functions of this module, called there, use all
    /// of them.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.run_dyn(&mut || result = work.take().map(|work| work()));
        result.expect("it has run")
    }

    fn run_dyn(&self, work: &mut (dyn FnMut() + Send)) {
        self.0.install(work);
    }
}

/// Returns the number of threads of the caller's pool.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` with each number below `tasks`, once.
pub fn for_each(tasks: usize, work: &(dyn Fn(usize) + Sync)) {
    if tasks <= 1 || threads() == 1 {
        (0..tasks).for_each(work);
    } else {
        (0..tasks).into_par_iter().for_each(work);
    }
}

/// Calls `work` with each task and its number.
pub fn each_mut<T: Send>(tasks: &mut [T], work: &(dyn Fn(usize, &mut T) + Sync)) {
    let start = Start(tasks.as_mut_ptr());
    for_each(tasks.len(), &|i| {
        // SAFETY: `i` is below the length, and `for_each` passes each number once, so nobody else
        // has this element.
        work(i, unsafe { start.element(i) });
    });
}

/// As [`each_mut`], with buffers that `scratch` makes once for each thread.
pub fn each_mut_with<T: Send, S>(
    tasks: &mut [T],
    scratch: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(usize, &mut T, &mut S) + Sync),
) {
    let start = Start(tasks.as_mut_ptr());
    for_each_with(tasks.len(), scratch, &|i, scratch| {
        // SAFETY: `i` is below the length, and `for_each_with` passes each number once, so nobody
        // else has this element.
        work(i, unsafe { start.element(i) }, scratch);
    });
}

/// As [`for_each`], with buffers that `scratch` makes once for each thread.
fn for_each_with<S>(
    tasks: usize,
    scratch: &(dyn Fn() -> S + Sync),
    work: &(dyn Fn(usize, &mut S) + Sync),
) {
    let next = AtomicUsize::new(0);
    for_each(threads().min(tasks), &|_| {
        let mut scratch = scratch();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= tasks {
                break;
            }
            work(i, &mut scratch);
        }
    });
}

/// Calls `work` with each chunk of `per_chunk` elements, the last one perhaps shorter, and where
/// in `elements` it lies.
///
/// # Panics
/// If `per_chunk` is 0.
pub fn chunks_mut<T: Send>(
    elements: &mut [T],
    per_chunk: usize,
    work: &(dyn Fn(Range<usize>, &mut [T]) + Sync),
) {
    let (len, start) = (elements.len(), Start(elements.as_mut_ptr()));
    for_each(len.div_ceil(per_chunk), &|i| {
        let range = range(i, per_chunk, len);
        // SAFETY: the range ends at the length or before, and ranges of different numbers have
        // nothing in common; `for_each` passes each number once.
        work(range.clone(), unsafe { start.elements(range) });
    });
}

/// The work on each chunk, given its place, and a thread's buffers.
pub type ChunkWork<'a, T, S> = dyn Fn(Range<usize>, &mut [T], &mut S) + Sync + 'a;

/// As [`chunks_mut`], with buffers that `scratch` makes once for each thread.
///
/// # Panics
/// If `per_chunk` is 0.
pub fn chunks_mut_with<T: Send, S>(
    elements: &mut [T],
    per_chunk: usize,
    scratch: &(dyn Fn() -> S + Sync),
    work: &ChunkWork<'_, T, S>,
) {
    let (len, start) = (elements.len(), Start(elements.as_mut_ptr()));
    for_each_with(len.div_ceil(per_chunk), scratch, &|i, scratch| {
        let range = range(i, per_chunk, len);
        // SAFETY: as in `chunks_mut`; `for_each_with` passes each number once, too.
        work(range.clone(), unsafe { start.elements(range) }, scratch);
    });
}

/// Returns where chunk number `i` of `len` elements lies.
fn range(i: usize, per_chunk: usize, len: usize) -> Range<usize> {
    let start = i * per_chunk;
    start..len.min(start + per_chunk)
}

/// Returns what `work` makes of each number below `tasks`, in order.
pub fn map<T: Send>(tasks: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    // Plain loops, since each adapter of an iterator would be compiled for each type.
    let mut results = Vec::new();
    results.resize_with(tasks, || None);
    each_mut(&mut results, &|i, result| *result = Some(work(i)));
    let mut all = Vec::with_capacity(tasks);
    for result in results {
        all.push(result.expect("each task has one"));
    }
    all
}

/// Runs both, at the same time if there are two threads.
pub fn join<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut first, mut second) = (Some(first), Some(second));
    let (mut a, mut b) = (None, None);
    join_dyn(&mut || a = first.take().map(|first| first()), &mut || {
        b = second.take().map(|second| second())
    });
    a.zip(b).expect("both have run")
}

fn join_dyn(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    rayon::join(first, second);
}

/// Sorts; equal elements may change their order.
pub fn sort_unstable<T: Ord + Send>(elements: &mut [T]) {
    elements.par_sort_unstable();
}

/// The beginning of a slice whose elements are handed out one by one.
struct Start<T>(*mut T);

// SAFETY: all that threads get from it are different elements, which may be sent.
unsafe impl<T: Send> Sync for Start<T> {}

impl<T> Start<T> {
    /// # Safety
    /// `i` is an index of the slice, which is borrowed mutably for `'a`, and nobody else has that
    /// element.
    #[allow(clippy::mut_from_ref)]
    unsafe fn element<'a>(&self, i: usize) -> &'a mut T {
        // SAFETY: as promised by the caller.
        unsafe { &mut *self.0.add(i) }
    }

    /// # Safety
    /// The range is one of the slice, which is borrowed mutably for `'a`, and nobody else has an
    /// element of it.
    #[allow(clippy::mut_from_ref)]
    unsafe fn elements<'a>(&self, range: Range<usize>) -> &'a mut [T] {
        // SAFETY: as promised by the caller.
        unsafe { slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_pools(check: impl Fn() + Send + Sync) {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads).unwrap();
            assert_eq!(pool.threads(), threads);
            pool.run(|| {
                assert_eq!(super::threads(), threads);
                check();
            });
        }
    }

    #[test]
    fn every_task_is_done_once() {
        on_pools(|| {
            for count in [0, 1, 2, 100] {
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                for_each(count, &|i| {
                    done[i].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1));
            }
        });
    }

    #[test]
    fn chunks_are_disjoint_and_know_where_they_are() {
        on_pools(|| {
            for len in [0_usize, 1, 7, 8, 9, 100] {
                let mut elements = vec![0; len];
                chunks_mut(&mut elements, 8, &|range, chunk| {
                    assert_eq!(range.len(), chunk.len());
                    chunk.iter_mut().zip(range).for_each(|(e, i)| *e += i);
                });
                chunks_mut_with(&mut elements, 3, &|| 0, &|range, chunk, done| {
                    *done += chunk.len();
                    assert!(*done <= len);
                    chunk
                        .iter_mut()
                        .zip(range)
                        .for_each(|(e, i)| *e += 1000 * i);
                });
                assert!(elements.iter().enumerate().all(|(i, e)| *e == 1001 * i));
            }
        });
    }

    #[test]
    fn tasks_may_own_what_they_fill() {
        on_pools(|| {
            let mut tasks: Vec<String> = vec![String::new(); 30];
            each_mut_with(&mut tasks, &String::new, &|i, task, scratch| {
                scratch.clear();
                scratch.push_str(&i.to_string());
                task.push_str(scratch);
            });
            assert!(
                tasks
                    .iter()
                    .enumerate()
                    .all(|(i, task)| *task == i.to_string())
            );
        });
    }

    #[test]
    fn results_come_in_order() {
        on_pools(|| {
            assert_eq!(
                map(50, &|i| 2 * i),
                (0..50).map(|i| 2 * i).collect::<Vec<_>>()
            );
            assert_eq!(join(|| 1, || "two"), (1, "two"));
            let mut elements = [3, 1, 2];
            sort_unstable(&mut elements);
            assert_eq!(elements, [1, 2, 3]);
        });
    }

    #[test]
    #[should_panic(expected = "task 7")]
    fn a_panic_reaches_the_caller() {
        Pool::new(2)
            .unwrap()
            .run(|| for_each(20, &|i| assert!(i != 7, "task {i}")));
    }
}

//! Large pieces of memory on huge pages, and those that were given back, for the next ones.
//!
//! The system clears a page whenever it hands it out, and in a virtual machine it may have to get
//! it from its host first, which can take 20 times as long. A session makes and drops large buffers
//! all the time, so it [keeps](keep_pages) their pages: never more than its buffers had at once.

use std::{
    io,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

use memmap2::MmapMut;
use zeroize::optimization_barrier;

use super::{HUGE_PAGE_BYTES, tally};

static STORE: Store = Store::new();

/// Keeps the pages of [buffers](super::Buffer) that are dropped, wiped, for those that are made,
/// while what is returned lives. Then they go back to the system, unless others keep them, too.
///
/// What is kept, and what buffers have, is at most what buffers had at once since then.
#[must_use]
pub fn keep_pages() -> KeptPages {
    STORE.keep();
    KeptPages(())
}

/// See [`keep_pages`].
#[derive(Debug)]
pub struct KeptPages(());

impl Drop for KeptPages {
    fn drop(&mut self) {
        STORE.keep_less();
    }
}

/// Bytes on pages of their own, all zero at first.
pub(super) struct Pages {
    map: ManuallyDrop<MmapMut>,
    len: usize,
    /// From here on, all that lies behind the bytes is zero.
    clean_from: usize,
    /// How much memory it takes.
    held: usize,
    store: &'static Store,
}

impl Pages {
    /// Returns so many bytes.
    ///
    /// # Errors
    /// If the system does not have them.
    pub(super) fn zeroed(len: usize) -> io::Result<Self> {
        Self::of(&STORE, len)
    }

    fn of(store: &'static Store, len: usize) -> io::Result<Self> {
        let map = store.take(len)?;
        tally::count(len as i64);
        Ok(Self {
            len,
            clean_from: len,
            held: map.len(),
            map: ManuallyDrop::new(map),
            store,
        })
    }

    /// Returns how long it can become.
    pub(super) fn capacity(&self) -> usize {
        self.map.len()
    }

    /// Adds zeros at the end.
    ///
    /// # Panics
    /// If it would be longer than its capacity, or shorter than before.
    pub(super) fn lengthen(&mut self, len: usize) {
        // There may be what was cut off.
        let left_over = self.clean_from.clamp(self.len, len);
        self.map[self.len..left_over].fill(0);
        tally::count((len - self.len) as i64);
        self.len = len;
        self.clean_from = self.clean_from.max(len);
        self.hold(self.held.max(len));
    }

    /// Keeps the first bytes, and gives memory back that is not needed for them.
    ///
    /// # Panics
    /// If it would be longer than before.
    pub(super) fn shorten(&mut self, len: usize) {
        tally::count(-((self.len - len) as i64));
        self.len = len;
        #[cfg(target_os = "linux")]
        {
            let end = len.next_multiple_of(HUGE_PAGE_BYTES);
            // SAFETY: nothing refers to memory beyond the bytes that are kept, and whoever looks at
            // it later finds zeros.
            let given_back = unsafe {
                self.map.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    end,
                    self.map.len().saturating_sub(end),
                )
            };
            if given_back.is_ok() {
                self.clean_from = self.clean_from.min(end);
                self.hold(self.held.min(end));
            }
        }
    }

    fn hold(&mut self, bytes: usize) {
        self.store.use_instead(bytes, self.held);
        self.held = bytes;
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[..self.len]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.map[..self.len]
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        tally::count(-(self.len as i64));
        // SAFETY: nothing uses it from here on.
        let map = unsafe { ManuallyDrop::take(&mut self.map) };
        self.store.give(map, self.clean_from, self.held);
    }
}

/// Pages that were given back, and the number of those that are in use.
struct Store(Mutex<Shelf>);

struct Shelf {
    /// How many have asked to keep pages.
    keepers: usize,
    /// The oldest first, all of them zero.
    kept: Vec<MmapMut>,
    /// Bytes that are kept, or wiped to be kept.
    kept_bytes: usize,
    used_bytes: usize,
    /// The most that were used at once since pages are kept.
    most_bytes: usize,
}

impl Store {
    const fn new() -> Self {
        Self(Mutex::new(Shelf {
            keepers: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            used_bytes: 0,
            most_bytes: 0,
        }))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self) {
        let mut shelf = self.shelf();
        if shelf.keepers == 0 {
            shelf.most_bytes = shelf.used_bytes;
        }
        shelf.keepers += 1;
    }

    fn keep_less(&self) {
        let mut shelf = self.shelf();
        shelf.keepers -= 1;
        let dropped = match shelf.keepers {
            0 => shelf.clear(),
            _ => Vec::new(),
        };
        drop(shelf);
        // The system takes its time.
        drop(dropped);
    }

    /// Returns at least so many bytes, all zero.
    fn take(&self, len: usize) -> io::Result<MmapMut> {
        let len = len.next_multiple_of(HUGE_PAGE_BYTES);
        let mut shelf = self.shelf();
        let kept = shelf.pick(len);
        shelf.use_more(kept.as_ref().map_or(len, |map| map.len()));
        let dropped = shelf.shrink();
        drop(shelf);
        drop(dropped);
        match kept {
            Some(map) => Ok(map),
            None => map(len)
                .or_else(|_| {
                    let kept = self.shelf().clear();
                    drop(kept);
                    map(len)
                })
                .inspect_err(|_| self.shelf().used_bytes -= len),
        }
    }

    fn use_instead(&self, bytes: usize, of: usize) {
        let mut shelf = self.shelf();
        shelf.used_bytes -= of;
        shelf.use_more(bytes);
        let dropped = shelf.shrink();
        drop(shelf);
        drop(dropped);
    }

    /// Takes pages back whose bytes from `clean_from` on are zero, and that took this much memory.
    fn give(&self, mut map: MmapMut, clean_from: usize, held: usize) {
        let len = map.len();
        let mut shelf = self.shelf();
        shelf.used_bytes -= held;
        let is_kept =
            shelf.keepers > 0 && shelf.used_bytes + shelf.kept_bytes + len <= shelf.most_bytes;
        if !is_kept {
            drop(shelf);
            // The system clears pages before anyone gets them.
            return drop(map);
        }
        shelf.kept_bytes += len;
        drop(shelf);
        map[..clean_from].fill(0);
        optimization_barrier(&map[..clean_from]);
        let mut shelf = self.shelf();
        if shelf.keepers > 0 {
            return shelf.kept.push(map);
        }
        shelf.kept_bytes -= len;
        drop(shelf);
        drop(map);
    }
}

impl Shelf {
    /// Returns the smallest kept pages of at least this length, if they are not much longer.
    fn pick(&mut self, len: usize) -> Option<MmapMut> {
        // With less play, most are too long for the next buffer and too short for the one after it.
        let fits = len..=3 * len;
        let places = 0..self.kept.len();
        let fitting = places.filter(|place| fits.contains(&self.kept[*place].len()));
        let place = fitting.min_by_key(|place| self.kept[*place].len())?;
        let map = self.kept.remove(place);
        self.kept_bytes -= map.len();
        Some(map)
    }

    fn use_more(&mut self, len: usize) {
        self.used_bytes += len;
        self.most_bytes = self.most_bytes.max(self.used_bytes);
    }

    /// Returns the oldest of what is kept, as far as it is too much beside what is in use.
    fn shrink(&mut self) -> Vec<MmapMut> {
        let mut dropped = Vec::new();
        while self.used_bytes + self.kept_bytes > self.most_bytes && !self.kept.is_empty() {
            let oldest = self.kept.remove(0);
            self.kept_bytes -= oldest.len();
            dropped.push(oldest);
        }
        dropped
    }

    fn clear(&mut self) -> Vec<MmapMut> {
        let kept = std::mem::take(&mut self.kept);
        self.kept_bytes -= kept.iter().map(|map| map.len()).sum::<usize>();
        kept
    }
}

/// Returns new pages.
fn map(len: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(len)?;
    #[cfg(target_os = "linux")]
    {
        // Only advice: on a system without huge pages it works as well.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    Ok(map)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    const SECRET: u8 = 7;

    fn store() -> &'static Store {
        Box::leak(Box::new(Store::new()))
    }

    fn secret(store: &'static Store, len: usize) -> Pages {
        let mut pages = Pages::of(store, len).unwrap();
        assert!(pages.iter().all(|byte| *byte == 0));
        pages.fill(SECRET);
        pages
    }

    /// All that is kept is zero to the end of its pages.
    #[track_caller]
    fn kept(store: &Store) -> Vec<usize> {
        let shelf = store.shelf();
        assert!(
            shelf
                .kept
                .iter()
                .all(|map| map.iter().all(|byte| *byte == 0))
        );
        let lens: Vec<_> = shelf.kept.iter().map(|map| map.len()).collect();
        assert_eq!(shelf.kept_bytes, lens.iter().sum());
        assert!(shelf.used_bytes + shelf.kept_bytes <= shelf.most_bytes);
        lens
    }

    #[test]
    fn pages_that_were_given_back_hold_no_secret() {
        let store = store();
        store.keep();
        for (len, cut, longer) in [
            (HUGE_PAGE_BYTES, 1, 1),
            (
                3 * HUGE_PAGE_BYTES - 5,
                HUGE_PAGE_BYTES + 9,
                HUGE_PAGE_BYTES + 9,
            ),
            (3 * HUGE_PAGE_BYTES - 5, 9, 3 * HUGE_PAGE_BYTES),
            (
                3 * HUGE_PAGE_BYTES - 5,
                HUGE_PAGE_BYTES + 9,
                HUGE_PAGE_BYTES + 10,
            ),
        ] {
            let mut pages = secret(store, len);
            pages.shorten(cut);
            pages.lengthen(longer);
            assert!(pages[..cut].iter().all(|byte| *byte == SECRET));
            assert!(pages[cut..].iter().all(|byte| *byte == 0));
            let capacity = pages.capacity();
            drop(pages);
            assert!(kept(store).contains(&capacity));
        }
        store.keep_less();
        assert_eq!(kept(store), []);
    }

    #[test]
    fn pages_are_used_again_and_are_not_more_than_there_were() {
        let store = store();
        store.keep();
        let first = secret(store, HUGE_PAGE_BYTES);
        let place = first.as_ptr();
        drop(first);
        let again = secret(store, HUGE_PAGE_BYTES - 1);
        assert_eq!(again.as_ptr(), place);
        let others = [3, 4].map(|pages| secret(store, pages * HUGE_PAGE_BYTES));
        drop((again, others));
        assert_eq!(kept(store).len(), 3);
        // There is nothing of this length, so others go.
        let long = secret(store, 6 * HUGE_PAGE_BYTES);
        assert!(kept(store).iter().sum::<usize>() <= 2 * HUGE_PAGE_BYTES);
        drop(long);
        assert_eq!(kept(store).last(), Some(&(6 * HUGE_PAGE_BYTES)));
        store.keep_less();
    }

    #[test]
    fn nothing_is_kept_when_nobody_keeps() {
        let store = store();
        drop(secret(store, HUGE_PAGE_BYTES));
        assert_eq!(kept(store), []);
        store.keep();
        store.keep();
        drop(secret(store, HUGE_PAGE_BYTES));
        store.keep_less();
        assert_eq!(kept(store), [HUGE_PAGE_BYTES]);
        store.keep_less();
        assert_eq!(kept(store), []);
    }
}

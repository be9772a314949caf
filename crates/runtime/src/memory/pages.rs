//! Large pieces of memory on huge pages, and those that were given back, for the next ones.
//!
//! The system clears a page whenever it hands it out, and in a virtual machine it may have to get
//! it from its host first, which can take 20 times as long. A session makes and drops large buffers
//! all the time, so it [keeps](keep_pages) their pages: never more than its buffers had at once.
//! Buffers differ in length, so they are cut from [regions](region) that have room for several.

use std::{
    io,
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

use zeroize::optimization_barrier;

use self::region::{Page, Place, Region, Span};
use super::{HUGE_PAGE_BYTES, tally};

mod region;

static STORE: Store = Store::new();

/// The shortest region to cut several buffers from.
const LEAST_PAGES: usize = 16;

/// Keeps the pages of [buffers](super::Buffer) that are dropped, wiped, for those that are made,
/// while what is returned lives. Then they go back to the system, unless others keep them, too.
///
/// What is kept, and what buffers have, is at most what buffers had at once since then.
#[must_use]
pub fn keep_pages() -> KeptPages {
    STORE.keep();
    KeptPages(())
}

/// Gives all pages back that are [kept](keep_pages), before work whose memory is not in buffers. What
/// buffers have from then on can be kept again.
pub fn give_kept_pages_back() {
    STORE.give_kept_back();
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
    span: Span,
    len: usize,
    /// From here on, all of the span is zero.
    clean_from: usize,
    store: &'static Store,
}

impl Pages {
    /// Returns so many bytes, at least one.
    ///
    /// # Errors
    /// If the system does not have them.
    pub(super) fn zeroed(len: usize) -> io::Result<Self> {
        Self::of(&STORE, len)
    }

    fn of(store: &'static Store, len: usize) -> io::Result<Self> {
        let span = store.take(pages(len))?;
        tally::count(len as i64);
        Ok(Self {
            span,
            len,
            clean_from: len,
            store,
        })
    }

    /// Adds zeros at the end, and returns `true` if there is room for them.
    ///
    /// # Panics
    /// If it would be shorter than before.
    pub(super) fn lengthen(&mut self, len: usize) -> bool {
        if !self.store.extend(&mut self.span, pages(len)) {
            return false;
        }
        // There may be what was cut off.
        let left_over = self.clean_from.clamp(self.len, len);
        self.span.bytes_mut()[self.len..left_over].fill(0);
        tally::count((len - self.len) as i64);
        self.len = len;
        self.clean_from = self.clean_from.max(len);
        true
    }

    /// Keeps the first bytes, at least one, and gives pages back that are not needed for them.
    ///
    /// # Panics
    /// If it would be longer than before.
    pub(super) fn shorten(&mut self, len: usize) {
        tally::count(-((self.len - len) as i64));
        self.len = len;
        let rest = self.span.split_off(pages(len));
        let left = self.span.bytes_mut().len();
        self.store.give(rest, self.clean_from.saturating_sub(left));
        self.clean_from = self.clean_from.min(left);
    }
}

/// Returns how many pages these bytes take, at least one.
fn pages(bytes: usize) -> usize {
    bytes.div_ceil(HUGE_PAGE_BYTES).max(1)
}

impl Deref for Pages {
    type Target = [u8];

    // Other crates read tables through it, an element at a time: a call for each took a tenth of a
    // run of `kkrt`.
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.span.bytes()[..self.len]
    }
}

impl DerefMut for Pages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.span.bytes_mut()[..self.len]
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        tally::count(-(self.len as i64));
        let span = self.span.split_off(0);
        self.store.give(span, self.clean_from);
    }
}

/// Regions of pages, some of them given back and kept.
struct Store(Mutex<Shelf>);

/// All numbers are in pages.
struct Shelf {
    /// How many have asked to keep pages.
    keepers: usize,
    regions: Vec<Region>,
    /// Pages that are kept, or wiped to be kept.
    kept: usize,
    used: usize,
    /// The most that were used at once since pages are kept.
    most: usize,
}

impl Store {
    const fn new() -> Self {
        Self(Mutex::new(Shelf {
            keepers: 0,
            regions: Vec::new(),
            kept: 0,
            used: 0,
            most: 0,
        }))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self) {
        let mut shelf = self.shelf();
        if shelf.keepers == 0 {
            shelf.most = shelf.used;
        }
        shelf.keepers += 1;
    }

    fn keep_less(&self) {
        let mut shelf = self.shelf();
        shelf.keepers -= 1;
        let is_last = shelf.keepers == 0;
        drop(shelf);
        if is_last {
            self.give_kept_back();
        }
    }

    fn give_kept_back(&self) {
        let mut shelf = self.shelf();
        let kept = shelf.withdraw_kept(usize::MAX);
        shelf.most = shelf.used;
        drop(shelf);
        self.release(kept);
    }

    /// Returns so many pages, all zero.
    fn take(&self, pages: usize) -> io::Result<Span> {
        let mut shelf = self.shelf();
        if shelf.find(pages).is_none() && shelf.map_more(pages).is_err() {
            drop(shelf);
            self.give_kept_back();
            shelf = self.shelf();
            shelf.map(pages)?;
        }
        let place = shelf.find(pages).expect("a region of this length");
        let span = shelf.take(place);
        let surplus = shelf.withdraw_surplus();
        drop(shelf);
        self.release(surplus);
        Ok(span)
    }

    /// Makes a span longer, to so many pages, if those behind it are free.
    fn extend(&self, span: &mut Span, pages: usize) -> bool {
        let more = pages.saturating_sub(span.pages());
        let mut shelf = self.shelf();
        let Some(place) = shelf.find_behind(span, more) else {
            return false;
        };
        let behind = shelf.take(place);
        let surplus = shelf.withdraw_surplus();
        drop(shelf);
        span.join(behind);
        self.release(surplus);
        true
    }

    /// Takes pages back whose bytes from `clean_from` on are zero.
    fn give(&self, mut span: Span, clean_from: usize) {
        let mut shelf = self.shelf();
        shelf.used -= span.pages();
        let room = match shelf.keepers {
            0 => 0,
            _ => shelf.most.saturating_sub(shelf.used + shelf.kept),
        };
        let kept = room.min(span.pages());
        shelf.kept += kept;
        drop(shelf);
        let released = span.split_off(kept);
        let bytes = span.bytes_mut();
        let dirty = clean_from.min(bytes.len());
        bytes[..dirty].fill(0);
        optimization_barrier(&bytes[..dirty]);
        self.put(span);
        self.release(vec![released]);
    }

    /// Puts wiped pages where others find them, unless nobody keeps them any more.
    fn put(&self, span: Span) {
        let mut shelf = self.shelf();
        if shelf.keepers > 0 {
            return shelf.put(span, Page::Kept);
        }
        shelf.kept -= span.pages();
        drop(shelf);
        self.release(vec![span]);
    }

    /// Gives the memory of pages back to the system.
    fn release(&self, mut spans: Vec<Span>) {
        // The system takes its time, and nobody else waits for it.
        spans.iter_mut().for_each(Span::empty);
        let mut shelf = self.shelf();
        for span in spans {
            shelf.put(span, Page::Empty);
        }
        let unused = shelf.withdraw_unused();
        drop(shelf);
        drop(unused);
    }
}

impl Shelf {
    /// Returns the place of so many pages that takes least memory from the system.
    fn find(&self, pages: usize) -> Option<(usize, Place)> {
        let places = (self.regions.iter().enumerate())
            .filter_map(|(region, pages_of)| Some((region, pages_of.find(pages)?)));
        places.min_by_key(|(_, place)| (place.empty, place.gap))
    }

    fn find_behind(&self, span: &Span, pages: usize) -> Option<(usize, Place)> {
        let region = self.region_of(span)?;
        let place = self.regions[region].find_behind(span, pages)?;
        Some((region, place))
    }

    fn region_of(&self, span: &Span) -> Option<usize> {
        self.regions.iter().position(|region| region.has(span))
    }

    /// Maps a region of these pages, and of as many as there are, so that few regions suffice.
    fn map_more(&mut self, pages: usize) -> io::Result<()> {
        let mapped: usize = self.regions.iter().map(Region::pages).sum();
        let more = match self.keepers {
            0 => 0,
            _ => mapped.max(LEAST_PAGES),
        };
        self.map(pages.max(more)).or_else(|_| self.map(pages))
    }

    fn map(&mut self, pages: usize) -> io::Result<()> {
        self.regions.push(Region::map(pages)?);
        Ok(())
    }

    fn take(&mut self, (region, place): (usize, Place)) -> Span {
        self.used += place.pages.len();
        self.kept -= place.pages.len() - place.empty;
        self.most = self.most.max(self.used);
        self.regions[region].take(place.pages)
    }

    fn put(&mut self, span: Span, page: Page) {
        if let Some(region) = self.region_of(&span) {
            self.regions[region].put(span, page);
        }
    }

    /// Takes what is kept beyond what there may be.
    fn withdraw_surplus(&mut self) -> Vec<Span> {
        self.withdraw_kept((self.used + self.kept).saturating_sub(self.most))
    }

    /// Takes so many pages that are kept, or all.
    fn withdraw_kept(&mut self, most: usize) -> Vec<Span> {
        let mut left = most;
        let mut spans = Vec::new();
        for region in self.regions.iter_mut().rev() {
            while left > 0
                && let Some(run) = region.last_kept(left)
            {
                left -= run.len();
                self.kept -= run.len();
                spans.push(region.take(run));
            }
        }
        spans
    }

    /// Takes regions that nobody uses and that nobody will use again.
    fn withdraw_unused(&mut self) -> Vec<Region> {
        match self.keepers {
            0 => self.regions.extract_if(.., |it| it.is_unused()).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: u8 = 7;

    fn store() -> &'static Store {
        Box::leak(Box::new(Store::new()))
    }

    fn secret(store: &'static Store, len: usize) -> Pages {
        let mut pages = Pages::of(store, len).unwrap();
        assert!(is_zero(&pages));
        pages.fill(SECRET);
        pages
    }

    fn is_zero(bytes: &[u8]) -> bool {
        let (pieces, rest) = bytes.as_chunks::<4096>();
        pieces.iter().all(|piece| *piece == [0; 4096]) && rest.iter().all(|byte| *byte == 0)
    }

    /// Returns how many pages are kept. All that nobody has is zero.
    #[track_caller]
    fn kept(store: &Store) -> usize {
        let mut shelf = store.shelf();
        let (count, used, most) = (shelf.kept, shelf.used, shelf.most);
        assert!(shelf.keepers == 0 || used + count <= most);
        let free: Vec<_> = shelf.regions.iter_mut().flat_map(Region::free).collect();
        assert!(free.iter().all(|(span, _)| is_zero(span.bytes())));
        let is_kept = |(span, page): &(Span, Page)| (*page == Page::Kept).then_some(span.pages());
        assert_eq!(free.iter().filter_map(is_kept).sum::<usize>(), count);
        free.into_iter()
            .for_each(|(span, page)| shelf.put(span, page));
        count
    }

    #[test]
    fn pages_that_were_given_back_hold_no_secret() {
        const PAGE: usize = HUGE_PAGE_BYTES;
        let store = store();
        store.keep();
        for (len, cut, longer) in [
            (PAGE, 1, 1),
            (3 * PAGE - 5, PAGE + 9, PAGE + 9),
            (3 * PAGE - 5, 9, 3 * PAGE),
            (3 * PAGE - 5, PAGE + 9, PAGE + 10),
            (3 * PAGE - 5, PAGE - 1, 4 * PAGE + 10),
        ] {
            let mut pages = secret(store, len);
            pages.shorten(cut);
            kept(store);
            assert!(pages.lengthen(longer));
            assert!(pages[..cut].iter().all(|byte| *byte == SECRET));
            assert!(is_zero(&pages[cut..]));
            drop(pages);
            assert!(kept(store) > 0);
        }
        store.keep_less();
        assert_eq!(kept(store), 0);
        assert!(store.shelf().regions.is_empty());
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
        assert_eq!(kept(store), 8);
        // What is kept lies side by side, so all of it is used.
        let long = secret(store, 8 * HUGE_PAGE_BYTES);
        assert_eq!(long.as_ptr(), place);
        assert_eq!(kept(store), 0);
        drop(long);
        let longer = secret(store, 17 * HUGE_PAGE_BYTES);
        assert_eq!(kept(store), 0);
        drop(longer);
        store.keep_less();
    }

    #[test]
    fn what_is_kept_can_be_given_back_before_the_end() {
        let store = store();
        store.keep();
        drop(secret(store, 3 * HUGE_PAGE_BYTES));
        assert_eq!(kept(store), 3);
        store.give_kept_back();
        assert_eq!(kept(store), 0);
        let used = secret(store, 2 * HUGE_PAGE_BYTES);
        drop(used);
        assert_eq!(kept(store), 2);
        store.keep_less();
    }

    #[test]
    fn nothing_is_kept_when_nobody_keeps() {
        let store = store();
        drop(secret(store, HUGE_PAGE_BYTES));
        assert!(store.shelf().regions.is_empty());
        store.keep();
        store.keep();
        let used = secret(store, 1);
        drop(secret(store, HUGE_PAGE_BYTES));
        store.keep_less();
        assert_eq!(kept(store), 1);
        store.keep_less();
        assert_eq!(kept(store), 0);
        assert_eq!(store.shelf().regions.len(), 1);
        assert!(used.iter().all(|byte| *byte == SECRET));
        drop(used);
        assert!(store.shelf().regions.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Make { pages: usize },
        Drop { which: usize },
        Shorten { which: usize, pages: usize },
        Lengthen { which: usize, pages: usize },
        Keep,
        KeepLess,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (1..6_usize).prop_map(|pages| Step::Make { pages }),
            4 => (0..8_usize).prop_map(|which| Step::Drop { which }),
            1 => (0..8_usize, 1..4_usize).prop_map(|(which, pages)| Step::Shorten { which, pages }),
            1 => (0..8_usize, 1..9_usize).prop_map(|(which, pages)| Step::Lengthen { which, pages }),
            1 => Just(Step::Keep),
            1 => Just(Step::KeepLess),
        ];
        prop::collection::vec(step, 1..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Buffers keep what was written into them, whatever else is made and dropped.
        #[test]
        fn no_two_have_a_page(steps in steps()) {
            let store = store();
            let mut made: Vec<(u64, Pages)> = Vec::new();
            let mut keepers = 0;
            for (number, step) in (1..).zip(steps) {
                match step {
                    Step::Make { pages } => {
                        let mut pages = Pages::of(store, pages * HUGE_PAGE_BYTES - 8).unwrap();
                        prop_assert!(is_zero(&pages));
                        words(&mut pages).fill(number);
                        made.push((number, pages));
                    }
                    Step::Drop { which } if which < made.len() => drop(made.swap_remove(which)),
                    Step::Shorten { which, pages } if which < made.len() => {
                        let (_, buffer) = &mut made[which];
                        buffer.shorten(buffer.len().min(pages * HUGE_PAGE_BYTES - 16));
                    }
                    Step::Lengthen { which, pages } if which < made.len() => {
                        let (number, buffer) = &mut made[which];
                        let before = buffer.len();
                        let len = before.max(pages * HUGE_PAGE_BYTES - 8);
                        if buffer.lengthen(len) {
                            prop_assert!(is_zero(&buffer[before..]));
                            words(buffer).fill(*number);
                        }
                    }
                    Step::Keep => {
                        keepers += 1;
                        store.keep();
                    }
                    Step::KeepLess if keepers > 0 => {
                        keepers -= 1;
                        store.keep_less();
                    }
                    _ => {}
                }
                kept(store);
            }
            for (number, pages) in &mut made {
                let number = *number;
                prop_assert!(words(pages).iter().all(|word| *word == number));
            }
            drop(made);
            (0..keepers).for_each(|_| store.keep_less());
            prop_assert!(store.shelf().regions.is_empty());
            prop_assert_eq!(store.shelf().used, 0);
        }
    }

    fn words(pages: &mut Pages) -> &mut [u64] {
        bytemuck::cast_slice_mut(pages)
    }
}

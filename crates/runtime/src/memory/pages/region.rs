//! Memory that is mapped at once, and cut into spans of huge pages.

use std::{io, ops::Range, slice, sync::Arc};

use memmap2::{MmapMut, MmapRaw};

use super::HUGE_PAGE_BYTES;

/// Huge pages next to each other.
pub(super) struct Region {
    map: Arc<Mapping>,
    states: Vec<Page>,
}

/// The state of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Page {
    /// Nobody has it, and it takes no memory.
    Empty,
    /// Nobody has it, and it takes memory, all zero.
    Kept,
    /// A span has it.
    Taken,
}

/// Where free pages are.
pub(super) struct Place {
    pub(super) pages: Range<usize>,
    /// How many of them are empty.
    pub(super) empty: usize,
    /// How many free pages lie around them, with them.
    pub(super) gap: usize,
}

/// Pages of a region that are for one owner alone.
pub(super) struct Span {
    map: Arc<Mapping>,
    pages: Range<usize>,
}

struct Mapping {
    raw: MmapRaw,
    /// Where the first huge page begins.
    first: usize,
}

impl Region {
    /// Maps so many pages, all of them empty.
    ///
    /// # Errors
    /// If the system does not have them.
    pub(super) fn map(pages: usize) -> io::Result<Self> {
        Ok(Self {
            map: Arc::new(Mapping::new(pages)?),
            states: vec![Page::Empty; pages],
        })
    }

    pub(super) fn pages(&self) -> usize {
        self.states.len()
    }

    pub(super) fn has(&self, span: &Span) -> bool {
        Arc::ptr_eq(&self.map, &span.map)
    }

    pub(super) fn is_unused(&self) -> bool {
        self.states.iter().all(|page| *page == Page::Empty)
    }

    /// Returns the free pages, that many next to each other, of which fewest are empty; of several,
    /// those with the fewest free ones around them.
    pub(super) fn find(&self, pages: usize) -> Option<Place> {
        let places = self.gaps().filter_map(|gap| self.find_in(gap, pages));
        places.min_by_key(|place| (place.empty, place.gap))
    }

    /// Returns that many pages right behind a span, if they are free.
    pub(super) fn find_behind(&self, span: &Span, pages: usize) -> Option<Place> {
        let behind = span.pages.end..span.pages.end.checked_add(pages)?;
        let states = self.states.get(behind.clone())?;
        let is_free = states.iter().all(|page| *page != Page::Taken);
        is_free.then(|| Place {
            empty: count_empty(states),
            gap: behind.len(),
            pages: behind,
        })
    }

    /// Returns the last pages next to each other that are kept, at most so many.
    pub(super) fn last_kept(&self, most: usize) -> Option<Range<usize>> {
        let is_kept = |page: &Page| *page == Page::Kept;
        let end = self.states.iter().rposition(is_kept)? + 1;
        let run = self.states[..end].iter().rev().take_while(|it| is_kept(it));
        Some(end - run.take(most).count()..end)
    }

    /// Gives free pages to an owner.
    pub(super) fn take(&mut self, pages: Range<usize>) -> Span {
        let states = &mut self.states[pages.clone()];
        assert!(states.iter().all(|page| *page != Page::Taken));
        states.fill(Page::Taken);
        Span {
            map: Arc::clone(&self.map),
            pages,
        }
    }

    /// Takes the pages of a span back, which are now as they are said to be.
    pub(super) fn put(&mut self, span: Span, page: Page) {
        self.states[span.pages].fill(page);
    }

    /// Returns runs of free pages.
    fn gaps(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        self.states
            .chunk_by(|left, right| (*left == Page::Taken) == (*right == Page::Taken))
            .filter_map(move |run| {
                let start = end;
                end += run.len();
                (run[0] != Page::Taken).then_some(start..end)
            })
    }

    /// Returns the place in a run of free pages where fewest are empty.
    fn find_in(&self, gap: Range<usize>, pages: usize) -> Option<Place> {
        let states = &self.states[gap.clone()];
        let last = states.len().checked_sub(pages)?;
        let mut empty = count_empty(&states[..pages]);
        let mut best = (empty, 0);
        for start in 1..=last {
            empty -= count_empty(&states[start - 1..start]);
            empty += count_empty(&states[start + pages - 1..start + pages]);
            best = best.min((empty, start));
        }
        let (empty, start) = best;
        let start = gap.start + start;
        Some(Place {
            pages: start..start + pages,
            empty,
            gap: gap.len(),
        })
    }
}

fn count_empty(states: &[Page]) -> usize {
    states.iter().filter(|page| **page == Page::Empty).count()
}

impl Span {
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Keeps the first pages, and returns the others.
    pub(super) fn split_off(&mut self, pages: usize) -> Self {
        let middle = (self.pages.start + pages).min(self.pages.end);
        let behind = middle..self.pages.end;
        self.pages.end = middle;
        Self {
            map: Arc::clone(&self.map),
            pages: behind,
        }
    }

    /// Adds the pages right behind.
    ///
    /// # Panics
    /// If they lie elsewhere.
    pub(super) fn join(&mut self, behind: Self) {
        assert!(Arc::ptr_eq(&self.map, &behind.map));
        assert_eq!(self.pages.end, behind.pages.start);
        self.pages.end = behind.pages.end;
    }

    /// Gives the memory back to the system, so that all is zero.
    pub(super) fn empty(&mut self) {
        let place = self.place();
        if place.is_empty() {
            return;
        }
        #[cfg(target_os = "linux")]
        {
            // SAFETY: nothing refers to the bytes, and whoever looks at them later finds zeros.
            let given_back = unsafe {
                self.map.raw.unchecked_advise_range(
                    memmap2::UncheckedAdvice::DontNeed,
                    place.start,
                    place.len(),
                )
            };
            if given_back.is_ok() {
                return;
            }
        }
        self.bytes_mut().fill(0);
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        let place = self.place();
        // SAFETY: the place lies within the mapping, and is no other span's: spans come from
        // `Region::take`, which gives out no page twice before it comes back by `put`, and are
        // divided by `split_off`.
        unsafe { slice::from_raw_parts(self.map.raw.as_ptr().add(place.start), place.len()) }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let place = self.place();
        // SAFETY: as above, and nothing else refers to it while the span is borrowed.
        unsafe {
            slice::from_raw_parts_mut(self.map.raw.as_mut_ptr().add(place.start), place.len())
        }
    }

    /// Returns where the bytes lie in the mapping.
    #[inline]
    fn place(&self) -> Range<usize> {
        let byte = |page: usize| self.map.first + page * HUGE_PAGE_BYTES;
        byte(self.pages.start)..byte(self.pages.end)
    }
}

impl Mapping {
    fn new(pages: usize) -> io::Result<Self> {
        // One page more, since the system may begin anywhere.
        let bytes = pages
            .checked_add(1)
            .and_then(|it| it.checked_mul(HUGE_PAGE_BYTES));
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        {
            // Only advice: on a system without huge pages it works as well.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let raw = MmapRaw::from(map);
        let first = raw.as_ptr().align_offset(HUGE_PAGE_BYTES);
        Ok(Self { raw, first })
    }
}

#[cfg(all(test, not(miri)))]
impl Region {
    /// Takes all free pages, each with its state.
    pub(super) fn free(&mut self) -> Vec<(Span, Page)> {
        let free =
            |page: usize| (self.states[page] != Page::Taken).then_some((page, self.states[page]));
        let free: Vec<_> = (0..self.states.len()).filter_map(free).collect();
        let taken = free
            .into_iter()
            .map(|(page, state)| (self.take(page..page + 1), state));
        taken.collect()
    }
}

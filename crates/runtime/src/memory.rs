//! Memory for tables that are larger than the caches and read at random.
//!
//! With pages of 4 KiB such a table misses the address cache (TLB) at nearly every access,
//! which costs as much as the access itself, and twice as much in a virtual machine.

// musl's own allocator gives memory back at every turn and has one lock for all threads: whole
// joins take longer with it. Only in a static program: what is loaded while a program runs, as by
// Python, cannot have mimalloc's thread-local data on musl.
#[cfg(all(target_env = "musl", target_feature = "crt-static"))]
use mimalloc::MiMalloc as Heap;
#[cfg(not(all(target_env = "musl", target_feature = "crt-static")))]
use std::alloc::System as Heap;
use std::{
    alloc::{GlobalAlloc, Layout, handle_alloc_error},
    ops::{Deref, DerefMut},
    sync::OnceLock,
};

use bytemuck::Pod;
use zeroize::{ZeroizeOnDrop, optimization_barrier};

mod pages;
mod slots;
mod tally;

use pages::Pages;
pub use pages::{KeptPages, give_kept_pages_back, keep_pages};
pub use slots::{SLOT_BYTES, Slot, SlotPool};
pub use tally::peak_during;

/// Smaller buffers gain nothing from pages of 2 MiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A zeroed slice of fixed length on huge pages, where the system offers them.
///
/// It is wiped when it is dropped: what lies on pages of its own goes back to the system, which
/// clears pages before anyone gets them, or is cleared and [kept](keep_pages); and what lies on the
/// heap is cleared.
///
/// Making one when no memory is left calls [`exhausted`].
pub struct Buffer<T: Pod> {
    storage: Storage<T>,
}

enum Storage<T> {
    Heap(Vec<T>),
    Pages(Pages),
}

impl<T: Pod> Buffer<T> {
    /// Returns `len` elements, all bytes zero.
    pub fn zeroed(len: usize) -> Self {
        let bytes = bytes_of::<T>(len);
        if bytes < HUGE_PAGE_BYTES || cfg!(miri) {
            return Self {
                storage: Storage::Heap(bytemuck::zeroed_vec(len)),
            };
        }
        let pages = Pages::zeroed(bytes).unwrap_or_else(|_| exhausted(bytes));
        Self {
            storage: Storage::Pages(pages),
        }
    }

    /// Makes it `len` elements long: with zeros at its end, or as [`truncate`](Self::truncate) does.
    pub fn resize(&mut self, len: usize) {
        let before = self.len();
        if len <= before {
            return self.truncate(len);
        }
        if let Storage::Pages(pages) = &mut self.storage
            && pages.lengthen(bytes_of::<T>(len))
        {
            return;
        }
        // Not in place: a vector that grows could leave a copy behind, which nobody wipes.
        let mut longer = Self::zeroed(len);
        longer[..before].copy_from_slice(self);
        *self = longer;
    }

    /// Keeps the first `len` elements, and gives memory back that is not needed for them.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.storage {
            Storage::Heap(elements) => {
                wipe(elements.get_mut(len..).unwrap_or_default());
                elements.truncate(len);
                elements.shrink_to_fit();
            }
            Storage::Pages(_) if len == 0 => *self = Self::zeroed(0),
            Storage::Pages(pages) => {
                let bytes = len.saturating_mul(size_of::<T>());
                pages.shorten(bytes.min(pages.len()));
            }
        }
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Storage::Heap(elements) = &mut self.storage {
            wipe(elements);
        }
    }
}

impl<T: Pod> ZeroizeOnDrop for Buffer<T> {}

impl<T: Pod> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: Pod> From<&[T]> for Buffer<T> {
    fn from(elements: &[T]) -> Self {
        let mut buffer = Self::zeroed(elements.len());
        buffer.copy_from_slice(elements);
        buffer
    }
}

/// Leaves the elements where they are.
impl<T: Pod> From<Vec<T>> for Buffer<T> {
    fn from(elements: Vec<T>) -> Self {
        Self {
            storage: Storage::Heap(elements),
        }
    }
}

fn bytes_of<T>(len: usize) -> usize {
    let bytes = len.checked_mul(size_of::<T>());
    bytes.expect("fewer bytes than there are addresses")
}

/// Clears elements, though nothing will read them.
fn wipe<T: Pod>(elements: &mut [T]) {
    bytemuck::fill_zeroes(elements);
    optimization_barrier(elements);
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.storage {
            Storage::Heap(elements) => elements,
            Storage::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.storage {
            Storage::Heap(elements) => elements,
            Storage::Pages(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

/// The program's reaction when the system has no memory left.
static EXHAUSTION_HANDLER: OnceLock<fn() -> !> = OnceLock::new();

/// Lets `handler` be called, on the thread that asked for memory, when the system has none left.
/// The first handler stays. It covers [`Buffer`] and, in a program that takes
/// [`ReportingAllocator`] as its allocator, all else.
///
/// The thread that calls `handler` may hold any locks, and there is no memory to allocate before
/// the handler has given some back.
pub fn on_exhaustion(handler: fn() -> !) {
    let _ = EXHAUSTION_HANDLER.set(handler);
}

/// Ends whatever the caller does, since the system does not have these bytes left: by the program's
/// [handler](on_exhaustion), or otherwise as the standard library does, by aborting.
pub fn exhausted(bytes: usize) -> ! {
    match EXHAUSTION_HANDLER.get() {
        Some(handler) => handler(),
        None => {
            handle_alloc_error(Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<u8>()))
        }
    }
}

/// The system's allocator, or mimalloc in a static program on musl; a program that takes it as its
/// own gets a [call](on_exhaustion) when no memory is left, where the standard library would abort.
pub struct ReportingAllocator;

impl ReportingAllocator {
    fn checked(pointer: *mut u8) -> *mut u8 {
        if pointer.is_null()
            && let Some(handler) = EXHAUSTION_HANDLER.get()
        {
            handler();
        }
        pointer
    }
}

// SAFETY: it is another allocator, but that a call may not return.
unsafe impl GlobalAlloc for ReportingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally::count(layout.size() as i64);
        // SAFETY: the caller keeps the contract, which is the same.
        Self::checked(unsafe { Heap.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        tally::count(layout.size() as i64);
        // SAFETY: as above.
        Self::checked(unsafe { Heap.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        tally::count(new_size as i64 - layout.size() as i64);
        // SAFETY: as above.
        Self::checked(unsafe { Heap.realloc(pointer, layout, new_size) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        tally::count(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

/// Asks the processor to fetch an element that is needed soon. Has no other effect.
#[inline(always)]
pub fn prefetch<T>(element: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch of a valid reference; it neither reads nor faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = element;
}

/// Asks for elements of which most are needed soon, in whichever order: that of memory is the one
/// that the processor foresees, and the fastest.
#[inline]
pub fn prefetch_all<T>(elements: &[T]) {
    /// Bytes that come together.
    const LINE: usize = 64;
    let per_line = (LINE / size_of::<T>().max(1)).max(1);
    elements.iter().step_by(per_line).for_each(prefetch);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers_are_zeroed_and_writable() {
        for len in [0, 1, 1000, HUGE_PAGE_BYTES / 8, HUGE_PAGE_BYTES + 1] {
            let mut buffer = Buffer::<u64>::zeroed(len);
            assert_eq!(buffer.len(), len);
            assert!(buffer.iter().all(|word| *word == 0));
            if let Some(last) = buffer.last_mut() {
                *last = 7;
                prefetch(last);
                assert_eq!(buffer[len - 1], 7);
            }
        }
    }

    #[test]
    fn a_shorter_buffer_keeps_what_is_left() {
        for len in [10, HUGE_PAGE_BYTES] {
            let mut buffer = Buffer::<u64>::zeroed(len);
            (buffer.iter_mut().zip(1..)).for_each(|(word, number)| *word = number);
            for left in [len + 1, len, len - 1, len / 2, 0] {
                buffer.truncate(left);
                assert!(buffer.iter().copied().eq(1..=left.min(len) as u64));
            }
        }
    }

    #[test]
    fn a_longer_buffer_ends_in_zeros() {
        let in_vector = Buffer::from(vec![7_u64; 10]);
        for mut buffer in [in_vector, Buffer::zeroed(HUGE_PAGE_BYTES)] {
            let len = buffer.len();
            buffer.fill(7);
            buffer.resize(len / 2);
            for longer in [len / 2, len / 2 + 1, len, len + HUGE_PAGE_BYTES] {
                buffer.resize(longer);
                let (kept, zeros) = buffer.split_at(len / 2);
                assert_eq!(buffer.len(), longer);
                assert!(kept.iter().all(|word| *word == 7) && zeros.iter().all(|word| *word == 0));
            }
            assert!(*buffer.clone() == *buffer);
        }
    }
}

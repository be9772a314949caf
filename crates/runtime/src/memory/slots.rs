//! Slots of one length, cut from huge pages.

use std::{
    ops::{Deref, DerefMut},
    ptr::NonNull,
    slice,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Buffer, HUGE_PAGE_BYTES};

/// The bytes of a slot.
pub const SLOT_BYTES: usize = 256 << 10;

const SLOTS: usize = HUGE_PAGE_BYTES / SLOT_BYTES;

/// Gives out [slots](Slot), and takes them back in any order. A clone is the same pool.
///
/// A huge page whose slots have all come back is dropped as any [`Buffer`] is: wiped, and perhaps
/// [kept](super::keep_pages) for the next one.
#[derive(Clone, Default)]
pub struct SlotPool(Arc<Mutex<Vec<Slab>>>);

/// [`SLOT_BYTES`] bytes that nobody else has. They may have been in another slot before.
pub struct Slot {
    bytes: NonNull<u8>,
    pool: SlotPool,
}

// SAFETY: it is the only one that refers to its bytes.
unsafe impl Send for Slot {}
// SAFETY: a shared slot is only read.
unsafe impl Sync for Slot {}

/// A huge page.
struct Slab {
    /// Owns the memory of the slots. Nobody looks into it while one of them is given out.
    _buffer: Buffer<u8>,
    first: NonNull<u8>,
    is_free: [bool; SLOTS],
}

// SAFETY: nobody uses `first` but to tell slots apart and to give them out, which the lock guards.
unsafe impl Send for Slab {}

impl SlotPool {
    /// Returns a slot, of the first huge page that has one: so slots that come back empty the last
    /// ones.
    pub fn take(&self) -> Slot {
        let mut slabs = self.slabs();
        let place = slabs.iter().position(|slab| slab.is_free.contains(&true));
        let place = place.unwrap_or_else(|| {
            slabs.push(Slab::new());
            slabs.len() - 1
        });
        Slot {
            bytes: slabs[place].take(),
            pool: self.clone(),
        }
    }

    fn slabs(&self) -> MutexGuard<'_, Vec<Slab>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot back, and returns its huge page if that has no other.
    fn give(&self, bytes: NonNull<u8>) -> Option<Slab> {
        let mut slabs = self.slabs();
        let (place, slot) = (slabs.iter().enumerate())
            .find_map(|(place, slab)| Some((place, slab.slot_at(bytes)?)))
            .expect("it was given out by this pool");
        slabs[place].is_free[slot] = true;
        let is_unused = slabs[place].is_free == [true; SLOTS];
        is_unused.then(|| slabs.remove(place))
    }
}

impl Slab {
    fn new() -> Self {
        let mut buffer = Buffer::zeroed(HUGE_PAGE_BYTES);
        let first = NonNull::from(&mut buffer[..]).cast();
        Self {
            _buffer: buffer,
            first,
            is_free: [true; SLOTS],
        }
    }

    /// # Panics
    /// If no slot is free.
    fn take(&mut self) -> NonNull<u8> {
        let slot = self.is_free.iter().position(|is_free| *is_free);
        let slot = slot.expect("a free slot");
        self.is_free[slot] = false;
        // SAFETY: the slot lies within the buffer.
        unsafe { self.first.add(slot * SLOT_BYTES) }
    }

    /// Returns which slot begins here.
    fn slot_at(&self, bytes: NonNull<u8>) -> Option<usize> {
        let from_first = bytes.addr().get().checked_sub(self.first.addr().get())?;
        let slot = from_first / SLOT_BYTES;
        (slot < SLOTS).then_some(slot)
    }
}

impl Deref for Slot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the slot is within a buffer that lives until the slot comes back, and given out
        // once.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr(), SLOT_BYTES) }
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nothing else refers to it while the slot is borrowed.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_ptr(), SLOT_BYTES) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Wiping it takes time, and nobody else waits for that.
        drop(self.pool.give(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slabs(pool: &SlotPool) -> usize {
        pool.slabs().len()
    }

    #[test]
    fn slots_are_apart_and_come_back_in_any_order() {
        let pool = SlotPool::default();
        let mut slots: Vec<(u8, Slot)> = (0..3 * SLOTS as u8 + 1)
            .map(|number| (number, pool.take()))
            .collect();
        assert_eq!(slabs(&pool), 4);
        for (number, slot) in &mut slots {
            assert_eq!(slot.len(), SLOT_BYTES);
            slot.fill(*number);
        }
        // Every other one.
        slots.retain(|(number, _)| number % 2 == 0);
        assert_eq!(slabs(&pool), 4);
        let more: Vec<_> = (0..SLOTS).map(|_| pool.take()).collect();
        assert_eq!(slabs(&pool), 4);
        assert!(
            slots
                .iter()
                .all(|(number, slot)| slot.iter().all(|byte| byte == number))
        );
        drop(slots);
        // Those that came last have filled the gaps of the first ones.
        assert_eq!(slabs(&pool), 2);
        drop(more);
        assert_eq!(slabs(&pool), 0);
    }

    #[test]
    fn a_slot_can_outlive_what_gave_it_out() {
        let pool = SlotPool::default();
        let mut slot = pool.take();
        drop(pool);
        slot.fill(7);
        assert!(slot.iter().all(|byte| *byte == 7));
    }

    #[test]
    fn threads_take_and_give_back() {
        let pool = SlotPool::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..20 {
                        let mut slots: Vec<_> = (0..round % 5).map(|_| pool.take()).collect();
                        slots.iter_mut().for_each(|slot| slot[..9].fill(thread));
                        assert!(slots.iter().all(|slot| slot[..9] == [thread; 9]));
                    }
                });
            }
        });
        assert_eq!(slabs(&pool), 0);
    }
}

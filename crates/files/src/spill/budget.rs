use std::{
    fmt,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use psijoin_runtime::memory::SlotPool;

use super::{Error, Folder, store::Partitions};

/// The memory that the stores of a process may hold together. A clone is the same budget.
///
/// For a moment they may hold more: what the threads that find it exceeded have just appended.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    limit: u64,
    used: AtomicU64,
    spilled: AtomicU64,
    /// The memory of chunks. What one store gives back is there for another one.
    slots: SlotPool,
    stores: Mutex<Vec<Weak<Partitions>>>,
}

impl Budget {
    /// Returns a budget of this many bytes.
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Shared {
            limit: bytes,
            used: AtomicU64::new(0),
            spilled: AtomicU64::new(0),
            slots: SlotPool::default(),
            stores: Mutex::default(),
        }))
    }

    /// Returns a budget that is never exceeded: nothing is spilled.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Returns the bytes that are allowed.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the bytes that stores hold now, what they have reserved for records to come among
    /// them.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the bytes that stores have written to disk so far, those that are gone included.
    pub fn spilled(&self) -> u64 {
        self.0.spilled.load(Ordering::Relaxed)
    }

    /// Checks that the folder has room for what stores will hold beyond the budget if they get this
    /// many bytes more.
    ///
    /// # Errors
    /// As [`Folder::check_room`].
    pub fn check_room(&self, bytes: u64, folder: &Folder) -> Result<(), Error> {
        let beyond = self
            .used()
            .saturating_add(bytes)
            .saturating_sub(self.limit());
        match beyond {
            0 => Ok(()),
            beyond => folder.check_room(beyond),
        }
    }

    /// Lets this store spill, too, whichever store is the one that exceeds the budget.
    pub(super) fn share_with(&self, store: &Arc<Partitions>) {
        let mut stores = self.0.stores.lock().expect("no panic");
        stores.retain(|store| store.strong_count() > 0);
        stores.push(Arc::downgrade(store));
    }

    pub(super) fn slots(&self) -> &SlotPool {
        &self.0.slots
    }

    pub(super) fn take(&self, bytes: usize) {
        self.0.used.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn note_spilled(&self, bytes: usize) {
        self.0.spilled.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Spills what is held beyond the budget, except for what other threads are spilling at the
    /// moment.
    pub(super) fn keep(&self) -> Result<(), Error> {
        while self.used() > self.limit() {
            let Some((store, partition)) = self.largest() else {
                break;
            };
            store.spill(partition)?;
        }
        Ok(())
    }

    /// Returns the partition that holds most of all stores, claimed for the caller; `None` if all
    /// that hold anything are claimed.
    fn largest(&self) -> Option<(Arc<Partitions>, usize)> {
        let stores = self.0.stores.lock().expect("no panic");
        let stores = stores.iter().filter_map(Weak::upgrade);
        let (_, store, partition) = stores
            .filter_map(|store| {
                let (held, partition) = store.largest()?;
                Some((held, store, partition))
            })
            .max_by_key(|(held, ..)| *held)?;
        store.claim(partition);
        Some((store, partition))
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, limit) = (self.used(), self.limit());
        write!(f, "Budget({used} of {limit} bytes)")
    }
}

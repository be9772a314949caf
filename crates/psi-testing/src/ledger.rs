//! A ledger in memory.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use psijoin_psi::{Error, Ledger, Output};

/// Keeps outputs in memory, and can be told to fail.
#[derive(Default)]
pub struct MemoryLedger {
    outputs: Mutex<BTreeMap<u32, Output>>,
    /// How many more outputs it has room for.
    room: Option<AtomicUsize>,
}

impl MemoryLedger {
    /// With room for this many outputs, after which it fails.
    pub fn with_room(room: usize) -> Self {
        Self {
            room: Some(room.into()),
            ..Self::default()
        }
    }

    /// The steps that it has.
    pub fn steps(&self) -> Vec<u32> {
        self.outputs.lock().unwrap().keys().copied().collect()
    }

    /// What it has of these steps only, with room for all others.
    pub fn only(self, steps: &[u32]) -> Self {
        let mut outputs = self.outputs.into_inner().unwrap();
        outputs.retain(|step, _| steps.contains(step));
        Self {
            outputs: Mutex::new(outputs),
            room: None,
        }
    }
}

impl Ledger for MemoryLedger {
    fn has(&self, step: u32) -> bool {
        self.outputs.lock().unwrap().contains_key(&step)
    }

    fn output(&self, step: u32) -> Result<Output, Error> {
        Ok(self.outputs.lock().unwrap()[&step].clone())
    }

    fn keep(&self, step: u32, output: &Output) -> Result<(), Error> {
        let take = |room: &AtomicUsize| {
            room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(1)
            })
        };
        if self.room.as_ref().is_some_and(|room| take(room).is_err()) {
            return Err(Error::Ledger(io::ErrorKind::StorageFull.into()));
        }
        let before = self.outputs.lock().unwrap().insert(step, output.clone());
        assert!(before.is_none(), "step {step} ran again though it was done");
        Ok(())
    }
}

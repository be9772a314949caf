//! A ledger in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    AbortCode, Error as ChannelError,
    witness::{Refusal, SoFar, Witness},
};
use psijoin_psi::{
    Error, Ledger, Output,
    ledger::{Attempt, RunName},
};

/// Keeps steps in memory, and can be told to fail.
#[derive(Default)]
pub struct MemoryLedger {
    steps: Arc<Mutex<BTreeMap<u32, Step>>>,
    /// The steps that both parties are taken to have; all that this one has if nothing is said.
    both: Option<BTreeSet<u32>>,
    /// The number of further outputs that it has room for.
    room: Option<AtomicUsize>,
}

/// The state of a step.
struct Step {
    seed: Block,
    noise: Vec<u64>,
    spoken: Vec<SoFar>,
    gave: Option<(Option<Output>, RunName)>,
}

impl MemoryLedger {
    /// Makes a ledger with room for this many outputs, after which it fails.
    pub fn with_room(room: usize) -> Self {
        Self {
            room: Some(room.into()),
            ..Self::default()
        }
    }

    /// Returns the steps that it has, with the names of their runs.
    pub fn steps(&self) -> BTreeMap<u32, RunName> {
        let steps = self.lock();
        let of = |(step, known): (&u32, &Step)| Some((*step, known.gave.as_ref()?.1));
        steps.iter().filter_map(of).collect()
    }

    /// Returns whether a step has begun with noise.
    pub fn has_noise(&self) -> bool {
        self.lock().values().any(|step| !step.noise.is_empty())
    }

    /// Lets both parties have these steps only, with room for all others.
    pub fn agreed(self, both: &[u32]) -> Self {
        Self {
            both: Some(both.iter().copied().collect()),
            room: None,
            ..self
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Step>> {
        self.steps.lock().unwrap()
    }
}

impl Ledger for MemoryLedger {
    fn has(&self, step: u32) -> bool {
        match &self.both {
            Some(both) => both.contains(&step),
            None => self.steps().contains_key(&step),
        }
    }

    fn output(&self, step: u32) -> Result<Output, Error> {
        let steps = self.lock();
        let (output, _) = steps[&step].gave.as_ref().unwrap();
        output.clone().ok_or(Error::Payload)
    }

    fn begin(&self, step: u32, noise: &[u64]) -> Result<Attempt, Error> {
        let mut steps = self.lock();
        let known = steps.entry(step).or_insert_with(|| Step {
            seed: Prg::from_os().block(),
            noise: noise.to_vec(),
            spoken: Vec::new(),
            gave: None,
        });
        let rng = Prg::from_seed(known.seed);
        let noise = known.noise.clone().into();
        let witness = Box::new(Memory {
            steps: self.steps.clone(),
            step,
            spoken: 0,
        });
        Ok(Attempt {
            rng,
            witness,
            noise,
        })
    }

    fn keep(&self, step: u32, output: Option<&Output>, run: RunName) -> Result<(), Error> {
        let take = |room: &AtomicUsize| {
            room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
                room.checked_sub(1)
            })
        };
        if self.room.as_ref().is_some_and(|room| take(room).is_err()) {
            return Err(Error::Ledger(io::ErrorKind::StorageFull.into()));
        }
        let mut steps = self.lock();
        let known = steps.get_mut(&step).expect("it has begun");
        let (before, first) = known.gave.get_or_insert_with(|| (output.cloned(), run));
        if *first != run {
            return Err(ChannelError::PeerDiffers.into());
        }
        assert_eq!(before.as_ref(), output, "the same run gave something else");
        Ok(())
    }
}

/// The traffic that a step has heard whenever it spoke.
struct Memory {
    steps: Arc<Mutex<BTreeMap<u32, Step>>>,
    step: u32,
    spoken: usize,
}

impl Witness for Memory {
    fn may_speak(&mut self, so_far: &SoFar) -> Result<(), Refusal> {
        let mut steps = self.steps.lock().unwrap();
        let spoken = &mut steps.get_mut(&self.step).unwrap().spoken;
        let before = *spoken.get(self.spoken).unwrap_or(so_far);
        if before.heard != so_far.heard {
            return Err(Refusal::PeerDiffers);
        }
        assert_eq!(before.said, so_far.said, "it said something else");
        if spoken.len() == self.spoken {
            spoken.push(*so_far);
        }
        self.spoken += 1;
        Ok(())
    }

    fn gives_up(&mut self, _: AbortCode) -> io::Result<()> {
        Ok(())
    }
}

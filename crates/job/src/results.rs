//! The messages and results of the steps of a job.
//!
//! Each record is of one kind:
//!
//! | kind | meaning |
//! |---|---|
//! | begun | a step begins: its randomness comes from this fresh seed, and it adds this noise, if any |
//! | spoke | the messages of a step, sent and received, when it began to speak |
//! | gave | the result of a step in the run of this name |
//! | again | a step that was begun before, on either side, runs again |
//! | spoilt | a step failed for a reason that the other party may learn from: the job is never resumed |
//!
//! So a step has one seed and one noise, and these have one conversation: what was said in it is
//! said again only if the same was heard. The number of records is bounded by that of a run's
//! flights. Whoever loses a step's records loses its seed and its noise with them, so these never
//! serve another conversation.

use std::{
    fs::File,
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    AbortCode, Error as ChannelError,
    witness::{Refusal, SoFar, Witness},
};
use psijoin_psi::{
    Error, Ledger, Output,
    ledger::{Attempt, RunName},
    output_bytes,
};
use zeroize::Zeroizing;

use crate::{
    account::{Account, Agreed, Disagreement, Steps, agree},
    log::{Damaged, Log, OpenError, Place, Shorter},
    mark::Mark,
    seal::{Key, hex, random},
};

/// The results of a job.
pub struct Results(Arc<Mutex<State>>);

struct State {
    log: Log,
    steps: Vec<Step>,
    /// The steps that both parties have done, once they have agreed on that.
    done_by_both: Option<Vec<bool>>,
    is_spoilt: bool,
}

/// The state of a step.
#[derive(Default)]
struct Step {
    /// The seed of its randomness, once it has begun.
    seed: Option<Zeroizing<Seed>>,
    /// The numbers that it adds to totals.
    noise: Zeroizing<Vec<u64>>,
    /// Its traffic whenever it began to speak.
    spoke: Vec<SoFar>,
    has_run_again: bool,
    gave: Option<(Place, RunName)>,
}

type Seed = [u8; 16];

impl Step {
    fn note(&mut self, event: Event<'_>, place: Place) {
        match event {
            Event::Begun(seed, noise) => {
                self.seed = Some(Zeroizing::new(*seed));
                self.noise = numbers(noise);
            }
            Event::Spoke(so_far) => self.spoke.push(so_far),
            Event::Gave(run, _) => self.gave = Some((place, run)),
            Event::Again => self.has_run_again = true,
        }
    }
}

/// A record.
enum Record<'a> {
    /// Of the step of this number.
    Of(u32, Event<'a>),
    Spoilt,
}

enum Event<'a> {
    /// With its noise, 8 bytes per number, little endian.
    Begun(&'a Seed, &'a [u8]),
    Spoke(SoFar),
    /// No output means payloads that cannot be opened.
    Gave(RunName, &'a [u8]),
    Again,
}

impl<'a> Record<'a> {
    /// Returns a byte for the kind of entry, the number of the step in 4, little endian, and what
    /// happened.
    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let (kind, step, rest): (u8, u32, [&[u8]; 2]) = match self {
            Self::Of(step, Event::Begun(seed, noise)) => (0, *step, [&seed[..], noise]),
            Self::Of(step, Event::Spoke(so_far)) => (1, *step, [&so_far.said, &so_far.heard]),
            Self::Of(step, Event::Gave(run, output)) => (2, *step, [run, output]),
            Self::Of(step, Event::Again) => (3, *step, [&[], &[]]),
            Self::Spoilt => (4, 0, [&[], &[]]),
        };
        // At once, so that no copy is left behind when the vector grows.
        let mut bytes = Zeroizing::new(Vec::with_capacity(5 + rest[0].len() + rest[1].len()));
        bytes.push(kind);
        bytes.extend(step.to_le_bytes());
        rest.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (step, rest) = rest.split_first_chunk()?;
        let event = match (kind, rest) {
            (0, rest) => {
                let (seed, noise) = rest.split_first_chunk()?;
                Event::Begun(seed, noise)
            }
            (1, rest) => {
                let (said, heard) = rest.split_first_chunk()?;
                Event::Spoke(SoFar {
                    said: *said,
                    heard: heard.try_into().ok()?,
                })
            }
            (2, rest) => {
                let (run, output) = rest.split_first_chunk()?;
                Event::Gave(*run, output)
            }
            (3, []) => Event::Again,
            (4, []) => return Some(Self::Spoilt),
            _ => return None,
        };
        Some(Self::Of(u32::from_le_bytes(*step), event))
    }
}

impl Results {
    /// Reads what a job of this number of steps has, and cuts off a last record that is not whole
    /// if `file` can be written.
    pub(crate) fn open(
        file: File,
        key: Key,
        job: String,
        steps: u32,
        is_writable: bool,
    ) -> Result<Self, OpenError> {
        let mut known: Vec<Step> = (0..steps).map(|_| Step::default()).collect();
        let mut is_spoilt = false;
        let log = Log::open(file, key, job, is_writable, |place, text| {
            let unknown = || Damaged("its results are of no step");
            match Record::from_bytes(text).ok_or_else(unknown)? {
                Record::Spoilt => is_spoilt = true,
                Record::Of(step, event) => {
                    let step = known.get_mut(step as usize).ok_or_else(unknown)?;
                    step.note(event, place);
                }
            }
            Ok(())
        })?;
        Ok(Self(Arc::new(Mutex::new(State {
            log,
            steps: known,
            done_by_both: None,
            is_spoilt,
        }))))
    }

    /// Returns what this party tells the other of each step.
    pub fn accounts(&self) -> Vec<Account> {
        let of = |step: &Step| Account {
            has_begun: step.seed.is_some(),
            has_run_again: step.has_run_again,
            run: step.gave.map(|(_, run)| run),
        };
        lock(&self.0).steps.iter().map(of).collect()
    }

    /// Settles which steps are done, after the other party has given its accounts. The others run,
    /// or run again.
    ///
    /// # Errors
    /// If the accounts cannot be of one job.
    pub fn agree(&self, theirs: &[Account], steps: Steps) -> Result<(), Disagreement> {
        let Agreed { done, run_again } = agree(&self.accounts(), theirs, steps)?;
        let state = &mut *lock(&self.0);
        for step in run_again {
            state.runs_again(step).map_err(Disagreement::Io)?;
        }
        state.done_by_both = Some(done);
        Ok(())
    }

    /// Returns how many steps run more than once, on either side, as both parties know since they
    /// last agreed.
    pub fn run_again(&self) -> u32 {
        let state = lock(&self.0);
        let again = state.steps.iter().filter(|step| step.has_run_again);
        again.count() as u32
    }

    /// Returns how many steps are done on this side.
    pub fn count(&self) -> u32 {
        let state = lock(&self.0);
        let done = state.steps.iter().filter(|step| step.gave.is_some());
        done.count() as u32
    }

    /// Returns the number of steps that have begun on this side.
    pub fn begun(&self) -> u32 {
        let state = lock(&self.0);
        let begun = state.steps.iter().filter(|step| step.seed.is_some());
        begun.count() as u32
    }

    /// Returns the name of the noise of a step that has begun, if one has some: a hash that no
    /// other draw has, and that tells nothing of it.
    pub fn draw(&self) -> Option<String> {
        let state = lock(&self.0);
        let drawn = state.steps.iter().find(|step| !step.noise.is_empty())?;
        let seed = drawn.seed.as_ref()?;
        let name = blake3::derive_key("psijoin 2026 job: name of a draw of noise", &seed[..]);
        Some(hex(&name[..16]))
    }

    /// Returns whether a step failed in a way that must not be tried again.
    pub fn is_spoilt(&self) -> bool {
        lock(&self.0).is_spoilt
    }

    /// Notes from now on how far they have come.
    ///
    /// # Errors
    /// If they had come further.
    pub(crate) fn mark(&self, mark: Mark) -> Result<(), Shorter> {
        lock(&self.0).log.mark(mark)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state
        .lock()
        .expect("nothing panics while it keeps a result")
}

impl State {
    fn append(&mut self, record: &Record<'_>) -> io::Result<Place> {
        self.log.append(&record.to_bytes())
    }

    fn step(&mut self, step: u32) -> &mut Step {
        &mut self.steps[step as usize]
    }

    /// Returns the seed and the noise of a step, which begins with this noise, or runs again.
    fn begin(&mut self, step: u32, noise: &[u64]) -> io::Result<(Block, Zeroizing<Vec<u64>>)> {
        if self.is_spoilt {
            return Err(io::Error::other("another part of the job has failed"));
        }
        if let Step {
            seed: Some(seed),
            noise,
            ..
        } = self.step(step)
        {
            return Ok((block(seed), noise.clone()));
        }
        let mut seed = Zeroizing::new(Seed::default());
        random(&mut *seed)?;
        self.append(&Record::Of(step, Event::Begun(&seed, &bytes(noise))))?;
        let begun = self.step(step);
        begun.noise = Zeroizing::new(noise.to_vec());
        Ok((block(begun.seed.insert(seed)), begun.noise.clone()))
    }

    fn runs_again(&mut self, step: u32) -> io::Result<()> {
        if !self.step(step).has_run_again {
            self.append(&Record::Of(step, Event::Again))?;
            self.step(step).has_run_again = true;
        }
        Ok(())
    }

    /// Compares, or remembers, what a step has said and heard when it begins to speak for the `nth`
    /// time.
    fn speak(&mut self, step: u32, nth: usize, so_far: &SoFar) -> Result<(), Refusal> {
        if let Some(before) = self.step(step).spoke.get(nth) {
            return match () {
                () if before.heard != so_far.heard => Err(Refusal::PeerDiffers),
                () if before.said != so_far.said => Err(Refusal::OwnDiffers),
                () => Ok(()),
            };
        }
        self.append(&Record::Of(step, Event::Spoke(*so_far)))
            .map_err(Refusal::Io)?;
        self.step(step).spoke.push(*so_far);
        Ok(())
    }
}

fn block(seed: &Seed) -> Block {
    Block(u128::from_le_bytes(*seed))
}

/// Returns numbers in the bytes of a record. As [`numbers`], at once, so that no copy is left
/// behind when the vector grows.
fn bytes(numbers: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(size_of_val(numbers)));
    numbers
        .iter()
        .for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

fn numbers(bytes: &[u8]) -> Zeroizing<Vec<u64>> {
    let (numbers, _) = bytes.as_chunks();
    let mut kept = Zeroizing::new(Vec::with_capacity(numbers.len()));
    kept.extend(numbers.iter().map(|number| u64::from_le_bytes(*number)));
    kept
}

impl Ledger for Results {
    fn has(&self, step: u32) -> bool {
        let state = lock(&self.0);
        match &state.done_by_both {
            Some(done) => done[step as usize],
            None => state.steps[step as usize].gave.is_some(),
        }
    }

    fn output(&self, step: u32) -> Result<Output, Error> {
        let unreadable =
            || Error::Ledger(io::Error::other("a result that was kept cannot be read"));
        let state = &mut *lock(&self.0);
        let (place, _) = state.step(step).gave.ok_or_else(unreadable)?;
        let text = state.log.read(place).map_err(Error::Ledger)?;
        match Record::from_bytes(&text) {
            Some(Record::Of(_, Event::Gave(_, []))) => Err(Error::Payload),
            Some(Record::Of(_, Event::Gave(_, output))) => {
                output_bytes::decode(output).ok_or_else(unreadable)
            }
            _ => Err(unreadable()),
        }
    }

    fn begin(&self, step: u32, noise: &[u64]) -> Result<Attempt, Error> {
        let begun = lock(&self.0).begin(step, noise);
        let (seed, noise) = begun.map_err(Error::Ledger)?;
        Ok(Attempt {
            rng: Prg::from_seed(seed),
            witness: Box::new(Watched {
                state: self.0.clone(),
                step,
                spoken: 0,
            }),
            noise,
        })
    }

    fn keep(&self, step: u32, output: Option<&Output>, run: RunName) -> Result<(), Error> {
        let output = output.map_or_else(Zeroizing::default, output_bytes::encode);
        let state = &mut *lock(&self.0);
        match state.step(step).gave {
            Some((_, first)) if first == run => Ok(()),
            // The last that was heard is another.
            Some(_) => Err(ChannelError::PeerDiffers.into()),
            None => {
                let gave = Record::Of(step, Event::Gave(run, &output));
                let place = state.append(&gave).map_err(Error::Ledger)?;
                state.step(step).gave = Some((place, run));
                Ok(())
            }
        }
    }
}

/// Watches over one attempt at a step.
struct Watched {
    state: Arc<Mutex<State>>,
    step: u32,
    /// The number of times it has begun to speak.
    spoken: usize,
}

impl Witness for Watched {
    fn may_speak(&mut self, so_far: &SoFar) -> Result<(), Refusal> {
        lock(&self.state).speak(self.step, self.spoken, so_far)?;
        self.spoken += 1;
        Ok(())
    }

    /// Keeps that a check failed, as that is an answer: whoever could try it again with the same
    /// randomness could find out, bit by bit, what it depends on.
    fn gives_up(&mut self, code: AbortCode) -> io::Result<()> {
        use AbortCode::{BadLuck, InternalFailure, ProtocolViolation};
        let state = &mut *lock(&self.state);
        if matches!(code, ProtocolViolation | BadLuck | InternalFailure) && !state.is_spoilt {
            state.append(&Record::Spoilt)?;
            state.is_spoilt = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

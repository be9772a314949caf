//! The state that a party keeps of a session, so that it can be resumed.

use psijoin_block::Prg;
use psijoin_channel::witness::{SoFar, Witness};
use zeroize::Zeroizing;

use crate::{Context, Error, Output, Result, Role};

/// The state that a party keeps of a session, so that it can be resumed after it broke off.
///
/// The *steps* of a session in parts are its parts, and then what is opened in the end, if anything
/// is. A plan that is not in parts has one step, 0. A step that is done is not run again: the
/// ledger gives what it gave.
///
/// A step that is not done on both sides runs again, with the randomness that the ledger has for
/// it, and with the noise that it began with: the party sends what it sent before, bit for bit, as
/// long as it receives what it received before, and otherwise nothing. So whoever resumes with
/// another set, or with an old copy of what it kept, gets no second answer. That takes the same
/// items in the same order, and the same [joint seed](crate::Input::joint_seed), in each attempt.
pub trait Ledger: Sync {
    /// Returns whether this step is done on both sides.
    fn has(&self, step: u32) -> bool;

    /// Returns what a step that is done gave. Positions are those of the party's whole table.
    ///
    /// # Errors
    /// If it cannot be had, and [`Error::Payload`] if that is what it gave.
    fn output(&self, step: u32) -> Result<Output>;

    /// Notes that a step begins, or runs again. When this returns, that has been kept, and with it
    /// the [noise](Context::noise) of its first attempt, which is this.
    ///
    /// # Errors
    /// If it cannot be kept, or must not run again.
    fn begin(&self, step: u32, noise: &[u64]) -> Result<Attempt>;

    /// Keeps the result of a step of the run with this name: this output, or payloads that cannot
    /// be opened. When this returns, it has been kept. Several parts may be done at the same time.
    ///
    /// # Errors
    /// If it cannot be kept, or an earlier run of it had another name: the session fails.
    fn keep(&self, step: u32, output: Option<&Output>, run: RunName) -> Result<()>;
}

/// The input of an attempt at a step.
pub struct Attempt {
    /// The party's randomness: the same whenever the step runs, and of no other use.
    pub rng: Prg,
    /// Knows what the party had heard whenever it spoke.
    pub witness: Box<dyn Witness>,
    /// The noise that it adds: that of the first attempt.
    pub noise: Zeroizing<Vec<u64>>,
}

/// The name of a run of a step, on both sides: a hash of all messages in it.
pub type RunName = [u8; 32];

/// Runs a step over the context's channel, and keeps what it gives. If it fails, this tells the
/// peer why.
///
/// # Errors
/// Those of `run` and of the ledger.
pub fn keeping(
    ledger: &dyn Ledger,
    step: u32,
    role: Role,
    context: &mut Context<'_>,
    run: impl FnOnce(&mut Context<'_>) -> Result<Output>,
) -> Result<Output> {
    let Attempt {
        rng,
        witness,
        noise,
    } = ledger.begin(step, context.noise)?;
    let phases = context.phases;
    let (output, passed) = context.channel.witnessed(witness, |channel| {
        let mut context = Context::new(channel).randomness(rng).adding(&noise);
        context.phases = phases;
        // The witness has to know of it before the peer does.
        run(&mut context).inspect_err(|error| error.tell(context.channel))
    });
    let kept = match &output {
        Ok(output) => Some(output),
        Err(Error::Payload) => None,
        Err(_) => return output,
    };
    ledger.keep(step, kept, name(role, &passed))?;
    output
}

/// Returns the name of a run, as either party makes it.
fn name(role: Role, passed: &SoFar) -> RunName {
    let [senders, receivers] = match role {
        Role::Sender => [passed.said, passed.heard],
        Role::Receiver => [passed.heard, passed.said],
    };
    blake3::derive_key(
        "psijoin 2026 run of a step",
        [senders, receivers].as_flattened(),
    )
}

use crate::{Output, Result};

/// What a party keeps of a session, so that one that broke off can go on.
///
/// The *steps* of a session in parts are its parts, and then what is opened in the end, if anything is.
/// A plan that is not in parts has one step, 0. A step that is done is not run again: the ledger gives
/// what it gave.
///
/// For a session to go on, both parties must have kept the same steps, of the same runs of them: shares
/// of a party fit those of the other only if they are of one run. Whoever runs a session agrees on that
/// with the peer beforehand, and makes sure that both sets, and the seed that their digests come from,
/// are those of the first attempt. Everything else is drawn anew.
pub trait Ledger: Sync {
    /// Whether this step is done.
    fn has(&self, step: u32) -> bool;

    /// What a step that is done gave. Positions are those of the party's whole table.
    ///
    /// # Errors
    /// If it cannot be had.
    fn output(&self, step: u32) -> Result<Output>;

    /// A step is done. When this returns, it has been kept. Several parts may be done at the same time.
    ///
    /// # Errors
    /// If it cannot be kept: the session fails.
    fn keep(&self, step: u32, output: &Output) -> Result<()>;
}

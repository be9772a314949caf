//! The tools that the garbled circuits of this crate share.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{Error, garble::garbler};
use psijoin_ot::extension::Extension;
use psijoin_psi::{Conversation, Role, ots::Ots};

/// The OT extension by which the sender, which garbles, gives the receiver labels for its inputs.
/// They are about 1 % of the bytes, so silent OT would gain nothing.
pub(crate) const EXTENSION: Extension = Extension::Iknp;

/// Runs the base OTs for one of the parties: the garbler's or the evaluator's `Setup::new`.
pub(crate) type SetUp<S> = fn(Extension, &mut Channel, &mut Prg) -> Result<S, Error>;

/// The OTs.
pub(crate) const OTS: Ots = Ots {
    extension: EXTENSION,
    sender: Role::Sender,
};

/// Returns what is said before the first circuit.
pub(crate) fn setup() -> Conversation {
    Conversation::default()
        .sender(garbler::SEED_BYTES)
        .then(OTS.setup())
}

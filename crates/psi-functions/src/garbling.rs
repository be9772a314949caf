//! The tools that the garbled circuits of this crate share.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{Error, garble::garbler};
use psijoin_ot::extension::Extension;
use psijoin_psi::{BaseOts, Conversation, Role, ots::Ots};

/// The OT extension by which the sender, which garbles, gives the receiver labels for its inputs.
/// They are about 1 % of the bytes, so silent OT would gain nothing.
const EXTENSION: Extension = Extension::IKNP;

/// Runs the base OTs for one of the parties: the garbler's or the evaluator's `Setup::new`.
pub(crate) type SetUp<S> = fn(Extension, &mut Channel, &mut Prg) -> Result<S, Error>;

/// Returns the OTs.
pub(crate) const fn ots(base: BaseOts) -> Ots {
    Ots {
        extension: EXTENSION.on(base),
        sender: Role::Sender,
    }
}

/// Returns what is said before the first circuit.
pub(crate) fn setup(base: BaseOts) -> Conversation {
    Conversation::default()
        .sender(garbler::SEED_BYTES)
        .then(ots(base).setup())
}

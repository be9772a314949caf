//! The messages of OTs of an [`Extension`], and their order.

use psijoin_ot::{BaseOts, extension::Extension};
use psijoin_params::Security;

use crate::{Conversation, Role};

/// The base OTs under an extension: κ.
const BASE_OTS: usize = Security::COMPUTATIONAL_BITS as usize;

/// OTs between the parties.
#[derive(Debug, Clone, Copy)]
pub struct Ots {
    /// The way the OTs are made.
    pub extension: Extension,
    /// The party that is their sender, and has Δ. The other one has choices.
    pub sender: Role,
}

impl Ots {
    /// Returns the setup.
    pub fn setup(self) -> Conversation {
        let bytes = [
            self.extension.setup_sender_bytes(),
            self.extension.setup_receiver_bytes(),
        ];
        setup(self.extension.base(), self.sender, bytes)
    }

    /// Returns a call for `count` OTs of random choices.
    pub fn random(self, count: usize) -> Conversation {
        Conversation::default()
            .says(self.sender.other(), self.extension.receiver_bytes(count))
            .says(self.sender, self.extension.sender_bytes(count))
    }

    /// Returns a call for `count` OTs of given choices.
    pub fn chosen(self, count: usize) -> Conversation {
        let random = self.extension.receiver_bytes(count);
        let corrections = self.extension.chosen_receiver_bytes(count) - random;
        self.random(count).says(self.sender.other(), corrections)
    }
}

/// Returns a setup, all of which is base OTs and what their sender adds to them. `extender` is the
/// party whose base OTs have choices, so that it becomes the sender of extended OTs or has Δ of a
/// vector OLE. `bytes` are those that it sends, and those of the other party.
pub fn setup(base: BaseOts, extender: Role, bytes: [u64; 2]) -> Conversation {
    let [of_extender, of_other] = bytes;
    let talk = Conversation::default();
    if base.sender_answers() {
        return talk
            .says(extender, of_extender)
            .says(extender.other(), of_other);
    }
    // Both speak at once in the base OTs.
    let at_once = base.sender_bytes(BASE_OTS).min(of_other);
    let (sender, receiver) = match extender {
        Role::Sender => (of_extender, at_once),
        Role::Receiver => (at_once, of_extender),
    };
    talk.both(sender, receiver)
        .says(extender.other(), of_other - at_once)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_block::{Block, Prg};
    use psijoin_channel::{count::counted, memory};
    use psijoin_runtime::memory::Buffer;

    use super::*;
    use crate::Traffic;

    /// Returns a setup, a call for random choices and two for given ones.
    fn measured(extension: Extension, count: usize) -> Traffic {
        let (sender, mut receiver) = memory::pair();
        let (mut sender, counters) = counted(sender);
        thread::scope(|scope| {
            scope.spawn(move || {
                let rng = &mut Prg::from_os();
                let mut ots = extension.set_up_sender(&mut sender, rng).unwrap();
                ots.send(count, &mut sender).unwrap();
                for _ in 0..2 {
                    let rows = &mut Buffer::zeroed(count);
                    ots.send_chosen(rows, &mut sender).unwrap();
                }
            });
            let rng = &mut Prg::from_os();
            let mut ots = extension.set_up_receiver(&mut receiver, rng).unwrap();
            ots.receive(count, &mut receiver).unwrap();
            let choices = vec![Block::ZERO; count.div_ceil(Block::BITS)];
            for _ in 0..2 {
                let rows = &mut Buffer::zeroed(count);
                ots.receive_chosen(&choices, rows, &mut receiver).unwrap();
            }
        });
        let traffic = counters.snapshot();
        Traffic {
            sender_bytes: traffic.sent.bytes,
            receiver_bytes: traffic.received.bytes,
            flights: traffic.flights,
        }
    }

    #[test]
    fn ots_say_what_is_measured() {
        let extensions = [Extension::IKNP, Extension::SILENT];
        let bases = [BaseOts::DiffieHellman, BaseOts::MlKem];
        for extension in extensions
            .map(|it| bases.map(|base| it.on(base)))
            .as_flattened()
        {
            let (extension, count) = (*extension, 1000);
            let measured = measured(extension, count);
            for sender in [Role::Sender, Role::Receiver] {
                let ots = Ots { extension, sender };
                let calls = [ots.random(count), ots.chosen(count), ots.chosen(count)];
                let said = calls.into_iter().fold(ots.setup(), Conversation::then);
                let mut said = said.traffic();
                if sender == Role::Receiver {
                    std::mem::swap(&mut said.sender_bytes, &mut said.receiver_bytes);
                }
                assert_eq!(said, measured, "{extension:?}");
            }
        }
    }
}

//! The messages of OTs of an [`Extension`], and their order.

use psijoin_ot::{extension::Extension, iknp};

use crate::{Conversation, Role};

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
        // Both speak at once in the base OTs, which are all of IKNP's setup. Silent OT's receiver
        // speaks once more.
        let of_receiver = self.extension.setup_receiver_bytes();
        let base = iknp::SETUP_RECEIVER_BYTES.min(of_receiver);
        let of_sender = self.extension.setup_sender_bytes();
        let (sender, receiver) = match self.sender {
            Role::Sender => (of_sender, base),
            Role::Receiver => (base, of_sender),
        };
        Conversation::default()
            .both(sender, receiver)
            .says(self.sender.other(), of_receiver - base)
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
        for extension in [Extension::Iknp, Extension::Silent] {
            let count = 1000;
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

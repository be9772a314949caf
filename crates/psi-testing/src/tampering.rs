//! Cheating by changed bits, against protocols for malicious parties.

use psijoin_channel::{
    fault::{Fault, FaultKind, faulty},
    memory,
};
use psijoin_psi::{Error, ErrorKind, Output, Plan, Role};

use crate::{items, run_items};

/// Flips a bit in each message of a party. A flip that is not noticed has changed its own items at
/// most, so that nothing is found that is not shared. Returns how often it was noticed.
///
/// # Panics
/// If something is found that is not shared, or a failure is not the cheater's.
pub fn notices_of_tampering(plan: &Plan, cheater: Role) -> usize {
    let sizes = plan.request().sizes;
    let [senders, receivers] = [sizes.sender() as u32, sizes.receiver() as u32];
    let shared = receivers / 2;
    let first = senders - shared;
    let (senders, receivers) = (
        items(0..senders, plan),
        items(first..first + receivers, plan),
    );
    let mut noticed = 0;
    for message in 0.. {
        let fault = Fault {
            at: message,
            kind: FaultKind::Flip {
                bit: 7 * message as usize + 3,
            },
        };
        let (mut sending, mut receiving) = memory::pair();
        let probe;
        match cheater {
            Role::Sender => (sending, probe) = faulty(sending, fault),
            Role::Receiver => (receiving, probe) = faulty(receiving, fault),
        }
        let (sent, received) = run_items(plan, (&senders, sending), (&receivers, receiving));
        if !probe.reached() {
            break;
        }
        match (&sent, &received) {
            (Ok(_), Ok(Output::Rows(rows))) => assert!(rows.iter().all(|row| *row < shared)),
            _ => {
                // The honest party sends the reason; the other one hears of it.
                let errors = [sent.err(), received.err()];
                let mut kinds = errors.iter().flatten().map(Error::kind);
                assert!(kinds.any(|kind| kind == ErrorKind::Peer), "{errors:?}");
                noticed += 1;
            }
        }
    }
    noticed
}

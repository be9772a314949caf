//! Recognises those who knock, at the side that listens.

use super::introduction::Purpose;
use crate::{
    Options, Security,
    knock::{self, Ear, Used, Verdict},
    ticket::Ticket,
};

/// See the [module](self).
pub(super) enum Doorkeeper {
    /// Without TLS there is no knock: at a meeting anybody is the peer, and a stream's first words
    /// hold its pass.
    Nobody,
    /// Of a meeting.
    Peer(Ear),
    /// Of a session's further streams.
    Session(Ticket, Used),
}

impl Doorkeeper {
    pub(super) fn new(options: &Options, purpose: &Purpose) -> Self {
        match (&options.security, purpose) {
            (Security::InsecurePlaintext, _) | (_, Purpose::Dial(..)) => Self::Nobody,
            (Security::PinnedTls { identity, peer }, Purpose::Meet) => {
                let ours = identity.fingerprint();
                Self::Peer(Ear::new(*peer, ours, &options.used_knocks))
            }
            (Security::PinnedTls { .. }, Purpose::LetIn(register)) => {
                Self::Session(register.ticket.clone(), Used::default())
            }
        }
    }

    /// Judges the bytes that somebody sends to be recognised.
    pub(super) fn judge(&mut self, said: &[u8]) -> Verdict {
        let now = knock::now();
        match self {
            Self::Nobody => Verdict::Anybody,
            Self::Peer(ear) => ear.judge(said, now),
            // The ticket is no older than the session, so no time is needed.
            Self::Session(ticket, used) => match ticket.nonce_of(said) {
                Some(nonce) if used.is_first(nonce, u64::MAX, now) => Verdict::Peer,
                _ => Verdict::Anybody,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use psijoin_channel::joint_seed::JointSeed;

    use super::super::introduction::Register;
    use super::*;
    use crate::{Identity, knock::Knock};

    #[test]
    fn each_door_has_its_own_knock() {
        let [a, b] = [(); 2].map(|()| Identity::generate().unwrap());
        let pinned = Options::new(Security::PinnedTls {
            identity: a.clone(),
            peer: b.fingerprint(),
        });
        let ticket = |byte| Ticket::of(&JointSeed::insecure_fixed([byte; 32]));
        let of_the_peer = Knock::new(&b, a.fingerprint(), knock::now()).unwrap();
        let of_the_peer = of_the_peer.seal(a.fingerprint()).to_vec();
        let nonce = knock::fresh_nonce().unwrap();
        let [of_the_session, of_another] = [1, 2].map(|byte| ticket(byte).knock(nonce));
        let said = [of_the_peer, of_the_session, of_another, Vec::new()];

        let lets_in = Purpose::LetIn(Register::new(ticket(1), 4));
        for (options, purpose, known) in [
            (&pinned, Purpose::Meet, Some(0)),
            (&pinned, lets_in, Some(1)),
            (
                &Options::new(Security::InsecurePlaintext),
                Purpose::Meet,
                None,
            ),
        ] {
            let mut doorkeeper = Doorkeeper::new(options, &purpose);
            for (i, said) in said.iter().enumerate() {
                let is_known = doorkeeper.judge(said) == Verdict::Peer;
                assert_eq!(is_known, known == Some(i), "{i}");
                // Nor is it a second time.
                assert_eq!(doorkeeper.judge(said), Verdict::Anybody);
            }
        }
    }
}

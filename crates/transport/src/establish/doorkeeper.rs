//! Recognises those who knock, at the side that listens.

use super::introduction::Purpose;
use crate::{
    Options, Security,
    knock::{self, Ear, Used, Verdict},
    ticket::Ticket,
};

/// See the [module](self). Without TLS there is no knock: at a meeting anybody is the peer, and a
/// stream's first words hold its pass.
#[derive(Default)]
pub(super) struct Doorkeeper {
    /// Those of a meeting: for each key that the peer may have, and each by which it may know this
    /// side.
    ears: Vec<Ear>,
    /// That of a session's further streams, or of an invitation.
    ticket: Option<(Ticket, Used)>,
}

impl Doorkeeper {
    pub(super) fn new(options: &Options, purpose: &Purpose) -> Self {
        let ticket = match (&options.security, purpose) {
            (Security::InsecurePlaintext, _) => None,
            (_, Purpose::LetIn(register)) => Some(register.ticket.clone()),
            (_, Purpose::Invite(inviter)) => Some(Ticket::of_invitation(&inviter.key)),
            (_, Purpose::Meet | Purpose::Dial(..) | Purpose::Accept(_)) => None,
        };
        Self {
            ears: ears(options, purpose),
            // The ticket of a session is no older than that, so no time is needed. That of an
            // invitation is; who has overheard it has priority once.
            ticket: ticket.map(|ticket| (ticket, Used::default())),
        }
    }

    /// Judges the bytes that somebody sends to be recognised.
    pub(super) fn judge(&mut self, said: &[u8]) -> Verdict {
        let now = knock::now();
        if let Some((ticket, used)) = &self.ticket
            && let Some(nonce) = ticket.nonce_of(said)
            && used.is_first(nonce, u64::MAX, now)
        {
            return Verdict::Peer;
        }
        let verdicts = self.ears.iter_mut().map(|ear| ear.judge(said, now));
        let mut known = verdicts.filter(|verdict| *verdict != Verdict::Anybody);
        known.next().unwrap_or(Verdict::Anybody)
    }
}

/// Returns the ears of a side that waits for a party by its key.
fn ears(options: &Options, purpose: &Purpose) -> Vec<Ear> {
    let (Some(identity), Purpose::Meet | Purpose::Invite(_)) =
        (options.security.identity(), purpose)
    else {
        return Vec::new();
    };
    let mut ears = Vec::new();
    for peer in options.security.known() {
        for ours in identity.names() {
            ears.push(Ear::new(peer.fingerprint, ours, &options.used_knocks));
        }
    }
    ears
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
        let ticket = |byte| Ticket::of_streams(&JointSeed::insecure_fixed([byte; 32]));
        let of_the_peer = Knock::new(&b, a.fingerprint(), knock::now()).unwrap();
        let of_the_peer = of_the_peer.seal(a.fingerprint()).to_vec();
        let nonce = knock::fresh_nonce().unwrap();
        let [of_the_session, of_another] = [1, 2].map(|byte| ticket(byte).knock(nonce));
        let said = [of_the_peer, of_the_session, of_another, Vec::new()];

        let lets_in = Purpose::LetIn(Register::new(ticket(1), 1..5));
        // A peer that does not know yet that this party has replaced its key.
        let replaced = Options::new(Security::AnyOf {
            identity: a.replace(0, u64::MAX).unwrap(),
            peers: vec![a.fingerprint().into(), b.fingerprint().into()],
        });
        for (options, purpose, known) in [
            (&pinned, Purpose::Meet, Some(0)),
            (&replaced, Purpose::Meet, Some(0)),
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

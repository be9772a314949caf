//! The two sides of an [invitation](crate::invitation) in the greeting of their first session.

use std::sync::Arc;

use crate::{
    Error, Fingerprint, InvitationFault, InvitationKey, PairSecret, Pin, PublicKey,
    invitation::{
        Answer, Binding, Host, NOTE_BYTES, Newcomer, Shown, Verdict, guests_note, hear_guest,
        hear_inviter, inviters_note,
    },
    knock, tls,
};

/// The facts about a connection whose TLS handshake is over.
pub(super) struct Entered {
    binding: Binding,
    pair_secret: PairSecret,
    ours: Fingerprint,
    /// The key at the other end, if it is an Ed25519 key.
    peer: Option<PublicKey>,
    /// The other end is known.
    is_known: bool,
}

impl Entered {
    /// Returns those of this connection, for the party that `ours` names and that knows the other
    /// end by one of these keys.
    pub(super) fn of(
        tls: &rustls::Connection,
        ours: Fingerprint,
        known: &[Pin],
    ) -> Result<Self, Error> {
        let export = |label| {
            let exported = tls::exported(tls, label);
            exported.ok_or_else(|| Error::Tls("it gives no secret to derive from".to_owned()))
        };
        let is_pinned = |peer: Fingerprint| {
            let mut known = known.iter().filter(|pin| pin.counts(knock::now()));
            known.any(|pin| pin.fingerprint == peer)
        };
        let follows = || tls::succeeded(tls, known).is_some();
        Ok(Self {
            is_known: tls::peer_fingerprint(tls).is_some_and(is_pinned) || follows(),
            binding: Binding::from_bytes(export(Binding::LABEL)?),
            pair_secret: PairSecret::from_bytes(export(PairSecret::LABEL)?),
            ours,
            peer: tls::peer_key(tls),
        })
    }
}

/// The party that has invited somebody, as it waits.
#[derive(Clone)]
pub(super) struct Inviter {
    pub(super) key: InvitationKey,
    /// The keys that the guest is known by, if it has come before.
    pub(super) known: Vec<Pin>,
    pub(super) host: Arc<dyn Host>,
}

/// The judgement on somebody at an inviter's door.
pub(super) enum Judged {
    /// It is the guest, and is told so by this note, unless it is known.
    Guest(Vec<u8>),
    /// It is not, for this reason, and is told so by this note.
    TurnedAway(Vec<u8>, InvitationFault),
    /// It did not say anything of an invitation, so it would not understand a note.
    NotShown(InvitationFault),
}

impl Inviter {
    /// Judges somebody by what it has said.
    pub(super) fn judge(
        &self,
        note: &[u8; NOTE_BYTES],
        entered: &Entered,
    ) -> Result<Judged, Error> {
        // TLS has accepted no other keys.
        let key = entered.peer.ok_or(Error::ClosedDuringSetup)?;
        let who = key.fingerprint();
        if who == entered.ours {
            return Err(Error::OwnFingerprint(who));
        }
        let answer = |answer| inviters_note(&self.key, &entered.binding, answer);
        Ok(match hear_guest(note, &self.key, &entered.binding) {
            Shown::Nothing if entered.is_known => Judged::Guest(Vec::new()),
            Shown::Nothing => Judged::NotShown(InvitationFault::NotShown { who }),
            Shown::Wrong => {
                Judged::TurnedAway(answer(Answer::Unknown), InvitationFault::Wrong { who })
            }
            Shown::Proved => {
                let pair_secret = entered.pair_secret.clone();
                let verdict = self.host.judge(&Newcomer { key, pair_secret });
                let note = answer(Answer::Judged(verdict));
                match verdict {
                    Verdict::Welcome => Judged::Guest(note),
                    verdict => {
                        Judged::TurnedAway(note, InvitationFault::TurnedAway { who, verdict })
                    }
                }
            }
        })
    }
}

/// Returns what a guest says of its invitation.
pub(super) fn say(key: &InvitationKey, entered: &Entered) -> Vec<u8> {
    guests_note(key, &entered.binding)
}

/// Checks what an inviter has answered.
pub(super) fn hear(
    key: &InvitationKey,
    note: &[u8; NOTE_BYTES],
    entered: &Entered,
) -> Result<(), Error> {
    Ok(hear_inviter(note, key, &entered.binding, entered.ours)?)
}

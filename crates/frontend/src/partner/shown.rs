//! What is kept of a peer, for people and for scripts. It holds no secret.

use psijoin_peers::{Confirmation, Invitation, Kept, Name, Peer, Side, Use, date, now};
use psijoin_transport::Fingerprint;
use serde::Serialize;

/// What is kept of a peer, as scripts read it.
#[derive(Serialize)]
pub struct Shown {
    name: String,
    /// `invited`, `accepted` (both have not met yet), `over` (an invitation that nobody has used)
    /// or `known`.
    state: &'static str,
    /// `null` if it was invited, and has not come.
    fingerprint: Option<String>,
    /// As RFC 8032 encodes it, in hexadecimal digits.
    key: Option<String>,
    since: String,
    place: Option<String>,
    /// The keys that it has replaced, and that still count.
    replaced: Vec<ReplacedShown>,
    /// `null` if both know each other in another way, or it does not matter any more.
    invitation: Option<InvitationShown>,
}

#[derive(Serialize)]
struct ReplacedShown {
    fingerprint: String,
    until: String,
}

#[derive(Serialize)]
struct InvitationShown {
    /// `inviter` or `guest`.
    side: &'static str,
    good_until: String,
    /// Whether a fingerprint is compared before anybody is let in.
    confirm: bool,
    confirmed: Option<String>,
    used: Option<UseShown>,
    /// Who came with it and was not let in, the last time.
    turned_away: Option<UseShown>,
}

#[derive(Serialize)]
struct UseShown {
    by: String,
    when: String,
}

impl Shown {
    /// Returns what is kept of the peer with this name.
    pub fn new(name: &Name, peer: &Peer) -> Self {
        let replaced = peer.replaced.iter().map(|replaced| ReplacedShown {
            fingerprint: replaced.key.to_string(),
            until: date(replaced.until),
        });
        // A guest has come, and that is all there was to it.
        let matters = |it: &&Invitation| it.side == Side::Inviter || peer.pair_secret.is_none();
        let invitation = peer.invitation.as_ref().filter(matters);
        Self {
            name: name.to_string(),
            state: state(peer),
            fingerprint: peer.fingerprint().map(|it| it.to_string()),
            key: peer.key.map(|key| key.to_string()),
            since: date(peer.since),
            place: peer.place.as_ref().map(ToString::to_string),
            replaced: replaced.collect(),
            invitation: invitation.map(InvitationShown::new),
        }
    }

    /// Returns it in lines, for people.
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {}, since {}",
            self.name, self.state, self.since
        )];
        let mut say = |name: &str, value: Option<&String>| {
            lines.extend(value.map(|value| format!("  {name}: {value}")));
        };
        say("fingerprint", self.fingerprint.as_ref());
        say("key", self.key.as_ref());
        say("met", self.place.as_ref());
        for replaced in &self.replaced {
            let value = format!(
                "{}, which counts until {}",
                replaced.fingerprint, replaced.until
            );
            say("replaced key", Some(&value));
        }
        if let Some(invitation) = &self.invitation {
            say("its invitation is good until", Some(&invitation.good_until));
            say("confirmed fingerprint", invitation.confirmed.as_ref());
            if invitation.confirm && invitation.confirmed.is_none() {
                let value = format!("run psijoin peers confirm {} FINGERPRINT", self.name);
                say("its fingerprint is not confirmed yet", Some(&value));
            }
            let told = |used: &UseShown| format!("on {} by {}", used.when, used.by);
            say("used", invitation.used.as_ref().map(told).as_ref());
            say(
                "not let in with it",
                invitation.turned_away.as_ref().map(told).as_ref(),
            );
        }
        lines.join("\n") + "\n"
    }
}

impl InvitationShown {
    fn new(invitation: &Invitation) -> Self {
        let used = |used: Use| UseShown {
            by: used.by.to_string(),
            when: date(used.when),
        };
        Self {
            side: match invitation.side {
                Side::Inviter => "inviter",
                Side::Guest => "guest",
            },
            good_until: date(invitation.ends),
            confirm: invitation.confirmation != Confirmation::NotNeeded,
            confirmed: confirmed(invitation.confirmation).map(|it| it.to_string()),
            used: invitation.used.map(used),
            turned_away: invitation.turned_away.map(used),
        }
    }
}

fn confirmed(confirmation: Confirmation) -> Option<Fingerprint> {
    match confirmation {
        Confirmation::Given(fingerprint) => Some(fingerprint),
        Confirmation::NotNeeded | Confirmation::Needed => None,
    }
}

/// Returns how far both have got to know each other, in a word.
pub fn state(peer: &Peer) -> &'static str {
    match peer.kept(now()) {
        Kept::Invited => "invited",
        Kept::Accepted => "accepted",
        Kept::Over => "over",
        Kept::Met => "known",
    }
}

//! The arguments of the commands about those whom the user knows by name.

use std::{path::PathBuf, time::Duration};

use clap::{Args as ClapArgs, Subcommand};
use psijoin_peers::Name;
use psijoin_transport::{Fingerprint, RelayAddress, endpoint::Address};

use super::connection::{self, Unlock};

/// The longest that an invitation may be good for: a year.
const LONGEST_DAYS: u64 = 366;

#[derive(ClapArgs)]
pub(crate) struct Invite {
    /// The name by which you want to know the other party.
    ///
    /// Letters, digits, - and _. The other party has names of its own.
    #[arg(value_name = "NAME")]
    pub(crate) name: Name,

    #[command(flatten)]
    pub(crate) place: Told,

    /// How long the invitation is good for: a number with m, h or d.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = lasting)]
    pub(crate) expires: Duration,

    /// Let nobody in before you have compared fingerprints.
    ///
    /// Ask the other party for its fingerprint by telephone, and run `psijoin peers confirm NAME
    /// FINGERPRINT`. Without this, whoever is the first to come with the link is the other party.
    #[arg(long)]
    pub(crate) confirm: bool,

    /// The name that you suggest for yourself.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) own_name: Option<Name>,

    /// Wait until the other party has come, which runs `psijoin accept --wait`.
    ///
    /// Nobody has to wait: otherwise they get to know each other in their first session.
    #[arg(long)]
    pub(crate) wait: bool,

    /// The file of your access key, where --wait goes to a relay that does not serve everybody.
    #[arg(long, value_name = "FILE", requires_all = ["wait", "relay"])]
    pub(crate) relay_key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: Own,

    #[command(flatten)]
    pub(crate) unlock: Unlock,
}

/// The place that an invitation tells.
#[derive(ClapArgs)]
#[group(required = true, multiple = false)]
pub(crate) struct Told {
    /// Meet at a relay: HOST:PORT, or wss://….
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) relay: Option<RelayAddress>,

    /// Meet here: HOST:PORT as the other party has to dial it, for example join.example.org:7766.
    ///
    /// Sessions with this party then listen at that port.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<Address>,

    /// Meet in a folder that both sides can read and write.
    ///
    /// The link does not tell it, as it may have another path there: `psijoin accept --via` does.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) via: Option<String>,
}

/// The identity whose peers are meant.
#[derive(ClapArgs)]
pub(crate) struct Own {
    /// Your identity, beside which your peers are kept.
    ///
    /// [default: your own, as `psijoin fingerprint` shows it]
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Accept {
    /// The invitation, as the other party's `psijoin invite` printed it; - reads it from standard
    /// input.
    #[arg(value_name = "LINK")]
    pub(crate) link: String,

    /// The name by which you want to know the other party.
    ///
    /// [default: the one that it suggests for itself, if it does]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<Name>,

    /// Meet in this folder, if the invitation is for one.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) via: Option<String>,

    /// Meet the other party now, which runs `psijoin invite --wait`.
    #[arg(long)]
    pub(crate) wait: bool,

    /// The file of your access key, where --wait goes to a relay that does not serve everybody.
    #[arg(long, value_name = "FILE", requires = "wait")]
    pub(crate) relay_key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) own: Own,

    #[command(flatten)]
    pub(crate) unlock: Unlock,
}

#[derive(ClapArgs)]
pub(crate) struct Peers {
    #[command(flatten)]
    pub(crate) own: Own,

    #[command(subcommand)]
    pub(crate) action: PeersAction,
}

#[derive(Subcommand)]
pub(crate) enum PeersAction {
    /// List the parties that you know by name.
    List {
        /// Print one JSON object per party.
        #[arg(long)]
        json: bool,
    },
    /// Show what is known of one: its key, its place, and what became of its invitation.
    Show {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: Name,

        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Give one another name.
    Rename {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: Name,

        /// Its new name.
        #[arg(value_name = "NEW-NAME")]
        new: Name,
    },
    /// Forget one: it is a stranger from now on, and its invitation does not work any more.
    ///
    /// That undoes nothing: what it has learned, it knows, and what it has signed stays signed.
    Remove {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: Name,
    },
    /// Confirm the fingerprint of one that was invited with --confirm.
    Confirm {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: Name,

        /// Its fingerprint, as the other party has read it to you.
        #[arg(value_name = "FINGERPRINT", value_parser = connection::fingerprint)]
        fingerprint: Fingerprint,
    },
}

/// Reads a time such as 90m, 24h or 7d.
pub(super) fn lasting(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "write a whole number with m, h or d, as in 30m, 24h or 7d; at most {LONGEST_DAYS}d"
        )
    };
    let (number, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(wrong)?;
    let seconds_each = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds_each);
    let seconds = seconds.filter(|seconds| (1..=LONGEST_DAYS * 24 * 3600).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, seconds) in [("1m", 60), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(lasting(text), Ok(Duration::from_secs(seconds)));
        }
        for text in [
            "", "24", "h", "0h", "1.5h", "-1h", "367d", "24 h", "1w", "7ä",
        ] {
            assert!(lasting(text).unwrap_err().contains("as in 30m"), "{text}");
        }
    }
}

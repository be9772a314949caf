//! The place where the parties meet, and who they are.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use psijoin_frontend::{Remedy, partner::Named, sentences::with_hint};
use psijoin_transport::{Fingerprint, RelayAddress, endpoint::Address};

use crate::hints;

/// The way a party of a join meets the other.
#[derive(ClapArgs)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    #[command(flatten)]
    pub(crate) meeting: Meeting,

    #[command(flatten)]
    pub(crate) trust: Trust,

    /// Connect through a web proxy, at http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.
    ///
    /// It is asked to CONNECT. Without this, `https_proxy` and `no_proxy` in the environment say
    /// what they say to other programs. Others on this machine can see a password here, and not one
    /// in the environment.
    #[arg(long, value_name = "URL", conflicts_with_all = ["listen", "via"])]
    pub(crate) proxy: Option<String>,

    /// The file of the access key of a relay that does not serve everybody: 64 hexadecimal digits.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["listen", "connect", "via"])]
    pub(crate) relay_key: Option<PathBuf>,

    /// The longest wait for the other party.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) wait: u32,

    /// How long the other party may be silent, once it is connected, before it counts as gone.
    ///
    /// A party that computes, or waits for the other, sends a sign of life once a second, and in a
    /// folder six times in this time.
    ///
    /// [default: 30, and with --via 1800]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) timeout: Option<u32>,
}

/// The place where the parties meet. One that is named may be known to be met somewhere.
#[derive(ClapArgs, Clone)]
#[group(multiple = false)]
pub(crate) struct Meeting {
    /// Wait for the other party at HOST:PORT, for example 0.0.0.0:7000.
    ///
    /// One side listens, the other connects; which one does not matter.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<Address>,

    /// Connect to the other party at HOST:PORT.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect: Option<Address>,

    /// Meet at a relay: HOST:PORT, or wss://HOST/PATH at a web server.
    ///
    /// Both sides connect to it, and each names the other party. It carries what they say, and can
    /// neither read nor change it.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "insecure_plaintext")]
    pub(crate) relay: Option<RelayAddress>,

    /// Meet in a folder that both sides can read and write, such as a network drive or one that is
    /// synchronised: the session goes through files.
    ///
    /// Both name the same folder, as it is called there, and each the other party. A program that
    /// synchronises a folder may keep what was removed from it, encrypted as it is.
    #[arg(long, value_name = "FOLDER", conflicts_with = "insecure_plaintext")]
    pub(crate) via: Option<String>,
}

/// The parties that may be at the other end.
#[derive(ClapArgs)]
pub(crate) struct Trust {
    /// The other party's name, from `psijoin peers`, or fingerprint.
    ///
    /// Its `psijoin fingerprint` prints the latter. A name tells where both meet, too, unless
    /// --listen, --connect, --relay or --via says so. It can be given several times: then whichever
    /// of them comes is the other party.
    #[arg(long = "peer", value_name = "NAME|FINGERPRINT")]
    pub(crate) peers: Vec<Named>,

    /// This party's identity, made by `psijoin keygen --out FILE`.
    ///
    /// [default: your own, as `psijoin fingerprint` shows it]
    #[arg(long, value_name = "FILE", requires = "peers")]
    pub(crate) identity: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) unlock: Unlock,

    /// INSECURE: no encryption, and anybody may be at the other end.
    ///
    /// For tests on one machine.
    #[arg(long, conflicts_with_all = ["identity", "peers", "passphrase_file"])]
    pub(crate) insecure_plaintext: bool,
}

/// The way to the passphrase of an identity.
#[derive(ClapArgs)]
pub(crate) struct Unlock {
    /// A file whose first line is your identity's passphrase.
    ///
    /// Without this, the passphrase is asked for at the terminal, except on Windows. Only you
    /// should be able to read that file.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

/// Reads the fingerprint of a party.
pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    text.parse().map_err(|error| {
        let hint = Remedy::of_fingerprint(&error).map(|remedy| hints::of(&remedy));
        with_hint(&error.to_string(), hint.as_deref())
    })
}

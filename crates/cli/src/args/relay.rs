//! The arguments of `relay`.

use std::{
    net::IpAddr,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use clap::Args as ClapArgs;
use psijoin_frontend::sizes;
use psijoin_relay::Limits;
use psijoin_transport::endpoint::Address;

#[derive(ClapArgs)]
pub(crate) struct Relay {
    /// Where to listen to parties, for example 0.0.0.0:7767.
    ///
    /// The same port speaks WebSocket. For wss://, an HTTPS server stands before it, such as nginx.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Address,

    /// Serve only those who have one of the access keys in this file.
    ///
    /// Each line holds a name for the log and a key of 64 hexadecimal digits, as
    /// `openssl rand -hex 32` prints one. Whoever has a key is not limited by address.
    /// [default: serve everybody]
    #[arg(long, value_name = "FILE")]
    pub(crate) access: Option<PathBuf>,

    /// Where to serve metrics for Prometheus, at /metrics: an address that only monitors reach.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) metrics: Option<Address>,

    /// How long sessions may last after SIGTERM or Ctrl-C, as 30s, 10m or 24h.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = sizes::duration)]
    pub(crate) drain: Duration,

    /// The address of an HTTPS server that stands before the relay, if there is one.
    ///
    /// It is believed where a party comes from (X-Forwarded-For). Otherwise all who come through it
    /// count for its address. Can be repeated.
    #[arg(long = "front-end", value_name = "ADDRESS")]
    pub(crate) front_ends: Vec<IpAddr>,

    #[command(flatten)]
    limits: RelayLimits,
}

/// The limits of what strangers can use up.
#[derive(ClapArgs)]
#[command(next_help_heading = "Limits")]
struct RelayLimits {
    /// The most parties that wait at the same time.
    ///
    /// [default: 10000]
    #[arg(long, value_name = "N")]
    max_waiting: Option<NonZeroUsize>,

    /// The most of them from one address, or network of 64 bits of IPv6.
    ///
    /// [default: 64]
    #[arg(long, value_name = "N")]
    waiting_per_address: Option<NonZeroUsize>,

    /// The most sessions at the same time.
    ///
    /// Each connection of a session counts, and takes six files of the process and two threads.
    /// [default: 1000]
    #[arg(long, value_name = "N")]
    max_pairs: Option<NonZeroUsize>,

    /// The most of them that parties at one address have connected for.
    ///
    /// The side that waits for the other in TLS is not counted. [default: 256]
    #[arg(long, value_name = "N")]
    pairs_per_address: Option<NonZeroUsize>,

    /// The most bytes that a connection may carry in a second, both ways together, as 5MB.
    ///
    /// [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = rate)]
    max_rate: Option<NonZeroU64>,

    /// How long a session may carry nothing, either way, as 90s or 5m.
    ///
    /// [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = sizes::duration)]
    idle: Option<Duration>,

    /// How long a session may last, as 24h or 7d.
    ///
    /// [default: 7d]
    #[arg(long, value_name = "TIME", value_parser = sizes::duration)]
    max_age: Option<Duration>,
}

impl Relay {
    /// Returns the limits, with those that are not given as they are by default.
    pub(crate) fn limits(&self) -> Limits {
        let given = &self.limits;
        let mut limits = Limits::default();
        for (limit, given) in [
            (&mut limits.waiting, given.max_waiting),
            (&mut limits.waiting_per_address, given.waiting_per_address),
            (&mut limits.pairs, given.max_pairs),
            (&mut limits.pairs_per_address, given.pairs_per_address),
        ] {
            *limit = given.map_or(*limit, NonZeroUsize::get);
        }
        limits.bytes_per_second = given.max_rate;
        limits.idle = given.idle.unwrap_or(limits.idle);
        limits.age = given.max_age.unwrap_or(limits.age);
        limits
    }
}

/// Reads a rate.
fn rate(text: &str) -> Result<NonZeroU64, String> {
    let bytes = sizes::bytes(text)?;
    NonZeroU64::new(bytes).ok_or_else(|| "nothing would pass".to_owned())
}

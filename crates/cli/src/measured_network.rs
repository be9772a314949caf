//! The network between two parties, measured together.

use psijoin::Role;
use psijoin_channel::{
    Channel,
    gauge::{Gauged, gauge},
    path::{Measured, Path},
};
use psijoin_forecast::Network;

use crate::{console::Console, exit::Failure, humanize};

/// Measures the network to the other party, which calls this, too, in the other role, and says what was found.
///
/// # Errors
/// If the connection fails.
pub(crate) fn measure(
    channel: &mut Channel,
    role: Role,
    console: &Console,
) -> Result<Network, Failure> {
    let measure = || gauge(channel, role == Role::Sender);
    let gauged = console.during("measuring the network", || (0, 0), measure);
    let gauged = gauged.map_err(psijoin::Error::from)?;
    console.say(format_args!(
        "the network: {} there and back, {} to the other party, {} from it",
        humanize::time(gauged.round_trip),
        humanize::rate(gauged.out_bits_per_second as u64),
        humanize::rate(gauged.in_bits_per_second as u64),
    ));
    Ok(Network::from(path(gauged, role)))
}

/// The way between the sender and the receiver, of whom this party is one.
fn path(gauged: Gauged, role: Role) -> Path {
    let end = Measured::default().round_trip(gauged.round_trip);
    let ours = end.incoming(gauged.in_bits_per_second as u64);
    let theirs = end.incoming(gauged.out_bits_per_second as u64);
    match role {
        Role::Sender => Path::between(ours, theirs),
        Role::Receiver => Path::between(theirs, ours),
    }
}

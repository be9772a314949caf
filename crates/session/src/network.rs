//! The network between two parties, measured together.

use psijoin::Role;
use psijoin_channel::{
    Channel,
    gauge::{Gauged, gauge},
    path::{Measured, Path},
};
use psijoin_forecast::Network;

use crate::{
    Error, Watcher,
    event::{Event, Work, waiting},
};

/// Measures the network to the other party, which calls this, too, in the other role.
///
/// # Errors
/// If the connection fails.
pub fn measure(channel: &mut Channel, role: Role, watcher: &dyn Watcher) -> Result<Network, Error> {
    let measure = || gauge(channel, role == Role::Sender);
    let gauged = waiting(watcher, Work::MeasuringNetwork, measure).map_err(psijoin::Error::from)?;
    watcher.hear(Event::NetworkMeasured(gauged));
    Ok(Network::from(path(gauged, role)))
}

/// Returns the way between the sender and the receiver, of whom this party is one.
fn path(gauged: Gauged, role: Role) -> Path {
    let end = Measured::default().round_trip(gauged.round_trip);
    let ours = end.incoming(gauged.in_bits_per_second as u64);
    let theirs = end.incoming(gauged.out_bits_per_second as u64);
    match role {
        Role::Sender => Path::between(ours, theirs),
        Role::Receiver => Path::between(theirs, ours),
    }
}

//! Meeting the other party only to measure the network to it.

use psijoin::Role;
use psijoin_channel::Channel;
use psijoin_forecast::Network;
use psijoin_handshake::{self as handshake, Hello, begin};
use psijoin_transport::{Endpoint, Interrupt, Options};

use crate::{
    args::{self, Part},
    console::Console,
    exit::Failure,
    measured_network,
    meeting::{self, meet},
    settings::PROTOCOL,
};

/// Meets the other party, if it was said where, and measures the network with it. No data moves.
pub(super) fn measure(
    args: &args::Plan,
    interrupt: Interrupt,
    console: &Console,
) -> Result<Option<Network>, Failure> {
    let args::PlanMeeting { listen, connect } = &args.meeting;
    let Some(mut endpoint) = meeting::endpoint(listen.as_ref(), connect.as_ref()) else {
        return Ok(None);
    };
    let security = meeting::security(&args.trust, console)?;
    let mut options = Options::new(security);
    options.interrupt = interrupt;
    let (connection, mut channel) = meet(&mut endpoint, &options, console)?;
    let network = agree(&mut channel, &endpoint)
        .and_then(|role| measured_network::measure(&mut channel, role, console))
        .inspect_err(|failure| connection.abort(failure.abort_code()))?;
    connection.finish()?;
    let is_sender = args.role == Part::Sender;
    // Whoever listened was the sender.
    let [out, back] = network.bits_per_second;
    let listened = matches!(endpoint, Endpoint::Listen(_));
    Ok(Some(Network {
        bits_per_second: match is_sender == listened {
            true => [out, back],
            false => [back, out],
        },
        ..network
    }))
}

/// Makes sure that the other party is here for the same.
fn agree(channel: &mut Channel, endpoint: &Endpoint) -> Result<Role, Failure> {
    let (role, ours) = match endpoint {
        Endpoint::Listen(_) => (Role::Sender, handshake::Role::Sender),
        Endpoint::Connect(_) => (Role::Receiver, handshake::Role::Receiver),
    };
    let hello = Hello::new(ours, 0).setting(PROTOCOL, "none: `plan` measures the network");
    begin(channel, hello)?.compare()?;
    Ok(role)
}

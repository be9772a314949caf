//! The network to the other party, measured together with it.

use std::sync::Arc;

use psijoin_channel::{
    Channel,
    gauge::{Gauged, gauge},
    memory::Window,
};
use psijoin_forecast::Network;
use psijoin_handshake::{Hello, Role, begin};
use psijoin_table::Progress;
use psijoin_transport::{Endpoint, Interrupt, Options};

use crate::{
    args::{self, Part},
    console::Console,
    exit::Failure,
    humanize,
    interrupt::handle_ctrl_c,
    meeting::{self, meet},
    settings::PROTOCOL,
};

/// What a connection holds that is not on the wire: the buffers of the transport and of TCP.
const BUFFERED_BYTES: f64 = 4e6;

/// Meets the other party, if it was said where, and measures the network with it. No data moves.
pub(super) fn measure(
    args: &args::Plan,
    progress: &Arc<Progress>,
    console: Console,
) -> Result<Option<Network>, Failure> {
    let args::PlanMeeting { listen, connect } = &args.meeting;
    let Some(endpoint) = meeting::endpoint(listen.as_ref(), connect.as_ref()) else {
        return Ok(None);
    };
    let security = meeting::security(&args.trust)?;
    let interrupt = Interrupt::new();
    handle_ctrl_c(interrupt.clone(), progress.clone(), console)?;
    let mut options = Options::new(security);
    options.interrupt = interrupt;
    let (connection, mut channel) = meet(&endpoint, &options, console)?;
    let role = match endpoint {
        Endpoint::Listen(_) => Role::Sender,
        Endpoint::Connect(_) => Role::Receiver,
    };
    let measure = || measured(&mut channel, role);
    let gauged = console
        .during("measuring the network", || (0, 0), measure)
        .inspect_err(|failure| connection.abort(failure.abort_code()))?;
    connection.finish()?;
    console.say(format_args!(
        "the network: {} there and back, {} to the other party, {} from it",
        humanize::time(gauged.round_trip),
        humanize::rate(gauged.out_bits_per_second as u64),
        humanize::rate(gauged.in_bits_per_second as u64),
    ));
    Ok(Some(network(gauged, args.role)))
}

/// Makes sure that the other party is here for the same, and measures.
fn measured(channel: &mut Channel, role: Role) -> Result<Gauged, Failure> {
    let hello = Hello::new(role, 0).setting(PROTOCOL, "none: `plan` measures the network");
    begin(channel, hello)?.compare()?;
    gauge(channel, role == Role::Sender).map_err(|error| psijoin::Error::from(error).into())
}

/// The network between the sender and the receiver of a join, of whom this party is to be one.
fn network(gauged: Gauged, part: Part) -> Network {
    let bits_per_second = match part {
        Part::Sender => [gauged.out_bits_per_second, gauged.in_bits_per_second],
        Part::Receiver => [gauged.in_bits_per_second, gauged.out_bits_per_second],
    };
    let round_trip = gauged.round_trip.as_secs_f64();
    let under_way = |rate: f64| rate / 8.0 * round_trip + BUFFERED_BYTES;
    Network {
        bits_per_second,
        round_trip,
        queue_bytes: bits_per_second.map(under_way),
        unread: Window::default(),
        ..Network::INSTANT
    }
}

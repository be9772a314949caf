//! Meeting the other party only to measure the network to it.

use psijoin::Role;
use psijoin_channel::{
    Channel,
    path::{Measured, Path},
};
use psijoin_forecast::Network;
use psijoin_frontend::{Narrator, Notes, meeting, planning::Between};
use psijoin_handshake::{Hello, begin};
use psijoin_session::{Stop, measure_network, meet, settings::PROTOCOL};
use psijoin_transport::{Endpoint, Options};

use crate::{
    args::{self, Part},
    console::Console,
    exit::Failure,
    parties,
};

/// Meets the other party, if it was said where, and measures the network with it. No data moves.
pub(super) fn measure(
    args: &args::Plan,
    stop: &Stop,
    console: &Console,
) -> Result<Option<Between>, Failure> {
    let args::PlanMeeting { listen, connect } = &args.meeting;
    let listen = listen.clone().map(Endpoint::Listen);
    let connect = connect.clone().map(Endpoint::Connect);
    let Some(mut endpoint) = listen.or(connect) else {
        return Ok(None);
    };
    let partner = parties::partner(&args.trust, console)?;
    let mut options = Options::new(partner.security);
    options.interrupt = stop.interrupt().clone();
    options.proxies = meeting::proxies(None, &endpoint);
    let notes = Notes::default();
    notes.know_as(partner.known_as);
    let watcher = &Narrator {
        listener: console,
        notes: &notes,
    };
    let (connection, mut channel) = meet(&mut endpoint, &options, watcher)?;
    let (network, path) = agree(&mut channel, &endpoint, connection.measured())
        .and_then(|(role, path)| Ok((measure_network(&mut channel, role, watcher)?, path)))
        .inspect_err(|failure| connection.abort(failure.abort_code()))?;
    connection.finish()?;
    let is_sender = args.role == Part::Sender;
    // Whoever listened was the sender.
    let [out, back] = network.bits_per_second;
    let listened = endpoint.lets_in();
    let (network, path) = match is_sender == listened {
        true => (network, path),
        false => {
            let bits_per_second = [back, out];
            let network = Network {
                bits_per_second,
                ..network
            };
            (network, path.swapped())
        }
    };
    Ok(Some(Between {
        network,
        path,
        shown: "the network as measured".to_owned(),
    }))
}

/// Makes sure that the other party is here for the same, and derives the path as a session does.
fn agree(
    channel: &mut Channel,
    endpoint: &Endpoint,
    measured: Measured,
) -> Result<(Role, Path), Failure> {
    let role = match endpoint.lets_in() {
        true => Role::Sender,
        false => Role::Receiver,
    };
    let hello = Hello::new(role, 0).setting(PROTOCOL, "none: plan measures the network");
    let pending = begin(channel, hello.measured(measured))?;
    pending.compare()?;
    Ok((role, pending.path()?))
}

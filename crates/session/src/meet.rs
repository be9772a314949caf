//! The meeting of two parties.

use psijoin_channel::Channel;
use psijoin_transport::{Connection, Endpoint, Listener, Options, Security, endpoint::Address};

use crate::{
    Error, Watcher,
    event::{Event, Work, waiting},
};

/// Meets the other party. An endpoint that listens at any port has that port afterwards: to be met
/// there again.
///
/// # Errors
/// As [`Connection::accept`] and [`Connection::connect`].
pub fn meet(
    endpoint: &mut Endpoint,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<(Connection, Channel), Error> {
    let met = match endpoint {
        Endpoint::Listen(address) => listen(address, options, watcher),
        Endpoint::Connect(address) => connect(address, options, watcher),
    }?;
    watcher.hear(Event::Connected {
        peer: match &options.security {
            Security::PinnedTls { peer, .. } => Some(*peer),
            _ => None,
        },
        address: met.0.peer_address().to_string(),
        measured: met.0.measured(),
        key_exchange: met.0.key_exchange(),
    });
    Ok(met)
}

fn listen(
    address: &mut Address,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<(Connection, Channel), Error> {
    let listener = Listener::bind(address)?;
    *address = listener.address().clone();
    watcher.hear(Event::Listening {
        address,
        wait: options.timeouts.meet,
    });
    let accept = || Connection::accept(listener, options);
    Ok(waiting(watcher, Work::WaitingForPeer, accept)?)
}

fn connect(
    address: &Address,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<(Connection, Channel), Error> {
    watcher.hear(Event::Connecting {
        address,
        wait: options.timeouts.meet,
    });
    let connect = || Connection::connect(address, options);
    Ok(waiting(watcher, Work::WaitingForPeer, connect)?)
}

//! The meeting of two parties.

use psijoin_channel::Channel;
use psijoin_transport::{
    Connection, Endpoint, Error as TransportError, Listener, Options, Sight, endpoint::Address,
};

use crate::{
    Error, Watcher,
    event::{Event, MeetingPlace, Warning, Work, waiting},
};

/// Meets the other party. An endpoint that listens at any port has that port afterwards: to be met
/// there again.
///
/// # Errors
/// As [`Connection::open`].
pub fn meet(
    endpoint: &mut Endpoint,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<(Connection, Channel), Error> {
    if let Some(why) = options.proxies.unusable(endpoint) {
        watcher.hear(Event::Warning(Warning::UnusableProxy(why)));
    }
    let met = match endpoint {
        Endpoint::Listen(address) => listen(address, options, watcher),
        Endpoint::Connect(address) => connect(address, options, watcher),
        Endpoint::Relay(at) => {
            let place = MeetingPlace::Relay(&at.relay);
            go(place, options, watcher, |sees| {
                Connection::meet_at_relay(at, options, sees)
            })
        }
        Endpoint::Folder(at) => {
            let place = MeetingPlace::Folder(&at.folder);
            go(place, options, watcher, |sees| {
                Connection::meet_in_folder(at, options, sees)
            })
        }
    }?;
    watcher.hear(Event::Connected {
        peer: (met.0.peer_key())
            .map(|key| key.fingerprint())
            .or_else(|| options.security.only_peer()),
        address: met.0.peer_place().to_owned(),
        measured: met.0.measured(),
        key_exchange: met.0.key_exchange(),
    });
    watcher.hear(Event::Met(&met.0));
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

/// Goes where both parties go.
fn go(
    place: MeetingPlace<'_>,
    options: &Options,
    watcher: &dyn Watcher,
    meet: impl FnOnce(&dyn Fn(Sight)) -> Result<(Connection, Channel), TransportError>,
) -> Result<(Connection, Channel), Error> {
    watcher.hear(Event::Going {
        place,
        wait: options.timeouts.meet,
    });
    let sees = |sight| watcher.hear(Event::Seen { place, sight });
    Ok(waiting(watcher, Work::WaitingForPeer, || meet(&sees))?)
}

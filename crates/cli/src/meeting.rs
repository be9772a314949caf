//! How two parties meet.

use std::time::Duration;

use psijoin_channel::{
    Channel,
    path::{FAST_BITS_PER_SECOND, Measured},
};
use psijoin_printable::Word;
use psijoin_transport::{Connection, Endpoint, Listener, Options, Security, endpoint::Address};

use crate::{args, console::Console, exit::Failure, home, humanize};

/// What the user has to know about a connection in plaintext.
pub(crate) const INSECURE: &str = "--insecure-plaintext: anybody on the way can read and change \
                                   what the parties say.";

/// Who the parties are. If no identity is named, it is the user's own.
///
/// # Errors
/// If that was not said, the identity cannot be read, or it is the peer's, too.
pub(crate) fn security(trust: &args::Trust, console: &Console) -> Result<Security, Failure> {
    let Some(peer) = trust.peer else {
        return match trust.insecure_plaintext {
            true => Ok(Security::InsecurePlaintext),
            false => Err(Failure::Usage(
                "say who the other party is: --peer FINGERPRINT (run `psijoin fingerprint` on each side, and exchange \
                 what it prints), or --insecure-plaintext for a test"
                    .into(),
            )),
        };
    };
    let own = home::identity(trust.identity.as_deref())?;
    let identity = own.identity;
    if own.is_new {
        console.say(format_args!(
            "made your identity, {}, in {}: the other side must name this fingerprint with --peer",
            identity.fingerprint(),
            psijoin_printable::path(&own.path),
        ));
    }
    let security = Security::PinnedTls { identity, peer };
    security.check()?;
    Ok(security)
}

/// Where the parties meet, if that was said.
pub(crate) fn endpoint(listen: Option<&Address>, connect: Option<&Address>) -> Option<Endpoint> {
    let listen = listen.cloned().map(Endpoint::Listen);
    listen.or_else(|| connect.cloned().map(Endpoint::Connect))
}

/// Meets the other party. An endpoint that listens at any port has that port afterwards: to be met there again.
///
/// # Errors
/// As [`Connection::open`].
pub(crate) fn meet(
    endpoint: &mut Endpoint,
    options: &Options,
    console: &Console,
) -> Result<(Connection, Channel), Failure> {
    let met = match endpoint {
        Endpoint::Listen(address) => listen(address, options, console),
        Endpoint::Connect(address) => connect(address, options, console),
    }?;
    let address = met.0.peer_address();
    match &options.security {
        Security::PinnedTls { peer, .. } => {
            console.say(format_args!("connected to {peer} at {address}"));
        }
        _ => console.say(format_args!("connected to {address}")),
    }
    if let Some(network) = network(met.0.measured()) {
        console.say(network);
    }
    Ok(met)
}

/// What the greeting has shown of the network, in words.
fn network(measured: Measured) -> Option<String> {
    let round_trip = Duration::from_micros(measured.round_trip_micros()?);
    let rate = match measured.incoming_bits_per_second()? {
        // Faster is not told from this.
        FAST_BITS_PER_SECOND.. => format!("{} or more", humanize::rate(FAST_BITS_PER_SECOND)),
        rate => humanize::rate(rate),
    };
    let round_trip = humanize::time(round_trip);
    Some(format!(
        "round trip {round_trip}, from the other party {rate}"
    ))
}

fn listen(
    address: &mut Address,
    options: &Options,
    console: &Console,
) -> Result<(Connection, Channel), Failure> {
    let listener = Listener::bind(address)?;
    *address = listener.address().clone();
    console.say(format_args!(
        "listening on {}; waiting up to {} s for the other party",
        Word(listener.address().as_str()),
        options.timeouts.meet.as_secs(),
    ));
    Ok(waiting(console, || Connection::accept(listener, options))?)
}

fn connect(
    address: &Address,
    options: &Options,
    console: &Console,
) -> Result<(Connection, Channel), Failure> {
    console.say(format_args!(
        "connecting to {}; trying for up to {} s",
        address.as_str(),
        options.timeouts.meet.as_secs(),
    ));
    Ok(waiting(console, || Connection::connect(address, options))?)
}

fn waiting<T>(console: &Console, meet: impl FnOnce() -> T) -> T {
    console.during("waiting for the other party", || (0, 0), meet)
}

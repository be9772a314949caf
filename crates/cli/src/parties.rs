//! The parties and their meeting place, from the command line.

use psijoin_frontend::{Failure, home, meeting::Place};
use psijoin_transport::{Endpoint, Security, endpoint::Address};

use crate::{args, console::Console};

/// Returns who the parties are. If no identity is named, it is the user's own.
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

/// Returns where the parties meet, if that was said.
pub(crate) fn endpoint(listen: Option<&Address>, connect: Option<&Address>) -> Option<Endpoint> {
    let listen = listen.cloned().map(Endpoint::Listen);
    listen.or_else(|| connect.cloned().map(Endpoint::Connect))
}

/// Returns where the parties of a join meet.
///
/// # Errors
/// If both are to go somewhere, and it was not said who they are, or the relay's key cannot be
/// read.
pub(crate) fn meeting_place(
    connection: &args::Connection,
    security: &Security,
) -> Result<Endpoint, Failure> {
    let args::Meeting {
        listen,
        connect,
        relay,
        via,
    } = connection.meeting.clone();
    let place = (listen.map(Place::Listen))
        .or(connect.map(Place::Connect))
        .or(relay.map(|relay| Place::Relay {
            relay,
            key: connection.relay_key.clone(),
        }))
        .or(via.map(Place::Folder));
    let place = place.ok_or_else(|| {
        Failure::Usage(
            "say where the parties meet: --listen on one side and --connect on the other, or --relay or --via on both"
                .to_owned(),
        )
    })?;
    place.endpoint(security)
}

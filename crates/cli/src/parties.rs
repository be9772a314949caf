//! The parties and their meeting place, from the command line.

use psijoin_frontend::{Failure, home, partner::Partner};
use psijoin_peers::Place;
use psijoin_transport::Endpoint;

use crate::{args, console::Console, passphrase};

/// Returns who the parties are. If no identity is named, it is the user's own.
///
/// # Errors
/// If that was not said, the identity cannot be read, or it is the peer's, too; and if a name is
/// unknown.
pub(crate) fn partner(trust: &args::Trust, console: &Console) -> Result<Partner, Failure> {
    if trust.peers.is_empty() {
        return match trust.insecure_plaintext {
            true => Ok(Partner::anybody()),
            false => Err(Failure::Usage(
                "say who the other party is: --peer NAME or --peer FINGERPRINT (`psijoin invite` on one side and \
                 `psijoin accept` on the other let both know each other by name; or run `psijoin fingerprint` on each \
                 side, and exchange what it prints), or --insecure-plaintext for a test"
                    .into(),
            )),
        };
    }
    let own = home::identity(trust.identity.as_deref())?;
    if own.is_new {
        console.say(format_args!(
            "made your identity, {}, in {}: the other side must name this fingerprint with --peer",
            own.fingerprint,
            psijoin_printable::path(&own.path),
        ));
    }
    let identity = own.unlock(&passphrase::unlocking(&trust.unlock)?)?;
    let book = home::book(trust.identity.as_deref())?;
    Partner::find(&identity, &trust.peers, &book)
}

/// Returns where the parties of a join meet.
///
/// # Errors
/// If that was not said, and is not known; if both are to go somewhere, and it was not said who
/// they are; and if the relay's key cannot be read.
pub(crate) fn meeting_place(
    connection: &args::Connection,
    partner: &Partner,
) -> Result<Endpoint, Failure> {
    let args::Meeting {
        listen,
        connect,
        relay,
        via,
    } = connection.meeting.clone();
    let said = (listen.map(Place::Listen))
        .or(connect.map(Place::Connect))
        .or(relay.map(Place::Relay))
        .or(via.map(Place::Folder));
    let endpoint = partner.endpoint(said.as_ref(), connection.relay_key.as_deref())?;
    endpoint.ok_or_else(|| {
        Failure::Usage(
            "say where the parties meet: --listen on one side and --connect on the other, or --relay or --via on both; \
             of somebody whom you know by an invitation, --peer NAME tells it"
                .to_owned(),
        )
    })
}

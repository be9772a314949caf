//! The parties and their meeting place, from the command line.

use std::{env, fs, path::Path};

use psijoin_frontend::{Failure, home};
use psijoin_transport::{
    AtRelay, Endpoint, InFolder, Proxies, Proxy, Security, endpoint::Address, rendezvous::AccessKey,
};
use zeroize::Zeroizing;

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
/// If both are to go somewhere, and it was not said who they are, or the relay's key cannot be read.
pub(crate) fn meeting_place(
    connection: &args::Connection,
    security: &Security,
) -> Result<Endpoint, Failure> {
    let args::Meeting {
        listen,
        connect,
        relay,
        via,
    } = &connection.meeting;
    if let Some(endpoint) = endpoint(listen.as_ref(), connect.as_ref()) {
        return Ok(endpoint);
    }
    let Security::PinnedTls { identity, peer } = security else {
        return Err(Failure::Usage(
            "where both sides go to meet, each has to say who the other one is: give --peer FINGERPRINT".to_owned(),
        ));
    };
    let (ours, theirs) = (identity.fingerprint(), *peer);
    match (relay, via) {
        (Some(relay), _) => {
            let mut at = AtRelay::first_meeting(relay.clone(), ours, theirs);
            at.access = connection.relay_key.as_deref().map(read_key).transpose()?;
            Ok(Endpoint::Relay(at))
        }
        (None, Some(folder)) => Ok(Endpoint::Folder(InFolder::first_meeting(
            folder, ours, theirs,
        ))),
        (None, None) => unreachable!("the command line demands one"),
    }
}

/// Reads the access key of a relay.
fn read_key(path: &Path) -> Result<AccessKey, Failure> {
    let text = fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|error| {
        let path = psijoin_printable::path(path);
        Failure::Usage(format!(
            "the relay's key cannot be read from {path}: {error}"
        ))
    })?;
    text.trim().parse().map_err(|_| {
        let path = psijoin_printable::path(path);
        Failure::Usage(format!(
            "{path} is not the access key of a relay: 64 hexadecimal digits"
        ))
    })
}

/// Returns the proxies on the way to where the parties meet: the one that is named, or those of the
/// environment.
///
/// # Errors
/// If the environment names what is no proxy.
pub(crate) fn proxies(named: Option<&Proxy>, endpoint: &Endpoint) -> Result<Proxies, Failure> {
    match (named, endpoint) {
        (_, Endpoint::Listen(_) | Endpoint::Folder(_)) => Ok(Proxies::default()),
        (Some(proxy), _) => Ok(Proxies::all(proxy.clone())),
        (None, _) => {
            let variable = |name: &str| env::var(name).ok();
            Proxies::from_environment(variable)
                .map_err(|error| Failure::Usage(format!("https_proxy in the environment: {error}")))
        }
    }
}

//! `psijoin invite`: a link for another party, which is known by name from then on.

use psijoin_frontend::{home, meeting};
use psijoin_peers::{Place, Wanted, date, now};

use super::accept::get_to_know;
use crate::{args, console::Console, exit::Failure, output, passphrase};

pub(super) fn run(args: &args::Invite) -> Result<(), Failure> {
    let named = args.own.identity.as_deref();
    let own = home::identity(named)?;
    let identity = own.unlock(&passphrase::unlocking(&args.unlock)?)?;
    let book = home::book(named)?;
    let ends = now().saturating_add(args.expires.as_secs());
    let wanted = wanted(args, ends)?;
    // Before the link is there, which works once.
    args.relay_key
        .as_deref()
        .map(meeting::relay_key)
        .transpose()?;
    let link = book.change(|peers| peers.invite(args.name.clone(), &identity, wanted))?;
    output::text(&format!("{link}\n"))?;
    let (console, name) = (Console::wanted(), &args.name);
    let via = match args.place.via {
        Some(_) => " --via FOLDER",
        None => "",
    };
    console.say(format_args!(
        "Send this link to the other party, over a channel that you trust: who has it is {name}. It \
         works once, until {}.\n\
         There it is accepted by\n  \
         psijoin accept LINK{via}\n\
         and then you join, whenever you like:\n  \
         psijoin receive --peer {name} …",
        date(ends),
    ));
    if args.confirm {
        console.say(format_args!(
            "Nobody is let in before you have compared fingerprints: ask for that of {name} by \
             telephone, and run\n  \
             psijoin peers confirm {name} FINGERPRINT"
        ));
    }
    match args.wait {
        true => get_to_know(
            &identity,
            (&book, name),
            args.relay_key.as_deref(),
            &console,
        ),
        false => Ok(()),
    }
}

/// Returns the invitation that the arguments ask for.
fn wanted(args: &args::Invite, ends: u64) -> Result<Wanted, Failure> {
    let args::Told { relay, listen, via } = &args.place;
    let mut wanted = match (relay, listen, via) {
        (Some(relay), ..) => Wanted::until(ends, Place::Relay(relay.clone())),
        (None, Some(address), _) => Wanted::here(ends, address.clone()),
        (None, None, Some(folder)) => Wanted::until(ends, meeting::folder(folder)?),
        (None, None, None) => return Err(Failure::Usage("say where you meet".to_owned())),
    };
    wanted.confirm = args.confirm;
    wanted.own_name = args.own_name.clone();
    Ok(wanted)
}

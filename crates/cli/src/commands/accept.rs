//! `psijoin accept`: the other side of an invitation.

use std::{
    io::{self, Read},
    path::Path,
    time::Duration,
};

use psijoin::Role;
use psijoin_frontend::{
    Failure, Narrator, Notes, home, meeting,
    partner::{Named, Partner},
};
use psijoin_handshake::{Hello, begin};
use psijoin_peers::{Book, Link, Name, Side, date};
use psijoin_session::{Meeting, Stop, meet, settings::PROTOCOL};
use psijoin_transport::{Endpoint, Identity};
use zeroize::Zeroizing;

use crate::{args, console::Console, exit::ProgramFault, interrupt::handle_ctrl_c, passphrase};

/// More than any link takes.
const MAX_LINK_BYTES: u64 = 1 << 16;

pub(super) fn run(args: &args::Accept) -> Result<(), Failure> {
    let link = read(&args.link)?;
    let named = args.own.identity.as_deref();
    let own = home::identity(named)?;
    if link.fingerprint() == own.fingerprint {
        return Err(psijoin_peers::Error::OwnInvitation.into());
    }
    let name = args.name.as_ref().or(link.name()).ok_or_else(|| {
        Failure::Usage(
            "the other party suggests no name for itself: say by which name you want to know it, with \
             --as NAME"
                .to_owned(),
        )
    })?;
    let book = home::book(named)?;
    let folder = args.via.as_deref().map(meeting::folder).transpose()?;
    args.relay_key
        .as_deref()
        .map(meeting::relay_key)
        .transpose()?;
    let is_place_known = folder.is_some() || !link.places().is_empty();
    book.change(|peers| {
        peers.accept(name.clone(), &link)?;
        folder.map_or(Ok(()), |folder| peers.meet_at(name, folder))
    })?;
    let console = Console::wanted();
    console.say(format_args!(
        "{name} is the party with the fingerprint {}. It gets to know you ({}) in your first session, \
         which has to begin before {}:\n  \
         psijoin send --peer {name}{} …",
        link.fingerprint(),
        own.fingerprint,
        date(link.ends()),
        if is_place_known { "" } else { " --via FOLDER" },
    ));
    match args.wait {
        true => {
            let identity = own.unlock(&passphrase::unlocking(&args.unlock)?)?;
            let relay_key = args.relay_key.as_deref();
            get_to_know(&identity, (&book, name), relay_key, &console)
        }
        false => Ok(()),
    }
}

fn read(said: &str) -> Result<Link, Failure> {
    let mut text = Zeroizing::new(said.to_owned());
    if said == "-" {
        text.clear();
        let read = io::stdin().take(MAX_LINK_BYTES).read_to_string(&mut text);
        read.map_err(ProgramFault::Stdin)?;
    }
    Ok(text.parse::<Link>().map_err(psijoin_peers::Error::from)?)
}

/// Meets a party that waits for this one, only so that both know each other. `relay_key` is the
/// file of the access key of a relay.
pub(super) fn get_to_know(
    identity: &Identity,
    (book, name): (&Book, &Name),
    relay_key: Option<&Path>,
    console: &Console,
) -> Result<(), Failure> {
    let partner = Partner::find(identity, &[Named::Name(name.clone())], book)?;
    let no_place = || {
        Failure::Usage(format!(
            "nobody has said where {name} is met: leave --wait out"
        ))
    };
    let mut endpoint = partner.endpoint(None, relay_key)?.ok_or_else(no_place)?;
    let stop = Stop::default();
    handle_ctrl_c(stop.clone(), *console)?;
    let mut wanted = Meeting::new(endpoint.clone(), partner.security);
    wanted.wait = until_the_end(book, name)?;
    wanted.proxies = meeting::proxies(None, &endpoint);
    let mut options = wanted.options();
    options.interrupt = stop.interrupt().clone();
    let notes = Notes::default();
    notes.know_as(partner.known_as);
    let watcher = &Narrator {
        listener: console,
        notes: &notes,
    };
    let (connection, mut channel) = meet(&mut endpoint, &options, watcher)?;
    let hello = Hello::new(role(&endpoint), 0);
    let hello = hello.setting(PROTOCOL, "none: the parties get to know each other");
    begin(&mut channel, hello)
        .and_then(|pending| pending.compare())
        .map_err(Failure::from)
        .inspect_err(|failure| connection.abort(failure.abort_code()))?;
    Ok(connection.finish()?)
}

/// Returns how long the invitation is still good for.
fn until_the_end(book: &Book, name: &Name) -> Result<Duration, Failure> {
    let peers = book.read()?;
    let invitation = peers.named(name)?.invitation.as_ref();
    let left = invitation.map_or(0, |it| it.ends.saturating_sub(psijoin_peers::now()));
    // A guest comes to a party that waits already.
    let most = match invitation.map(|it| it.side) {
        Some(Side::Inviter) => u64::MAX,
        _ => 60,
    };
    Ok(Duration::from_secs(left.clamp(1, most)))
}

fn role(endpoint: &Endpoint) -> Role {
    match endpoint.lets_in() {
        true => Role::Sender,
        false => Role::Receiver,
    }
}

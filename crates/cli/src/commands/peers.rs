//! `psijoin peers`: those whom the user knows by name.

use psijoin_frontend::{
    grid::{Align, Grid},
    home,
    partner::shown::{self, Shown},
};
use psijoin_peers::{Name, Peers};

use crate::{
    args::{self, PeersAction},
    console::Console,
    exit::Failure,
    output,
};

pub(super) fn run(args: &args::Peers) -> Result<(), Failure> {
    let book = home::book(args.own.identity.as_deref())?;
    let console = Console::wanted();
    match &args.action {
        PeersAction::List { json } => list(&book.read()?, *json),
        PeersAction::Show { name, json } => show(&book.read()?, name, *json),
        PeersAction::Rename { name, new } => {
            book.change(|peers| peers.rename(name, new.clone()))?;
            console.say(format_args!("{name} is {new} from now on"));
            Ok(())
        }
        PeersAction::Remove { name } => {
            book.change(|peers| peers.remove(name))?;
            console.say(format_args!(
                "{name} is a stranger from now on. What it has learned, it knows, and what it has signed \
                 stays signed."
            ));
            Ok(())
        }
        PeersAction::Confirm { name, fingerprint } => {
            book.change(|peers| peers.confirm(name, *fingerprint))?;
            console.say(format_args!(
                "{name} is let in when it comes with {fingerprint}, and nobody else is"
            ));
            Ok(())
        }
    }
}

fn list(peers: &Peers, json: bool) -> Result<(), Failure> {
    if json {
        let shown = peers.iter().map(|(name, peer)| Shown::new(name, peer));
        return shown.into_iter().try_for_each(|shown| output::json(&shown));
    }
    if peers.iter().next().is_none() {
        Console::wanted().say(
            "you know nobody by name yet: `psijoin invite NAME` invites somebody, and `psijoin accept \
             LINK` accepts an invitation",
        );
        return Ok(());
    }
    let columns = ["name", "state", "fingerprint", "place"];
    let mut grid = Grid::new(&columns.map(|name| (name, Align::Left)));
    for (name, peer) in peers.iter() {
        let fingerprint = peer.fingerprint();
        grid.row([
            name.to_string(),
            shown::state(peer).to_owned(),
            fingerprint.map_or_else(|| "(not known yet)".to_owned(), |it| it.to_string()),
            (peer.place.as_ref()).map_or_else(String::new, ToString::to_string),
        ]);
    }
    output::text(&grid.to_string())
}

fn show(peers: &Peers, name: &Name, json: bool) -> Result<(), Failure> {
    let shown = Shown::new(name, peers.named(name)?);
    match json {
        true => output::json(&shown),
        false => output::text(&shown.text()),
    }
}

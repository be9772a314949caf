//! Those whom the user knows by name: invitations, and what is kept.

use std::path::PathBuf;

use psijoin_frontend::{Failure, home, meeting, partner::shown::Shown, report::json_line};
use psijoin_peers::{Book, Link, Name, Peers, Place, Wanted, now};
use psijoin_transport::Error;
use pyo3::prelude::*;

use crate::{failed::raised, options::usage, wanted};

/// Invites another party, to be known by that name, and returns the link. `place` is a pair:
/// `relay` or `listen` and its address, or `via` and a folder.
#[pyfunction]
#[pyo3(signature = (identity, passphrase, name, place, seconds, confirm, own_name))]
pub(crate) fn invite(
    identity: PathBuf,
    passphrase: Option<String>,
    name: &str,
    place: (String, String),
    seconds: u64,
    confirm: bool,
    own_name: Option<&str>,
) -> PyResult<String> {
    let (name, own_name) = (called(name)?, own_name.map(called).transpose()?);
    let mut wanted = wanted(&place, now().saturating_add(seconds))?;
    wanted.confirm = confirm;
    wanted.own_name = own_name;
    let passphrase = wanted::passphrase(passphrase)?;
    let invited = || {
        let own = home::identity(Some(&identity))?;
        let own = own.unlock(&passphrase.into())?;
        let book = home::book(Some(&identity))?;
        let link = book.change(|peers| peers.invite(name, &own, wanted))?;
        Ok(link.to_string())
    };
    invited().map_err(failed)
}

/// Accepts an invitation, and returns the name by which the other party is known from then on: the
/// one that is given, or that it suggests. Both meet in the folder `via`, if one is named.
#[pyfunction]
#[pyo3(signature = (identity, link, name, via))]
pub(crate) fn accept(
    identity: PathBuf,
    link: &str,
    name: Option<&str>,
    via: Option<&str>,
) -> PyResult<String> {
    let name = name.map(called).transpose()?;
    let accepted = || {
        let own = home::identity(Some(&identity))?;
        let link = link.parse::<Link>().map_err(psijoin_peers::Error::from)?;
        if own.fingerprint == link.fingerprint() {
            return Err(psijoin_peers::Error::OwnInvitation.into());
        }
        let name = name.or_else(|| link.name().cloned()).ok_or_else(|| {
            let why = "the other party suggests no name for itself: give it one with `name`";
            Failure::Usage(why.to_owned())
        })?;
        let book = home::book(Some(&identity))?;
        let folder = via.map(meeting::folder).transpose()?;
        book.change(|peers| {
            peers.accept(name.clone(), &link)?;
            folder.map_or(Ok(()), |folder| peers.meet_at(&name, folder))
        })?;
        Ok(name.to_string())
    };
    accepted().map_err(failed)
}

/// Returns what is kept of each party that the user knows by name: a line of JSON for each.
#[pyfunction]
pub(crate) fn peers(identity: PathBuf) -> PyResult<Vec<String>> {
    let read = || Ok(home::book(Some(&identity))?.read()?);
    let peers = read().map_err(failed)?;
    let shown = peers
        .iter()
        .map(|(name, peer)| json_line(&Shown::new(name, peer)));
    Ok(shown.collect())
}

/// Gives a party another name.
#[pyfunction]
pub(crate) fn rename_peer(identity: PathBuf, name: &str, new: &str) -> PyResult<()> {
    let (name, new) = (called(name)?, called(new)?);
    change(identity, |peers| peers.rename(&name, new))
}

/// Forgets a party.
#[pyfunction]
pub(crate) fn remove_peer(identity: PathBuf, name: &str) -> PyResult<()> {
    let name = called(name)?;
    change(identity, |peers| peers.remove(&name).map(drop))
}

/// Confirms the fingerprint of a party that was invited so.
#[pyfunction]
pub(crate) fn confirm_peer(identity: PathBuf, name: &str, fingerprint: &str) -> PyResult<()> {
    let name = called(name)?;
    let fingerprint = fingerprint.parse();
    let fingerprint = fingerprint.map_err(|error| usage(format!("`fingerprint`: {error}")))?;
    change(identity, |peers| peers.confirm(&name, fingerprint))
}

fn change(
    identity: PathBuf,
    change: impl FnOnce(&mut Peers) -> Result<(), psijoin_peers::Error>,
) -> PyResult<()> {
    let book = || home::book(Some(&identity));
    let changed = |book: Book| Ok(book.change(change)?);
    book().and_then(changed).map_err(failed)
}

fn wanted((kind, address): &(String, String), ends: u64) -> PyResult<Wanted> {
    let invalid = |error: &dyn std::fmt::Display| usage(format!("`{kind}`: {error}"));
    match &**kind {
        "relay" => {
            let relay = address.parse().map_err(|error: Error| invalid(&error))?;
            Ok(Wanted::until(ends, Place::Relay(relay)))
        }
        "via" => {
            let folder = meeting::folder(address).map_err(failed)?;
            Ok(Wanted::until(ends, folder))
        }
        _ => {
            let dialled = address.parse().map_err(|error: Error| invalid(&error))?;
            Ok(Wanted::here(ends, dialled))
        }
    }
}

fn called(name: &str) -> PyResult<Name> {
    name.parse().map_err(usage)
}

fn failed(failure: Failure) -> PyErr {
    raised(failure.into())
}

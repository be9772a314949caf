//! The options and commands by which users do something about an error or a warning.
//!
//! Errors come from those who find them, in terms of the library. The way out differs between a
//! caller from Python, say, and a user of `psijoin`, so hints are apart.

use std::{borrow::Cow, io};

use psijoin_channel::{AbortCode, Error as ChannelError};
use psijoin_handshake::Error as HandshakeError;
use psijoin_record::Error as RecordError;
use psijoin_session::{Error, KeyDifference, Warning, settings::OUTPUT};
use psijoin_table::Kind;
use psijoin_transport::Error as TransportError;

use crate::words::Remedy;

mod question;
mod settings;
mod table;

pub(crate) use table::of_doubt;

/// Advice for users, in a few words.
pub type Hint = Cow<'static, str>;

/// Advice for users who find next to nothing.
pub(crate) const OF_FEW_SHARED: &str = "`psijoin keys FILE` shows the first keys as they are compared, and what each rule of --normalize changed";

/// Returns what users do about an error, if anything can be said.
pub(crate) fn of_error(error: &Error) -> Option<Hint> {
    if let Some(reason) = reason_of_peer(error) {
        return of_reason(reason).map(Hint::Borrowed);
    }
    match error {
        Error::Table(error) => table::of_error(error),
        Error::Psi(psijoin::Error::Table(error)) => match error.downcast_ref() {
            Some(error) => table::of_error(error),
            None => table::of_spill(error.downcast_ref()?).map(Hint::Borrowed),
        },
        Error::Transport(error) => of_transport(error).map(Hint::Borrowed),
        Error::Handshake(HandshakeError::Mismatch(on)) => {
            settings::of(on.iter().map(|one| &*one.field)).map(Hint::Owned)
        }
        Error::Job(error) => of_job(error),
        Error::Unable(unable) => Some(Hint::Owned(question::of_unable(unable))),
        Error::Spec(fault) => Some(Hint::Borrowed(question::of_spec(*fault))),
        Error::Question(fault) => Some(question::of_question(fault)),
        Error::Unconfirmed(why) | Error::UnconfirmedResult(why) => of_error(why),
        other => of_session(other).map(Hint::Borrowed),
    }
}

fn of_session(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Handshake(HandshakeError::Setting { name, .. }) if name == OUTPUT => {
            "ask for fewer columns, or for columns with shorter names"
        }
        Error::Handshake(HandshakeError::Setting { .. }) => {
            "give fewer key columns, or fewer rules: one column can hold several joined beforehand"
        }
        Error::Unsigned(RecordError::CannotSign | RecordError::PeerCannotSign) => {
            "`psijoin keygen` makes an identity that can"
        }
        Error::TooLittleMemory { .. } => "give more --memory",
        Error::TooFew(_)
        | Error::JobIsOver {
            too_few: Some(_), ..
        } => "--min-intersection demands as many",
        Error::TooManyPeerKeys { .. } => {
            "if such a large set is right, raise --max-peer-keys; as the sender, consider what a receiver learns if it puts in \
             every key it can think of"
        }
        Error::NoRoomForPeerKeys { .. } => {
            "give more --memory, or run on a machine that has more; --max-peer-keys N tries it all the same"
        }
        Error::TooMuchGiven(_) => {
            "take fewer columns (--take), allow more here (--take-rows, --take-bytes), or let the other party give less: a \
             smaller K of --repeated list:K, or a smaller --give-bytes"
        }
        Error::ReceiverSums(_) => {
            "--allow-sums-that-reveal-keys allows it: see \"What an answer tells\" in docs/functions.md first"
        }
        Error::UnlikeKeys | Error::DoubtfulTable => "--strict refuses that",
        Error::NoRecord { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            "a record may be evidence, so it is never replaced: name a new file, or move the old one"
        }
        Error::OverwritesInput(_) => "name another file in --report",
        Error::OnlyChecked => "it was started as `psijoin check`",
        _ => return None,
    })
}

/// Returns why the other party gave up, if that is the error.
pub fn reason_of_peer(error: &Error) -> Option<AbortCode> {
    match error {
        Error::Psi(psijoin::Error::Channel(ChannelError::PeerAborted(reason)))
        | Error::Transport(TransportError::Channel(ChannelError::PeerAborted(reason)))
        | Error::Handshake(HandshakeError::Channel(ChannelError::PeerAborted(reason)))
        | Error::Unsigned(RecordError::Channel(ChannelError::PeerAborted(reason))) => Some(*reason),
        _ => None,
    }
}

fn of_reason(reason: AbortCode) -> Option<&'static str> {
    Some(match reason {
        AbortCode::BadLuck => "with --job, name new folders",
        AbortCode::UnlikeItems => "it was started with --strict, which refuses that",
        AbortCode::TooFewStreams => ONE_CONNECTION,
        AbortCode::NotOffered => {
            "tell the other side which columns --give here names, as they are spelled here, or let it say --take all"
        }
        AbortCode::TooMuchGiven => {
            "--give names the columns; a smaller K of --repeated list:K gives fewer rows, and a smaller --give-bytes fewer \
             bytes for each"
        }
        _ => return None,
    })
}

const ONE_CONNECTION: &str = "give --threads 1 on both sides";

fn of_transport(error: &TransportError) -> Option<&'static str> {
    match error {
        TransportError::IdentityFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Some("`psijoin keygen` makes an identity")
        }
        TransportError::TooFewStreams { .. } => Some(ONE_CONNECTION),
        error if is_of_keys(error) => Some(
            "each side gives the fingerprint that the other's `psijoin keygen` printed as --peer",
        ),
        _ => None,
    }
}

/// Returns whether the parties did not meet because one of them does not have the key that it
/// should have.
pub fn is_of_keys(error: &TransportError) -> bool {
    use TransportError::*;
    match error {
        WrongPeer { .. } | Refused { .. } => true,
        NobodyListened { attempt, .. } => {
            (attempt.as_ref()).is_some_and(|attempt| is_of_keys(&attempt.why))
        }
        NobodyConnected { strangers, .. } => {
            (strangers.as_ref()).is_some_and(|strangers| is_of_keys(&strangers.why))
        }
        _ => false,
    }
}

fn of_job(error: &psijoin_job::Error) -> Option<Hint> {
    use psijoin_job::Error::*;
    match error {
        Changed { name, .. } | ChangedSecret { name, .. } => {
            Some(format!("{} it", settings::that_say(name)?).into())
        }
        Io { source, .. } if is_no_room(source) => Some(Hint::Borrowed(
            "nothing is lost: make room there, and both run the same commands again; they go on with what was kept",
        )),
        _ => None,
    }
}

/// Returns whether there is no more room for a file.
fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Returns what users do about what they are warned of, if anything can be said.
pub(crate) fn of_warning(warning: &Warning<'_>) -> Option<Hint> {
    Some(Hint::Borrowed(match warning {
        Warning::Plaintext => "--insecure-plaintext",
        Warning::Doubtful { doubt, .. } => return of_doubt(doubt),
        Warning::UnlikeKeys(difference) => return of_difference(difference),
        Warning::Curious { .. } => "--max-peer-keys N refuses larger sets",
        Warning::SumOverFew => {
            "--min-intersection K on both sides withholds the sum of fewer than K keys"
        }
        Warning::MeetsAgain(error) => return of_error(error),
        Warning::Insecure(_) | Warning::BadCells { .. } => return None,
    }))
}

fn of_difference(difference: &KeyDifference) -> Option<Hint> {
    Some(match difference {
        KeyDifference::Order => Hint::Borrowed("--key names them"),
        KeyDifference::Rules { .. } => Hint::Borrowed("--normalize"),
        KeyDifference::Kind { ours, theirs, .. } => by_rule(*ours, theirs.known()),
    })
}

/// Returns how to give the rule by which kinds become alike.
fn by_rule(ours: Kind, theirs: Option<Kind>) -> Hint {
    match Remedy::new(ours, theirs).rule {
        Some(rule) => format!("--normalize COLUMN={rule}").into(),
        None => Hint::Borrowed("--normalize"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Args;

    #[test]
    fn each_option_that_a_hint_names_is_one_of_the_program() {
        let program = Args::command();
        let of_commands = program.get_subcommands().flat_map(|it| it.get_arguments());
        let known: Vec<_> = of_commands.filter_map(|it| it.get_long()).collect();
        for hints in [
            include_str!("ways_out.rs"),
            include_str!("ways_out/question.rs"),
            include_str!("ways_out/settings.rs"),
            include_str!("ways_out/table.rs"),
        ] {
            let words = hints.split(|it: char| !it.is_ascii_lowercase() && it != '-');
            let options = words.filter_map(|word| word.strip_prefix("--"));
            for option in options.filter(|option| !option.is_empty()) {
                assert!(known.contains(&option), "--{option}");
            }
        }
    }

    #[test]
    fn an_error_within_another_has_its_hint() {
        let spilled = || psijoin::spill::Error::Damaged {
            folder: "spilled".into(),
        };
        let within_a_protocol = Error::Psi(spilled().into());
        let within_a_table = psijoin_table::Error::Spill(spilled());
        let read_in_a_protocol = Error::Psi(psijoin::Error::Table(Box::new(within_a_table)));
        let at_the_end_of_a_job = Error::Unconfirmed(Box::new(Error::Psi(spilled().into())));
        for error in [within_a_protocol, read_in_a_protocol, at_the_end_of_a_job] {
            let hint = of_error(&error).unwrap_or_default();
            assert!(hint.contains("--spill-dir"), "{error}: {hint}");
        }
    }

    #[test]
    fn what_the_other_party_says_has_a_hint_wherever_it_is_heard() {
        let said = || ChannelError::PeerAborted(AbortCode::TooManyItems);
        assert_eq!(of_error(&Error::Psi(said().into())), None);
        let said = || ChannelError::PeerAborted(AbortCode::TooFewStreams);
        for error in [
            Error::Psi(said().into()),
            Error::Transport(said().into()),
            Error::Handshake(said().into()),
            Error::Unsigned(said().into()),
        ] {
            assert_eq!(of_error(&error).as_deref(), Some(ONE_CONNECTION));
        }
    }
}

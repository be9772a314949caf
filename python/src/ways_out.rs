//! The keywords by which users of Python do something about an error or a warning.
//!
//! The errors themselves are in terms of the library, and the program names its options instead.

use std::io;

use psijoin_channel::AbortCode;
use psijoin_cli::embedded::{Hint, Remedy, is_of_keys, reason_of_peer};
use psijoin_handshake::{DERIVED_PARAMETERS, Error as HandshakeError};
use psijoin_record::Error as RecordError;
use psijoin_session::{
    Ability, Error, Further, KeyDifference, QuestionFault, SpecFault, Warning, settings::*,
};
use psijoin_table::{
    Doubt, Error as TableError, KeyError, ReadError, ShareError, Suspicion, WriteError,
};
use psijoin_transport::Error as TransportError;

/// Returns what users do about an error, if anything can be said.
pub(crate) fn of_error(error: &Error) -> Option<Hint> {
    if let Some(reason) = reason_of_peer(error) {
        return of_reason(reason).map(Hint::Borrowed);
    }
    match error {
        Error::Table(error) => of_table(error),
        Error::Psi(psijoin::Error::Table(error)) => of_table(error.downcast_ref()?),
        Error::Transport(error) => of_transport(error).map(Hint::Borrowed),
        Error::Handshake(HandshakeError::Mismatch(on)) => {
            let ways: Vec<_> = (on.iter().filter_map(|one| of_setting(&one.field))).collect();
            (!ways.is_empty()).then(|| ways.join("; ").into())
        }
        Error::Job(psijoin_job::Error::Changed { name, .. })
        | Error::Job(psijoin_job::Error::ChangedSecret { name, .. }) => {
            of_job(name).map(Hint::Borrowed)
        }
        Error::Unable(unable) => Some(Hint::Borrowed(match &unable.what {
            Ability::Compute(_) => "leave `protocol` out, or name one of these",
            Ability::Withhold => {
                "leave `protocol` out, or name one of these: others cannot do `min_intersection`"
            }
            Ability::Carry(Further::Both) => {
                "leave `protocol` out, or name one of these: others cannot do learn=\"both\""
            }
            Ability::Carry(Further::Columns) => {
                "leave `protocol` out, or name one of these: others cannot do `give` and `take`"
            }
        })),
        Error::Spec(fault) => of_spec(*fault).map(Hint::Borrowed),
        Error::Question(fault) => Some(Hint::Borrowed(match fault {
            QuestionFault::NoRows { further, .. } => match further {
                Further::Both => "learn=\"both\" is for rows",
                Further::Columns => "`give` and `take` are for rows",
            },
            QuestionFault::MinimumWith(_) | QuestionFault::MinimumOf(_) => {
                "`min_intersection` demands it"
            }
        })),
        Error::Unconfirmed(why) | Error::UnconfirmedResult(why) => of_error(why),
        other => of_session(other).map(Hint::Borrowed),
    }
}

fn of_session(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::TooLittleMemory { .. } => "Session(memory=) says how much",
        Error::TooFew(_)
        | Error::JobIsOver {
            too_few: Some(_), ..
        } => "`min_intersection` demands as many",
        Error::TooManyPeerKeys { .. } => {
            "if such a large set is right, raise `max_peer_keys`; as the sender, consider what a receiver learns if it puts in \
             every key it can think of"
        }
        Error::NoRoomForPeerKeys { .. } => {
            "allow more by Session(memory=), or run on a machine that has more; `max_peer_keys` tries it all the same"
        }
        Error::TooMuchGiven(_) => {
            "take fewer columns, allow more here by `take_rows` and `take_bytes`, or let the other party give less, by \
             repeated=\"list:K\" with a smaller K, or a smaller `give_bytes`"
        }
        Error::ReceiverSums(_) => {
            "`allow_sums_that_reveal_keys` allows it: see \"What an answer tells\" in docs/functions.md first"
        }
        Error::UnlikeKeys | Error::DoubtfulTable => "strict=True refuses that",
        Error::NoRecord { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            "a record may be evidence, so it is never replaced: let `record` name a new file, or move the old one"
        }
        Error::Unsigned(RecordError::CannotSign | RecordError::PeerCannotSign) => {
            "Identity.create makes an identity that can"
        }
        Error::OnlyChecked => "it was started with check=True, or as `psijoin check`",
        _ => return None,
    })
}

fn of_reason(reason: AbortCode) -> Option<&'static str> {
    Some(match reason {
        AbortCode::BadLuck => "with `job`, name new folders",
        AbortCode::UnlikeItems => "it is strict, and refuses that",
        AbortCode::TooFewStreams => ONE_CONNECTION,
        AbortCode::NotOffered => {
            "tell the other side which columns `give` names here, as they are spelled here, or let it take all"
        }
        AbortCode::TooMuchGiven => {
            "`give` names the columns; repeated=\"list:K\" with a smaller K gives fewer rows, and a smaller `give_bytes` fewer \
             bytes for each"
        }
        _ => return None,
    })
}

const ONE_CONNECTION: &str = "let both sides compute with one thread: Session(threads=1)";

fn of_transport(error: &TransportError) -> Option<&'static str> {
    match error {
        TransportError::IdentityFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Some("Identity.create makes an identity")
        }
        TransportError::TooFewStreams { .. } => Some(ONE_CONNECTION),
        error if is_of_keys(error) => {
            Some("each side names the fingerprint of the other's Identity as Session(peer=)")
        }
        _ => None,
    }
}

fn of_setting(name: &str) -> Option<&'static str> {
    Some(match name {
        PROTOCOL => "say the same `protocol` on both sides, or leave it out on both",
        JOB => "say `job` on both sides, each with a folder of its own, or on neither",
        TERMS => "say `terms` on both sides, with the same text to the byte, or on neither",
        RECORD => "say `record` on both sides, or on neither",
        LEARNERS => {
            "say the same `learn` on both sides, or leave it out on both: then the receiver learns"
        }
        ALIGNED => "say align=True on both sides, or on neither",
        SENDERS_COLUMNS => "let the sender give columns, and the receiver take them, or neither",
        RECEIVERS_COLUMNS => "let the receiver give columns, and the sender take them, or neither",
        OUTPUT => {
            "one side receives rows, a count, a threshold or a sum, and the other says the same by `output_kind` as it sends"
        }
        MINIMUM => "say the same `min_intersection` on both sides, or leave it out on both",
        KEY_COLUMNS => {
            "name as many columns in `on` on both sides, in the same order: their names may differ"
        }
        PROTOCOL_VERSION | SPELLING | STATISTICAL_SECURITY | DERIVED_PARAMETERS => {
            "install the same release of psijoin on both sides"
        }
        _ => return None,
    })
}

/// Returns the way out for something that must not change in a job.
fn of_job(name: &str) -> Option<&'static str> {
    Some(match name {
        PROTOCOL => "`protocol` says it",
        OUTPUT => "`output_kind` says it",
        LEARNERS => "`learn` says it",
        TERMS => "`terms` says it",
        RECORD => "`record` says it",
        "the minimum" => "`min_intersection` says it",
        "the other party" => "Session(peer=) says it",
        "the identity" => "Session(identity=) says it",
        "a key" => "`on` and `normalize` say it",
        "the columns that are given or taken" => "`give` and `take` say it",
        _ => return None,
    })
}

fn of_spec(fault: SpecFault) -> Option<&'static str> {
    Some(match fault {
        SpecFault::NoFileForShares => "`output` names it",
        SpecFault::NothingToWrite => "leave `output` out, which is for rows or shares",
        SpecFault::ReceiverGives => "say learn=\"both\" on both sides, or leave out `give`",
        SpecFault::SenderTakes => "say learn=\"both\" on both sides, or leave out `take`",
        SpecFault::TakesForUnshared => "leave out `take`, or say rows=\"all\"",
        SpecFault::AlignedForOne => "say learn=\"both\" on both sides, or leave out `align`",
        SpecFault::RecordWithoutIdentities => return None,
    })
}

fn of_table(error: &TableError) -> Option<Hint> {
    Some(Hint::Borrowed(match error {
        TableError::Read(ReadError::NoKey { .. }) => "`on` names them",
        TableError::Write(WriteError::AlignedOthers(_)) => "leave out `rows` or `align`",
        TableError::Write(WriteError::NoNulls { .. }) => "leave `quote_empty` out",
        TableError::Write(WriteError::NoFormulas { .. }) => "leave `quote_formulas` out",
        TableError::Read(ReadError::Number { .. })
        | TableError::Read(ReadError::NumberType { .. }) => {
            "if the other side's column is meant, both name it as sender.COLUMN or receiver.COLUMN"
        }
        TableError::Key(KeyError::BadKeys(_)) => {
            "bad_keys=\"null\" takes cells that cannot be read for empty ones"
        }
        TableError::Share(ShareError::RepeatedKeys { .. }) => {
            "repeated=\"first\" lets the first row count; repeated=\"list:K\" gives up to K rows of each key"
        }
        TableError::Share(ShareError::TooManyRepeated { .. }) => {
            "repeated=\"list:K\" gives up to K rows of each key"
        }
        TableError::Write(WriteError::RepeatedAligned { .. }) => {
            "repeated=\"first\" lets the first row count"
        }
        TableError::Write(WriteError::AlignedList) => "with `align`, `repeated` is refuse or first",
        TableError::Share(ShareError::LongRow { .. }) => "raise `give_bytes`",
        TableError::Spill(_) => {
            "Session(spill_dir=) names another folder; Session(memory=) allows more in memory"
        }
        _ => return None,
    }))
}

/// Returns what users do about what they are warned of, if anything can be said.
pub(crate) fn of_warning(warning: &Warning<'_>) -> Option<Hint> {
    Some(match warning {
        Warning::Doubtful { doubt, .. } => return of_doubt(doubt),
        Warning::UnlikeKeys(KeyDifference::Order) => Hint::Borrowed("`on` names them"),
        Warning::UnlikeKeys(KeyDifference::Rules { .. }) => Hint::Borrowed("`normalize` says them"),
        Warning::UnlikeKeys(KeyDifference::Kind { ours, theirs, .. }) => {
            match Remedy::new(*ours, theirs.known()).rule {
                Some(rule) => by_rule(rule),
                None => Hint::Borrowed("`normalize` says the rules"),
            }
        }
        Warning::Curious { .. } => Hint::Borrowed("`max_peer_keys` refuses larger sets"),
        Warning::SumOverFew => Hint::Borrowed(
            "`min_intersection` on both sides withholds the sum of fewer keys than that",
        ),
        Warning::MeetsAgain(error) => return of_error(error),
        Warning::Plaintext | Warning::Insecure(_) | Warning::BadCells { .. } => return None,
    })
}

fn of_doubt(doubt: &Doubt) -> Option<Hint> {
    Some(by_rule(match doubt {
        Doubt::Fields { suspicion, .. } => match suspicion {
            Suspicion::NullWord => "null:common",
            Suspicion::Unseen => "trim",
            Suspicion::ZeroLed => "number",
            _ => return None,
        },
        Doubt::Frequent { .. } => "null:WORD",
        Doubt::MixedPhones(_) => "phone:COUNTRY",
        Doubt::MixedTimestamps(_) => "timestamp:ZONE",
        _ => return None,
    }))
}

/// Returns how to give the rule of a column.
fn by_rule(rule: &str) -> Hint {
    format!("normalize={{\"COLUMN\": \"{rule}\"}}").into()
}

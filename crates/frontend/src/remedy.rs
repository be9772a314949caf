//! Remedies for errors and warnings, in terms of the library.
//!
//! A fault is described by its finder. Its remedy depends on how somebody calls psijoin: each front
//! end has its own words for each [`Remedy`], with its options or keywords.

use std::io;

use psijoin_channel::{AbortCode, Error as ChannelError};
use psijoin_handshake::Error as HandshakeError;
use psijoin_record::Error as RecordError;
use psijoin_session::{
    Ability, BudgetError, Error, Further, JobTerm, KeyDifference, QuestionFault, Setting,
    SpecFault, Warning,
    settings::{NOISE, OUTPUT},
};
use psijoin_source::Doubt;
use psijoin_transport::{
    Attempt, Error as TransportError, ProxyFault, RelayFault, Strangers, fingerprint::ParseError,
};

use crate::sentences::KeyAdvice;

mod table;

pub use table::{FileRemedy, TableRemedy};

/// A remedy for a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Let both sides agree on these settings. There is at least one.
    Agree(Vec<Setting>),
    /// Let the job have what it had of this.
    KeepTerm(JobTerm),
    /// Make room for the job: nothing is lost.
    RoomForJob,
    /// Begin new jobs in new folders.
    NewJobs,
    /// Take a protocol that is able to do this.
    OtherProtocol(Ability),
    /// Ask for rows, or do without this.
    RowsFor(Further),
    /// Do without a least number of shared keys, or without this.
    MinimumOr(Further),
    /// Do without a least number of shared keys.
    NoMinimum,
    /// Change what does not go together.
    Spec(SpecFault),
    /// Ask for fewer columns, or for columns with shorter names.
    FewerOutputColumns,
    /// Let the key have fewer columns or rules.
    FewerKeyColumns,
    /// Make an identity that can sign.
    SigningIdentity,
    /// Make an identity.
    Identity,
    /// Tell the passphrase of the identity, from a file if there is nobody to ask.
    Passphrase,
    /// Give the identity a passphrase, or tell none.
    ProtectedIdentity,
    /// Tell each side the fingerprint of the other's identity.
    Fingerprints,
    /// Ask the other party for its fingerprint.
    PeerFingerprint,
    /// Allow more memory.
    MoreMemory,
    /// Demand fewer shared keys.
    LowerMinimum,
    /// Allow the other party more keys, if that is right.
    MorePeerKeys,
    /// Find room for the other party's keys, or try all the same.
    RoomForPeerKeys,
    /// Take less, or let the other party give less.
    TakeLess,
    /// Give less, as the other party cannot take it.
    GiveLess,
    /// Tell the other party which columns are offered.
    TellOffered,
    /// Allow sums of columns of the receiver's.
    AllowSums,
    /// Withhold small groups, or allow groups by columns of the receiver's.
    AllowGroups,
    /// Be less strict.
    LessStrict,
    /// Let the other party be less strict.
    LessStrictPeer,
    /// Name a new file for the record.
    NewRecordFile,
    /// Name another file for the report.
    OtherReportFile,
    /// Let the other party do more than check.
    JoinInsteadOfCheck,
    /// Compute with one thread, over one connection.
    OneConnection,
    /// Meet at a relay behind a web server, which proxies let pass.
    RelayOfTheWeb,
    /// Name a proxy with user and password, or another one.
    OtherProxy,
    /// Name the key of a relay.
    RelayKey,
    /// Read a file in another way.
    File(FileRemedy),
    /// Do something about a table.
    Table(TableRemedy),
    /// Encrypt.
    Encryption,
    /// Name the key's columns in one order on both sides.
    KeyOrder,
    /// Give the key's columns rules.
    KeyRules,
    /// Refuse larger sets of the other party.
    FewerPeerKeys,
    /// Withhold sums over few keys.
    MinimumForSums,
    /// Withhold groups of few keys.
    MinimumForGroups,
    /// Name the columns to group by.
    GroupBy,
    /// Look at the budget, and ask for less, or make another one.
    Budget,
    /// Make a budget.
    NewBudget,
    /// Say how much noise there is, and the bounds of each column that is added up.
    Noise,
    /// Measure the machine again, or do without.
    NewCalibration,
    /// Look at the keys as they are compared.
    LookAtKeys,
}

impl Remedy {
    /// Returns what users can do about an error, if anything.
    pub fn of_error(error: &Error) -> Option<Self> {
        if let Some(reason) = reason_of_peer(error) {
            return of_reason(reason);
        }
        match error {
            Error::Table(error) => table::of_error(error),
            Error::Psi(psijoin::Error::Table(error)) => match error.downcast_ref() {
                Some(error) => table::of_error(error),
                None => table::of_spill(error.downcast_ref()?).map(Self::Table),
            },
            Error::Transport(error) => of_transport(error),
            Error::Handshake(error) => of_handshake(error),
            Error::Job(error) => of_job(error),
            Error::Unable(unable) => Some(Self::OtherProtocol(unable.what.clone())),
            Error::Spec(fault) => Some(Self::Spec(*fault)),
            Error::Question(fault) => of_question(fault),
            Error::Unconfirmed(why) | Error::UnconfirmedResult(why) => Self::of_error(why),
            other => of_session(other),
        }
    }

    /// Returns what users can do about what they are warned of, if anything.
    pub fn of_warning(warning: &Warning<'_>) -> Option<Self> {
        Some(match warning {
            Warning::Plaintext => Self::Encryption,
            Warning::Doubtful { doubt, .. } => return Self::of_doubt(doubt),
            Warning::UnlikeKeys(KeyDifference::Order) => Self::KeyOrder,
            Warning::UnlikeKeys(KeyDifference::Rules { .. }) => Self::KeyRules,
            Warning::UnlikeKeys(KeyDifference::Kind { ours, theirs, .. }) => {
                match KeyAdvice::new(*ours, theirs.known()).rule {
                    Some(rule) => Self::Table(TableRemedy::Rule(rule)),
                    None => Self::KeyRules,
                }
            }
            Warning::Curious { .. } => Self::FewerPeerKeys,
            Warning::SumOverFew => Self::MinimumForSums,
            Warning::GroupsOfFew => Self::MinimumForGroups,
            Warning::MeetsAgain(error) => return Self::of_error(error),
            Warning::UnusableProxy(_) => Self::OtherProxy,
            Warning::Insecure(_) | Warning::BadCells { .. } => return None,
        })
    }

    /// Returns what users can do about a text that is no fingerprint, if anything.
    pub fn of_fingerprint(error: &ParseError) -> Option<Self> {
        matches!(error, ParseError::Prefix).then_some(Self::PeerFingerprint)
    }

    /// Returns what users can do about a doubt, if anything.
    pub fn of_doubt(doubt: &Doubt) -> Option<Self> {
        table::of_doubt(doubt)
    }
}

fn of_session(error: &Error) -> Option<Remedy> {
    Some(match error {
        Error::Unsigned(RecordError::CannotSign | RecordError::PeerCannotSign) => {
            Remedy::SigningIdentity
        }
        Error::TooLittleMemory { .. } => Remedy::MoreMemory,
        Error::TooFew(_)
        | Error::JobIsOver {
            too_few: Some(_), ..
        } => Remedy::LowerMinimum,
        Error::TooManyPeerKeys { .. } => Remedy::MorePeerKeys,
        Error::NoRoomForPeerKeys { .. } => Remedy::RoomForPeerKeys,
        Error::TooMuchGiven(_) => Remedy::TakeLess,
        Error::ReceiverSums(_) => Remedy::AllowSums,
        Error::Noise(_) => Remedy::Noise,
        Error::Budget(BudgetError::Exact) => Remedy::Noise,
        Error::Budget(BudgetError::File { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            Remedy::NewBudget
        }
        Error::Budget(error) if error.is_refusal() => Remedy::Budget,
        Error::ReceiverGroups(_) => Remedy::AllowGroups,
        Error::UnlikeKeys | Error::DoubtfulTable => Remedy::LessStrict,
        Error::NoRecord { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            Remedy::NewRecordFile
        }
        Error::OverwritesInput(_) => Remedy::OtherReportFile,
        Error::OnlyChecked => Remedy::JoinInsteadOfCheck,
        _ => return None,
    })
}

fn of_handshake(error: &HandshakeError) -> Option<Remedy> {
    match error {
        HandshakeError::Mismatch(on) => {
            let settings = Setting::all_named(on.iter().map(|one| &*one.field));
            (!settings.is_empty()).then_some(Remedy::Agree(settings))
        }
        HandshakeError::Setting { name, .. } if name == OUTPUT || name == NOISE => {
            Some(Remedy::FewerOutputColumns)
        }
        HandshakeError::Setting { .. } => Some(Remedy::FewerKeyColumns),
        _ => None,
    }
}

/// Returns why the other party gave up, if that is the error.
fn reason_of_peer(error: &Error) -> Option<AbortCode> {
    match error {
        Error::Psi(psijoin::Error::Channel(ChannelError::PeerAborted(reason)))
        | Error::Transport(TransportError::Channel(ChannelError::PeerAborted(reason)))
        | Error::Handshake(HandshakeError::Channel(ChannelError::PeerAborted(reason)))
        | Error::Unsigned(RecordError::Channel(ChannelError::PeerAborted(reason))) => Some(*reason),
        _ => None,
    }
}

fn of_reason(reason: AbortCode) -> Option<Remedy> {
    Some(match reason {
        AbortCode::BadLuck => Remedy::NewJobs,
        AbortCode::UnlikeItems => Remedy::LessStrictPeer,
        AbortCode::TooFewStreams => Remedy::OneConnection,
        AbortCode::ReceiverGroups => Remedy::MinimumForGroups,
        AbortCode::NotOffered => Remedy::TellOffered,
        AbortCode::TooMuchGiven => Remedy::GiveLess,
        _ => return None,
    })
}

fn of_transport(error: &TransportError) -> Option<Remedy> {
    match error {
        TransportError::IdentityFile { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Some(Remedy::Identity)
        }
        TransportError::IdentityLocked { .. } => Some(Remedy::Passphrase),
        TransportError::IdentityNotLocked(_) => Some(Remedy::ProtectedIdentity),
        TransportError::TooFewStreams { .. } => Some(Remedy::OneConnection),
        TransportError::Intercepted { .. }
        | TransportError::Proxy {
            why: ProxyFault::Forbidden,
            ..
        } => Some(Remedy::RelayOfTheWeb),
        TransportError::Proxy {
            why: ProxyFault::NeedsPassword | ProxyFault::WrongPassword | ProxyFault::Scheme(_),
            ..
        } => Some(Remedy::OtherProxy),
        TransportError::Relay {
            why: RelayFault::NeedsKey | RelayFault::Forbidden(_),
            ..
        } => Some(Remedy::RelayKey),
        TransportError::NobodyListened {
            attempt: Some(attempt),
            ..
        }
        | TransportError::NobodyAtRelay {
            attempt: Some(attempt),
            ..
        } if !is_of_keys(error) => of_transport(&attempt.why),
        error if is_of_keys(error) => Some(Remedy::Fingerprints),
        _ => None,
    }
}

/// Returns whether the parties did not meet because one of them does not have the key that it
/// should have.
fn is_of_keys(error: &TransportError) -> bool {
    use TransportError::*;
    let of_attempt = |attempt: &Option<Attempt>| {
        (attempt.as_ref()).is_some_and(|attempt| is_of_keys(&attempt.why))
    };
    let of_strangers = |strangers: Option<&Strangers>| {
        strangers.is_some_and(|strangers| is_of_keys(&strangers.why))
    };
    match error {
        WrongPeer { .. } | Refused { .. } => true,
        NobodyListened { attempt, .. } => of_attempt(attempt),
        NobodyConnected { strangers, .. } => of_strangers(strangers.as_ref()),
        NobodyAtRelay {
            attempt, strangers, ..
        }
        | NobodyInFolder {
            attempt, strangers, ..
        } => of_attempt(attempt) || of_strangers(strangers.as_deref()),
        _ => false,
    }
}

fn of_job(error: &psijoin_job::Error) -> Option<Remedy> {
    use psijoin_job::Error::*;
    match error {
        Changed { name, .. } | ChangedSecret { name, .. } => {
            JobTerm::named(name).map(Remedy::KeepTerm)
        }
        Io { source, .. } if is_no_room(source) => Some(Remedy::RoomForJob),
        _ => None,
    }
}

/// Returns whether there is no more room for a file.
fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn of_question(fault: &QuestionFault) -> Option<Remedy> {
    Some(match fault {
        QuestionFault::NoRows { further, .. } => Remedy::RowsFor(*further),
        QuestionFault::MinimumWith(further) => Remedy::MinimumOr(*further),
        QuestionFault::MinimumOf(_) => Remedy::NoMinimum,
        QuestionFault::NoGroups => Remedy::GroupBy,
        QuestionFault::MeanOfOther(_) => return None,
        QuestionFault::NoBound(_) | QuestionFault::BoundOfOther(_) => Remedy::Noise,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_within_another_has_its_remedy() {
        let spilled = || psijoin::spill::Error::Damaged {
            folder: "spilled".into(),
        };
        let within_a_protocol = Error::Psi(spilled().into());
        let within_a_table = psijoin_table::Error::Spill(spilled());
        let read_in_a_protocol = Error::Psi(psijoin::Error::Table(Box::new(within_a_table)));
        let at_the_end_of_a_job = Error::Unconfirmed(Box::new(Error::Psi(spilled().into())));
        for error in [within_a_protocol, read_in_a_protocol, at_the_end_of_a_job] {
            let remedy = Remedy::of_error(&error);
            let expected = Remedy::Table(TableRemedy::SpillFolder);
            assert_eq!(remedy, Some(expected), "{error}");
        }
    }

    #[test]
    fn what_the_other_party_says_has_a_remedy_wherever_it_is_heard() {
        let said = || ChannelError::PeerAborted(AbortCode::TooManyItems);
        assert_eq!(Remedy::of_error(&Error::Psi(said().into())), None);
        let said = || ChannelError::PeerAborted(AbortCode::TooFewStreams);
        for error in [
            Error::Psi(said().into()),
            Error::Transport(said().into()),
            Error::Handshake(said().into()),
            Error::Unsigned(said().into()),
        ] {
            assert_eq!(Remedy::of_error(&error), Some(Remedy::OneConnection));
        }
    }
}

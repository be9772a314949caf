//! Remedies in the words of Python: the keywords by which users do something about an error or a
//! warning.

use psijoin_frontend::{Hint, Remedy, TableRemedy};
use psijoin_session::{Ability, Further, JobTerm, Setting, SpecFault};

/// Returns a remedy in words, if there is something to do about it from Python.
pub(crate) fn of(remedy: &Remedy) -> Option<Hint> {
    Some(Hint::Borrowed(match remedy {
        Remedy::Agree(settings) => {
            let ways: Vec<_> = settings.iter().map(|setting| agreeing(*setting)).collect();
            return Some(ways.join("; ").into());
        }
        Remedy::KeepTerm(term) => return that_says(*term).map(Hint::Borrowed),
        Remedy::Spec(fault) => return of_spec(*fault).map(Hint::Borrowed),
        Remedy::Table(remedy) => return of_table(*remedy),
        Remedy::OtherProtocol(ability) => of_inability(ability),
        Remedy::RowsFor(Further::Both) => "learn=\"both\" is for rows",
        Remedy::RowsFor(Further::Columns) => "`give` and `take` are for rows",
        Remedy::MinimumOr(_) | Remedy::NoMinimum => "`min_intersection` demands it",
        Remedy::FewerOutputColumns => "ask for fewer columns, or for columns with shorter names",
        Remedy::FewerKeyColumns => "let `on` name fewer columns, or `normalize` fewer rules",
        Remedy::NewJobs => "with `job`, name new folders",
        Remedy::SigningIdentity => "Identity.create makes an identity that can",
        Remedy::Identity => "Identity.create makes an identity",
        Remedy::Passphrase => "`passphrase` tells it",
        Remedy::ProtectedIdentity => {
            "Identity.change_passphrase gives it one; without one, leave `passphrase` out"
        }
        Remedy::Fingerprints => {
            "each side names the fingerprint of the other's Identity as Session(peer=)"
        }
        Remedy::PeerFingerprint => "the other party's Identity has it as `fingerprint`",
        Remedy::MoreMemory => "Session(memory=) says how much",
        Remedy::LowerMinimum => "`min_intersection` demands as many",
        Remedy::MorePeerKeys => {
            "if such a large set is right, raise `max_peer_keys`; as the sender, consider what a \
             receiver learns if it puts in every key it can think of"
        }
        Remedy::RoomForPeerKeys => {
            "allow more by Session(memory=), or run on a machine that has more; `max_peer_keys` \
             tries it all the same"
        }
        Remedy::TakeLess => {
            "take fewer columns, allow more here by `take_rows` and `take_bytes`, or let the other \
             party give less, by repeated=\"list:K\" with a smaller K, or a smaller `give_bytes`"
        }
        Remedy::GiveLess => {
            "`give` names the columns; repeated=\"list:K\" with a smaller K gives fewer rows, and \
             a smaller `give_bytes` fewer bytes for each"
        }
        Remedy::TellOffered => {
            "tell the other side which columns `give` names here, as they are spelled here, or let \
             it take all"
        }
        Remedy::AllowSums => {
            "`allow_sums_that_reveal_keys` allows it: see \"What an answer tells\" in \
             docs/functions.md first"
        }
        Remedy::AllowGroups => {
            "`min_group` on both sides withholds groups of fewer keys than that; \
             `allow_sums_that_reveal_keys` shows all: see \"What an answer tells\" in docs/functions.md first"
        }
        Remedy::LessStrict => "strict=True refuses that",
        Remedy::LessStrictPeer => "it is strict, and refuses that",
        Remedy::NewRecordFile => {
            "a record may be evidence, so it is never replaced: let `record` name a new file, or \
             move the old one"
        }
        Remedy::OtherReportFile => "let `report` name another file",
        Remedy::JoinInsteadOfCheck => "it was started with check=True, or as `psijoin check`",
        Remedy::RelayOfTheWeb => "Session(relay=\"wss://HOST/PATH\") on both sides names a relay",
        Remedy::OtherProxy => "Session(proxy=), or https_proxy in the environment, names it",
        Remedy::RelayKey => "Session(relay_key=) names it",
        Remedy::OneConnection => "let both sides compute with one thread: Session(threads=1)",
        Remedy::KeyOrder => "`on` names them",
        Remedy::KeyRules => "`normalize` says the rules",
        Remedy::FewerPeerKeys => "`max_peer_keys` refuses larger sets",
        Remedy::MinimumForSums => {
            "`min_intersection` on both sides withholds the sum of fewer keys than that"
        }
        Remedy::MinimumForGroups => {
            "`min_group` on both sides withholds groups of fewer keys than that"
        }
        Remedy::GroupBy => "`by` names them, and `group_by` as the other side sends",
        Remedy::Budget => "`psijoin budget show FILE` shows what each partner has had",
        Remedy::NewBudget => "`psijoin budget create FILE` makes one",
        Remedy::Noise => {
            "noise=\"laplace:epsilon=E,bound=COLUMN:LOW..HIGH\" says it, with a bound for each column"
        }
        Remedy::NewCalibration => "make it again with `psijoin calibrate`, or delete it",
        Remedy::RoomForJob => {
            "nothing is lost: make room there, and both join again; they go on with what was kept"
        }
        Remedy::File(_) | Remedy::Encryption | Remedy::LookAtKeys => return None,
    }))
}

fn of_inability(ability: &Ability) -> &'static str {
    match ability {
        Ability::Compute(_) => "leave `protocol` out, or name one of these",
        Ability::Withhold => {
            "leave `protocol` out, or name one of these: others cannot do `min_intersection`"
        }
        Ability::PostQuantum => {
            "leave `protocol` out, or name one of these: others cannot do post_quantum=True"
        }
        Ability::Carry(Further::Both) => {
            "leave `protocol` out, or name one of these: others cannot do learn=\"both\""
        }
        Ability::Carry(Further::Columns) => {
            "leave `protocol` out, or name one of these: others cannot do `give` and `take`"
        }
    }
}

/// Returns how both sides come to agree on a setting.
fn agreeing(setting: Setting) -> &'static str {
    match setting {
        Setting::Protocol => "say the same `protocol` on both sides, or leave it out on both",
        Setting::Job => "say `job` on both sides, each with a folder of its own, or on neither",
        Setting::Terms => {
            "say `terms` on both sides, with the same text to the byte, or on neither"
        }
        Setting::Record => "say `record` on both sides, or on neither",
        Setting::Learners => {
            "say the same `learn` on both sides, or leave it out on both: then the receiver learns"
        }
        Setting::Aligned => "say align=True on both sides, or on neither",
        Setting::PostQuantum => "say post_quantum=True on both sides, or on neither",
        Setting::SendersColumns => {
            "let the sender give columns, and the receiver take them, or neither"
        }
        Setting::ReceiversColumns => {
            "let the receiver give columns, and the sender take them, or neither"
        }
        Setting::Output => {
            "one side receives rows, a count, a threshold, a sum or groups, and the other says the same \
             by `output_kind` as it sends"
        }
        Setting::GroupBy => {
            "one side groups by some columns, and the other says the same by `group_by` as it sends"
        }
        Setting::GroupLists => {
            "say `groups` on both sides, with the same labels in any order, or on neither"
        }
        Setting::MinGroup => "say the same `min_group` on both sides, or leave it out on both",
        Setting::Noise => "say the same `noise` on both sides, or leave it out on both",
        Setting::Minimum => {
            "say the same `min_intersection` on both sides, or leave it out on both"
        }
        Setting::KeyColumns => {
            "name as many columns in `on` on both sides, in the same order: their names may differ"
        }
        Setting::ItemBits => {
            "let `normalize` name the same number:BITS on both sides, or number on both"
        }
        Setting::Release | Setting::DerivedParameters => {
            "install the same release of psijoin on both sides"
        }
    }
}

/// Returns the keyword that says this of a job.
fn that_says(term: JobTerm) -> Option<&'static str> {
    Some(match term {
        JobTerm::Protocol => "`protocol` says it",
        JobTerm::Output => "`output_kind` says it",
        JobTerm::GroupBy => "`by` and `group_by` say it",
        JobTerm::GroupLists => "`groups` says it",
        JobTerm::MinGroup => "`min_group` says it",
        JobTerm::Noise => "`noise` says it",
        JobTerm::Learners => "`learn` says it",
        JobTerm::Terms => "`terms` says it",
        JobTerm::Record => "`record` says it",
        JobTerm::Budget => "`budget` says it",
        JobTerm::Minimum => "`min_intersection` says it",
        JobTerm::PostQuantum => "`post_quantum` says it",
        JobTerm::Peer => "Session(peer=) says it",
        JobTerm::Identity => "Session(identity=) says it",
        JobTerm::Key => "`on` and `normalize` say it",
        JobTerm::Columns => "`give` and `take` say it",
        JobTerm::Written => return None,
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
        SpecFault::BudgetOfReceiver => "leave out `budget`",
        SpecFault::RecordWithoutIdentities | SpecFault::BudgetWithoutIdentities => return None,
    })
}

fn of_table(remedy: TableRemedy) -> Option<Hint> {
    Some(Hint::Borrowed(match remedy {
        TableRemedy::KeyColumns | TableRemedy::KeyOfColumns => "`on` names them",
        TableRemedy::AlignedOr(_) => "leave out `rows` or `align`",
        TableRemedy::NoQuotedEmpty => "leave `quote_empty` out",
        TableRemedy::NoQuotedFormulas => "leave `quote_formulas` out",
        TableRemedy::WhoseColumn => {
            "if the other side's column is meant, both name it as sender.COLUMN or receiver.COLUMN"
        }
        TableRemedy::BadKeys => "bad_keys=\"null\" takes cells that cannot be read for empty ones",
        TableRemedy::FirstOrList => {
            "repeated=\"first\" lets the first row count; repeated=\"list:K\" gives up to K rows \
             of each key"
        }
        TableRemedy::List => "repeated=\"list:K\" gives up to K rows of each key",
        TableRemedy::First => "repeated=\"first\" lets the first row count",
        TableRemedy::NoAlignedList => "with `align`, `repeated` is refuse or first",
        TableRemedy::LongerRows => "raise `give_bytes`",
        TableRemedy::SpillFolder | TableRemedy::SpillFolderOrMemory => {
            "Session(spill_dir=) names another folder; Session(memory=) allows more in memory"
        }
        TableRemedy::Rule(rule) => return Some(normalizing(rule)),
        TableRemedy::FrequentIsNull => return Some(normalizing("null:WORD")),
    }))
}

/// Returns how to give the rule of a column.
fn normalizing(rule: &str) -> Hint {
    format!("normalize={{\"COLUMN\": \"{rule}\"}}").into()
}

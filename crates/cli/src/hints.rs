//! Remedies in the words of the command line: the options and commands by which users do something
//! about an error or a warning.

use psijoin_frontend::{Failure, Hint, Remedy};
use psijoin_session::{Ability, Further, JobTerm, Setting, SpecFault};

mod table;

/// Returns what users do about a failure, if anything can be said.
pub fn of_failure(failure: &Failure) -> Option<Hint> {
    failure.remedy().map(|remedy| of(&remedy))
}

/// Returns a remedy in words.
pub(crate) fn of(remedy: &Remedy) -> Hint {
    Hint::Borrowed(match remedy {
        Remedy::Agree(settings) => {
            let ways: Vec<_> = settings.iter().map(|setting| agreeing(*setting)).collect();
            return ways.join("; ").into();
        }
        Remedy::KeepTerm(term) => return format!("{} it", that_say(*term)).into(),
        Remedy::OtherProtocol(ability) => return of_inability(ability).into(),
        Remedy::RowsFor(further) => {
            return format!("leave --output-kind out, or {}", that_ask_for(*further)).into();
        }
        Remedy::MinimumOr(further) => {
            let further = that_ask_for(*further);
            return format!("leave --min-intersection out, or {further}").into();
        }
        Remedy::Spec(fault) => of_spec(*fault),
        Remedy::File(remedy) => return table::of_file(*remedy),
        Remedy::Table(remedy) => return table::of_table(*remedy),
        Remedy::NoMinimum => "leave --min-intersection out",
        Remedy::FewerOutputColumns => "ask for fewer columns, or for columns with shorter names",
        Remedy::FewerKeyColumns => {
            "give fewer key columns, or fewer rules: one column can hold several joined beforehand"
        }
        Remedy::RoomForJob => {
            "nothing is lost: make room there, and both run the same commands again; they go on \
             with what was kept"
        }
        Remedy::NewJobs => "with --job, name new folders",
        Remedy::SigningIdentity => "`psijoin keygen` makes an identity that can",
        Remedy::Identity => "`psijoin keygen` makes an identity",
        Remedy::Passphrase if cfg!(unix) => {
            "run it at a terminal, which asks for it, or name a file that holds it and that only you \
             can read: --passphrase-file FILE"
        }
        Remedy::Passphrase => {
            "name a file that holds it and that only you can read: --passphrase-file FILE"
        }
        Remedy::ProtectedIdentity => {
            "`psijoin keygen --change-passphrase` gives it one; without one, leave \
             --passphrase-file out"
        }
        Remedy::Fingerprints => {
            "each side gives the fingerprint that the other's `psijoin keygen` printed as --peer"
        }
        Remedy::PeerFingerprint => "the other party's `psijoin fingerprint` prints it",
        Remedy::MoreMemory => "give more --memory",
        Remedy::LowerMinimum => "--min-intersection demands as many",
        Remedy::MorePeerKeys => {
            "if such a large set is right, raise --max-peer-keys; as the sender, consider what a \
             receiver learns if it puts in every key it can think of"
        }
        Remedy::RoomForPeerKeys => {
            "give more --memory, or run on a machine that has more; --max-peer-keys N tries it all \
             the same"
        }
        Remedy::TakeLess => {
            "take fewer columns (--take), allow more here (--take-rows, --take-bytes), or let the \
             other party give less: a smaller K of --repeated list:K, or a smaller --give-bytes"
        }
        Remedy::GiveLess => {
            "--give names the columns; a smaller K of --repeated list:K gives fewer rows, and a \
             smaller --give-bytes fewer bytes for each"
        }
        Remedy::TellOffered => {
            "tell the other side which columns --give here names, as they are spelled here, or let \
             it say --take all"
        }
        Remedy::AllowSums => {
            "--allow-sums-that-reveal-keys allows it: see \"What an answer tells\" in \
             docs/functions.md first"
        }
        Remedy::AllowGroups => {
            "--min-group K on both sides withholds groups of fewer than K keys; \
             --allow-sums-that-reveal-keys shows all: see \"What an answer tells\" in docs/functions.md first"
        }
        Remedy::LessStrict => "--strict refuses that",
        Remedy::LessStrictPeer => "it was started with --strict, which refuses that",
        Remedy::NewRecordFile => {
            "a record may be evidence, so it is never replaced: name a new file, or move the old one"
        }
        Remedy::OtherReportFile => "name another file in --report",
        Remedy::JoinInsteadOfCheck => "it was started as `psijoin check`",
        Remedy::OneConnection => "give --threads 1 on both sides",
        Remedy::RelayOfTheWeb => "--relay wss://HOST/PATH on both sides names a relay",
        Remedy::OtherProxy => "--proxy, or https_proxy in the environment, names it",
        Remedy::RelayKey => "--relay-key FILE names it",
        Remedy::Encryption => "--insecure-plaintext",
        Remedy::KeyOrder => "--key names them",
        Remedy::KeyRules => "--normalize",
        Remedy::FewerPeerKeys => "--max-peer-keys N refuses larger sets",
        Remedy::MinimumForSums => {
            "--min-intersection K on both sides withholds the sum of fewer than K keys"
        }
        Remedy::MinimumForGroups => {
            "--min-group K on both sides withholds groups of fewer than K keys"
        }
        Remedy::GroupBy => "--group-by names them, as in --group-by receiver.segment",
        Remedy::Budget => "`psijoin budget show FILE` shows what each partner has had",
        Remedy::NewBudget => "`psijoin budget create FILE` makes one",
        Remedy::Noise => {
            "--noise laplace:epsilon=E,bound=COLUMN:LOW..HIGH says it, with a bound for each column"
        }
        Remedy::NewCalibration => "make it again with `psijoin calibrate`, or delete it",
        Remedy::LookAtKeys => {
            "`psijoin keys FILE` shows the first keys as they are compared, and what each rule of \
             --normalize changed"
        }
    })
}

fn of_inability(ability: &Ability) -> String {
    let asked = match ability {
        Ability::Compute(_) => "--output-kind",
        Ability::Withhold => "--min-intersection",
        Ability::PostQuantum => "--post-quantum",
        Ability::Carry(further) => that_ask_for(*further),
    };
    format!("leave --protocol out, or name one of these: others cannot do {asked}")
}

/// Returns the options that ask for more of shared rows.
fn that_ask_for(further: Further) -> &'static str {
    match further {
        Further::Both => "--learn both",
        Further::Columns => "--give and --take",
    }
}

fn of_spec(fault: SpecFault) -> &'static str {
    match fault {
        SpecFault::RecordWithoutIdentities => {
            "give --identity and --peer with --record, and leave out --insecure-plaintext"
        }
        SpecFault::NoFileForShares => "--output FILE names it",
        SpecFault::NothingToWrite => "leave --output out, which is for rows, groups or shares",
        SpecFault::ReceiverGives => "give --learn both on both sides, or leave out --give",
        SpecFault::SenderTakes => "give --learn both on both sides, or leave out --take",
        SpecFault::TakesForUnshared => "leave out --take, or say --rows all",
        SpecFault::AlignedForOne => "give --learn both on both sides, or leave out --align",
        SpecFault::BudgetWithoutIdentities => {
            "give --identity and --peer with --budget, and leave out --insecure-plaintext"
        }
        SpecFault::BudgetOfReceiver => "leave out --budget",
    }
}

/// Returns the options that set this of a job.
fn that_say(term: JobTerm) -> &'static str {
    match term {
        JobTerm::Protocol => "--protocol says",
        JobTerm::Output => "--output-kind says",
        JobTerm::GroupBy => "--group-by says",
        JobTerm::GroupLists => "--groups says",
        JobTerm::MinGroup => "--min-group says",
        JobTerm::Noise => "--noise says",
        JobTerm::Learners => "--learn says",
        JobTerm::Terms => "--terms says",
        JobTerm::Record => "--record says",
        JobTerm::Budget => "--budget says",
        JobTerm::Minimum => "--min-intersection says",
        JobTerm::PostQuantum => "--post-quantum says",
        JobTerm::Peer => "--peer says",
        JobTerm::Identity => "--identity says",
        JobTerm::Key => "--key and --normalize say",
        JobTerm::Columns => "--give and --take say",
        JobTerm::Written => {
            "--rows, --align, the format of --output, --quote-empty and --quote-formulas say"
        }
    }
}

/// Returns how both sides come to agree on a setting.
fn agreeing(setting: Setting) -> &'static str {
    match setting {
        Setting::Protocol => {
            "give the same --protocol NAME on both sides, or leave it out on both: `auto`, the \
             default, takes the one that suits the sizes of the sets and the network"
        }
        Setting::Job => {
            "give --job FOLDER on both sides, each with a folder of its own, or on neither"
        }
        Setting::Terms => {
            "give --terms FILE on both sides, with the same text to the byte (`sha256sum FILE` \
             prints its hash), or on neither"
        }
        Setting::Record => "give --record FILE.json on both sides, or on neither",
        Setting::Learners => {
            "give the same --learn on both sides, or leave it out on both: then the receiver learns"
        }
        Setting::Aligned => "give --align on both sides, or on neither",
        Setting::PostQuantum => "give --post-quantum on both sides, or on neither",
        Setting::SendersColumns => {
            "let the sender say --give COLUMNS and the receiver --take COLUMNS or --take all, or \
             neither of them"
        }
        Setting::ReceiversColumns => {
            "let the receiver say --give COLUMNS and the sender --take COLUMNS or --take all, or \
             neither of them"
        }
        Setting::Output => {
            "give the same --output-kind on both sides, or leave it out on both: then it is rows"
        }
        Setting::GroupBy => "give the same --group-by on both sides",
        Setting::GroupLists => {
            "give --groups FILE on both sides, with the same labels in any order, or on neither"
        }
        Setting::MinGroup => "give the same --min-group on both sides, or leave it out on both",
        Setting::Noise => "give the same --noise on both sides, or leave it out on both",
        Setting::Minimum => {
            "give the same --min-intersection on both sides, or leave it out on both"
        }
        Setting::KeyColumns => {
            "name as many columns in --key on both sides, in the same order: their names may differ"
        }
        Setting::ItemBits => {
            "give the key column the same number:BITS on both sides, or the rule number on both"
        }
        Setting::Release => "install the same release of psijoin on both sides",
        Setting::DerivedParameters => {
            "install the same release of psijoin on both sides; if it is the same, what the sides \
             say to each other was changed on the way: meet with --peer instead of \
             --insecure-plaintext"
        }
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
        for hints in [include_str!("hints.rs"), include_str!("hints/table.rs")] {
            let words = hints.split(|it: char| !it.is_ascii_lowercase() && it != '-');
            let options = words.filter_map(|word| word.strip_prefix("--"));
            for option in options.filter(|option| !option.is_empty()) {
                assert!(known.contains(&option), "--{option}");
            }
        }
    }

    #[test]
    fn all_settings_that_differ_are_named() {
        let both = of(&Remedy::Agree(vec![Setting::Terms, Setting::Record]));
        assert!(both.contains("--terms FILE") && both.contains("; give --record FILE.json"));
    }
}

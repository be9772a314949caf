//! What a session tells, in the words of the command line.

use std::time::Duration;

use psijoin::{Adversary, Info};
use psijoin_channel::{
    gauge::Gauged,
    path::{FAST_BITS_PER_SECOND, Measured},
};
use psijoin_printable::Quoted;
use psijoin_session::{
    Ability, Error, Further, KeyColumn, KeyDifference, PeerKind, QuestionFault, SpecFault, Warning,
    one_of,
};
use psijoin_table::{BadCells, BadCellsOfKey, Doubt, Kind};

use crate::humanize;

/// What the user has to know about a connection in plaintext.
pub(crate) const INSECURE: &str = "--insecure-plaintext: anybody on the way can read and change \
                                   what the parties say.";

/// Returns an error, with the options that it is about.
pub(crate) fn of_error(error: &Error) -> String {
    match error {
        Error::Unable(unable) => {
            let name = unable.protocol;
            let what = match &unable.what {
                Ability::Compute(output) => format!("{name} cannot compute the output {output}"),
                Ability::Withhold => {
                    format!("{name} cannot withhold what it finds, as --min-intersection demands")
                }
                Ability::Carry(further) => format!("{name} cannot do {}", options(*further)),
            };
            let others = one_of(&unable.others);
            format!("{what}: leave --protocol out, or take {others}")
        }
        Error::Spec(fault) => of_spec(*fault).to_owned(),
        Error::Question(QuestionFault::NoRows { asked, further }) => format!(
            "--output-kind {asked} finds no rows: leave it out, or {}",
            options(*further)
        ),
        Error::Question(QuestionFault::MinimumWith(further)) => format!(
            "no protocol can do both --min-intersection and {}: leave one of them out",
            options(*further)
        ),
        Error::Question(QuestionFault::MinimumOf(asked)) => format!(
            "--min-intersection is for rows, count and sum; {}: leave --min-intersection out",
            asked.why_not_withheld()
        ),
        Error::TooLittleMemory { allowed, least } => format!(
            "--memory {} is too little: {} is the least that a large join works with",
            humanize::bytes(*allowed),
            humanize::bytes(*least)
        ),
        Error::Job(error) => of_job(error),
        Error::TooFew(least) => too_few(*least),
        Error::JobIsOver {
            folder,
            too_few: Some(least),
        } => format!(
            "the job in {} is over: {}",
            psijoin_printable::path(folder),
            too_few(*least)
        ),
        Error::TooManyPeerKeys { theirs, most } => format!(
            "the other party has {}, and --max-peer-keys here is {}: nothing was done",
            humanize::counted(*theirs, "key"),
            humanize::count(*most)
        ),
        Error::OverwritesInput(path) => format!(
            "--report names a file of the input, {}: nothing was written",
            psijoin_printable::path(path)
        ),
        Error::UnlikeKeys => {
            "the keys of the two sides differ as said above, and --strict refuses \
                              that; nothing was done"
                .to_owned()
        }
        Error::DoubtfulTable => {
            "this side's table is doubtful as said above, and --strict refuses \
                                 that; nothing was done"
                .to_owned()
        }
        Error::OnlyChecked => "the other party only checks (--check): nothing was done".to_owned(),
        Error::Unconfirmed(why) => error
            .to_string()
            .replacen(&why.to_string(), &of_error(why), 1),
        Error::UnconfirmedResult(why) => {
            error
                .to_string()
                .replacen(&why.to_string(), &of_error(why), 1)
        }
        other => other.to_string(),
    }
}

/// Returns what is wrong with a job, with the options that say what has changed.
fn of_job(error: &psijoin_job::Error) -> String {
    use psijoin_job::Error::{Changed, ChangedSecret};
    match error {
        Changed {
            folder,
            name,
            was,
            is,
        } => Changed {
            folder: folder.clone(),
            name: with_options(name),
            was: was.clone(),
            is: is.clone(),
        }
        .to_string(),
        ChangedSecret { folder, name } => ChangedSecret {
            folder: folder.clone(),
            name: with_options(name),
        }
        .to_string(),
        other => other.to_string(),
    }
}

/// Returns what a job is bound to, and the options that say it.
fn with_options(name: &str) -> String {
    let options = match name {
        "a key" => "--key, --normalize",
        "the minimum" => "--min-intersection",
        "the columns that are given or taken" => "--give, --take",
        "what is written" => {
            "--rows, --align, the format of --output, --quote-empty, --quote-formulas"
        }
        _ => return name.to_owned(),
    };
    format!("{name} ({options})")
}

fn too_few(least: u64) -> String {
    format!(
        "fewer than {} are shared: by --min-intersection, neither side learns more of the result",
        humanize::counted(least, "key")
    )
}

/// Says what does not go together, and what to do.
fn of_spec(fault: SpecFault) -> &'static str {
    match fault {
        SpecFault::RecordWithoutIdentities => {
            "a record is signed by both identities: give --identity and --peer with --record, and leave out \
             --insecure-plaintext"
        }
        SpecFault::NoFileForShares => "say where to write this party's shares: --output FILE",
        SpecFault::NothingToWrite => {
            "--output is for rows or shares, and this side gets none: leave it out"
        }
        SpecFault::ReceiverGives => {
            "the receiver gives columns only if the sender learns, too: give --learn both on both sides, or leave out \
             --give"
        }
        SpecFault::SenderTakes => {
            "the sender takes columns only if it learns, too: give --learn both on both sides, or leave out --take"
        }
        SpecFault::TakesForUnshared => {
            "rows that are not shared have no partner to take columns from: leave out --take, or say --rows all"
        }
        SpecFault::AlignedForOne => {
            "--align lines up the rows of both sides: give --learn both, too, on both sides, or leave out --align"
        }
    }
}

/// Returns the options that ask for more of shared rows.
fn options(further: Further) -> &'static str {
    match further {
        Further::Both => "--learn both",
        Further::Columns => "--give and --take",
    }
}

/// Returns what the user should think about.
pub(crate) fn of_warning(warning: &Warning<'_>) -> String {
    match warning {
        Warning::Plaintext => INSECURE.to_owned(),
        Warning::Insecure(info) => insecurity(info).unwrap_or_default(),
        Warning::Doubtful { name, doubt } => of_doubt(name, doubt),
        Warning::BadCells { cells, rows } => bad_cells(cells, *rows).unwrap_or_default(),
        Warning::UnlikeKeys(difference) => of_difference(difference),
        Warning::Curious { theirs, own } => format!(
            "the receiver has {} keys, {} times as many as you: a receiver that puts in every \
             key it can think of (all telephone numbers, say) learns which of them you have. \
             --max-peer-keys N refuses larger sets.",
            humanize::count(*theirs),
            humanize::count(theirs / own),
        ),
        Warning::SumOverFew => {
            "without --min-intersection the receiver gets the sum over however few keys are shared, and over one key it is \
             that key's number: --min-intersection K on both sides withholds the sum of fewer than K keys."
                .to_owned()
        }
        Warning::MeetsAgain(error) => {
            format!("{}: meeting again, to go on with the job", of_error(error))
        }
    }
}

/// Returns what a protocol without security says before and after a run.
pub(crate) fn insecurity(info: &Info) -> Option<String> {
    (info.adversary == Adversary::Insecure).then(|| {
        format!(
            "{} is INSECURE and only there to measure against. It leaks: {}.",
            info.name, info.leaks
        )
    })
}

/// Returns what the person who gave the table of this name should think about.
pub(crate) fn of_doubt(name: &str, doubt: &Doubt) -> String {
    format!("{name}: {doubt}.")
}

/// Returns what the person who lets cells of the key count as null should know: how many of the
/// rows have some, and where.
pub(crate) fn bad_cells(cells: &BadCellsOfKey, rows: u64) -> Option<String> {
    let sorts: Vec<_> = cells.sorts.iter().map(BadCells::to_string).collect();
    (!sorts.is_empty()).then(|| {
        format!(
            "{} of {} without a key as a cell of it cannot be read: {}.",
            humanize::count(cells.rows),
            match rows {
                1 => "1 row is".to_owned(),
                _ => format!("{} rows are", humanize::count(rows)),
            },
            sorts.join("; ")
        )
    })
}

/// Returns what the greeting has shown of the network.
pub(crate) fn greeting(measured: Measured) -> Option<String> {
    let round_trip = Duration::from_micros(measured.round_trip_micros()?);
    let rate = match measured.incoming_bits_per_second()? {
        // Faster is not told from this.
        FAST_BITS_PER_SECOND.. => format!("{} or more", humanize::rate(FAST_BITS_PER_SECOND)),
        rate => humanize::rate(rate),
    };
    let round_trip = humanize::time(round_trip);
    Some(format!(
        "round trip {round_trip}, from the other party {rate}"
    ))
}

/// Returns what the network was found to be.
pub(crate) fn network(gauged: &Gauged) -> String {
    format!(
        "the network: {} there and back, {} to the other party, {} from it",
        humanize::time(gauged.round_trip),
        humanize::rate(gauged.out_bits_per_second as u64),
        humanize::rate(gauged.in_bits_per_second as u64),
    )
}

/// Why equal keys may not match, and what to do.
fn of_difference(difference: &KeyDifference) -> String {
    match difference {
        KeyDifference::Order => {
            "the other side seems to have the same key columns in another order: give \
                                 --key in the same order on both sides."
                .to_owned()
        }
        KeyDifference::Kind {
            column,
            ours,
            theirs,
        } => format!(
            "{} is {ours} here and {} on the other side, so one value may \
             be written in two ways and not match. {}",
            called(column),
            shown(theirs),
            advice(*ours, theirs.known()),
        ),
        KeyDifference::Rules {
            column,
            ours,
            theirs,
        } => format!(
            "{} is normalised by {} here and by {} on the other side, so one value \
             may be written in two ways and not match. Give the same --normalize on both \
             sides.",
            called(column),
            rules(ours),
            rules(theirs),
        ),
    }
}

fn called(column: &KeyColumn) -> String {
    match &column.name {
        None => "the key".to_owned(),
        Some(name) => format!("key column {} ({} here)", column.position, Quoted(name)),
    }
}

fn rules(rules: &str) -> String {
    match rules {
        "" => "no rule".to_owned(),
        rules => Quoted(rules).to_string(),
    }
}

/// Returns what the other party calls a kind: its own words, unless this version knows them.
fn shown(kind: &PeerKind) -> String {
    match kind {
        PeerKind::Known(kind) => kind.to_string(),
        PeerKind::Unknown(words) => Quoted(words).to_string(),
    }
}

/// Returns what to do if kinds differ.
fn advice(ours: Kind, theirs: Option<Kind>) -> String {
    let both = [Some(ours), theirs];
    if both.contains(&Some(Kind::MixedTimestamp)) || both.iter().all(is_timestamp) {
        return "On the side without a zone, --normalize COLUMN=timestamp:ZONE says where its \
                clocks were."
            .to_owned();
    }
    if both.iter().all(is_phone) {
        return "On both sides, --normalize COLUMN=phone:COUNTRY reads numbers with and without a \
                country code."
            .to_owned();
    }
    if both.contains(&Some(Kind::Sha256)) && both.contains(&Some(Kind::Text)) {
        return "If the text is plain values, --normalize COLUMN=email+sha256 hashes them, with other rules than email \
                where these were used; if it is hashes, sha256 alone reads them."
            .to_owned();
    }
    let (side, other) = match both {
        [Some(Kind::Text), other] => ("here", other),
        [other, Some(Kind::Text)] => ("on the other side", other),
        _ => ("", None),
    };
    match other.and_then(Kind::rule) {
        Some(rule) => format!("--normalize COLUMN={rule} {side} reads the text."),
        None => "Give both sides columns of one type, or the same --normalize.".to_owned(),
    }
}

fn is_timestamp(kind: &Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Timestamp | Kind::UniversalTimestamp))
}

fn is_phone(kind: &Option<Kind>) -> bool {
    use Kind::*;
    matches!(kind, Some(Phone | NationalPhone | MixedPhone | E164))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_party_makes_up_stands_in_quotes() {
        let number = PeerKind::Known(Kind::Number);
        assert_eq!(shown(&number), Kind::Number.to_string());
        let made_up = PeerKind::Unknown("text, `which` is fine".to_owned());
        assert_eq!(shown(&made_up), r"`text, \`which\` is fine`");
    }

    #[test]
    fn advice_names_a_rule_that_reads_the_text() {
        let text = |kind: Kind| advice(Kind::Text, Some(kind));
        assert!(text(Kind::Sha256).contains("email+sha256"));
        assert_eq!(
            text(Kind::Number),
            "--normalize COLUMN=number here reads the text."
        );
        assert_eq!(
            advice(Kind::Bool, Some(Kind::Text)),
            "--normalize COLUMN=bool on the other side reads the text."
        );
        let zone = "timestamp:ZONE";
        assert!(advice(Kind::Timestamp, Some(Kind::UniversalTimestamp)).contains(zone));
        assert!(advice(Kind::UniversalTimestamp, Some(Kind::Timestamp)).contains(zone));
        for (ours, theirs) in [
            (Kind::Number, Some(Kind::Bool)),
            (Kind::Date, None),
            (Kind::Text, None),
        ] {
            assert!(advice(ours, theirs).contains("of one type"), "{theirs:?}");
        }
    }
}

//! The events of a session, in words.

use std::{fmt::Display, time::Duration};

use psijoin::{Adversary, Info};
use psijoin_channel::{
    gauge::Gauged,
    path::{FAST_BITS_PER_SECOND, Measured},
};
use psijoin_printable::{Lines, Quoted, Word, humanize};
use psijoin_session::{KeyColumn, KeyDifference, MeetingPlace, PeerKind, Warning};
use psijoin_source::Doubt;
use psijoin_table::{BadCells, BadCellsOfKey, Kind};
use psijoin_transport::Sight;

/// Returns a text with what users do about it, in one line.
pub fn with_hint(text: &str, hint: Option<&str>) -> String {
    match (hint, text.strip_suffix('.')) {
        (None, _) => text.to_owned(),
        (Some(hint), Some(sentence)) => format!("{sentence} ({hint})."),
        (Some(hint), None) => format!("{text} ({hint})"),
    }
}

/// Returns a warning for where nothing else tells that it is one.
pub fn warning(text: impl Display) -> String {
    format!("WARNING: {text}")
}

/// Returns the text so that no terminal obeys what is in it.
pub fn harmless(text: impl Display) -> String {
    Lines(&text.to_string()).to_string()
}

/// Returns the name of a place where both parties go.
pub fn meeting_place(place: MeetingPlace<'_>) -> String {
    match place {
        MeetingPlace::Relay(relay) => format!("the relay {}", Word(&relay.to_string())),
        MeetingPlace::Folder(folder) => format!("the folder {}", psijoin_printable::path(folder)),
        _ => "the meeting place".to_owned(),
    }
}

/// Returns what is seen where both parties go. `other` is the other one in words.
pub fn sight(place: MeetingPlace<'_>, other: &str, sight: &Sight) -> Option<String> {
    let place = meeting_place(place);
    Some(match sight {
        Sight::Waiting => format!("at {place}; {other} is not there yet"),
        Sight::Here => {
            format!("somebody has come to {place}: making sure that it is {other}")
        }
        Sight::Trouble(why) => format!("not met yet, and trying again: {why}"),
        _ => return None,
    })
}

/// Returns what the user should think about.
pub fn of_warning(warning: &Warning<'_>) -> String {
    match warning {
        Warning::Plaintext => "the connection is not encrypted: anybody on the way can read and change what the parties say."
            .to_owned(),
        Warning::Insecure(info) => insecurity(info).unwrap_or_default(),
        Warning::Doubtful { name, doubt } => of_doubt(name, doubt),
        Warning::BadCells { cells, rows } => bad_cells(cells, *rows).unwrap_or_default(),
        Warning::UnlikeKeys(difference) => of_difference(difference),
        Warning::Curious { theirs, own } => format!(
            "the receiver has {} keys, {} times as many as you: a receiver that puts in every \
             key it can think of (all telephone numbers, say) learns which of them you have.",
            humanize::count(*theirs),
            humanize::count(theirs / own),
        ),
        Warning::SumOverFew => {
            "no least number of shared keys is demanded: the receiver gets the sum over however few are shared, and over one \
             key it is that key's number."
                .to_owned()
        }
        Warning::GroupsOfFew => {
            "no least size of a group is demanded: the receiver gets the totals of groups of however few keys, and of one key \
             these are that key's."
                .to_owned()
        }
        Warning::UnusableProxy(why) => format!(
            "the proxy that https_proxy names in the environment cannot be used, so none is: {why}"
        ),
        Warning::MeetsAgain(error) => {
            format!("{error}: meeting again, to go on with the job")
        }
    }
}

/// Returns the warning of a protocol without security, before and after a run.
pub fn insecurity(info: &Info) -> Option<String> {
    (info.adversary == Adversary::Insecure).then(|| {
        format!(
            "{} is INSECURE and only there to measure against. It leaks: {}.",
            info.name, info.leaks
        )
    })
}

/// Returns what the person who gave the table of this name should think about.
pub fn of_doubt(name: &str, doubt: &Doubt) -> String {
    format!("{name}: {doubt}.")
}

/// Returns what the person who lets cells of the key count as null should know: how many of the
/// rows have some, and where.
pub fn bad_cells(cells: &BadCellsOfKey, rows: u64) -> Option<String> {
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
pub fn greeting(measured: Measured) -> Option<String> {
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
pub fn network(gauged: &Gauged) -> String {
    format!(
        "the network: {} there and back, {} to the other party, {} from it",
        humanize::time(gauged.round_trip),
        humanize::rate(gauged.out_bits_per_second as u64),
        humanize::rate(gauged.in_bits_per_second as u64),
    )
}

/// Describes why equal keys may not match, and what to do.
fn of_difference(difference: &KeyDifference) -> String {
    match difference {
        KeyDifference::Order => {
            "the other side seems to have the same key columns in another order: name them \
             in the same order on both sides."
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
            KeyAdvice::new(*ours, theirs.known()).text,
        ),
        KeyDifference::Rules {
            column,
            ours,
            theirs,
        } => format!(
            "{} is normalised by {} here and by {} on the other side, so one value \
             may be written in two ways and not match. Give the same rules on both sides.",
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

/// Advice for key columns that differ in kind.
pub(crate) struct KeyAdvice {
    text: String,
    /// The rule that makes them alike, if there is one.
    pub(crate) rule: Option<&'static str>,
}

impl KeyAdvice {
    /// Returns what to do about such columns.
    pub(crate) fn new(ours: Kind, theirs: Option<Kind>) -> Self {
        let with = |rule, text: &str| Self {
            text: text.to_owned(),
            rule: Some(rule),
        };
        let both = [Some(ours), theirs];
        if both.contains(&Some(Kind::MixedTimestamp)) || both.iter().all(is_timestamp) {
            return with(
                "timestamp:ZONE",
                "On the side without a zone, the rule `timestamp:ZONE` says where its clocks were.",
            );
        }
        if both.iter().all(is_phone) {
            return with(
                "phone:COUNTRY",
                "On both sides, the rule `phone:COUNTRY` reads numbers with and without a country code.",
            );
        }
        if both.contains(&Some(Kind::Sha256)) && both.contains(&Some(Kind::Text)) {
            return with(
                "email+sha256",
                "If the text is plain values, the rules `email+sha256` hash them, with other rules than email where these were \
                 used; if it is hashes, `sha256` alone reads them.",
            );
        }
        let (side, other) = match both {
            [Some(Kind::Text), other] => ("here", other),
            [other, Some(Kind::Text)] => ("on the other side", other),
            _ => ("", None),
        };
        match other.and_then(Kind::rule) {
            Some(rule) => with(rule, &format!("The rule `{rule}` {side} reads the text.")),
            None => Self {
                text: "Give both sides columns of one type, or the same rules.".to_owned(),
                rule: None,
            },
        }
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
        let rule = |ours, theirs| KeyAdvice::new(ours, Some(theirs)).rule;
        assert_eq!(rule(Kind::Text, Kind::Sha256), Some("email+sha256"));
        let here = KeyAdvice::new(Kind::Text, Some(Kind::Number));
        assert_eq!(here.text, "The rule `number` here reads the text.");
        assert_eq!(here.rule, Some("number"));
        let there = KeyAdvice::new(Kind::Bool, Some(Kind::Text));
        assert_eq!(
            there.text,
            "The rule `bool` on the other side reads the text."
        );
        let zone = Some("timestamp:ZONE");
        assert_eq!(rule(Kind::Timestamp, Kind::UniversalTimestamp), zone);
        assert_eq!(rule(Kind::UniversalTimestamp, Kind::Timestamp), zone);
        for (ours, theirs) in [
            (Kind::Number, Some(Kind::Bool)),
            (Kind::Date, None),
            (Kind::Text, None),
        ] {
            let advice = KeyAdvice::new(ours, theirs);
            assert!(advice.text.contains("of one type"), "{theirs:?}");
            assert_eq!(advice.rule, None);
        }
    }

    #[test]
    fn a_hint_stands_within_the_sentence() {
        assert_eq!(
            with_hint("it is red.", Some("`blue`")),
            "it is red (`blue`)."
        );
        assert_eq!(with_hint("it is red", Some("`blue`")), "it is red (`blue`)");
        assert_eq!(with_hint("it is red.", None), "it is red.");
    }
}

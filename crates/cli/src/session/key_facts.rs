//! What each party tells about its key columns, and what follows for a match.
//!
//! Two parties can be set up alike and share nothing: `1.50` and `1.5`, a date and a text. So each
//! tells what its key columns [mean](Meaning), and both say where these differ, before any data
//! moves. With two key columns or more each also tells eight bits of a hash of each name: enough to
//! see that the same columns are in another order, and too little to reveal a name.

use psijoin_handshake::Hello;
use psijoin_printable::Quoted;
use psijoin_table::{Kind, Meaning};

use crate::exit::Failure;

/// The fact about the names.
const NAMES: &str = "marks of the key columns' names";

/// A party's own key columns.
pub(super) struct KeyFacts<'a> {
    /// Their names; none if the only column is the key.
    names: &'a [String],
    meanings: &'a [Meaning],
}

impl<'a> KeyFacts<'a> {
    pub(super) fn new(names: &'a [String], meanings: &'a [Meaning]) -> Self {
        Self { names, meanings }
    }

    /// Adds the facts to a hello.
    pub(super) fn tell(&self, hello: Hello) -> Hello {
        let hello = (0..)
            .zip(self.meanings)
            .fold(hello, |hello, (at, meaning)| hello.fact(fact(at), meaning));
        match self.names.len() {
            0 | 1 => hello,
            _ => hello.fact(NAMES, self.marks().join(" ")),
        }
    }

    /// Where the parties' key columns differ so much that equal keys may not match.
    ///
    /// # Errors
    /// If the peer left out a required fact.
    pub(super) fn differences(&self, theirs: &Hello) -> Result<Vec<String>, Failure> {
        let told = |at| {
            let missing = "it did not tell what its key columns mean";
            let told = theirs.told(&fact(at));
            told.ok_or_else(|| psijoin_handshake::Error::Malformed(missing).into())
        };
        let theirs_at: Vec<&str> = (0..self.meanings.len())
            .map(told)
            .collect::<Result<_, Failure>>()?;
        let columns = (0..).zip(self.meanings).zip(&theirs_at);
        let differ = columns.filter_map(|((at, ours), theirs)| self.difference(at, ours, theirs));
        let order = theirs
            .told(NAMES)
            .filter(|marks| is_other_order(&self.marks(), marks));
        let order = order.map(|_| {
            "the other side seems to have the same key columns in another order: give \
             --key in the same order on both sides."
                .to_owned()
        });
        Ok(differ.chain(order).collect())
    }

    fn difference(&self, at: usize, ours: &Meaning, theirs: &str) -> Option<String> {
        let meaning = ours.to_string();
        if meaning == theirs {
            return None;
        }
        let column = self.called(at);
        let our_kind = ours.kind().to_string();
        let (their_kind, their_rules) = theirs.split_once(": ").unwrap_or((theirs, ""));
        if our_kind != their_kind {
            return Some(format!(
                "{column} is {our_kind} here and {} on the other side, so one value may \
                 be written in two ways and not match. {}",
                shown(their_kind),
                advice(ours.kind(), their_kind),
            ));
        }
        let our_rules = meaning.split_once(": ").map_or("", |(_, rules)| rules);
        if ours.kind() == Kind::Sha256 && (our_rules.is_empty() || their_rules.is_empty()) {
            // Whoever has hashes does not know how they were made.
            return None;
        }
        let shown = |rules: &str| match rules {
            "" => "no rule".to_owned(),
            rules => Quoted(rules).to_string(),
        };
        Some(format!(
            "{column} is normalised by {} here and by {} on the other side, so one value \
             may be written in two ways and not match. Give the same --normalize on both \
             sides.",
            shown(our_rules),
            shown(their_rules),
        ))
    }

    /// The name of a key column for people.
    fn called(&self, at: usize) -> String {
        match self.names.get(at) {
            None => "the key".to_owned(),
            Some(name) => format!("key column {} ({} here)", at + 1, Quoted(name)),
        }
    }

    /// Eight bits of a hash of each name, in upper or lower case, as two hexadecimal digits.
    fn marks(&self) -> Vec<String> {
        let mark = |name: &String| {
            let context = "psijoin 2026-11 mark of a key column's name v1";
            let hash = blake3::derive_key(context, name.trim().to_lowercase().as_bytes());
            format!("{:02x}", hash[0])
        };
        self.names.iter().map(mark).collect()
    }
}

/// What the fact about the key column at this position is called.
pub(super) fn fact(at: usize) -> String {
    format!("key column {}", at + 1)
}

fn is_other_order(ours: &[String], theirs: &str) -> bool {
    let theirs: Vec<&str> = theirs.split(' ').collect();
    let sorted = |mut marks: Vec<_>| {
        marks.sort_unstable();
        marks
    };
    let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
    ours != theirs && sorted(ours) == sorted(theirs)
}

/// The kind of this name.
fn named(name: &str) -> Option<Kind> {
    let mut kinds = Kind::ALL.iter().copied();
    kinds.find(|kind| kind.to_string() == name)
}

/// What the other party calls a kind: its own words, unless this version knows them.
fn shown(kind: &str) -> String {
    match named(kind) {
        Some(known) => known.to_string(),
        None => Quoted(kind).to_string(),
    }
}

/// What to do if kinds differ.
fn advice(ours: Kind, theirs: &str) -> String {
    let both = [Some(ours), named(theirs)];
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
    fn another_order_is_seen_and_other_names_are_not() {
        let marks = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            KeyFacts::new(&names, &[]).marks()
        };
        let ours = marks(&["name", "zip", "day"]);
        let is_other = |names: &[&str]| is_other_order(&ours, &marks(names).join(" "));
        assert!(is_other(&["zip", "name", "day"]));
        assert!(is_other(&["Day", " NAME", "zip"]));
        assert!(!is_other(&["name", "zip", "day"]));
        assert!(!is_other(&["vorname", "plz", "tag"]));
        assert!(!is_other(&["zip", "name"]));
        assert!(!is_other_order(&ours, "\u{1b}"));
    }

    #[test]
    fn what_the_other_party_makes_up_stands_in_quotes() {
        assert_eq!(shown(&Kind::Number.to_string()), Kind::Number.to_string());
        assert_eq!(shown("text, `which` is fine"), r"`text, \`which\` is fine`");
    }

    #[test]
    fn advice_names_a_rule_that_reads_the_text() {
        let text = |kind: Kind| advice(Kind::Text, &kind.to_string());
        assert!(text(Kind::Sha256).contains("email+sha256"));
        assert_eq!(
            text(Kind::Number),
            "--normalize COLUMN=number here reads the text."
        );
        assert_eq!(
            advice(Kind::Bool, "text"),
            "--normalize COLUMN=bool on the other side reads the text."
        );
        let zone = "timestamp:ZONE";
        let universal = Kind::UniversalTimestamp.to_string();
        assert!(advice(Kind::Timestamp, &universal).contains(zone));
        assert!(advice(Kind::UniversalTimestamp, &Kind::Timestamp.to_string()).contains(zone));
        for (ours, theirs) in [
            (Kind::Number, "boolean"),
            (Kind::Date, "of a later version"),
            (Kind::Text, "of a later version"),
        ] {
            assert!(advice(ours, theirs).contains("of one type"), "{theirs}");
        }
    }
}

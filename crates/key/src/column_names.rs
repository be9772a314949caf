//! Names of columns in errors, and those that people take for another.

use psijoin_printable::{Quoted, is_printable};
use unicode_normalization::UnicodeNormalization;

/// A difference between names that may go unnoticed, and the way to leave it out.
type Way = (&'static str, fn(&str) -> String);

const WAYS: [Way; 4] = [
    ("case", |name| name.to_lowercase()),
    ("spaces", |name| kept(name, |c| !c.is_whitespace())),
    ("how its letters are composed", |name| name.nfkc().collect()),
    ("characters that nobody sees", |name| {
        kept(name, |c| is_printable(c) || c.is_whitespace())
    }),
];

/// The place of the composition of letters among these.
const COMPOSED: usize = 2;

fn kept(name: &str, is_kept: fn(char) -> bool) -> String {
    name.chars().filter(|c| is_kept(*c)).collect()
}

/// Returns the first of the names that people may take for this one, though it is another: its
/// index, and what it differs in.
pub fn first_alike<'n>(
    names: impl IntoIterator<Item = &'n str>,
    name: &str,
) -> Option<(usize, String)> {
    let names = names.into_iter().enumerate();
    let mut alike = names.filter_map(|(index, other)| Some((index, difference(other, name)?)));
    alike.next()
}

/// Returns the difference between two names, if nothing of it is easily noticed.
fn difference(one: &str, other: &str) -> Option<String> {
    let without = |ways: &[usize]| {
        let plain = |name: &str| {
            let name = ways
                .iter()
                .fold(name.to_owned(), |name, &way| WAYS[way].1(&name));
            // The characters that were taken off may have kept letters apart.
            match ways.contains(&COMPOSED) {
                true => name.nfc().collect(),
                false => name,
            }
        };
        plain(one) == plain(other)
    };
    let all: Vec<usize> = (0..WAYS.len()).collect();
    if one == other || !without(&all) {
        return None;
    }
    if let Some(only) = all.iter().find(|way| without(&[**way])) {
        return Some(WAYS[*only].0.to_owned());
    }
    let is_needed = |way: &usize| {
        let others: Vec<_> = all.iter().copied().filter(|other| other != way).collect();
        !without(&others)
    };
    let needed: Vec<_> = all.iter().filter(|way| is_needed(way)).collect();
    let words: Vec<_> = needed.iter().map(|way| WAYS[**way].0).collect();
    Some(match &words[..] {
        [] => "how it is written".to_owned(),
        [front @ .., last] if !front.is_empty() => format!("{} and {last}", front.join(", ")),
        [only, ..] => (*only).to_owned(),
    })
}

/// At most this many columns are listed in an error.
const LISTED: usize = 20;

/// Returns the continuation of a sentence that none of these has this name, if one is nearly called
/// so.
pub fn differs(names: &[String], name: &str) -> String {
    match first_alike(names.iter().map(String::as_str), name) {
        Some((index, difference)) => {
            format!(
                "; {} differs from that in {difference} only",
                Quoted(&names[index])
            )
        }
        None => String::new(),
    }
}

/// Returns the first of these names, and how many more there are.
pub fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(LISTED)
        .map(|name| Quoted(name).to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hardly_noticed_is_named() {
        for (one, other, expected) in [
            ("id", "ID", Some("case")),
            ("id", " id", Some("spaces")),
            ("a b", "a\u{a0}b", Some("spaces")),
            (
                "Prénom",
                "Pre\u{301}nom",
                Some("how its letters are composed"),
            ),
            ("id", "ｉｄ", Some("how its letters are composed")),
            ("id", "\u{feff}id", Some("characters that nobody sees")),
            ("kunde", "kun\u{ad}de", Some("characters that nobody sees")),
            ("id", "i\u{200b}d", Some("characters that nobody sees")),
            (
                "é",
                "e\u{200b}\u{301}",
                Some("how its letters are composed and characters that nobody sees"),
            ),
            (
                "id",
                "ID\u{200b} ",
                Some("case, spaces and characters that nobody sees"),
            ),
            (
                "prénom",
                "Pre\u{301}nom",
                Some("case and how its letters are composed"),
            ),
            ("id", "id", None),
            ("id", "ids", None),
            ("Prenom", "Prénom", None),
        ] {
            let found = difference(other, one);
            assert_eq!(found.as_deref(), expected, "{one:?} and {other:?}");
            assert_eq!(difference(one, other), found);
        }
        let names = ["x", "Id", "id "];
        assert_eq!(first_alike(names, "id"), Some((1, "case".to_owned())));
    }
}

//! Lists of the names of columns, read as a record of CSV: with commas between, and quotes around a
//! name that holds one.

/// Reads a list of names.
///
/// # Errors
/// If a name is missing, a quote is not closed, or there is text behind a closing quote.
pub fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = Some(text);
    while let Some(list) = rest {
        let (name, behind) = match list.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None if list.is_empty() || list.starts_with(',') => {
                return Err(
                    "the name of a column is missing (one that is empty is written as \"\")"
                        .to_owned(),
                );
            }
            None => {
                let end = list.find(',').unwrap_or(list.len());
                (list[..end].to_owned(), &list[end..])
            }
        };
        rest = match behind.strip_prefix(',') {
            None if !behind.is_empty() => return Err(fault("text behind its closing quote")),
            rest => rest,
        };
        names.push(name);
    }
    Ok(names)
}

/// Reads a name up to its closing quote; gives what is behind that, too.
fn unquoted(mut text: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    loop {
        let (part, behind) = text
            .split_once('"')
            .ok_or_else(|| fault("a quote that is never closed"))?;
        name.push_str(part);
        match behind.strip_prefix('"') {
            Some(rest) => {
                name.push('"');
                text = rest;
            }
            None => return Ok((name, behind)),
        }
    }
}

fn fault(what: &str) -> String {
    format!(
        "a name has {what}: quotes stand around a name that holds a comma, as in '\"last, \
         first\",zip', and a quote within them is written twice"
    )
}

/// What stands before a list of columns whose means are shown, behind one of other columns.
pub(crate) const MEAN: &str = "mean:";

/// Writes names so that they are read again, and nobody takes one for the words around them: in
/// quotes unless a name is plain.
pub fn listed(names: &[String]) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "_-.:/".contains(one);
    let stands_alone = |name: &str| !name.is_empty() && !name.starts_with(MEAN);
    let written = |name: &String| match stands_alone(name) && name.chars().all(is_plain) {
        true => name.clone(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    };
    names.iter().map(written).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_csv_has_them() {
        for (text, expected) in [
            ("id", &["id"][..]),
            ("first,last", &["first", "last"]),
            (" a , b", &[" a ", " b"]),
            ("\"last, first\",zip", &["last, first", "zip"]),
            ("zip,\"last, first\"", &["zip", "last, first"]),
            ("\"id\"", &["id"]),
            ("\"a \"\"b\"\", c\"", &["a \"b\", c"]),
            ("\"\"\"\"", &["\""]),
            // Within a name that begins without one, a quote is a mere character.
            ("12\",a\"b\"", &["12\"", "a\"b\""]),
            ("\"\"", &[""]),
            ("a,\"\",b", &["a", "", "b"]),
        ] {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(text.as_bytes());
            if let Some(record) = reader.records().next() {
                let record = record.unwrap();
                assert!(record.iter().eq(expected.iter().copied()), "{text}");
            }
        }
    }

    #[test]
    fn lists_are_read_as_they_are_written() {
        for names in [
            &["id"][..],
            &["last, first", "zip"],
            &["\"", "a\"b", "\"a\",\"b\"", ",", ""],
            &["a of the sender, and nothing else", "a` b", "\u{a0}"],
        ] {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(parse(&listed(&names)).unwrap(), names);
        }
    }

    #[test]
    fn names_are_not_taken_for_other_words() {
        let names = ["plan", "sender.größe", "plan of the sender", "x\" and \"y"];
        assert_eq!(
            listed(&names.map(str::to_owned)),
            "plan,sender.größe,\"plan of the sender\",\"x\"\" and \"\"y\""
        );
    }

    #[test]
    fn a_name_that_is_missing_is_told() {
        for text in ["", ",", "a,", ",a", "a,,b"] {
            let error = parse(text).unwrap_err();
            assert!(
                error.starts_with("the name of a column is missing"),
                "{text}"
            );
        }
    }

    #[test]
    fn faulty_quotes_are_refused() {
        for text in ["\"", "\"a", "a,\"b", "\"a\"\""] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with("a name has a quote that is never closed: "));
        }
        for text in ["\"a\"b", "\"a\" ,b", "\"a\"\"\"b"] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with("a name has text behind its closing quote: "));
        }
    }
}

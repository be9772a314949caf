//! Escapes in texts without quotes, as PostgreSQL's `COPY` and MySQL write them.

/// A field that is null.
const NULL: &str = r"\N";

/// Returns the text of a field; empty for a null. `None` if a backslash begins no escape.
///
/// The escapes are those that either database writes, or reads as one character: letters for
/// control characters, and what has a meaning in the text, the line break and the delimiter,
/// after a backslash. PostgreSQL also reads numbers (`\101`) and takes other characters as they
/// are, but writes neither, so such a backslash is probably not one of its own.
pub(super) fn unescaped(field: &str, delimiter: u8) -> Option<String> {
    if field == NULL {
        return Some(String::new());
    }
    let mut text = String::with_capacity(field.len());
    let mut rest = field.chars();
    while let Some(character) = rest.next() {
        text.push(match character {
            '\\' => meaning(rest.next()?, char::from(delimiter))?,
            _ => character,
        });
    }
    Some(text)
}

/// Returns a field of this text, or a null, with escapes where they are needed.
pub(crate) fn escaped(text: Option<&str>, delimiter: u8) -> String {
    let Some(text) = text else {
        return NULL.to_owned();
    };
    let mut field = String::with_capacity(text.len());
    for character in text.chars() {
        let escape = match character {
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\\' => Some('\\'),
            _ => (character == char::from(delimiter)).then_some(character),
        };
        match escape {
            Some(escape) => field.extend(['\\', escape]),
            None => field.push(character),
        }
    }
    field
}

/// Returns the character that a character after a backslash means.
fn meaning(escaped: char, delimiter: char) -> Option<char> {
    Some(match escaped {
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        'b' => '\x08',
        'v' => '\x0b',
        'f' => '\x0c',
        '0' => '\0',
        'Z' => '\x1a',
        '\\' | '\n' => escaped,
        _ if escaped == delimiter => escaped,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_that_databases_write() {
        for (field, text) in [
            ("", ""),
            ("a", "a"),
            (r"\N", ""),
            (r"\\N", r"\N"),
            (r"\t\n\r\\\b\v\f\0\Z", "\t\n\r\\\x08\x0b\x0c\0\x1a"),
            (r"\\t", r"\t"),
            (r"é\té", "é\té"),
            ("a\\\nb\\\tc", "a\nb\tc"),
        ] {
            assert_eq!(unescaped(field, b'\t').as_deref(), Some(text), "{field}");
        }
        assert_eq!(unescaped(r"a\|b", b'|').as_deref(), Some("a|b"));
    }

    #[test]
    fn any_other_backslash_is_none() {
        for field in [
            "\\", r"a\\\", r"\x41", r"\101", r"\.", r#"\""#, r"\'", r"\|", r"\é", r"a\N", r"\Na",
            "\\\r", "\\\t",
        ] {
            assert_eq!(unescaped(field, b';'), None, "{field}");
        }
    }

    #[test]
    fn what_is_escaped_is_read_again() {
        for delimiter in [b'\t', b'|', b','] {
            for text in ["", r"\N", "a|b,c\t\r\n\\", "\\t"] {
                let field = escaped(Some(text), delimiter);
                assert_eq!(unescaped(&field, delimiter).as_deref(), Some(text));
                assert!(!field.contains('\n') && field != NULL);
            }
            assert_eq!(escaped(None, delimiter), NULL);
        }
    }
}

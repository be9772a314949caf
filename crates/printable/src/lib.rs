//! Text that somebody else wrote, shown so that it deceives nobody.
//!
//! A terminal obeys control characters: they move the cursor, rename the window, hide what was
//! written before. Format characters turn the direction of writing, or are not seen at all, so that
//! one text passes for another. A separator begins a line that nobody wrote. [`is_printable`] is
//! the one place that decides which characters do nothing of the kind.
//!
//! - Documents and messages between the parties hold nothing else.
//! - [`Escaped`], [`Quoted`] and [`Word`] show such a text within a message.
//! - [`Lines`] shows a message as a whole, and [`Json`] what is written for programs.
//! - [`Screen`] escapes all that goes to a terminal, whatever it is.

#![forbid(unsafe_code)]

pub mod humanize;
mod screen;

use std::{
    fmt::{self, Write},
    path::Path,
};

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

pub use screen::Screen;

/// Returns whether a character shows itself and does nothing else: it is no control character (Cc:
/// C0, C1 and DEL), no format character (Cf) and no separator of lines (Zl) or paragraphs (Zp).
pub fn is_printable(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    match character {
        ' '..='~' => true,
        other => !matches!(
            other.general_category(),
            Control | Format | LineSeparator | ParagraphSeparator
        ),
    }
}

/// Returns whether all characters of a text are [printable](is_printable).
pub fn is_all_printable(text: &str) -> bool {
    text.chars().all(is_printable)
}

/// A text whose characters that are not [printable](is_printable) are shown as `\n`, `\t`, `\r` or
/// `\u{202e}`.
///
/// Everything else is shown as it is, a backslash too.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|one| escape(one, f))
    }
}

/// A text of several lines: as [`Escaped`], but for its line feeds.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a>(pub &'a str);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|one| match one {
            '\n' => f.write_char(one),
            other => escape(other, f),
        })
    }
}

/// A name between backquotes. Characters that are not [printable](is_printable) are escaped; a
/// backquote or a backslash within has a backslash before it, so two names never look alike, and
/// none ends the quotes.
#[derive(Debug, Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('`')?;
        for one in self.0.chars() {
            if matches!(one, '`' | '\\') {
                f.write_char('\\')?;
            }
            escape(one, f)?;
        }
        f.write_char('`')
    }
}

/// A JSON text, in whose strings the characters that are not [printable](is_printable) are escapes
/// of JSON, as in `\u202e`. It has the same value.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a>(pub &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|one| match one {
            // Strings hold none of these as they are.
            '\n' | '\r' | '\t' => f.write_char(one),
            printable if is_printable(printable) => f.write_char(printable),
            other => {
                let mut units = [0; 2];
                let mut units = other.encode_utf16(&mut units).iter();
                units.try_for_each(|unit| write!(f, "\\u{unit:04x}"))
            }
        })
    }
}

/// A name that is mostly one word, as of a file or a host: as it is if nobody can take it for
/// anything else, and [`Quoted`] if it is empty, has spaces or backquotes, or is not printable.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a>(pub &'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |one: char| is_printable(one) && !one.is_whitespace() && one != '`';
        match !self.0.is_empty() && self.0.chars().all(is_plain) {
            true => f.write_str(self.0),
            false => Quoted(self.0).fmt(f),
        }
    }
}

/// Returns a path as messages call it: a [`Word`].
pub fn path(path: &Path) -> String {
    Word(&path.to_string_lossy()).to_string()
}

fn escape(character: char, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match character {
        printable if is_printable(printable) => f.write_char(printable),
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        other => write!(f, "{}", other.escape_unicode()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_commands_hides_or_turns_is_not_printable() {
        let c0_and_delete = ('\0'..='\u{1f}').chain(['\u{7f}']);
        let c1 = '\u{80}'..='\u{9f}';
        let others = [
            '\u{ad}',    // soft hyphen
            '\u{61c}',   // Arabic letter mark
            '\u{200b}',  // zero width space
            '\u{200e}',  // left-to-right mark
            '\u{2028}',  // line separator
            '\u{2029}',  // paragraph separator
            '\u{202e}',  // right-to-left override
            '\u{2066}',  // left-to-right isolate
            '\u{feff}',  // byte order mark
            '\u{e0041}', // a tag
        ];
        for character in c0_and_delete.chain(c1).chain(others) {
            assert!(!is_printable(character), "{character:?}");
        }
        for character in "aZ ~`\\é\u{a0}漢🙂\u{301}שع".chars() {
            assert!(is_printable(character), "{character:?}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        let text = "a\x1b]0;x\x07\u{9b}\u{202e}\n\t\r`\\é";
        let shown = "a\\u{1b}]0;x\\u{7}\\u{9b}\\u{202e}\\n\\t\\r`\\é";
        assert_eq!(Escaped(text).to_string(), shown);
        assert_eq!(Lines("a\nb\rc").to_string(), "a\nb\\rc");
    }

    #[test]
    fn words_are_quoted_unless_they_are_plain() {
        for (word, shown) in [
            ("/tmp/é_1.csv", "/tmp/é_1.csv"),
            ("C:\\a.csv", "C:\\a.csv"),
            ("", "``"),
            ("a.csv: all is well", "`a.csv: all is well`"),
            ("a\u{a0}b\\", "`a\u{a0}b\\\\`"),
            ("a`b", "`a\\`b`"),
            ("a\u{202e}b", "`a\\u{202e}b`"),
        ] {
            assert_eq!(Word(word).to_string(), shown);
            assert_eq!(path(word.as_ref()), shown);
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let text = "{\n\t\"a\u{9b}\": \"é\\n\\\\\u{2028}\u{e0041}\"\r\n}";
        assert_eq!(
            Json(text).to_string(),
            "{\n\t\"a\\u009b\": \"é\\n\\\\\\u2028\\udb40\\udc41\"\r\n}"
        );
    }

    #[test]
    fn names_do_not_end_their_quotes() {
        for (name, quoted) in [
            ("amount", "`amount`"),
            ("", "``"),
            ("a` and `b", "`a\\` and \\`b`"),
            ("a\\", "`a\\\\`"),
            ("\u{2028}", "`\\u{2028}`"),
            ("\\u{2028}", "`\\\\u{2028}`"),
        ] {
            assert_eq!(Quoted(name).to_string(), quoted);
        }
    }

    proptest! {
        #[test]
        fn json_of_any_text_stands_for_that_text(text: String) {
            let json = Json(&serde_json::to_string(&text).unwrap()).to_string();
            prop_assert!(is_all_printable(&json));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn what_is_shown_is_printable(text: String) {
            prop_assert!(is_all_printable(&Escaped(&text).to_string()));
            prop_assert!(is_all_printable(&Quoted(&text).to_string()));
            prop_assert!(is_all_printable(&Lines(&text).to_string().replace('\n', "")));
        }

        #[test]
        fn names_that_differ_look_different(
            one in "[a`\\\\\n]{0,3}", other in "[a`\\\\\n]{0,3}"
        ) {
            let [shown, others] = [&one, &other].map(|name| Quoted(name).to_string());
            prop_assert_eq!(shown == others, one == other);
        }
    }
}

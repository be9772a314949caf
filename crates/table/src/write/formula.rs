//! Texts that a spreadsheet takes for formulas.
//!
//! Whoever writes a text into somebody else's table can have it computed by the spreadsheet that
//! opens the table, and a formula can send other cells away or start a program: [CSV
//! injection](https://owasp.org/www-community/attacks/CSV_Injection). The guidance there is
//! followed: a single quote before the text.

use psijoin_printable::is_printable;

/// The beginnings of formulas, also as East Asian spreadsheets write them.
const BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The characters that may divide cells where the delimiter is taken for another one.
const DIVIDERS: [char; 6] = [',', ';', '\t', '|', '\n', '\r'];

/// Returns the text with a single quote before everything that a spreadsheet may take for a
/// formula; `None` if there is nothing of the kind.
///
/// So a quote stands at the beginning of a text that begins as a formula or with a control
/// character, and before what begins as one behind something that may divide cells. Blanks, quotes
/// and characters that nobody sees may come before it. A number is no formula, whatever its sign.
pub(super) fn defused(text: &str) -> Option<String> {
    if !may_hold_formula(text) {
        return None;
    }
    let mut defused = String::with_capacity(text.len() + 1);
    for cell in text.split_inclusive(DIVIDERS) {
        let is_first = defused.is_empty();
        if is_formula(cell) || is_first && text.starts_with(char::is_control) {
            defused.push('\'');
        }
        defused.push_str(cell);
    }
    (defused.len() > text.len()).then_some(defused)
}

/// Returns whether a text has anything that [`defused`] looks for. It is asked of whole records,
/// too.
pub(super) fn may_hold_formula(text: &str) -> bool {
    text.contains(BEGINNINGS) || text.contains(char::is_control)
}

fn is_formula(cell: &str) -> bool {
    let is_skipped =
        |character: char| character.is_whitespace() || character == '"' || !is_printable(character);
    let text = cell.trim_start_matches(is_skipped);
    text.starts_with(BEGINNINGS) && !is_number(text.trim_end_matches(DIVIDERS))
}

/// Returns whether this is a sign, digits that may have points between them, and perhaps an
/// exponent.
fn is_number(text: &str) -> bool {
    let is_digits = |text: &str, others: &[char]| {
        text.contains(|character: char| character.is_ascii_digit())
            && text
                .chars()
                .all(|character| character.is_ascii_digit() || others.contains(&character))
    };
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    match text.split_once(['e', 'E']) {
        None => is_digits(text, &['.']),
        Some((digits, exponent)) => {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            is_digits(digits, &['.']) && is_digits(exponent, &[])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_stands_before_what_begins_as_a_formula() {
        for formula in [
            "=1+1",
            "+A1",
            "-A1",
            "@SUM(A1)",
            "\tx",
            "\rx",
            "\nx",
            "\0x",
            "＝1+1",
            "＋A1",
            "－5",
            "＠SUM",
            "-",
            "+49 170",
            "-5 %",
            "--5",
            "-1-2",
            "=5",
            "-1e5x",
            "-e5",
            "-.",
            " =1+1",
            "\u{a0}=1+1",
            "\u{feff}=1+1",
            "\u{200b}\u{202e}=1+1",
            "\"=1+1\"",
            " \" =1",
        ] {
            assert_eq!(defused(formula), Some(format!("'{formula}")), "{formula:?}");
        }
        for text in [
            "",
            "x",
            "1+1",
            "a=b",
            "x@y.org",
            "2024-02-29",
            "well-known",
            "'=1+1",
            "-5",
            "+5",
            "-5.25",
            "-.5",
            "-1.234.567,89",
            "+1e5",
            "-2.5E-7",
            "+49170",
            "-5\n",
            "a,-5",
            "x, y; z",
            "a\tb",
        ] {
            assert_eq!(defused(text), None, "{text:?}");
        }
    }

    #[test]
    fn another_delimiter_makes_no_formula() {
        for (text, expected) in [
            ("x;=1+1", "x;'=1+1"),
            ("x\";=1+1", "x\";'=1+1"),
            ("=1;\t@x|-5| +y\n=2", "'=1;\t'@x|-5|' +y\n'=2"),
            ("-5,-5x", "-5,'-5x"),
        ] {
            let written = defused(text).unwrap();
            assert_eq!(written, expected);
            assert_eq!(defused(&written), None);
        }
    }
}

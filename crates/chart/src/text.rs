//! The width of a text, and the way it is written into a picture.

/// Pixels of the text.
pub(crate) const FONT: f64 = 13.0;

/// From the middle of a line of text to that of the next.
pub(crate) const LEADING: f64 = 1.25 * FONT;

/// Bounds the width of a text in pixels. No font is measured: these are bounds for DejaVu Sans,
/// which is one of the widest fonts that a reader may have.
pub(crate) fn width(text: &str) -> f64 {
    FONT * text.chars().map(em).sum::<f64>()
}

/// Returns the width of the widest text.
pub(crate) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(width).fold(0.0, f64::max)
}

/// Returns the width of a character, in sizes of the font.
fn em(character: char) -> f64 {
    match character {
        'f'
        | 'i'
        | 'j'
        | 'l'
        | 'r'
        | 't'
        | ' '
        | '.'
        | ','
        | ':'
        | ';'
        | '-'
        | '\''
        | '('
        | ')'
        | '/'
        | '⁰'
        | '¹'
        | '²'
        | '³'
        | '⁴'..='⁹'
        | '⁻'
        | '·' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 1.0,
        'A'..='Z' | '×' | '<' | '>' | '=' | '+' | '–' => 0.84,
        _ if character.is_ascii() => 0.64,
        _ => 1.0,
    }
}

/// Returns a text between tags, or between the quotes of an attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_letters_take_less_than_wide_ones() {
        assert!(width("ill") < width("nnn"));
        assert!(width("nnn") < width("mmm"));
        assert_eq!(width("10"), 2.0 * 0.64 * FONT);
        assert_eq!(widest(["a", "abc", "ab"].into_iter()), width("abc"));
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(
            escaped(r#"<a href="x">&"#),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
    }
}

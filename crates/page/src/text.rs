//! Texts between tags.

use psijoin_chart::escaped;

/// Returns a text between tags; what stands between two backticks is code.
pub(crate) fn prose(text: &str) -> String {
    let text = escaped(text);
    let mut parts: Vec<&str> = text.split('`').collect();
    // A backtick without another one stays what it is.
    let alone = if parts.len().is_multiple_of(2) {
        parts.pop()
    } else {
        None
    };
    let mut html = String::new();
    for (number, part) in parts.into_iter().enumerate() {
        if number % 2 == 0 {
            html += part;
        } else {
            html += &format!("<code>{part}</code>");
        }
    }
    if let Some(rest) = alone {
        html += "`";
        html += rest;
    }
    html
}

/// Escapes a text without its backticks, for places that have no tags.
pub(crate) fn plain(text: &str) -> String {
    escaped(&text.replace('`', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        assert_eq!(
            prose("`kkrt` < `dh`"),
            "<code>kkrt</code> &lt; <code>dh</code>"
        );
        assert_eq!(prose("a ` b"), "a ` b");
        assert_eq!(prose("`a` ` b"), "<code>a</code> ` b");
        assert_eq!(prose("`<script>`"), "<code>&lt;script&gt;</code>");
        assert_eq!(plain("`kkrt` \"x\""), "kkrt &quot;x&quot;");
    }
}

//! JSON in the one form that RFC 8785 allows.

use psijoin_printable::is_all_printable;
use serde::Serialize;
use serde_json::Value;

use crate::Error;

/// The largest whole number that every reader of JSON takes for what it is.
const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Returns the canonical text of a value, which holds whole numbers only.
///
/// # Errors
/// [`Error::Number`] if a number is too large, and [`Error::Unprintable`] if a text has characters
/// that are not [printable](psijoin_printable::is_printable), which could make it look like another
/// one.
pub(crate) fn text(value: &impl Serialize) -> Result<String, Error> {
    let value = serde_json::to_value(value).expect("records are plain data");
    let mut text = String::new();
    write(&value, &mut text)?;
    Ok(text)
}

fn write(value: &Value, text: &mut String) -> Result<(), Error> {
    match value {
        Value::Null | Value::Bool(_) => text.push_str(&value.to_string()),
        Value::Number(number) => {
            let number = number.as_u64().expect("records hold whole numbers");
            if number > MAX_NUMBER {
                return Err(Error::Number(number));
            }
            text.push_str(&number.to_string());
        }
        Value::String(string) => push_string(string, text)?,
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, text);
                write(item, text)?;
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_cached_key(|(name, _)| name.encode_utf16().collect::<Vec<_>>());
            text.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                separate(at, text);
                push_string(name, text)?;
                text.push(':');
                write(value, text)?;
            }
            text.push('}');
        }
    }
    Ok(())
}

fn separate(at: usize, text: &mut String) {
    if at > 0 {
        text.push(',');
    }
}

/// Appends a string. `serde_json` escapes as RFC 8785 demands: what must be, in the shortest way,
/// and nothing else.
fn push_string(string: &str, text: &mut String) -> Result<(), Error> {
    if !is_all_printable(string) {
        return Err(Error::Unprintable);
    }
    text.push_str(&serde_json::to_string(string).expect("a string is JSON"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The strings and the order are those of RFC 8785, sections 3.2.2 and 3.2.3, without control
    /// characters.
    #[test]
    fn texts_are_those_of_the_standard() {
        let string = "\u{20ac}$A'\u{0042}\u{0022}\u{005c}\\\"/";
        assert_eq!(
            text(&json!({ "string": string, "literals": [null, true, false] })).unwrap(),
            r#"{"literals":[null,true,false],"string":"€$A'B\"\\\\\"/"}"#
        );
        let names = ["\u{20ac}", "\u{fb33}", "1", "\u{1f600}", "\u{f6}"];
        let members: serde_json::Map<_, _> = names
            .iter()
            .map(|name| (name.to_string(), json!(0)))
            .collect();
        assert_eq!(
            text(&members).unwrap(),
            "{\"1\":0,\"\u{f6}\":0,\"\u{20ac}\":0,\"\u{1f600}\":0,\"\u{fb33}\":0}"
        );
    }

    #[test]
    fn what_could_deceive_a_reader_is_no_text() {
        for wrong in [
            "a\nb",
            "\u{1b}[2J",
            "\u{7f}",
            "\u{9b}31m",
            "\u{202e}txet",
            "a\u{2028}b",
            "\u{200b}",
        ] {
            assert!(matches!(text(&wrong), Err(Error::Unprintable)), "{wrong:?}");
            let named = json!({ wrong: 1 });
            assert!(matches!(text(&named), Err(Error::Unprintable)), "{wrong:?}");
        }
    }

    #[test]
    fn numbers_are_those_that_every_reader_understands() {
        assert_eq!(text(&MAX_NUMBER).unwrap(), "9007199254740991");
        let error = text(&[MAX_NUMBER + 1]).unwrap_err();
        assert!(matches!(error, Error::Number(9007199254740992)), "{error}");
    }
}

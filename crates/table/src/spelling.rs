//! One spelling for one value: what typed columns and rules make keys of.

pub(crate) mod date_format;
pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod truth;
pub(crate) mod uuid;

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

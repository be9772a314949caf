//! One spelling for one value: the texts that typed columns and rules give as keys.

pub(crate) mod date_format;
pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod phone;
pub(crate) mod truth;
pub(crate) mod uuid;
pub(crate) mod zone;

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

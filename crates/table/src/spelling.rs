//! One spelling for one value: the texts that typed columns and rules give as keys.

pub(crate) mod bytes;
pub(crate) mod date_format;
pub(crate) mod mailbox;
pub(crate) mod moment;
pub(crate) mod null_words;
pub(crate) mod number;
pub(crate) mod phone;
pub(crate) mod serial;
pub(crate) mod sha256;
pub(crate) mod truth;
pub(crate) mod uuid;
pub(crate) mod zone;

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

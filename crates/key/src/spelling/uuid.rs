//! UUIDs, in lower case and with hyphens.

use std::fmt::Write;

use crate::KeyFault;

/// Appends 16 bytes as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
pub fn write_uuid(text: &mut String, bytes: &[u8]) {
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
}

/// Reads 32 hexadecimal digits, with all hyphens or none, between braces or behind `urn:uuid:`.
pub(crate) fn canonical(text: &str) -> Result<String, KeyFault> {
    const URN: &str = "urn:uuid:";
    let bare = match text.split_at_checked(URN.len()) {
        Some((scheme, behind)) if scheme.eq_ignore_ascii_case(URN) => behind,
        _ => match text.strip_prefix('{') {
            Some(behind) => behind.strip_suffix('}').ok_or(KeyFault::NotAUuid)?,
            None => text,
        },
    };
    let digits = match bare.len() {
        36 => {
            let groups: Vec<&str> = bare.split('-').collect();
            if !groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) {
                return Err(KeyFault::NotAUuid);
            }
            groups.concat()
        }
        _ => bare.to_owned(),
    };
    // Reading the number alone would allow for a sign.
    if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(KeyFault::NotAUuid);
    }
    let value = u128::from_str_radix(&digits, 16).map_err(|_| KeyFault::NotAUuid)?;
    let mut uuid = String::with_capacity(36);
    write_uuid(&mut uuid, &value.to_be_bytes());
    Ok(uuid)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UUID: &str = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

    #[test]
    fn every_way_to_write_it_is_read() {
        for text in [
            UUID,
            "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
            "f81d4fae7dec11d0a76500a0c91e6bf6",
            "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
            "{F81d4fae7dec11d0a76500a0c91e6bf6}",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "URN:UUID:f81d4fae7dec11d0a76500a0c91e6bf6",
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(UUID), "{text}");
        }
        let nil = "00000000-0000-0000-0000-000000000000";
        assert_eq!(canonical(nil).as_deref(), Ok(nil));
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "f81d4fae",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf67",
            "f81d4fae-7dec-11d0a-765-00a0c91e6bf6",
            "f81d4fae7dec-11d0-a765-00a0c91e6bf6",
            "-f81d4fae-7dec-11d0-a76500a0c91e6bf6",
            "g81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "+81d4fae7dec11d0a76500a0c91e6bf6",
            "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
            "urn:uuid:{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
            "f81d4fae 7dec 11d0 a765 00a0c91e6bf6",
            "ééééééééééééééééé",
            "urn:uuidé",
        ] {
            assert_eq!(canonical(text), Err(KeyFault::NotAUuid), "{text}");
        }
    }

    proptest! {
        #[test]
        fn canonical_texts_stay(value: u128, upper: bool, hyphens: bool) {
            let mut expected = String::new();
            write_uuid(&mut expected, &value.to_be_bytes());
            let mut text = expected.clone();
            if upper {
                text = text.to_uppercase();
            }
            if !hyphens {
                text = text.replace('-', "");
            }
            prop_assert_eq!(&canonical(&text).unwrap(), &expected);
            prop_assert_eq!(&canonical(&expected).unwrap(), &expected);
        }
    }
}

//! Invitations as somebody sends them: any text, and links of any content with a check sum that is
//! right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_peers::{Link, MAX_LINK_CHARACTERS};
use psijoin_transport::succession::{STATEMENT_BYTES, Succession};

fuzz_target!(|input: (bool, &[u8])| {
    let (is_content, bytes) = input;
    let read = match is_content {
        true => Link::of_content(bytes),
        false => String::from_utf8_lossy(bytes).parse(),
    };
    if let Ok(link) = read {
        let text = link.to_string();
        assert!(text.len() <= MAX_LINK_CHARACTERS);
        let again: Link = text.parse().expect("it was written");
        assert_eq!(again.to_string(), text);
    }
    // Statements about keys come from strangers, too, in TLS.
    let statement = bytes.first_chunk::<STATEMENT_BYTES>();
    if let Some(statement) = statement.and_then(Succession::from_bytes) {
        let _ = statement.is_genuine();
        assert_eq!(&statement.to_bytes()[..], &bytes[..STATEMENT_BYTES]);
    }
});

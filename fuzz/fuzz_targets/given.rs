//! Columns that another party tells of, and payloads that it gives: whatever it sends is an error,
//! or columns of the types that it told, in the only form in which they are told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_table::share::{GivenColumns, PayloadLayout, Payloads};

fuzz_target!(|input: (&[u8], &[u8])| {
    let (told, bytes) = input;
    if let Ok(columns) = GivenColumns::from_bytes(told) {
        assert_eq!(columns.to_bytes(), told);
    }
    let Ok(layout) = PayloadLayout::from_bytes(told) else {
        return;
    };
    assert_eq!(layout.to_bytes(), told);
    let whole = bytes.len() - bytes.len() % layout.payload_bytes();
    let payloads = Payloads::new(layout, bytes[..whole].to_vec());
    // An error is fine.
    let _ = payloads.check();
});

//! The number of shared items, and nothing else; if they are too few, only that: `cargo run
//! --example count`.

#![allow(clippy::print_stdout)]

use std::thread;

use psijoin::{Join, JoinError, Output, OutputKind, channel::memory};

/// Returns what the receiver learns.
fn learned(join: &Join) -> Result<Output, JoinError> {
    let (mut alice, mut bob) = memory::pair();
    thread::scope(|scope| {
        let sent = scope.spawn(move || join.send(&mut alice, &["ann", "bob", "eve"], &[]));
        let learned = join.receive(&mut bob, &["bob", "joe", "ann"], &[])?;
        sent.join().expect("no panic")?;
        Ok(learned)
    })
}

pub(crate) fn main() -> Result<(), JoinError> {
    let join = Join::default().output(OutputKind::Count);
    println!("{:?}", learned(&join)?);
    assert_eq!(learned(&join)?, Output::Count(2));

    // Both sides agree beforehand that fewer than three are not worth telling.
    let join = join.min_intersection(3);
    println!("{:?}", learned(&join)?);
    assert_eq!(learned(&join)?, Output::TooFew);
    Ok(())
}

//! Two parties over TCP and TLS 1.3, each of which knows the other's fingerprint:
//! `cargo run --example two_parties`.
//!
//! Here they are two threads. On two machines each makes its identity once, with
//! `Identity::generate` and `write_new`, tells the other its fingerprint over a way that both
//! trust, and one of them listens at an address that the other can reach.

#![allow(clippy::print_stdout)]

use std::{error::Error, thread};

use psijoin::transport::{Connection, Identity, Listener, Options, Security};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (alice, bob) = (Identity::generate()?, Identity::generate()?);
    let (alices, bobs) = (alice.fingerprint(), bob.fingerprint());
    let listener = Listener::bind(&"127.0.0.1:0".parse()?)?;
    let address = listener.address().clone();

    // Alice listens and sends: she learns nothing but how many items Bob has.
    let alice = thread::spawn(move || {
        let security = Security::PinnedTls {
            identity: alice,
            peer: bobs,
        };
        let (connection, mut channel) = Connection::accept(listener, &Options::new(security))?;
        psijoin::send(&mut channel, &["ann", "bob", "eve"])?;
        connection.finish()?;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });

    // Bob connects and receives.
    let security = Security::PinnedTls {
        identity: bob,
        peer: alices,
    };
    let (connection, mut channel) = Connection::connect(&address, &Options::new(security))?;
    let items = ["bob", "joe", "ann"];
    let shared = psijoin::receive(&mut channel, &items)?;
    connection.finish()?;
    alice
        .join()
        .expect("no panic")
        .map_err(|error| error as Box<dyn Error>)?;

    for position in &shared {
        println!("{}", items[*position as usize]);
    }
    assert_eq!(shared, [0, 2]);
    Ok(())
}

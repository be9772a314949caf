//! Joins a table with that of `psijoin send` at the other end, and writes the shared rows:
//!
//! ```text
//! cargo run --example receive -- me.pem psi1-… bob.example:7766 customers.csv shared.csv
//! ```

use std::{env, error::Error, path::Path};

use psijoin::Role;
use psijoin_session::{JoinSpec, Joined, Meeting, Received, Stop, TableSpec};
use psijoin_table::KeySpec;
use psijoin_transport::{Endpoint, Identity, Security};

/// Returns how many keys are shared.
pub(crate) fn receive(
    [identity, peer, address, table, output]: [&str; 5],
) -> Result<Option<u64>, Box<dyn Error>> {
    let security = Security::PinnedTls {
        identity: Identity::read(Path::new(identity))?,
        peer: peer.parse()?,
    };
    let meeting = Meeting::new(Endpoint::Connect(address.parse()?), security);
    let key = KeySpec::new(vec!["email".into()], vec!["email=email".parse()?])?;
    let mut spec = JoinSpec::new(Role::Receiver, meeting, TableSpec::file(table), key);
    spec.written.output = Some(output.into());
    match spec.join(&(), &Stop::default())? {
        Joined::Done(outcome, _) => Ok(match outcome.received {
            Some(Received::Rows { shared_keys, .. }) => Some(shared_keys),
            _ => None,
        }),
        _ => Ok(None),
    }
}

#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "it prints, and a test takes the other function alone"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let args = args
        .try_into()
        .map_err(|_| "give an identity, a peer, its address, a table and an output")?;
    if let Some(shared) = receive(args)? {
        println!("{shared} keys are shared");
    }
    Ok(())
}

//! The shared rows of two parties.

use std::fs;

use psijoin::{Protocol, Role};
use psijoin_frontend::sentences::{insecurity, warning};
use psijoin_session::{Outcome, Received};

use super::{KEY, Sample, cost, grid, heads, records};
use crate::{
    exit::{Failure, ProgramFault},
    humanize, output,
};

/// The sender's, and the receiver's.
pub(super) const SAMPLES: [&Sample; 2] = [
    &Sample {
        party: "A newspaper (the sender)",
        file: "subscribers.csv",
        text: include_str!("../../../samples/subscribers.csv"),
    },
    &Sample {
        party: "A shop (the receiver)",
        file: "customers.csv",
        text: include_str!("../../../samples/customers.csv"),
    },
];

pub(super) fn run(protocol: &'static Protocol) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(ProgramFault::Temporary)?;
    let joined = folder.path().join("shared.csv");
    let outcomes = super::join(SAMPLES, folder.path(), |spec| {
        spec.protocol = protocol;
        if spec.role == Role::Receiver {
            spec.written.output = Some(joined.clone());
        }
    })?;
    let shared = fs::read_to_string(&joined).map_err(ProgramFault::Temporary)?;
    output::text(&story(&shared, &outcomes))
}

fn story(shared: &str, outcomes: &[Outcome; 2]) -> String {
    let [_, received] = outcomes;
    let info = received.plan.info();
    let keys = match received.received {
        Some(Received::Rows { shared_keys, .. }) => shared_keys,
        _ => 0,
    };
    let mut text =
        String::from("Two parties, two private tables, one question: whom do we share?\n\n");
    text += &heads(SAMPLES, outcomes);
    text += &format!(
        "They meet over TLS 1.3 and run {} ({}), on the column `{KEY}`, trimmed and in lower \
         case.\nThe shop now holds its rows of {}, and nobody else's:\n\n{}\n",
        info.name,
        info.paper,
        humanize::counted(keys, "shared customer"),
        grid(&records(shared)),
    );
    text += &cost(received);
    let sizes = received.plan.request().sizes;
    text += &format!(
        "The shop learned {} and that the newspaper has {}.\n\
         The newspaper learned that the shop has {}.",
        humanize::counted(keys, "shared key"),
        humanize::counted(sizes.sender(), "distinct key"),
        humanize::counted(sizes.receiver(), "distinct key"),
    );
    text += &match insecurity(info) {
        Some(leaks) => format!("\n{}\n", warning(leaks)),
        None => "\nNeither learned anything else about the other's keys.\n".to_owned(),
    };
    text + "\nYour own tables: psijoin keygen, then psijoin receive --help and psijoin send --help.\n"
}

//! Runs that nobody made.

use psijoin::{OutputKind, Request, registry};
use psijoin_forecast::{
    Run, Script,
    script::{Messages, Stretch},
};
use psijoin_lab::measurements::{Machine, Measured, Measurement, Session, grouped};

pub(crate) fn session(version: &str) -> Session {
    Session {
        machine: Machine {
            processor: "Abacus".into(),
            cores: 2,
            instructions: vec!["beads".into()],
        },
        version: version.into(),
        commit: None,
        date: "2026-11-23".into(),
        campaign: 1,
    }
}

/// Returns a run in which both parties compute for so long, one after the other; each sends all in
/// one message when it is done.
pub(crate) fn run(protocol: &str, output: &OutputKind, items: u64, seconds: [f64; 2]) -> Run {
    let request = Request::rows(items, items).unwrap().output(output.clone());
    let plan = registry::find(protocol).unwrap().plan(&request).unwrap();
    let sent = plan.cost().total;
    let message = |bytes: u64| Messages {
        messages: 1.0,
        bytes: bytes as f64,
        seconds: 0.0,
    };
    let [sender, receiver] = [sent.sender_bytes, sent.receiver_bytes].map(message);
    let mut scripts = [
        vec![Stretch::Work(seconds[0]), Stretch::Send(sender)],
        vec![Stretch::Receive(sender), Stretch::Work(seconds[1])],
    ];
    if sent.receiver_bytes > 0 {
        scripts[1].push(Stretch::Send(receiver));
        scripts[0].push(Stretch::Receive(receiver));
    }
    Run {
        items: [items; 2],
        scripts: scripts.map(Script),
        memory_bytes: [None; 2],
        on_two_threads: None,
        seconds: Default::default(),
        phases: None,
    }
}

pub(crate) fn line(version: &str, protocol: &str, threads: usize, run: Run) -> Measurement {
    Measurement {
        session: session(version),
        protocol: protocol.into(),
        output: OutputKind::Rows.to_string(),
        threads,
        run,
        measuring_seconds: 1.0,
    }
}

/// Returns each protocol at 2^8 and 2^20 items, where its parties compute for this many seconds in
/// sum.
pub(crate) fn measured(protocols: &[(&str, f64)]) -> Measured {
    let lines = protocols.iter().flat_map(|(protocol, seconds)| {
        [8, 20].map(|log2| {
            let each = seconds / 2.0 * 2_f64.powi(log2 - 20);
            let run = run(protocol, &OutputKind::Rows, 1 << log2, [each; 2]);
            line("0.1.0", protocol, 1, run)
        })
    });
    let groups = grouped(&Vec::from_iter(lines)).into_iter();
    groups
        .last()
        .unwrap_or_else(|| Measured::new(session("0.1.0")))
}

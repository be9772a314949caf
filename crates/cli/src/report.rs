//! What was run, what it cost, and who learned what. Never an item.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
};

use psijoin_params::Security;
use psijoin_psi::{Adversary, Info, OutputKind, Plan, Role};
use psijoin_transport::{Connection, Fingerprint};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::{
    exit::Failure,
    figures, memory,
    phases::Phase,
    session::{Received, Summary},
};

/// The report of one party's run, as `--json` and `--report` write it.
#[derive(Serialize)]
pub(crate) struct Report {
    psijoin: &'static str,
    handshake_version: u16,
    role: String,
    protocol: ProtocolReport,
    output: String,
    normalization: String,
    security: SecurityReport,
    peer: PeerReport,
    sizes: SizesReport,
    table: TableReport,
    traffic: TrafficReport,
    threads: usize,
    seconds: f64,
    phases: Vec<Phase>,
    peak_memory_bytes: Option<u64>,
    result: Option<ResultReport>,
}

#[derive(Serialize)]
struct ProtocolReport {
    name: &'static str,
    version: u32,
    paper: &'static str,
    adversary: String,
    parameters: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct SecurityReport {
    computational_bits: u32,
    statistical_bits: u32,
    /// Base-2 logarithms of the bounds; `null` for what cannot happen.
    failure_log2: BTreeMap<&'static str, f64>,
    total_failure_log2: f64,
}

#[derive(Serialize)]
struct PeerReport {
    address: String,
    /// `null` where anybody could have been at the other end.
    fingerprint: Option<String>,
    encryption: &'static str,
}

#[derive(Serialize)]
struct SizesReport {
    sender_keys: u64,
    receiver_keys: u64,
}

#[derive(Serialize)]
struct TableReport {
    rows: u64,
    rows_without_key: u64,
    rows_repeating_a_key: u64,
    distinct_keys: u64,
}

#[derive(Serialize)]
struct TrafficReport {
    sent_bytes: u64,
    received_bytes: u64,
    rounds: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultReport {
    Rows {
        shared_keys: u64,
        /// `null` if the reader of the output went away before all was written.
        rows_written: Option<u64>,
    },
    Count {
        shared_keys: u64,
    },
    Threshold {
        reached: bool,
    },
}

/// Who was at the other end.
pub(crate) struct Peer {
    address: String,
    fingerprint: Option<Fingerprint>,
}

impl Peer {
    /// The party at the other end of a connection, with its pinned fingerprint if there is one.
    pub(crate) fn of(connection: &Connection, fingerprint: Option<Fingerprint>) -> Self {
        Self {
            address: connection.peer_address().to_string(),
            fingerprint,
        }
    }
}

impl Report {
    /// The report of a run.
    pub(crate) fn new(summary: &Summary, peer: &Peer, threads: usize) -> Self {
        let plan = &*summary.plan;
        let request = plan.request();
        Self {
            psijoin: env!("CARGO_PKG_VERSION"),
            handshake_version: psijoin_transport::handshake::VERSION,
            role: summary.role.to_string(),
            protocol: ProtocolReport::new(plan),
            output: request.output.to_string(),
            normalization: summary.normalization.clone(),
            security: SecurityReport::new(plan),
            peer: PeerReport {
                address: peer.address.clone(),
                fingerprint: peer.fingerprint.map(|fingerprint| fingerprint.to_string()),
                encryption: match peer.fingerprint {
                    Some(_) => "TLS 1.3",
                    None => "none",
                },
            },
            sizes: SizesReport {
                sender_keys: request.sizes.sender(),
                receiver_keys: request.sizes.receiver(),
            },
            table: TableReport {
                rows: summary.counts.rows,
                rows_without_key: summary.counts.left_out,
                rows_repeating_a_key: summary.counts.duplicates,
                distinct_keys: summary.counts.distinct,
            },
            traffic: TrafficReport {
                sent_bytes: summary.traffic.sent.bytes,
                received_bytes: summary.traffic.received.bytes,
                rounds: summary.traffic.rounds,
            },
            threads,
            seconds: summary.time.as_secs_f64(),
            phases: summary.phases.clone(),
            peak_memory_bytes: memory::peak_bytes(),
            result: summary.received.map(ResultReport::new),
        }
    }
}

impl ResultReport {
    fn new(received: Received) -> Self {
        match received {
            Received::Rows { shared_keys, rows } => Self::Rows {
                shared_keys,
                rows_written: rows,
            },
            Received::Count(shared_keys) => Self::Count { shared_keys },
            Received::Threshold { reached, .. } => Self::Threshold { reached },
        }
    }
}

impl ProtocolReport {
    fn new(plan: &dyn Plan) -> Self {
        let info = plan.info();
        Self {
            name: info.name,
            version: info.version,
            paper: info.paper,
            adversary: info.adversary.to_string(),
            parameters: plan
                .parameters()
                .into_iter()
                .map(|parameter| (parameter.name, parameter.value))
                .collect(),
        }
    }
}

impl SecurityReport {
    fn new(plan: &dyn Plan) -> Self {
        let budget = plan.budget();
        Self {
            computational_bits: Security::COMPUTATIONAL_BITS,
            statistical_bits: plan.request().security.statistical_bits(),
            failure_log2: budget
                .events()
                .iter()
                .map(|event| (event.name, event.bound.log2()))
                .collect(),
            total_failure_log2: budget.total().log2(),
        }
    }
}

/// Where a report will be written, checked before the run.
pub(crate) struct ReportFile(PathBuf);

impl ReportFile {
    /// Makes sure that a file can be written there.
    ///
    /// # Errors
    /// [`Failure::Report`] if not.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let file = Self(path.to_owned());
        file.temporary().map_err(|source| file.failure(source))?;
        Ok(file)
    }

    /// Writes the report, all of it or nothing.
    ///
    /// # Errors
    /// [`Failure::Report`].
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        let write = || -> io::Result<()> {
            let mut file = self.temporary()?;
            serde_json::to_writer_pretty(&mut file, report)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&self.0)?;
            Ok(())
        };
        write().map_err(|source| self.failure(source))
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        if self.0.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = match self.0.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        tempfile::Builder::new()
            .prefix(".psijoin-")
            .tempfile_in(folder)
    }

    fn failure(&self, source: io::Error) -> Failure {
        Failure::Report {
            path: self.0.clone(),
            source,
        }
    }
}

/// What a protocol without security says before and after a run.
pub(crate) fn insecurity(info: &Info) -> Option<String> {
    (info.adversary == Adversary::Insecure).then(|| {
        format!(
            "WARNING: {} is INSECURE and only there to measure against. It leaks: {}.",
            info.name, info.leaks
        )
    })
}

/// Who has learned what, and what became of the rows: the end of every run.
pub(crate) fn statement(summary: &Summary, output: &str) -> String {
    let mut lines = vec![learned(summary)];
    match summary.received {
        Some(Received::Rows {
            rows: Some(rows), ..
        }) => lines.push(format!(
            "Wrote {} to {output}.",
            figures::counted(rows, "row")
        )),
        Some(Received::Rows { rows: None, .. }) => lines
            .push("The rows were not all written: the reader of the output went away.".to_owned()),
        Some(Received::Count(_) | Received::Threshold { .. }) | None => {}
    }
    let counts = summary.counts;
    lines.push(format!(
        "Your table has {}: {}, {} repeating a key, {} without a key, left out.",
        figures::counted(counts.rows, "row"),
        figures::counted(counts.distinct, "distinct key"),
        figures::counted(counts.duplicates, "row"),
        figures::counted(counts.left_out, "row"),
    ));
    lines.extend(protection(summary.plan.info(), summary.role));
    lines.join("\n")
}

/// From what kind of peer the protocol has protected this party.
fn protection(info: &Info, role: Role) -> Option<String> {
    let (name, other) = (info.name, role.other());
    match info.adversary {
        Adversary::MaliciousSender if role == Role::Receiver => Some(format!(
            "{name} protects you even from a {other} that cheats."
        )),
        Adversary::SemiHonest | Adversary::MaliciousSender => Some(format!(
            "{name} protects you from a {other} that follows the protocol, not from one that cheats."
        )),
        Adversary::Malicious => Some(match role {
            Role::Sender => format!(
                "{name} protects you even from a {other} that cheats, but it may have used more \
                 keys than it said."
            ),
            Role::Receiver => format!("{name} protects you even from a {other} that cheats."),
        }),
        _ => insecurity(info),
    }
}

fn learned(summary: &Summary) -> String {
    let request = summary.plan.request();
    let senders = figures::count(request.sizes.sender());
    let receivers = figures::count(request.sizes.receiver());
    let Some(received) = summary.received else {
        let learned = match request.output {
            OutputKind::Count => "how many keys you share, and not which".to_owned(),
            OutputKind::Threshold(least) => format!(
                "whether you share at least {}, and neither which nor how many",
                figures::counted(least, "key")
            ),
            _ => "which of its keys you share".to_owned(),
        };
        return format!(
            "The receiver learned {learned}, and your set's size ({senders}). You learned the \
             receiver's set size ({receivers})."
        );
    };
    let learned = match received {
        Received::Rows { shared_keys, .. } => figures::counted(shared_keys, "shared key"),
        Received::Count(shared_keys) => {
            format!("that you share {}", figures::counted(shared_keys, "key"))
        }
        Received::Threshold { least, reached } => {
            let than = if reached { "at least" } else { "fewer than" };
            format!("that you share {than} {}", figures::counted(least, "key"))
        }
    };
    format!(
        "The sender learned your set's size ({receivers}). You learned {learned} and the sender's \
         set size ({senders})."
    )
}

/// What a run took.
pub(crate) fn cost(summary: &Summary) -> String {
    format!(
        "done in {}: sent {}, received {}, {}",
        figures::time(summary.time),
        figures::bytes(summary.traffic.sent.bytes),
        figures::bytes(summary.traffic.received.bytes),
        figures::counted(summary.traffic.rounds, "round"),
    )
}

//! What was run, what it cost, and who learned what, for scripts. Never an item.

use std::{collections::BTreeMap, io, path::Path};

use psijoin_params::Security;
use psijoin_psi::Plan;
use psijoin_transport::{Connection, Fingerprint};
use serde::Serialize;

use crate::{
    columns::{AgreedColumn, Sum},
    exit::Failure,
    memory,
    phases::Phase,
    session::{Received, Summary},
    whole_file::{Staged, WholeFile},
};

/// The report of one party's run, as `--json` and `--report` write it.
#[derive(Serialize)]
pub(crate) struct Report {
    psijoin: &'static str,
    handshake_version: u16,
    role: String,
    protocol: ProtocolReport,
    output: String,
    /// `null` if there was no such condition.
    min_intersection: Option<u64>,
    columns: Vec<ColumnReport>,
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

/// A column of numbers that was asked for.
#[derive(Serialize)]
struct ColumnReport {
    name: String,
    holder: String,
    decimals: u32,
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
    /// For each column of numbers that was read.
    rows_without_number: BTreeMap<String, u64>,
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
    Sums {
        sums: Vec<SumReport>,
    },
    Shares {
        places: u64,
    },
}

/// What a column adds up to.
#[derive(Serialize)]
struct SumReport {
    column: String,
    holder: String,
    /// A decimal as a text, since it is exact.
    sum: String,
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
            output: summary.asked.to_string(),
            min_intersection: Some(request.min_intersection).filter(|&least| least > 0),
            columns: summary.columns.0.iter().map(ColumnReport::new).collect(),
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
                rows_without_number: summary.rows_without_number.clone(),
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
            result: summary.received.as_ref().map(ResultReport::new),
        }
    }
}

impl ColumnReport {
    fn new(column: &AgreedColumn) -> Self {
        Self {
            name: column.name.to_string(),
            holder: column.holder.to_string(),
            decimals: column.scale,
        }
    }
}

impl SumReport {
    fn new(sum: &Sum) -> Self {
        Self {
            column: sum.column.name.to_string(),
            holder: sum.column.holder.to_string(),
            sum: sum.value.to_string(),
        }
    }
}

impl ResultReport {
    fn new(received: &Received) -> Self {
        match *received {
            Received::Rows { shared_keys, rows } => Self::Rows {
                shared_keys,
                rows_written: rows,
            },
            Received::Count(shared_keys) => Self::Count { shared_keys },
            Received::Threshold { reached, .. } => Self::Threshold { reached },
            Received::Sums(ref sums) => Self::Sums {
                sums: sums.iter().map(SumReport::new).collect(),
            },
            Received::Shares { places } => Self::Shares { places },
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
pub(crate) struct ReportFile(WholeFile);

impl ReportFile {
    /// Makes sure that a file can be written there.
    ///
    /// # Errors
    /// [`Failure::Report`] if not.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let prepared = WholeFile::prepare(path).map(Self);
        prepared.map_err(|source| failure(path, source))
    }

    /// Writes the report, all of it or nothing.
    ///
    /// # Errors
    /// [`Failure::Report`].
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        let staged = self.0.stage(|file| {
            serde_json::to_writer_pretty(&mut *file, report)?;
            file.write_all(b"\n")
        });
        staged
            .and_then(Staged::commit)
            .map_err(|source| failure(self.0.path(), source))
    }
}

fn failure(path: &Path, source: io::Error) -> Failure {
    Failure::Report {
        path: path.to_owned(),
        source,
    }
}

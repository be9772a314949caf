//! The end of a run, its cost, and who learned what, for scripts. Never an item.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use psijoin::{Plan, Role};
use psijoin_params::Security;
use psijoin_printable::Json;
use psijoin_session::{AgreedColumn, Outcome, Phase, Received, Sum, memory};
use psijoin_table::{BadCellsOfKey, Located, Place, share::PayloadLayout};
use serde::Serialize;

use crate::{AppliedProfile, Failure, Hint, Known, Listener};

mod budget;
mod file;
mod groups;
mod noise;

use budget::BudgetReport;
pub use file::ReportFile;
use groups::{GroupReport, GroupsReport};

/// The end of a run that failed.
#[derive(Debug)]
pub struct Ending {
    /// The program's exit code for it.
    pub code: u8,
    /// The error.
    pub error: String,
    /// Advice for users, if there is any.
    pub hint: Option<Hint>,
    /// `true` if the join may succeed later without any change.
    pub may_pass: bool,
}

impl Ending {
    /// Returns the end of a run that failed so, with what this listener does about it.
    pub fn of(failure: &Failure, listener: &dyn Listener) -> Self {
        Self {
            code: failure.exit_code() as u8,
            error: failure.to_string(),
            hint: listener.hint_of(failure),
            may_pass: failure.may_pass(),
        }
    }
}

/// The report of one party's run.
#[derive(Serialize)]
pub struct Report {
    psijoin: &'static str,
    handshake_version: u16,
    /// `done`, `already done` (nothing was done now: the job was done before), `checked` or
    /// `failed`.
    outcome: &'static str,
    exit_code: u8,
    /// `null` if nothing failed.
    error: Option<String>,
    /// Advice for users, if there is any.
    hint: Option<Hint>,
    /// `true` if the command may succeed later without any change; `null` if nothing failed.
    try_again: Option<bool>,
    warnings: Vec<String>,
    started: String,
    ended: String,
    /// `null` if the parties had not agreed on one yet. Both have the same.
    session: Option<String>,
    role: Option<String>,
    /// `null` without encryption.
    identity: Option<String>,
    peer: PeerReport,
    /// The profile that has set some options; `null` if none was named.
    profile: Option<AppliedProfile>,
    files: FilesReport,
    /// As it was asked for; `null`, as the next two, if a join was not even tried, since what was
    /// asked for cannot be.
    requested_protocol: Option<&'static str>,
    output: Option<String>,
    /// The parties that were to learn it, if it is rows: `receiver` or `both`.
    learners: Option<String>,
    /// `null` if there was no such condition.
    min_intersection: Option<u64>,
    /// Whether nothing was to rest on what a quantum computer is known to break.
    post_quantum: bool,
    normalization: String,
    threads: Option<usize>,
    peak_memory_bytes: Option<u64>,
    /// Missing if the protocol was not done.
    #[serde(flatten)]
    run: Option<RunReport>,
}

/// The facts of a run that was done.
#[derive(Serialize)]
struct RunReport {
    protocol: ProtocolReport,
    columns: Vec<ColumnReport>,
    /// Missing if no groups were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<GroupsReport>,
    /// Missing if the answer was taken from no budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetReport>,
    /// The columns that each party gave with its keys.
    given: Vec<GivenReport>,
    security: SecurityReport,
    sizes: SizesReport,
    table: TableReport,
    /// The bytes that lay on disk meanwhile, as they did not fit into memory.
    spilled_bytes: u64,
    /// The number of steps that ran more than once, as a job that had broken off was resumed. Each
    /// sent the same messages again.
    steps_run_again: u32,
    /// The number of times that the parties of a table in lanes have met, as lanes were lost: 1 if
    /// none was.
    attempts: u32,
    traffic: TrafficReport,
    seconds: f64,
    phases: Vec<Phase>,
    result: Option<ResultReport>,
}

#[derive(Serialize)]
struct FilesReport {
    input: InputReport,
    output: Option<String>,
    report: Option<String>,
}

/// The inputs as they were named: a text if there is one, else a list.
#[derive(Serialize)]
#[serde(untagged)]
enum InputReport {
    One(String),
    Several(Vec<String>),
}

impl InputReport {
    fn new(inputs: &[PathBuf]) -> Self {
        match inputs {
            [only] => Self::One(path_shown(only)),
            several => Self::Several(several.iter().map(|path| path_shown(path)).collect()),
        }
    }
}

/// A column of numbers that was asked for.
#[derive(Serialize)]
struct ColumnReport {
    name: String,
    holder: String,
    decimals: u32,
}

/// Columns of a party for the other.
#[derive(Serialize)]
struct GivenReport {
    giver: String,
    columns: Vec<String>,
    bytes_per_key: usize,
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
    /// `null` if the other party was not met.
    address: Option<String>,
    /// The name by which this side's user knows the other party; `null` if it was called by its
    /// fingerprint.
    name: Option<String>,
    /// The expected fingerprint, or that of an invited party that came; `null` where anybody could
    /// have been at the other end.
    fingerprint: Option<String>,
    encryption: &'static str,
    /// How the keys were exchanged, by the name that TLS has for it; `null` without encryption, and
    /// if the other party was not met.
    key_exchange: Option<String>,
    /// As this side measured it; `null` if it could not.
    round_trip_micros: Option<u64>,
    /// The rate from the other party, as this side measured it; `null` if it could not. 3000000000
    /// means that or more.
    incoming_bits_per_second: Option<u64>,
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
    /// Those of them that have a cell of the key that cannot be read.
    rows_with_bad_key: u64,
    bad_keys: Vec<BadKeys>,
    rows_repeating_a_key: u64,
    distinct_keys: u64,
    /// For each column of numbers that was read.
    rows_without_number: BTreeMap<String, u64>,
}

/// Cells of a column of the key that cannot be read, for the same reason.
#[derive(Serialize)]
pub struct BadKeys {
    column: String,
    why: String,
    cells: u64,
    first: Vec<PlaceReport>,
}

/// The place of a cell: a line of a text, or the row of another table.
#[derive(Serialize)]
struct PlaceReport {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

#[derive(Serialize)]
struct TrafficReport {
    sent_bytes: u64,
    received_bytes: u64,
    flights: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultReport {
    Rows {
        shared_keys: u64,
        /// `shared`, `unshared` or `all`.
        rows: String,
        aligned: bool,
        /// `null` if the reader of the output went away before all was written.
        rows_written: Option<u64>,
    },
    /// A count, or rows that lie elsewhere: whoever has them chooses among them.
    Count {
        shared_keys: u64,
    },
    Threshold {
        reached: bool,
    },
    Sums {
        sums: Vec<SumReport>,
    },
    Groups {
        groups: Vec<GroupReport>,
    },
    Shares {
        places: u64,
    },
}

/// The sum of a column.
#[derive(Serialize)]
struct SumReport {
    column: String,
    holder: String,
    /// A decimal as a text, since it is exact.
    sum: String,
}

impl Report {
    /// Returns the report of a run that is over, and may have failed, from what is known of it.
    pub fn new(known: &Known, failure: Option<Ending>) -> Self {
        let wanted = &known.wanted;
        let fingerprint = wanted.peer.map(|fingerprint| fingerprint.to_string());
        Self {
            psijoin: env!("CARGO_PKG_VERSION"),
            handshake_version: psijoin_handshake::VERSION,
            outcome: match &failure {
                None if known.is_checked => "checked",
                None if known.is_already_done => "already done",
                None => "done",
                Some(_) => "failed",
            },
            exit_code: failure.as_ref().map_or(0, |failure| failure.code),
            error: failure.as_ref().map(|failure| failure.error.clone()),
            try_again: failure.as_ref().map(|failure| failure.may_pass),
            hint: failure.and_then(|failure| failure.hint),
            warnings: known.warnings.clone(),
            started: time_shown(wanted.started),
            ended: time_shown(Timestamp::now()),
            session: known.session.clone(),
            role: wanted.role.map(|role| role.to_string()),
            identity: known.identity.map(|fingerprint| fingerprint.to_string()),
            peer: PeerReport {
                address: known.address.clone(),
                name: (known.partner.as_ref()).map(|partner| partner.name.to_string()),
                encryption: match known.identity.or(wanted.peer) {
                    Some(_) => "TLS 1.3",
                    None => "none",
                },
                key_exchange: known.key_exchange.map(|exchange| exchange.to_string()),
                fingerprint,
                round_trip_micros: known.measured.round_trip_micros(),
                incoming_bits_per_second: known.measured.incoming_bits_per_second(),
            },
            profile: wanted.profile.clone(),
            files: FilesReport {
                input: InputReport::new(&wanted.files.input),
                output: wanted.files.output.as_deref().map(path_shown),
                report: wanted.files.report.as_deref().map(path_shown),
            },
            requested_protocol: wanted.protocol,
            output: wanted.output_kind.clone(),
            learners: wanted.learners.map(|learners| learners.to_string()),
            min_intersection: wanted.min_intersection,
            post_quantum: wanted.post_quantum,
            normalization: known.normalization.clone(),
            threads: known.threads,
            peak_memory_bytes: memory::peak_bytes(),
            run: known.outcome.as_ref().map(RunReport::new),
        }
    }

    /// Returns it as one line of JSON.
    pub fn line(&self) -> String {
        json_line(self)
    }
}

impl Known {
    /// Writes the report to its file, if it has one.
    ///
    /// # Errors
    /// [`Failure::Report`].
    pub fn write(&self, report: &Report) -> Result<(), Failure> {
        match &self.report {
            Some(file) => file.write(report),
            None => Ok(()),
        }
    }
}

/// Returns a JSON object as it stands on a line. No terminal obeys what is in it.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("reports are plain data");
    Json(&text).to_string()
}

fn path_shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns a time as RFC 3339 has it, in universal time.
fn time_shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

impl RunReport {
    fn new(outcome: &Outcome) -> Self {
        let plan = &outcome.plan;
        let request = plan.request();
        Self {
            protocol: ProtocolReport::new(plan),
            columns: outcome.columns.0.iter().map(ColumnReport::new).collect(),
            groups: GroupsReport::of(outcome),
            budget: outcome.balance.as_ref().map(BudgetReport::new),
            given: outcome.given.all().map(GivenReport::new).collect(),
            security: SecurityReport::new(plan),
            sizes: SizesReport {
                sender_keys: request.sizes.sender(),
                receiver_keys: request.sizes.receiver(),
            },
            table: TableReport {
                rows: outcome.counts.rows,
                rows_without_key: outcome.counts.left_out,
                rows_with_bad_key: outcome.bad_cells.rows,
                bad_keys: BadKeys::all(&outcome.bad_cells),
                rows_repeating_a_key: outcome.counts.duplicates,
                distinct_keys: outcome.counts.distinct,
                rows_without_number: outcome.rows_without_number.clone(),
            },
            spilled_bytes: outcome.spilled_bytes,
            steps_run_again: outcome.steps_run_again,
            attempts: outcome.attempt,
            traffic: TrafficReport {
                sent_bytes: outcome.traffic.sent.bytes,
                received_bytes: outcome.traffic.received.bytes,
                flights: outcome.traffic.flights,
            },
            seconds: outcome.time.as_secs_f64(),
            phases: outcome.phases.clone(),
            result: outcome.received.as_ref().map(ResultReport::new),
        }
    }
}

impl BadKeys {
    /// Returns those of a table, one for each column and reason.
    pub fn all(cells: &BadCellsOfKey) -> Vec<Self> {
        let sorts = cells.sorts.iter().map(|cells| Self {
            column: cells.column.clone(),
            why: cells.fault.to_string(),
            cells: cells.places.count,
            first: cells.places.first.iter().map(PlaceReport::new).collect(),
        });
        sorts.collect()
    }
}

impl PlaceReport {
    fn new(located: &Located) -> Self {
        let (line, row) = match located.place {
            Place::Line(line) => (Some(line), None),
            Place::Row(row) => (None, Some(row)),
            _ => (None, None),
        };
        Self {
            file: located.file.clone(),
            line,
            row,
        }
    }
}

impl GivenReport {
    fn new((giver, layout): (Role, &PayloadLayout)) -> Self {
        Self {
            giver: giver.to_string(),
            columns: layout.columns().names().map(str::to_owned).collect(),
            bytes_per_key: layout.payload_bytes(),
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
            Received::Rows {
                shared_keys,
                which,
                aligned,
                rows,
                ..
            } => Self::Rows {
                shared_keys,
                rows: which.to_string(),
                aligned,
                rows_written: rows,
            },
            Received::Count(_) | Received::Elsewhere { .. } | Received::Places(_) => Self::Count {
                shared_keys: received.shared_keys().unwrap_or_default(),
            },
            Received::Threshold { reached, .. } => Self::Threshold { reached },
            Received::Sums(ref sums) => Self::Sums {
                sums: sums.iter().map(SumReport::new).collect(),
            },
            Received::Groups(ref grouped) => Self::Groups {
                groups: GroupReport::all(grouped),
            },
            Received::Shares { places } => Self::Shares { places },
        }
    }
}

impl ProtocolReport {
    fn new(plan: &Plan) -> Self {
        let info = plan.info();
        Self {
            name: info.name,
            version: info.version,
            paper: info.paper,
            adversary: info.adversary.to_string(),
            parameters: plan
                .parameters()
                .iter()
                .map(|parameter| (parameter.name, parameter.value))
                .collect(),
        }
    }
}

impl SecurityReport {
    fn new(plan: &Plan) -> Self {
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

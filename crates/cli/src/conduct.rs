//! Carries out what is wanted of a join, whoever wants it: the parties meet and join, people are
//! told, and what is known of it is noted for the report.

use std::path::Path;

use psijoin::registry;
use psijoin_session::{Error, JoinSpec, Joined, KeptJob, Mode, Stop};
use psijoin_transport::Security;

use crate::{
    closing_statement,
    console::Console,
    exit::Failure,
    record::{Known, Record},
    report_file::ReportFile,
    teller::Teller,
};

/// Who hears of a join.
#[derive(Clone, Copy)]
pub(crate) struct Witnesses<'a> {
    /// People.
    pub(crate) console: &'a Console,
    /// The report.
    pub(crate) record: &'a Record,
    /// Hears that the result is about to be handed out: a deadline does not count any more.
    pub(crate) hands_out: &'a (dyn Fn() + Sync),
}

/// Makes sure that a report can be written, if one was asked for, before anything that is worth a
/// report can fail.
///
/// # Errors
/// [`Failure::NoReport`].
pub(crate) fn prepare_report(path: Option<&Path>, record: &Record) -> Result<(), Failure> {
    if let Some(path) = path {
        record.report_to(ReportFile::prepare(path)?);
    }
    Ok(())
}

/// Meets the other party, and joins. If this side cannot, or no report can be written, it still
/// meets the other, to tell it. The result is noted in the record. A job comes back that is to be
/// ended when the result has been handed out.
///
/// # Errors
/// Any failure, that of the report among them.
pub(crate) fn join(
    spec: JoinSpec,
    reportable: Result<(), Failure>,
    witnesses: Witnesses<'_>,
    stop: &Stop,
) -> Result<Option<KeptJob>, Failure> {
    let Witnesses {
        console, record, ..
    } = witnesses;
    if let Security::PinnedTls { identity, .. } = &spec.meeting.security {
        record.identity(identity.fingerprint());
    }
    record.normalization(spec.key.normalization());
    let teller = &Teller(witnesses);
    if let Err(failure) = reportable {
        teller.fail(&failure);
        spec.tell(failure.abort_code(), teller, stop);
        return Err(failure);
    }
    let joined = spec.join(teller, stop).inspect_err(|error| {
        if let Error::OverwritesInput(_) = error {
            record.leave_out_report();
        }
    });
    match joined? {
        Joined::Checked => record.checked(),
        Joined::DoneBefore(folder) => {
            record.already_done();
            console.insist(closing_statement::over(&folder));
        }
        Joined::Done(outcome, job) => {
            record.done(*outcome);
            return Ok(job);
        }
    }
    Ok(None)
}

/// Says what was checked, or learned: the closing statement, which comes back. Warns if next to
/// nothing is shared.
pub(crate) fn tell(mode: Mode, console: &Console, record: &Record) -> String {
    if mode == Mode::Check {
        let checked = closing_statement::checked(record.warnings());
        console.say(&checked);
        return checked;
    }
    let told = record.look(|known| {
        let Known { plan, outcome, .. } = known;
        let outcome = outcome.as_ref()?;
        let output = plan.files.output.as_deref().map(psijoin_printable::path);
        let by_auto = plan.protocol == registry::AUTO.info().name;
        console.say(closing_statement::cost(outcome));
        let statement = closing_statement::statement(outcome, output.as_deref(), by_auto);
        console.say(&statement);
        Some((statement, closing_statement::few_shared(outcome)))
    });
    let (statement, warning) = told.unwrap_or_default();
    if let Some(warning) = warning {
        let hint = console.hint_of_few_shared();
        console.advise(&warning, hint.as_deref());
        record.warn(&warning, hint.as_deref());
    }
    statement
}

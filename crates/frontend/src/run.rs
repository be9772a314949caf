//! A join, carried out: the parties meet and join, people are told, and what is known of it is
//! noted for the report.

use std::{num::NonZeroU32, path::Path};

use psijoin::registry;
use psijoin_session::{Agreed, Attempt, Error, JoinSpec, Joined, KeptJob, Mode, Stop, TableFacts};

use crate::{Failure, Known, Narrator, Notes, Remedy, partner, report::ReportFile, statement};

/// Makes sure that a report can be written, if one was asked for, before anything that is worth a
/// report can fail.
///
/// # Errors
/// [`Failure::NoReport`].
pub fn prepare_report(path: Option<&Path>, notes: &Notes) -> Result<(), Failure> {
    if let Some(path) = path {
        notes.report_to(ReportFile::prepare(path)?);
    }
    Ok(())
}

/// Meets the other party, and joins. If this side cannot, or was not able to write or read its
/// files, it still meets the other, to tell it. The result is noted. A job comes back that is to be
/// ended when the result has been handed out.
///
/// # Errors
/// Any failure, that of the files among them.
pub fn join(
    spec: JoinSpec,
    able: Result<(), Failure>,
    narrator: Narrator<'_>,
    stop: &Stop,
) -> Result<Option<KeptJob>, Failure> {
    begin(&spec, able, narrator, stop)?;
    let Narrator { listener, notes } = narrator;
    let joined = spec.join(&narrator, stop).inspect_err(|error| {
        if let Error::OverwritesInput(_) = error {
            notes.leave_out_report();
        }
    });
    match joined? {
        Joined::Checked => notes.checked(),
        Joined::DoneBefore(folder) => {
            notes.already_done();
            listener.insist(&statement::over(&folder));
        }
        Joined::Done(outcome, job) => {
            notes.done(*outcome);
            return Ok(job);
        }
    }
    Ok(None)
}

/// Meets the other party, and agrees with it on a join of a table that lies elsewhere, over at most
/// this number of lanes, in this attempt: see [`JoinSpec::agree`]. If the table has no facts that
/// can be used, or this side was not able to write or read its files, it still meets the other, to
/// tell it.
///
/// # Errors
/// Any failure, that of the files among them.
pub fn agree<'a>(
    spec: JoinSpec,
    facts: Result<TableFacts, Error>,
    lanes: (NonZeroU32, Option<Attempt>),
    able: Result<(), Failure>,
    narrator: &'a Narrator<'a>,
    stop: &Stop,
) -> Result<Agreed<'a>, Failure> {
    begin(&spec, able, *narrator, stop)?;
    let facts = facts.inspect_err(|error| spec.tell_of(error, narrator, stop))?;
    Ok(spec.agree(facts, lanes, narrator, stop)?)
}

/// Ends a join of a table that lies elsewhere, once all of its lanes have reported, and notes the
/// result.
///
/// # Errors
/// As [`Agreed::finish`].
pub fn finish(agreed: Agreed<'_>, notes: &Notes) -> Result<(), Failure> {
    notes.done(agreed.finish()?);
    Ok(())
}

/// Tells and notes what is known before the other party is met. If this side was not able to write
/// or read its files, that one is still told.
fn begin(
    spec: &JoinSpec,
    able: Result<(), Failure>,
    narrator: Narrator<'_>,
    stop: &Stop,
) -> Result<(), Failure> {
    let Narrator { listener, notes } = narrator;
    if let Some(identity) = spec.meeting.security.identity() {
        notes.identity(identity.fingerprint());
        partner::tell_own(identity, listener);
    }
    notes.normalization(spec.key.normalization());
    able.inspect_err(|failure| {
        narrator.fail(failure);
        spec.tell(failure.abort_code(), &narrator, stop);
    })
}

/// Says what was checked, or learned: the closing statement, which comes back. Warns if next to
/// nothing is shared.
pub fn tell(mode: Mode, narrator: Narrator<'_>) -> String {
    let Narrator { listener, notes } = narrator;
    if mode == Mode::Check {
        let checked = statement::checked(notes.warnings());
        listener.say(&checked);
        return checked;
    }
    let told = notes.look(|known| {
        let Known {
            wanted, outcome, ..
        } = known;
        let outcome = outcome.as_ref()?;
        let output = wanted.files.output.as_deref().map(psijoin_printable::path);
        let by_auto = wanted.protocol == Some(registry::AUTO.info().name);
        listener.say(&statement::cost(outcome));
        let statement = statement::statement(outcome, output.as_deref(), by_auto);
        listener.say(&statement);
        Some((statement, statement::few_shared(outcome)))
    });
    let (statement, warning) = told.unwrap_or_default();
    if let Some(warning) = warning {
        let hint = listener.hint(&Remedy::LookAtKeys);
        listener.warn(&warning, hint.as_deref());
        notes.warn(&warning, hint.as_deref());
    }
    statement
}

//! `psijoin send`, `psijoin receive`, and `psijoin check` of either.

use std::sync::Arc;

use psijoin_files::private;
use psijoin_frontend::{
    Code, Failure, Narrator, Notes,
    report::{Ending, Report},
    run, statement,
};
use psijoin_session::{KeptJob, Outcome, Received, Stop};

use crate::{
    console::{self, Console},
    guard,
    interrupt::handle_ctrl_c,
    invocation::Invocation,
    output, profile,
};

/// Joins, or checks, hands the result out, and reports, however it ends.
pub(super) fn follow(invocation: &Invocation<'_>) -> Result<(), Code> {
    let console = Console::wanted();
    let notes = Arc::new(Notes::of(invocation.wanted()));
    if let Some(profile) = &invocation.profile {
        console.say(profile::told(profile));
        if profile.has_password {
            private::warn_if_others_can_read(&profile.path);
        }
    }
    let prints_report = invocation.join.evidence.prints_report();
    let joined = invocation
        .check()
        .and_then(|()| join(invocation, &console, &notes))
        .and_then(|job| hand_out(invocation, &console, &notes).map(|()| job))
        .and_then(|job| Ok(job.map_or(Ok(()), KeptJob::end)?));
    guard::stop_if_in_trouble();
    let failure = joined.err();
    if let Some(failure) = &failure
        && !notes.is_told()
    {
        console::failure(failure);
    }
    let reported = report(&notes, failure.as_ref(), prints_report);
    if let Err(failure) = &reported {
        console::failure(failure);
    }
    match failure.or(reported.err()) {
        None => Ok(()),
        Some(failure) => Err(failure.exit_code()),
    }
}

/// Joins; Ctrl-C and the deadline end it.
fn join(
    invocation: &Invocation<'_>,
    console: &Console,
    notes: &Arc<Notes>,
) -> Result<Option<KeptJob>, Failure> {
    let stop = Stop::default();
    on_trouble(
        stop.clone(),
        notes.clone(),
        invocation.join.evidence.prints_report(),
    );
    handle_ctrl_c(stop.clone(), *console)?;
    if let Some(seconds) = invocation.join.resources.deadline {
        guard::set_deadline(seconds);
    }
    invocation.join(console, notes, &stop)
}

/// Says what was checked, or learned, and prints what goes to standard output.
fn hand_out(invocation: &Invocation<'_>, console: &Console, notes: &Notes) -> Result<(), Failure> {
    let narrator = Narrator {
        listener: console,
        notes,
    };
    run::tell(invocation.mode, narrator);
    if invocation.join.evidence.prints_report() {
        return Ok(());
    }
    let received = |outcome: &Outcome| match (&outcome.received, invocation.output) {
        (Some(Received::Groups(grouped)), None) => Ok(grouped.print(&invocation.written())?),
        (received, _) => match received.as_ref().and_then(statement::result) {
            Some(text) => output::text(&(text + "\n")),
            None => Ok(()),
        },
    };
    notes.look(|known| known.outcome.as_ref().map_or(Ok(()), received))
}

/// Lets the other party hear about it if the process cannot end in order, and the report be
/// written.
fn on_trouble(stop: Stop, notes: Arc<Notes>, prints_report: bool) {
    guard::on_trouble(move |failure| {
        stop.abort(failure.abort_code());
        if let Err(failure) = report(&notes, Some(failure), prints_report) {
            console::failure(&failure);
        }
    });
}

/// Writes the report of a run that is over, and may have failed, if one was asked for. A run is
/// reported once.
///
/// # Errors
/// [`Failure::Report`], and if standard output cannot be written.
fn report(notes: &Notes, failure: Option<&Failure>, prints_report: bool) -> Result<(), Failure> {
    let written = notes.end(|known| {
        let ending = failure.map(|failure| Ending::of(failure, &Console::Aloud));
        let report = Report::new(known, ending);
        let written = known.write(&report);
        if prints_report {
            output::json(&report)?;
        }
        written
    });
    written.unwrap_or(Ok(()))
}

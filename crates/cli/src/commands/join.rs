//! `psijoin send`, `psijoin receive`, and `psijoin check` of either.

use std::sync::Arc;

use psijoin_session::{KeptJob, Outcome, Stop};

use crate::{
    closing_statement,
    conduct::{self, Witnesses},
    console::{self, Console},
    exit::{Code, Failure},
    guard,
    interrupt::handle_ctrl_c,
    order::Order,
    output,
    record::Record,
    report,
};

/// Joins, or checks, hands the result out, and reports, however it ends.
pub(super) fn follow(order: &Order<'_>) -> Result<(), Code> {
    let console = Console::wanted();
    let record = Arc::new(Record::of(order.planned()));
    let joined = order
        .check()
        .and_then(|()| join(order, &console, &record))
        .and_then(|job| hand_out(order, &console, &record).map(|()| job))
        .and_then(|job| Ok(job.map_or(Ok(()), KeptJob::end)?));
    guard::stop_if_in_trouble();
    let failure = joined.err();
    if let Some(failure) = &failure
        && !record.is_told()
    {
        console::failure(failure);
    }
    let reported = report::write(&record, failure.as_ref());
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
    order: &Order<'_>,
    console: &Console,
    record: &Arc<Record>,
) -> Result<Option<KeptJob>, Failure> {
    let stop = Stop::default();
    on_trouble(stop.clone(), record.clone());
    handle_ctrl_c(stop.clone(), console.clone())?;
    if let Some(seconds) = order.join.resources.deadline {
        guard::set_deadline(seconds);
    }
    let witnesses = Witnesses {
        console,
        record,
        hands_out: &guard::lift_deadline,
    };
    order.join(witnesses, &stop)
}

/// Says what was checked, or learned, and prints what goes to standard output.
fn hand_out(order: &Order<'_>, console: &Console, record: &Record) -> Result<(), Failure> {
    conduct::tell(order.mode, console, record);
    let text = |outcome: &Outcome| {
        outcome
            .received
            .as_ref()
            .and_then(closing_statement::result)
    };
    match record.look(|known| known.outcome.as_ref().and_then(text)) {
        Some(text) if !order.join.evidence.prints_report() => output::text(&(text + "\n")),
        _ => Ok(()),
    }
}

/// Lets the other party hear about it if the process cannot end in order, and the report be
/// written.
fn on_trouble(stop: Stop, record: Arc<Record>) {
    guard::on_trouble(move |failure| {
        stop.abort(failure.abort_code());
        if let Err(failure) = report::write(&record, Some(failure)) {
            console::failure(&failure);
        }
    });
}

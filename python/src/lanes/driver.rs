//! The driver of a join whose table lies elsewhere: it meets the other party, gives tickets of
//! lanes, takes their reports, and ends the session.
//!
//! All of that happens in a thread of its own, which has the session. Calls are sent to it. While
//! lanes run, it gives the other party a sign of life: each lane gives its own, so that one that
//! hangs is noticed by the lane at the other end.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::Schema;
use jiff::Timestamp;
use psijoin::Role;
use psijoin_channel::AbortCode;
use psijoin_frontend::{self as frontend, Narrator, Notes, run};
use psijoin_session::{
    self as session, ArrowTable, Attempt, ElsewhereFault, Error, LaneReport, LaneTicket, Mode,
    PeerWatch, TableFacts,
};
use psijoin_table::{portions::PortionFacts, share::PayloadLayout};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

use super::{Report, Router, Taken, Ticket, with_one_thread};
use crate::{
    Stop,
    calls::Listening,
    deadline::Deadline,
    dictionary,
    failed::{Failed, Failure, raised, untried},
    joining::{JoinCall, Joined, contained, ended},
    options::usage,
    wanted::Party,
    while_signals_are_seen,
};

/// The time between two signs of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// The name of the table in messages.
const TABLE: &str = "the table";

/// A join on which both parties have agreed, and that runs in lanes.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Agreed {
    lanes: u32,
    router: Option<psijoin::Router>,
    watch: PeerWatch,
    stop: session::Stop,
    /// The attempt in which both sides meet again if a lane is lost.
    next_attempt: Option<Attempt>,
    /// `true` once either side has lost one, and both come again.
    is_lane_lost: Arc<AtomicBool>,
    /// `None` once it is over.
    requests: Mutex<Option<Sender<Request>>>,
}

/// What Python asks of the thread that has the session.
enum Request {
    Ticket(u32, Sender<LaneTicket>),
    Take(LaneReport, Sender<Result<(), Failed>>),
    Finish(Sender<Result<Finished, Failed>>),
    Abort(Sender<()>),
    LoseLane(Sender<bool>),
}

/// How the session is to end.
enum End {
    Finish(Sender<Result<Finished, Failed>>),
    /// Told to this one, if somebody waits for it.
    Abort(Option<Sender<()>>),
    /// Told to this one: whether both sides come again.
    LoseLane(Sender<bool>),
}

/// What came of it, and how the other party's columns stand in what lanes got.
type Finished = (Joined, Option<PayloadLayout>);

/// What both have agreed on.
struct Terms {
    lanes: u32,
    router: Option<psijoin::Router>,
    watch: PeerWatch,
    next_attempt: Option<Attempt>,
}

/// The facts about the table, and the lanes that this side runs, in the attempt that this is.
type Elsewhere = (Result<TableFacts, Error>, (NonZeroU32, Option<Attempt>));

/// Meets the other party, and agrees with it on a join of a table that lies elsewhere, of which
/// these facts are known. At most this number of lanes run. A side that `comes_again` does so if a
/// lane is lost, and says `after` which session. All else is as for `join`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn agree<'py>(
    py: Python<'py>,
    party: &Bound<'py, Party>,
    role: &str,
    options: &Bound<'py, PyDict>,
    facts: &[u8],
    distinct: u64,
    lanes: u32,
    comes_again: bool,
    after: Option<&Bound<'py, Agreed>>,
    listener: Py<PyAny>,
    stop: &Bound<'py, Stop>,
) -> PyResult<Agreed> {
    let role = match role {
        "receive" => Role::Receiver,
        "send" => Role::Sender,
        _ => return Err(PyValueError::new_err("there is no such role")),
    };
    let (party, started) = (party.get(), Timestamp::now());
    let prepared = || {
        let lanes = NonZeroU32::new(lanes);
        let lanes = lanes.ok_or_else(|| usage("`lanes` is a whole number of at least 1"))?;
        let call = party.call_elsewhere(role, options, nothing())?;
        let whole =
            PortionFacts::from_bytes(facts).and_then(|facts| facts.whole(&call.spec.key, distinct));
        // The other party hears of a table that cannot be used.
        let facts = whole.map(TableFacts::from).map_err(Error::from);
        let attempt = match after {
            None => comes_again.then(Attempt::default),
            Some(agreed) if agreed.get().meets_again() => agreed.get().next_attempt.clone(),
            Some(_) => return Err(usage("the two sides do not meet again")),
        };
        PyResult::Ok((call, (facts, (lanes, attempt))))
    };
    let prepared = prepared()
        .map_err(|error| untried(py, error, party.untried(role, options, TABLE, started)))?;
    let stop = stop.get().0.clone();
    let (tell, told) = mpsc::channel();
    let (requests, asked) = mpsc::channel();
    let stopping = stop.clone();
    let failing = tell.clone();
    let is_lane_lost = Arc::<AtomicBool>::default();
    let lost = is_lane_lost.clone();
    thread::spawn(move || {
        let served = with_one_thread(|| {
            serve(prepared, listener, &stopping, tell, (asked, &lost));
            Ok(())
        });
        // Nobody waits any more if it was stopped, or is over.
        let _ = served.map_err(|failure| failing.send(Err(failure.into())));
    });
    let told = while_signals_are_seen(py, &stop, move |_| told.recv())?;
    let terms = told.unwrap_or_else(|_| Err(bug().into()));
    let Terms {
        lanes,
        router,
        watch,
        next_attempt,
    } = terms.map_err(raised)?;
    Ok(Agreed {
        lanes,
        router,
        watch,
        stop,
        next_attempt,
        is_lane_lost,
        requests: Mutex::new(Some(requests)),
    })
}

/// Meets the other party only to tell it that this one cannot join, as its table cannot be read.
#[pyfunction]
pub(crate) fn decline(
    py: Python<'_>,
    party: &Bound<'_, Party>,
    listener: Py<PyAny>,
    stop: &Bound<'_, Stop>,
) -> PyResult<()> {
    // The role is not told.
    let call = (party.get()).call_elsewhere(Role::Sender, &PyDict::new(py), nothing())?;
    let declined = while_signals_are_seen(py, &stop.get().0, move |stop| {
        contained(|| {
            let notes = &Notes::of(call.wanted());
            notes.know_as(call.known_as.clone());
            let listener = &Listening {
                listener,
                deadline: None,
            };
            let narrator = Narrator { listener, notes };
            call.spec.tell(AbortCode::LocalFailure, &narrator, stop);
            Ok(())
        })
    })?;
    declined.map_err(|failure| raised(failure.into()))
}

/// A table without rows, which stands for one that is not here.
fn nothing() -> ArrowTable {
    let none: [Result<RecordBatch, _>; 0] = [];
    let rows = RecordBatchIterator::new(none, Schema::empty().into());
    ArrowTable::in_memory(TABLE, rows)
}

#[pymethods]
impl Agreed {
    /// The number of lanes; 0 if nothing has to run.
    #[getter]
    fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The number of parts.
    #[getter]
    fn parts(&self) -> u32 {
        self.router.as_ref().map_or(0, psijoin::Router::parts)
    }

    /// The way of keys to their parts.
    #[getter]
    fn router(&self) -> PyResult<Router> {
        let router = self.router.clone().map(Router);
        router.ok_or_else(|| usage("no lane runs: the result follows from the sizes of the sets"))
    }

    /// `True` once it was finished or given up.
    #[getter]
    fn is_over(&self) -> bool {
        self.requests.lock().expect("no panic").is_none()
    }

    /// The ticket of a lane.
    fn ticket(&self, py: Python<'_>, lane: u32) -> PyResult<Ticket> {
        if lane >= self.lanes {
            return Err(usage(format!("there are {} lanes, from 0 on", self.lanes)));
        }
        Ok(Ticket(
            self.ask(py, |answer| Request::Ticket(lane, answer))?,
        ))
    }

    /// Returns once the session is over.
    fn watch(&self, py: Python<'_>) -> PyResult<()> {
        let watch = self.watch.clone();
        let over = while_signals_are_seen(py, &self.stop, move |_| watch.until_over())?;
        over.map_err(|error| {
            note(&error, &self.is_lane_lost);
            raised(Failed::of(error))
        })
    }

    /// `True` if a lane was lost, and both sides come again.
    #[getter]
    fn meets_again(&self) -> bool {
        self.next_attempt.is_some() && self.is_lane_lost.load(Ordering::Relaxed)
    }

    /// Gives up, if it is not over, as a lane was lost. The other party is told, and comes again if
    /// it told so.
    fn lose_lane(&self, py: Python<'_>) -> PyResult<()> {
        let asked = self.ask(py, Request::LoseLane);
        self.forget();
        match asked {
            // It was over before.
            Err(error) if error.is_instance_of::<Failure>(py) => Ok(()),
            Ok(comes_again) => {
                self.is_lane_lost.fetch_or(comes_again, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the report of a lane.
    fn take(&self, py: Python<'_>, report: &Bound<'_, PyAny>) -> PyResult<()> {
        let report = Report::given(report)?;
        let taken = self.ask(py, |answer| Request::Take(report, answer))?;
        taken.map_err(raised)
    }

    /// Ends the session, and returns what `join` returns, and under `taken` how the other party's
    /// columns are told, if there are any.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let finished = self.ask(py, Request::Finish)?;
        self.forget();
        let (joined, taken) = finished.map_err(raised)?;
        let told = dictionary(py, joined)?;
        told.set_item("taken", taken.map(Taken))?;
        Ok(told)
    }

    /// Gives up, if it is not over. The other party is told.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        let asked = self.ask(py, Request::Abort);
        self.forget();
        match asked {
            // It was over before.
            Err(error) if error.is_instance_of::<Failure>(py) => Ok(()),
            asked => asked,
        }
    }
}

impl Agreed {
    fn forget(&self) {
        *self.requests.lock().expect("no panic") = None;
    }

    /// Asks the thread that has the session.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        request: impl FnOnce(Sender<T>) -> Request,
    ) -> PyResult<T> {
        let over = || usage("this join is over: agree again");
        let (answer, answered) = mpsc::channel();
        let sent = match &*self.requests.lock().expect("no panic") {
            Some(requests) => requests.send(request(answer)).is_ok(),
            None => false,
        };
        if !sent {
            return Err(over());
        }
        let answered = while_signals_are_seen(py, &self.stop, move |_| answered.recv())?;
        answered.map_err(|_| over())
    }
}

/// Agrees, and does what is asked for from then on, until the session is over. An error is for
/// whoever waits for it.
fn serve(
    (mut call, (facts, lanes)): (JoinCall, Elsewhere),
    listener: Py<PyAny>,
    stop: &session::Stop,
    tell: Sender<Result<Terms, Failed>>,
    (asked, is_lane_lost): (Receiver<Request>, &AtomicBool),
) {
    let notes = Notes::of(call.wanted());
    notes.know_as(call.known_as.clone());
    let (mut end, mut comes_again, mut taken) = (End::Abort(None), false, None);
    let ran = contained(|| {
        call.check()?;
        let deadline = call.deadline.map(|seconds| Deadline::set(seconds, stop));
        let listening = Listening {
            listener,
            deadline: deadline.transpose()?,
        };
        let reportable = run::prepare_report(call.report.as_deref(), &notes);
        let able = reportable.and_then(|()| call.read_terms());
        let narrator = Narrator {
            listener: &listening,
            notes: &notes,
        };
        let within_deadline = |failure| match &listening.deadline {
            Some(deadline) => deadline.reason(failure),
            None => failure,
        };
        let agreed = run::agree(call.spec, facts, lanes, able, &narrator, stop);
        let mut agreed = agreed.map_err(within_deadline)?;
        let terms = Terms {
            lanes: agreed.lanes(),
            router: (agreed.lanes() > 0).then(|| agreed.router()),
            watch: agreed.watch(),
            next_attempt: agreed.next_attempt().cloned(),
        };
        // Nobody waits any more if it was stopped.
        let _ = tell.send(Ok(terms));
        end = until_end(&mut agreed, &asked);
        let given_up = || Error::from(ElsewhereFault::GivenUp);
        match &end {
            End::Abort(_) => {
                agreed.abort(&given_up());
                return Err(given_up().into());
            }
            End::LoseLane(_) => {
                comes_again = agreed.lose_lane();
                return Err(given_up().into());
            }
            End::Finish(_) => {}
        }
        taken = agreed.given().by(agreed.role().other()).cloned();
        let finished = run::finish(agreed, &notes);
        if let Err(frontend::Failure::Session(error)) = &finished {
            note(error, is_lane_lost);
        }
        finished.map_err(within_deadline)?;
        Ok(run::tell(Mode::Join, narrator))
    });
    let ended = ended(&notes, ran);
    // Whoever asked may be gone.
    match end {
        End::Finish(finisher) => drop(finisher.send(ended.map(|joined| (joined, taken)))),
        End::Abort(Some(answer)) => drop(answer.send(())),
        End::LoseLane(answer) => drop(answer.send(comes_again)),
        End::Abort(None) => drop(ended.map_err(|failed| tell.send(Err(failed)))),
    }
}

/// Does what is asked for, until that is the end of the session. If nobody can ask any more, it is
/// given up.
fn until_end(agreed: &mut session::Agreed<'_>, asked: &Receiver<Request>) -> End {
    loop {
        // Whoever asked may be gone.
        match asked.recv_timeout(SIGN_OF_LIFE) {
            Ok(Request::Ticket(lane, answer)) => drop(answer.send(agreed.ticket(lane))),
            Ok(Request::Take(report, answer)) => {
                let taken = agreed.take(&report).map_err(Failed::of);
                drop(answer.send(taken));
            }
            Ok(Request::Finish(answer)) => return End::Finish(answer),
            Ok(Request::Abort(answer)) => return End::Abort(Some(answer)),
            Ok(Request::LoseLane(answer)) => return End::LoseLane(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return End::Abort(None),
        }
        agreed.progressed();
    }
}

/// Notes that the other party has lost a lane, if this says so.
fn note(error: &Error, is_lane_lost: &AtomicBool) {
    is_lane_lost.fetch_or(error.is_lane_lost(), Ordering::Relaxed);
}

fn bug() -> frontend::Failure {
    frontend::Failure::Bug { file: "?", line: 0 }
}

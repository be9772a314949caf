//! The events of a session, told to people and noted for the report.

use std::time::Duration;

use psijoin_forecast::{Cores, Network};
use psijoin_printable::{Word, humanize};
use psijoin_session::{Error, Event, Watcher, Work};
use psijoin_source::{Doubt, Source};

use crate::{
    Code, Failure, Hint, Listener, Model, Notes, Remedy, calibration, partner,
    sentences::{self, with_hint},
};

/// Watches a session: tells a listener its events, and notes it for the report.
#[derive(Clone, Copy)]
pub struct Narrator<'a> {
    /// The listener.
    pub listener: &'a dyn Listener,
    /// The notes for the report.
    pub notes: &'a Notes,
}

impl Narrator<'_> {
    /// Notes that this party cannot continue, and that the other one is about to be told.
    pub(crate) fn fail(&self, failure: &Failure) {
        let hint = self.listener.hint_of(failure);
        self.tells_other(&failure.to_string(), hint, failure.exit_code());
    }

    fn tells_other(&self, failure: &str, hint: Option<Hint>, code: Code) {
        self.listener.fail(failure, hint.as_deref(), code);
        self.notes.told();
        let next = "telling the other party; Ctrl-C ends this at once";
        self.listener.say(next);
    }

    /// Returns the other party in words: its name, if the user has called it so.
    fn other(&self) -> String {
        let partner = self.notes.partner();
        partner.map_or_else(|| "the other party".to_owned(), |it| it.name.to_string())
    }

    /// Returns an event in words; nothing if there is nothing to tell.
    fn told(&self, event: &Event<'_>) -> Option<String> {
        Some(match event {
            Event::SeveralFiles { name, files } => format!(
                "{}: {files} files, in the order of their names",
                psijoin_printable::path(name)
            ),
            Event::TableRead { name, rows, keys } => format!(
                "read {name}: {}, {}",
                humanize::counted(*rows, "row"),
                humanize::counted(*keys, "distinct key"),
            ),
            Event::Listening { address, wait } => format!(
                "listening on {}; waiting up to {} s for {}",
                Word(address.as_str()),
                wait.as_secs(),
                self.other(),
            ),
            Event::Connecting { address, wait } => format!(
                "connecting to {}; trying for up to {} s",
                address.as_str(),
                wait.as_secs()
            ),
            Event::Going { place, wait } => format!(
                "going to {}, to meet {}; trying for up to {} s",
                sentences::meeting_place(*place),
                self.other(),
                wait.as_secs()
            ),
            Event::Seen { place, sight } => sentences::sight(*place, &self.other(), sight)?,
            Event::Connected {
                peer,
                address,
                measured,
                ..
            } => {
                let met = match peer {
                    Some(peer) => format!("connected to {peer} at {address}"),
                    None => format!("connected to {address}"),
                };
                match sentences::greeting(*measured) {
                    Some(network) => format!("{met}\n{network}"),
                    None => met,
                }
            }
            Event::Agreed { plan, .. } => {
                let sizes = plan.request().sizes;
                format!(
                    "{}: {} of the sender, {} of the receiver, {} to move",
                    plan.info().name,
                    humanize::counted(sizes.sender(), "key"),
                    humanize::counted(sizes.receiver(), "key"),
                    humanize::bytes(plan.cost().total.total_bytes()),
                )
            }
            Event::NetworkMeasured(gauged) => sentences::network(gauged),
            Event::GoesOn {
                done,
                parts,
                bytes_left,
            } => format!(
                "going on: {done} of {} done before, {} left to move",
                humanize::counted((*parts).into(), "part"),
                humanize::bytes(*bytes_left),
            ),
            Event::AllDoneBefore => {
                "everything was done before: the other party is not needed any more".to_owned()
            }
            Event::RecordWritten(path) => format!(
                "wrote the record, which both sides have signed, to {}",
                psijoin_printable::path(path)
            ),
            Event::NotTold(error) => format!(
                "the other party could not be told: {}",
                with_hint(&error.to_string(), self.hint_of_error(error).as_deref())
            ),
            Event::Warning(_)
            | Event::Met(_)
            | Event::Opened(_)
            | Event::Threads(_)
            | Event::Foreseen { .. }
            | Event::HandsOut
            | Event::TellsOther(_) => return None,
        })
    }

    fn hint_of_error(&self, error: &Error) -> Option<Hint> {
        self.listener.hint(&Remedy::of_error(error)?)
    }
}

impl Watcher for Narrator<'_> {
    fn hear(&self, event: Event<'_>) {
        let Self { listener, notes } = *self;
        notes.note(&event);
        match event {
            Event::Warning(warning) => {
                let text = sentences::of_warning(&warning);
                let remedy = Remedy::of_warning(&warning);
                let hint = remedy.and_then(|remedy| listener.hint(&remedy));
                listener.warn(&text, hint.as_deref());
                notes.warn(&text, hint.as_deref());
            }
            Event::TellsOther(error) => {
                let hint = self.hint_of_error(error);
                self.tells_other(&error.to_string(), hint, Code::of(error));
            }
            Event::Met(connection) => match notes.partner() {
                Some(partner) => partner.note(connection, listener),
                None => partner::tell_replaced(connection, listener),
            },
            Event::HandsOut => listener.hands_out(),
            Event::Opened(source) => tell_layout(source, listener),
            Event::Foreseen {
                plan,
                network,
                threads,
            } => {
                let prediction = calibration::best(listener).predict(plan, threads);
                let forecast = prediction.and_then(|all| all.on(&network, Cores::Own).ok());
                // There is nothing to tell about a result that follows from the sizes.
                if let Some(forecast) = forecast
                    && plan.cost().total.total_bytes() > 0
                {
                    listener.say(&format!(
                        "{} will take about {}; reading and writing tables come on top",
                        plan.info().name,
                        humanize::time(Duration::from_secs_f64(forecast.seconds)),
                    ));
                }
            }
            other => {
                if let Some(told) = self.told(&other) {
                    listener.say(&told);
                }
            }
        }
    }

    fn during(
        &self,
        what: Work<'_>,
        position: &mut (dyn FnMut() -> (u64, u64) + Send),
        work: &mut dyn FnMut(),
    ) {
        let listener = self.listener;
        let mut waiting = || position().into();
        let Work::Protocol {
            plan,
            role,
            threads,
            done,
        } = what
        else {
            return listener.during(&called(&what), &mut waiting, work);
        };
        let network = Network::from(plan.request().path);
        let model = Model::new(plan, role, threads, network, Cores::Own, listener);
        let mut model = match done {
            0 => model,
            done => model.going_on(done),
        };
        let mut position = || model.position(position().0);
        listener.during(plan.info().name, &mut position, work);
    }
}

/// Says how a table is read, if not in the usual way of its format.
pub fn tell_layout(source: &Source, listener: &dyn Listener) {
    if !source.is_usual() {
        let (name, description) = (source.name(), source.description());
        listener.say(&format!("{name} is read as {description}"));
    }
}

/// Warns of what is doubtful about the table of this name.
pub fn tell_doubt(name: &str, doubt: &Doubt, listener: &dyn Listener) {
    let remedy = Remedy::of_doubt(doubt);
    let hint = remedy.and_then(|remedy| listener.hint(&remedy));
    listener.warn(&sentences::of_doubt(name, doubt), hint.as_deref());
}

fn called(work: &Work<'_>) -> String {
    match work {
        Work::Opening([only]) if only.as_os_str() == "-" => "reading standard input".to_owned(),
        Work::Opening([only]) => format!("reading {}", psijoin_printable::path(only)),
        Work::Opening(several) => format!("reading {} inputs", several.len()),
        Work::Copying => "reading the table".to_owned(),
        Work::ReadingKeys(name) => format!("reading {name}"),
        Work::WaitingForPeer => "waiting for the other party".to_owned(),
        Work::WaitingForTable => "waiting for the other party to read its table".to_owned(),
        Work::WaitingForColumns => "waiting for the other party to offer its columns".to_owned(),
        Work::WaitingForEnd => "waiting for the other party to finish".to_owned(),
        Work::MeasuringColumns => "measuring the columns that are given".to_owned(),
        Work::ReadingColumns => "reading the columns that are given".to_owned(),
        Work::MeasuringNetwork => "measuring the network".to_owned(),
        Work::WritingRows => "writing the rows".to_owned(),
        Work::Protocol { plan, .. } => plan.info().name.to_owned(),
    }
}

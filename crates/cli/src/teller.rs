//! Tells people what happens in a session, and notes it for the report.

use std::time::Duration;

use psijoin_forecast::{Cores, Network};
use psijoin_printable::Word;
use psijoin_session::{Event, Watcher, Work};
use psijoin_table::{Doubt, Source};

use crate::{
    calibration,
    conduct::Witnesses,
    console::Console,
    exit::{self, Code, Failure},
    guard, humanize,
    progress::Model,
    ways_out,
    words::{self, with_hint},
};

/// See the [module](self).
pub(crate) struct Teller<'a>(pub(crate) Witnesses<'a>);

impl Teller<'_> {
    /// This party cannot go on, and the other one is about to be told so.
    pub(crate) fn fail(&self, failure: &Failure) {
        let hint = self.0.console.hint(failure);
        self.tells_other(&failure.to_string(), hint.as_deref(), failure.exit_code());
    }

    fn tells_other(&self, failure: &str, hint: Option<&str>, code: Code) {
        let Witnesses {
            console, record, ..
        } = self.0;
        console.fail(failure, hint);
        record.told();
        guard::has_said(code);
        console.say("telling the other party; Ctrl-C ends this at once");
    }
}

impl Watcher for Teller<'_> {
    fn hear(&self, event: Event<'_>) {
        let Witnesses {
            console,
            record,
            hands_out,
        } = self.0;
        record.note(&event);
        match event {
            Event::Warning(warning) => {
                let text = words::of_warning(&warning);
                let hint = console.hint_of_warning(&warning);
                console.advise(&text, hint.as_deref());
                record.warn(&text, hint.as_deref());
            }
            Event::TellsOther(error) => {
                let hint = console.hint_of_error(error);
                self.tells_other(&error.to_string(), hint.as_deref(), exit::code_of(error));
            }
            Event::HandsOut => hands_out(),
            Event::Opened(source) => tell_layout(source, console),
            Event::Foreseen {
                plan,
                network,
                threads,
            } => {
                let prediction = calibration::best(console).predict(plan, threads);
                let forecast = prediction.and_then(|all| all.on(&network, Cores::Own).ok());
                // There is nothing to tell about a result that follows from the sizes.
                if let Some(forecast) = forecast
                    && plan.cost().total.total_bytes() > 0
                {
                    console.say(format_args!(
                        "{} will take about {}; reading and writing tables come on top",
                        plan.info().name,
                        humanize::time(Duration::from_secs_f64(forecast.seconds)),
                    ));
                }
            }
            other => {
                if let Some(told) = told(&other, console) {
                    console.say(told);
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
        let console = self.0.console;
        let Work::Protocol {
            plan,
            role,
            threads,
            done,
        } = what
        else {
            return console.during(&called(&what), position, work);
        };
        let network = Network::from(plan.request().path);
        let model = Model::new(plan, role, threads, network, Cores::Own, console);
        let mut model = match done {
            0 => model,
            done => model.going_on(done),
        };
        let position = || model.position(position().0);
        console.during(plan.info().name, position, work);
    }
}

/// Says how a table is read, if not in the usual way of its format.
pub(crate) fn tell_layout(source: &Source, console: &Console) {
    if !source.is_usual() {
        let (name, description) = (source.name(), source.description());
        console.say(format_args!("{name} is read as {description}"));
    }
}

/// Warns of what is doubtful about the table of this name.
pub(crate) fn tell_doubt(name: &str, doubt: &Doubt, console: &Console) {
    let hint = ways_out::of_doubt(doubt);
    console.advise(&words::of_doubt(name, doubt), hint.as_deref());
}

/// Returns an event in words; nothing if there is nothing to tell.
fn told(event: &Event<'_>, console: &Console) -> Option<String> {
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
            "listening on {}; waiting up to {} s for the other party",
            Word(address.as_str()),
            wait.as_secs(),
        ),
        Event::Connecting { address, wait } => format!(
            "connecting to {}; trying for up to {} s",
            address.as_str(),
            wait.as_secs()
        ),
        Event::Connected {
            peer,
            address,
            measured,
        } => {
            let met = match peer {
                Some(peer) => format!("connected to {peer} at {address}"),
                None => format!("connected to {address}"),
            };
            match words::greeting(*measured) {
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
        Event::NetworkMeasured(gauged) => words::network(gauged),
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
            with_hint(&error.to_string(), console.hint_of_error(error).as_deref())
        ),
        Event::Warning(_)
        | Event::Opened(_)
        | Event::Threads(_)
        | Event::Foreseen { .. }
        | Event::HandsOut
        | Event::TellsOther(_) => return None,
    })
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

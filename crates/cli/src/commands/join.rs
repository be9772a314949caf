//! `psijoin send` and `psijoin receive`.

use std::{cell::OnceCell, num::NonZeroUsize, path::Path, sync::Arc, time::Duration};

use psijoin_channel::Channel;
use psijoin_psi::Role;
use psijoin_table::{Destination, KeySpec, Progress, Source};
use psijoin_transport::{
    Connection, Identity, Interrupt, Listener, Options, Security, Timeouts, endpoint::Address,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    args,
    asked::Asked,
    exit::Failure,
    interrupt::handle_ctrl_c,
    output,
    question::Question,
    report::{Peer, Report, ReportFile},
    session::{Party, Task},
    statement,
    talk::Talk,
    whole_file::WholeFile,
};

const TALK: Talk = Talk::Aloud;

pub(super) fn send(args: &args::Send) -> Result<(), Failure> {
    match (&args.join.output_kind, &args.output) {
        (Asked::Shares(_), output) => share(&args.join, Role::Sender, output.as_deref()),
        (_, None) => run(&args.join, "", |_| Ok(Task::Send)),
        (kind, Some(_)) => Err(Failure::Usage(format!(
            "--output of the sender is for shares, and --output-kind {kind} gives it none: leave \
             --output out"
        ))),
    }
}

/// Either party, if both are to get shares.
fn share(join: &args::Join, role: Role, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output else {
        return Err(Failure::Usage(
            "say where to write this party's shares: --output FILE".into(),
        ));
    };
    if output == join.report.as_deref() {
        return Err(same_file());
    }
    run(join, &path.display().to_string(), |source| {
        if source.is_file(path) {
            let file = path.display().to_string();
            return Err(psijoin_table::Error::OutputIsInput { file }.into());
        }
        let file = WholeFile::prepare(path).map_err(|source| Failure::Shares {
            path: path.to_owned(),
            source,
        })?;
        Ok(Task::Share(role, file))
    })
}

fn same_file() -> Failure {
    Failure::Usage("--output and --report name the same file".into())
}

pub(super) fn receive(args: &args::Receive) -> Result<(), Failure> {
    if let Asked::Shares(_) = args.join.output_kind {
        return share(&args.join, Role::Receiver, args.output.as_deref());
    }
    if args.join.output_kind != Asked::Rows {
        if args.output.is_some() {
            return Err(Failure::Usage(format!(
                "--output is for rows, and --output-kind {} finds none: leave --output out; the \
                 result goes to standard output",
                args.join.output_kind
            )));
        }
        return run(&args.join, "", |_| Ok(Task::Learn));
    }
    if args.join.json && args.output.is_none() {
        return Err(Failure::Usage(
            "--json and the shared rows cannot both go to standard output: give --output FILE too"
                .into(),
        ));
    }
    if args.output.is_some() && args.output == args.join.report {
        return Err(same_file());
    }
    let path = args.output.as_deref();
    let name = path.map_or("standard output".to_owned(), |path| {
        path.display().to_string()
    });
    run(&args.join, &name, |source| {
        Ok(Task::Receive(Destination::prepare(path, source)?))
    })
}

/// Checks all that can be checked before the other party is there, joins, and reports.
fn run(
    args: &args::Join,
    output: &str,
    task: impl FnOnce(&Source) -> Result<Task, Failure>,
) -> Result<(), Failure> {
    let security = security(&args.trust)?;
    let key = KeySpec::new(args.key.clone(), args.normalize.clone())?;
    let report_file = args
        .report
        .as_deref()
        .map(ReportFile::prepare)
        .transpose()?;
    let pool = pool(args.threads)?;
    let progress = Arc::new(Progress::default());
    let interrupt = Interrupt::new();
    handle_ctrl_c(interrupt.clone(), progress.clone())?;
    if let Some(warning) = statement::insecurity(args.protocol.info()) {
        TALK.say(warning);
    }

    let source = open(&args.input, !args.key.is_empty(), &progress)?;
    key.check(&source)?;
    let party = Party {
        protocol: args.protocol,
        question: Question {
            asked: args.output_kind.clone(),
            min_intersection: args.min_intersection.unwrap_or(0),
        },
        key,
        task: task(&source)?,
        source,
        pool: &pool,
        progress: &progress,
        talk: TALK,
    };
    let options = Options {
        security,
        timeouts: timeouts(args),
        interrupt,
    };
    let peer = OnceCell::new();
    let summary = party.join(|| {
        let (connection, channel) = meet(args, &options)?;
        let fingerprint = args.trust.peer;
        peer.get_or_init(|| Peer::of(&connection, fingerprint));
        Ok((connection, channel))
    })?;

    TALK.say(statement::cost(&summary));
    TALK.say(statement::statement(&summary, output));
    let peer = peer.into_inner().expect("who has joined has met the peer");
    let report = Report::new(&summary, &peer, pool.current_num_threads());
    if let Some(file) = report_file {
        file.write(&report)?;
    }
    if args.json {
        return output::json(&report);
    }
    match summary.received.and_then(|received| received.text()) {
        Some(text) => output::text(&(text + "\n")),
        None => Ok(()),
    }
}

fn security(trust: &args::Trust) -> Result<Security, Failure> {
    match (&trust.identity, trust.peer) {
        (Some(identity), Some(peer)) => Ok(Security::PinnedTls {
            identity: Identity::read(identity)?,
            peer,
        }),
        _ if trust.insecure_plaintext => {
            TALK.say(
                "WARNING: --insecure-plaintext: anybody on the way can read and change what the \
                 parties say.",
            );
            Ok(Security::InsecurePlaintext)
        }
        _ => Err(Failure::Usage(
            "say who the parties are: --identity FILE --peer FINGERPRINT \
             (run `psijoin keygen` on each side, and exchange the fingerprints), \
             or --insecure-plaintext for a test"
                .into(),
        )),
    }
}

fn timeouts(args: &args::Join) -> Timeouts {
    let defaults = Timeouts::default();
    let wait = Duration::from_secs(args.wait.into());
    Timeouts {
        meet: wait,
        setup: defaults.setup.min(wait),
        idle: Duration::from_secs(args.timeout.into()),
        ..defaults
    }
}

fn pool(threads: Option<NonZeroUsize>) -> Result<ThreadPool, Failure> {
    // Zero stands for one a core.
    let threads = threads.map_or(0, NonZeroUsize::get);
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

fn open(input: &Path, keyed: bool, progress: &Progress) -> Result<Source, Failure> {
    let source = TALK.during(
        "reading standard input",
        || progress.bytes(),
        || Source::open(input, None, keyed, progress),
    )?;
    Ok(source)
}

fn meet(
    args::Join { meeting, trust, .. }: &args::Join,
    options: &Options,
) -> Result<(Connection, Channel), Failure> {
    let met = match (&meeting.listen, &meeting.connect) {
        (Some(address), _) => listen(address, options),
        (None, Some(address)) => connect(address, options),
        (None, None) => unreachable!("the command line demands one of them"),
    }?;
    let address = met.0.peer_address();
    match trust.peer {
        Some(peer) => TALK.say(format_args!("connected to {peer} at {address}")),
        None => TALK.say(format_args!("connected to {address}")),
    }
    Ok(met)
}

fn listen(address: &Address, options: &Options) -> Result<(Connection, Channel), Failure> {
    let listener = Listener::bind(address)?;
    TALK.say(format_args!(
        "listening on {}; waiting up to {} s for the other party",
        listener.address().as_str(),
        options.timeouts.meet.as_secs(),
    ));
    Ok(waiting(|| Connection::accept(listener, options))?)
}

fn connect(address: &Address, options: &Options) -> Result<(Connection, Channel), Failure> {
    TALK.say(format_args!(
        "connecting to {}; trying for up to {} s",
        address.as_str(),
        options.timeouts.meet.as_secs(),
    ));
    Ok(waiting(|| Connection::connect(address, options))?)
}

fn waiting<T>(meet: impl FnOnce() -> T) -> T {
    TALK.during("waiting for the other party", || (0, 0), meet)
}

//! `psijoin relay`: runs a server at which two parties meet that both connect.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use psijoin_relay::{AccessKeys, Drain, Error, Options, Relay};

use crate::{
    args,
    console::Console,
    exit::{Code, Failure, ProgramFault},
    guard,
};

pub(super) fn run(args: &args::Relay) -> Result<(), Failure> {
    let console = Console::wanted();
    let relay = Relay::bind(options(args)?).map_err(ProgramFault::Relay)?;
    console.say(format_args!("listening on {}", relay.address()));
    if let Some(address) = relay.metrics_address() {
        console.say(format_args!("metrics are at http://{address}/metrics"));
    }
    drain_at_signals(relay.drain(), args.drain, console)?;
    relay.run().map_err(ProgramFault::Relay)?;
    console.say("ended: nobody is left");
    Ok(())
}

fn options(args: &args::Relay) -> Result<Options, Failure> {
    let keys = args.access.as_deref().map(AccessKeys::read).transpose();
    let mut options = Options::new(args.listen.clone());
    options.access = keys.map_err(ProgramFault::Relay)?;
    options.metrics = args.metrics.clone();
    options.front_ends = args.front_ends.clone();
    options.limits = args.limits();
    Ok(options)
}

/// Makes SIGTERM, SIGHUP and Ctrl-C drain the relay. A second one ends its sessions, a third one
/// the process.
fn drain_at_signals(drain: Drain, limit: Duration, console: Console) -> Result<(), Failure> {
    let signals = AtomicUsize::new(0);
    let handler = ctrlc::set_handler(move || match signals.fetch_add(1, Relaxed) {
        0 => {
            console.say(format_args!(
                "draining: taking nobody more, and waiting up to {} s for the sessions that run",
                limit.as_secs()
            ));
            drain.begin(limit);
        }
        1 => {
            console.say("ending the sessions that run");
            drain.begin(Duration::ZERO);
        }
        _ => guard::exit(Code::Unexpected as i32),
    });
    handler.map_err(|error| {
        let error = std::io::Error::other(error);
        ProgramFault::Relay(Error::Thread(error)).into()
    })
}

//! Progress bars.

use std::{
    io::{self, IsTerminal},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// What is done faster needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

const REDRAW: Duration = Duration::from_millis(100);

const BAR: &str = "{msg} [{bar:30}] {decimal_bytes}/{decimal_total_bytes}, \
                   {decimal_bytes_per_sec}, {eta} left";
const WITHOUT_TOTAL: &str = "{spinner} {msg}: {decimal_bytes}, {elapsed}";
const WITHOUT_BYTES: &str = "{spinner} {msg}: {elapsed}";

/// Runs `work`; meanwhile, if standard error is a terminal, shows its position: bytes done
/// and bytes in all, 0 if that is not known.
pub(crate) fn shown<T>(
    what: &str,
    position: impl Fn() -> (u64, u64) + Sync,
    work: impl FnOnce() -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let (finished, is_finished) = mpsc::channel();
    let position = &position;
    thread::scope(move |scope| {
        scope.spawn(move || show(what, position, &is_finished));
        let result = work();
        drop(finished);
        result
    })
}

fn show(what: &str, position: &impl Fn() -> (u64, u64), is_finished: &Receiver<()>) {
    let waits = |time| is_finished.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !waits(PATIENCE) {
        return;
    }
    let style = |template| ProgressStyle::with_template(template).expect("the templates are valid");
    let bar = ProgressBar::no_length().with_elapsed(PATIENCE);
    bar.set_message(what.to_owned());
    let mut shown = "";
    loop {
        let (done, total) = position();
        let template = match (done, total) {
            (_, 1..) => BAR,
            (1.., 0) => WITHOUT_TOTAL,
            (0, 0) => WITHOUT_BYTES,
        };
        if template != shown {
            bar.set_style(style(template));
            shown = template;
        }
        if total > 0 {
            bar.set_length(total);
        }
        bar.set_position(done);
        bar.tick();
        if !waits(REDRAW) {
            break;
        }
    }
    bar.finish_and_clear();
}

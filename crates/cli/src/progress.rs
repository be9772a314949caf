//! Progress bars, and lines in a log.

use std::{
    io::{self, IsTerminal},
    sync::mpsc::Receiver,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use psijoin_forecast::Outlook;
use psijoin_frontend::{Position, beside, goes_on};

/// The time below which work needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

const REDRAW: Duration = Duration::from_millis(100);

/// The time between lines in a log.
const LOG: Duration = Duration::from_secs(10);

const FORESEEN: &str = "{msg} [{bar:20}] {prefix}";
const BY_BYTES: &str = "{msg} [{bar:30}] {decimal_bytes}/{decimal_total_bytes}, \
                        {decimal_bytes_per_sec}, {eta} left";
const WITHOUT_TOTAL: &str = "{spinner} {msg}: {decimal_bytes}, {elapsed}";
const WITHOUT_BYTES: &str = "{spinner} {msg}: {elapsed}";

/// The length of a bar whose work is foreseen.
const WHOLE: f64 = 1000.0;

/// Runs `work`; meanwhile, if standard error is a terminal, shows its position.
pub(crate) fn shown<T>(
    what: &str,
    position: impl FnMut() -> Position + Send,
    work: impl FnOnce() -> T,
) -> T {
    match io::stderr().is_terminal() {
        true => beside(|is_finished| show(what, position, is_finished), work),
        false => work(),
    }
}

/// Runs `work`; meanwhile, logs its position from time to time, where its end is known.
pub(crate) fn logged<T>(
    what: &str,
    mut position: impl FnMut() -> Position + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !tracing::enabled!(tracing::Level::INFO) {
        return work();
    }
    let log = |is_finished: &Receiver<()>| {
        while goes_on(is_finished, LOG) {
            if let Some(words) = position().in_words() {
                tracing::info!("{what}: {words}");
            }
        }
    };
    beside(log, work)
}

fn show(what: &str, mut position: impl FnMut() -> Position, is_finished: &Receiver<()>) {
    if !goes_on(is_finished, PATIENCE) {
        return;
    }
    let style = |template| ProgressStyle::with_template(template).expect("the templates are valid");
    // Before anything is drawn: it may warn.
    let mut now = position();
    // Nothing is drawn before it has a style.
    let bar = ProgressBar::no_length()
        .with_elapsed(PATIENCE)
        .with_message(what.to_owned());
    let mut shown = "";
    loop {
        let template = template(now);
        if template != shown {
            bar.set_style(style(template));
            shown = template;
        }
        place(&bar, now);
        bar.tick();
        if !goes_on(is_finished, REDRAW) {
            break;
        }
        now = position();
    }
    bar.finish_and_clear();
}

fn template(position: Position) -> &'static str {
    match (position.outlook, position.bytes, position.total_bytes) {
        (Some(_), ..) => FORESEEN,
        (None, _, 1..) => BY_BYTES,
        (None, 1.., 0) => WITHOUT_TOTAL,
        (None, 0, 0) => WITHOUT_BYTES,
    }
}

/// Puts a bar where the work is.
fn place(bar: &ProgressBar, position: Position) {
    let (done, length) = match position.outlook {
        Some(Outlook { done, .. }) => ((done * WHOLE) as u64, WHOLE as u64),
        None => (position.bytes, position.total_bytes),
    };
    if length > 0 {
        bar.set_length(length);
    }
    bar.set_position(done);
    bar.set_prefix(position.in_words().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        for template in [FORESEEN, BY_BYTES, WITHOUT_TOTAL, WITHOUT_BYTES] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}

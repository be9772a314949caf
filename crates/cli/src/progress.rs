//! Progress bars, and lines in a log.

use std::{
    io::{self, IsTerminal},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use psijoin_forecast::Outlook;

use crate::{console::Listener, humanize};

mod model;

pub use model::Model;

/// The position of a piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    /// Bytes done.
    pub bytes: u64,
    /// Bytes in all; 0 if that is not known.
    pub total_bytes: u64,
    /// The forecast of the time.
    pub outlook: Option<Outlook>,
}

impl From<(u64, u64)> for Position {
    fn from((bytes, total_bytes): (u64, u64)) -> Self {
        Self {
            bytes,
            total_bytes,
            outlook: None,
        }
    }
}

impl Position {
    /// Describes the position, where the end is known: `42 %, 130 MB of 310 MB, 12 s left`.
    fn in_words(self) -> Option<String> {
        if self.total_bytes == 0 {
            return None;
        }
        let bytes = format!(
            "{} of {}",
            humanize::bytes(self.bytes),
            humanize::bytes(self.total_bytes)
        );
        Some(match self.outlook {
            Some(Outlook { done, left }) => format!(
                "{} %, {bytes}, {} left",
                (done * 100.0).floor(),
                humanize::time_left(left)
            ),
            None => bytes,
        })
    }
}

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

/// Runs `work`; meanwhile, tells its position from time to time.
pub(crate) fn heard<T>(
    what: &str,
    listener: &dyn Listener,
    mut position: impl FnMut() -> Position + Send,
    work: impl FnOnce() -> T,
) -> T {
    let tell = |is_finished: &Receiver<()>| {
        while goes_on(is_finished, REDRAW) {
            let Position {
                bytes, total_bytes, ..
            } = position();
            listener.at(what, bytes, total_bytes);
        }
    };
    beside(tell, work)
}

/// Runs `work`, and `tell` in a thread beside it, which hears when it is finished.
fn beside<T>(tell: impl FnOnce(&Receiver<()>) + Send, work: impl FnOnce() -> T) -> T {
    let (finished, is_finished) = mpsc::channel();
    thread::scope(move |scope| {
        scope.spawn(move || tell(&is_finished));
        let result = work();
        drop(finished);
        result
    })
}

/// Waits this long, or until the work is finished. Returns whether it is not.
fn goes_on(is_finished: &Receiver<()>, wait: Duration) -> bool {
    is_finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)
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

    fn position(bytes: u64, total_bytes: u64, outlook: Option<(f64, u64)>) -> Position {
        Position {
            bytes,
            total_bytes,
            outlook: outlook.map(|(done, seconds)| Outlook {
                done,
                left: Duration::from_secs(seconds),
            }),
        }
    }

    #[test]
    fn positions_in_words() {
        let words = |bytes, total_bytes, outlook| position(bytes, total_bytes, outlook).in_words();
        for (outlook, text) in [
            (None, "130 MB of 310 MB"),
            (Some((0.0, 200)), "0 %, 130 MB of 310 MB, 3 min 20 s left"),
            (Some((0.429, 12)), "42 %, 130 MB of 310 MB, 12 s left"),
            (Some((0.99, 1)), "99 %, 130 MB of 310 MB, 1 s left"),
        ] {
            assert_eq!(words(130_000_000, 310_000_000, outlook).unwrap(), text);
        }
        assert_eq!(words(130_000_000, 0, None), None);
    }

    #[test]
    fn templates_are_valid() {
        for template in [FORESEEN, BY_BYTES, WITHOUT_TOTAL, WITHOUT_BYTES] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}

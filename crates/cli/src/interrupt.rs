//! Ctrl-C: the program tells the other party, leaves nothing half-done, and ends.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use psijoin_session::Stop;

use crate::{
    console::Console,
    exit::{Code, Failure},
    guard,
};

/// The time that an orderly end may take, for example if standard input blocks.
const GRACE: Duration = Duration::from_secs(5);

/// Makes Ctrl-C and the signals SIGTERM and SIGHUP stop all network waiting and all passes over
/// tables; a second one ends the program at once.
///
/// # Errors
/// [`Failure::OUT_OF_MEMORY`] if the operating system has no thread for it.
pub(crate) fn handle_ctrl_c(stop: Stop, console: Console) -> Result<(), Failure> {
    let is_second = AtomicBool::new(false);
    let handler = ctrlc::set_handler(move || {
        if is_second.swap(true, Ordering::Relaxed) {
            guard::exit(Code::Unexpected as i32);
        }
        console.say("interrupted: telling the other party");
        stop.stop();
        thread::spawn(|| {
            thread::sleep(GRACE);
            guard::exit(Code::Unexpected as i32);
        });
    });
    handler.map_err(|_| Failure::OUT_OF_MEMORY)
}

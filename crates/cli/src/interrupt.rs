//! Ctrl-C: the other party is told, nothing half-done is left, and the program ends.

use std::{
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use psijoin_table::Progress;
use psijoin_transport::Interrupt;

use crate::{
    exit::{Code, Failure},
    talk::Talk,
};

/// How long an orderly end may take, for example if standard input blocks.
const GRACE: Duration = Duration::from_secs(5);

/// From now on, Ctrl-C and the signals SIGTERM and SIGHUP stop all network waiting and all
/// passes over tables; a second one ends the program at once.
///
/// # Errors
/// If the operating system refuses a handler.
pub(crate) fn handle_ctrl_c(interrupt: Interrupt, progress: Arc<Progress>) -> Result<(), Failure> {
    let is_second = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if is_second.swap(true, Ordering::Relaxed) {
            end();
        }
        Talk::Aloud.say("interrupted: telling the other party");
        progress.interrupt();
        interrupt.trigger();
        thread::spawn(|| {
            thread::sleep(GRACE);
            end();
        });
    })?;
    Ok(())
}

fn end() -> ! {
    process::exit(Code::Unexpected as i32)
}

//! The end of the process if it cannot end in order: no memory is left, something panics, or the
//! deadline is over.
//!
//! The thread that meets such trouble may hold any lock, so it only leaves a note, and stops. Two
//! threads that were started in better times do the rest. One tells the user and the other party
//! what has happened, and writes the report; if a lock that nobody will give back holds it up, the
//! other ends the process all the same, and the other party sees the connection close.
//!
//! A reserve of memory is given back first. The standard library's own hook would not do: a
//! backtrace whose allocation fails waits for a lock that it holds itself.

use std::{
    cell::Cell,
    io,
    panic::{self, PanicHookInfo},
    process,
    sync::{Condvar, Mutex, MutexGuard, OnceLock},
    thread,
    time::{Duration, Instant},
};

use psijoin_files::remove_staged;
use psijoin_runtime::memory;
use psijoin_table::is_panic_contained;

use crate::{
    console,
    exit::{Code, Failure},
    passphrase,
};

/// The time that the last words may take.
const GRACE: Duration = Duration::from_secs(3);

/// Given back when no memory is left, so that there is some for the last words. Large enough to be
/// a mapping of its own, which is unmapped when it is freed.
const RESERVE_BYTES: usize = 4 << 20;

/// The guarding threads need little, also of the address space.
const STACK_BYTES: usize = 512 << 10;

static GUARD: OnceLock<Guard> = OnceLock::new();

thread_local! {
    /// `true` if this thread is one of the guard's, which has no other thread to leave a note with.
    static IS_GUARDING: Cell<bool> = const { Cell::new(false) };
}

struct Guard {
    watch: Mutex<Watch>,
    /// Gets trouble, last words, and a deadline.
    changed: Condvar,
    reserve: Mutex<Vec<u8>>,
    /// Tells the other party, and writes the report.
    farewell: OnceLock<Farewell>,
}

type Farewell = Box<dyn Fn(&Failure) + Send + Sync>;

#[derive(Default)]
struct Watch {
    trouble: Option<Trouble>,
    /// The time at which the process must end, and the seconds that it was given.
    deadline: Option<(Instant, u32)>,
    has_spoken: bool,
    /// The exit code of what the user was told before there was trouble.
    said: Option<i32>,
}

#[derive(Debug, Clone, Copy)]
enum Trouble {
    OutOfMemory,
    /// At this line of this file.
    Panic(&'static str, u32),
    Deadline(u32),
}

impl Trouble {
    fn failure(self) -> Failure {
        match self {
            Self::OutOfMemory => Failure::OUT_OF_MEMORY,
            Self::Panic(file, line) => Failure::Bug { file, line },
            Self::Deadline(seconds) => Failure::Deadline(seconds),
        }
    }
}

/// Makes exhausted memory and panics end the process at once, with one line and an exit code of
/// their own.
///
/// # Errors
/// [`Failure::OUT_OF_MEMORY`] if there is no room for it.
pub(crate) fn install() -> Result<(), Failure> {
    let mut reserve = Vec::new();
    let reserved = reserve.try_reserve_exact(RESERVE_BYTES);
    reserved.map_err(|_| Failure::OUT_OF_MEMORY)?;
    let guard = GUARD.get_or_init(|| Guard {
        watch: Mutex::default(),
        changed: Condvar::new(),
        reserve: Mutex::new(reserve),
        farewell: OnceLock::new(),
    });
    start("psijoin-guard", || guard.end_the_process())?;
    start("psijoin-words", || guard.speak())?;
    memory::on_exhaustion(|| leave(Trouble::OutOfMemory));
    panic::set_hook(Box::new(on_panic));
    Ok(())
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = thread::Builder::new()
        .name(name.into())
        .stack_size(STACK_BYTES)
        .spawn(|| {
            IS_GUARDING.set(true);
            run();
        });
    thread
        .map(drop)
        .map_err(|_: io::Error| Failure::OUT_OF_MEMORY)
}

/// Sets the last words, beyond a line to the user: `farewell` tells the other party, and writes the
/// report. The first one stays.
pub(crate) fn on_trouble(farewell: impl Fn(&Failure) + Send + Sync + 'static) {
    if let Some(guard) = GUARD.get() {
        let _ = guard.farewell.set(Box::new(farewell));
    }
}

/// Notes that the user has been told of this failure, while the other party is still to hear of it.
/// If it befalls this process again before that, it is not printed twice.
pub(crate) fn has_said(code: Code) {
    if let Some(guard) = GUARD.get() {
        guard.watch().said = Some(code as i32);
    }
}

/// Ends the process after this many seconds.
pub(crate) fn set_deadline(seconds: u32) {
    if let Some(guard) = GUARD.get() {
        let end = Instant::now() + Duration::from_secs(seconds.into());
        guard.watch().deadline = Some((end, seconds));
        guard.changed.notify_all();
    }
}

/// Lifts the deadline, as the result is about to be handed out. Does not return if it is over.
pub(crate) fn lift_deadline() {
    if let Some(guard) = GUARD.get() {
        guard.watch().deadline = None;
    }
    stop_if_in_trouble();
}

/// Leaves the end of the process to the guard, if that is ending it: the caller's error would only
/// be the guard's doing.
pub(crate) fn stop_if_in_trouble() {
    let is_in_trouble = |guard: &Guard| guard.watch().trouble.is_some();
    if GUARD.get().is_some_and(is_in_trouble) {
        stop();
    }
}

/// Ends the process now, without leaving a half-written file, or a terminal that shows nothing.
pub fn exit(code: i32) -> ! {
    remove_staged();
    passphrase::restore();
    process::exit(code)
}

/// Shows the place of a panic. Its message can hold data, so it is not shown.
fn on_panic(info: &PanicHookInfo<'_>) {
    if is_panic_contained() {
        return;
    }
    // Places live as long as the program, but the type does not tell.
    let (file, line) = info.location().map_or(("?", 0), |place| {
        (&*String::from(place.file()).leak(), place.line())
    });
    // There is no error for a thread that starts and has no memory for its signal stack.
    leave(match file.ends_with("/stack_overflow.rs") {
        true => Trouble::OutOfMemory,
        false => Trouble::Panic(file, line),
    })
}

/// Leaves a note of trouble, from any thread, whatever locks it holds. Allocates nothing.
fn leave(trouble: Trouble) -> ! {
    let guard = GUARD
        .get()
        .expect("whoever calls this was installed after it");
    if IS_GUARDING.get() {
        exit(trouble.failure().exit_code() as i32);
    }
    drop(std::mem::take(&mut *lock(&guard.reserve)));
    guard.watch().trouble.get_or_insert(trouble);
    guard.changed.notify_all();
    stop()
}

/// Holds this thread until the process ends.
fn stop() -> ! {
    loop {
        thread::sleep(GRACE);
    }
}

impl Guard {
    /// Runs the first thread, which waits for trouble, and for the last words, but not for long.
    fn end_the_process(&self) {
        let mut watch = self.watch();
        let trouble = loop {
            if let Some(trouble) = watch.trouble {
                break trouble;
            }
            watch = match watch.deadline {
                None => self.changed.wait(watch).expect(UNPOISONED),
                Some((end, seconds)) => match end.checked_duration_since(Instant::now()) {
                    Some(left) => self.changed.wait_timeout(watch, left).expect(UNPOISONED).0,
                    None => {
                        watch.trouble = Some(Trouble::Deadline(seconds));
                        self.changed.notify_all();
                        watch
                    }
                },
            };
        };
        let spoken = self
            .changed
            .wait_timeout_while(watch, GRACE, |watch| !watch.has_spoken);
        drop(spoken);
        exit(trouble.failure().exit_code() as i32);
    }

    /// Runs the second thread, which sends the messages.
    fn speak(&self) {
        let mut watch = self.watch();
        let trouble = loop {
            match watch.trouble {
                Some(trouble) => break trouble,
                None => watch = self.changed.wait(watch).expect(UNPOISONED),
            }
        };
        drop(watch);
        let failure = trouble.failure();
        let said = self.watch().said;
        if said != Some(failure.exit_code() as i32) {
            console::failure(&failure);
        }
        if let Some(farewell) = self.farewell.get() {
            farewell(&failure);
        }
        self.watch().has_spoken = true;
        self.changed.notify_all();
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        lock(&self.watch)
    }
}

const UNPOISONED: &str = "a thread that panics never unwinds";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect(UNPOISONED)
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        process::{Command, Output},
    };

    use super::*;

    /// Set in the process in which there is trouble.
    const CHILD: &str = "PSIJOIN_TEST_TROUBLE";

    /// Runs the test of this name once more, in a process of its own that meets `trouble`.
    fn met(test: &str, trouble: fn()) -> Output {
        if env::var_os(CHILD).is_some() {
            install().unwrap();
            on_trouble(|_| eprintln!("farewell"));
            thread::spawn(trouble);
            thread::sleep(Duration::from_secs(60));
            process::exit(0);
        }
        let name = format!("guard::tests::{test}");
        Command::new(env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(CHILD, "")
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap()
    }

    fn said(output: &Output) -> Vec<&str> {
        str::from_utf8(&output.stderr).unwrap().lines().collect()
    }

    #[test]
    fn a_panic_on_any_thread_ends_the_process_without_its_message() {
        let output = met(
            "a_panic_on_any_thread_ends_the_process_without_its_message",
            || panic!("a secret"),
        );
        assert_eq!(output.status.code(), Some(1));
        let [line, farewell] = said(&output)[..] else {
            panic!("{output:?}");
        };
        assert!(line.starts_with("psijoin: internal failure at ") && line.contains("guard.rs:"));
        assert_eq!(farewell, "farewell");
    }

    #[test]
    fn exhausted_memory_ends_the_process_with_a_code_of_its_own() {
        let output = met(
            "exhausted_memory_ends_the_process_with_a_code_of_its_own",
            || drop(std::hint::black_box(vec![0_u8; 1 << 62])),
        );
        assert_eq!(output.status.code(), Some(3));
        let said = said(&output);
        assert!(
            said[0].starts_with("psijoin: there is not enough memory"),
            "{said:?}"
        );
        assert_eq!(said[1..], ["farewell"]);
    }

    /// As where an allocation fails within the lock that a message needs.
    #[test]
    fn a_lock_that_is_never_given_back_holds_nothing_up() {
        let output = met("a_lock_that_is_never_given_back_holds_nothing_up", || {
            let _lock = io::stderr().lock();
            drop(std::hint::black_box(vec![0_u8; 1 << 62]));
        });
        assert_eq!(output.status.code(), Some(3));
        assert!(output.stderr.is_empty());
    }

    #[test]
    fn a_deadline_ends_the_process_unless_it_is_lifted() {
        let output = met("a_deadline_ends_the_process_unless_it_is_lifted", || {
            set_deadline(1)
        });
        assert_eq!(output.status.code(), Some(4));
        assert!(said(&output)[0].contains("within the 1 second that it was given"));
        set_deadline(1);
        lift_deadline();
    }
}

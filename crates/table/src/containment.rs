//! Panics of libraries that read broken files.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    /// Whether the reader of a format runs on this thread.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread, now, would be caught and become an [`Error`](crate::Error).
///
/// The readers of Parquet and Arrow panic on some broken files. A panic hook that ends the
/// process asks this first, and then does nothing; nor should it show the panic's message, which
/// may hold a value of the table. The readers work on the thread that called this crate, and
/// start no others.
pub fn is_panic_contained() -> bool {
    CONTAINED.get()
}

/// Runs the reader of a format; `None` if it panics.
pub(crate) fn contained<T>(read: impl FnOnce() -> T) -> Option<T> {
    CONTAINED.set(true);
    // What the reader leaves behind is dropped with it.
    let result = catch_unwind(AssertUnwindSafe(read));
    CONTAINED.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use std::{panic, sync::Mutex, thread};

    use super::*;

    #[test]
    fn a_panic_hook_can_tell_contained_panics() {
        let here = thread::current().id();
        static TOLD: Mutex<Vec<bool>> = Mutex::new(Vec::new());
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            if thread::current().id() == here {
                TOLD.lock().unwrap().push(is_panic_contained());
            } else {
                before(information);
            }
        }));

        assert!(!is_panic_contained());
        assert_eq!(contained(|| panic!("broken")), None::<()>);
        assert_eq!(contained(is_panic_contained), Some(true));
        // Another thread is not this one.
        let elsewhere = || thread::spawn(is_panic_contained).join().unwrap();
        assert_eq!(contained(elsewhere), Some(false));
        catch_unwind(|| panic!("not the reader's")).unwrap_err();
        assert_eq!(*TOLD.lock().unwrap(), [true, false]);
    }
}

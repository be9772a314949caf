//! Panics of libraries that read what others have written.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    /// `true` while such a library runs on this thread.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic on this thread, now, would be caught and become an
/// [`Error`](crate::Error).
///
/// The Parquet reader panics on some broken files, and a library that reads a cell may on an odd
/// text. A panic hook that ends the process asks this first, and then does nothing; nor should it
/// show the panic's message, which may hold a value of the table. Such a library works on the
/// threads of the pool that called this crate, and starts no others.
pub fn is_panic_contained() -> bool {
    CONTAINED.get()
}

/// Runs a library that may panic on its input; `None` if it does. Whatever it leaves behind must be
/// dropped, or be as good as before.
pub fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    CONTAINED.set(before);
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
        assert_eq!(contained(|| -> i32 { panic!("broken") }), None);
        assert_eq!(contained(is_panic_contained), Some(true));
        let nested = || contained(|| ()).is_some() && is_panic_contained();
        assert_eq!(contained(nested), Some(true));
        // Another thread is not this one.
        let elsewhere = || thread::spawn(is_panic_contained).join().unwrap();
        assert_eq!(contained(elsewhere), Some(false));
        catch_unwind(|| panic!("not the library's")).unwrap_err();
        assert_eq!(*TOLD.lock().unwrap(), [true, false]);
    }
}

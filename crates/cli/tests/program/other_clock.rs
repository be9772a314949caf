//! A clock for a program that is started with this library before all others: so many seconds ahead
//! of the machine's. Compiled by `meeting_faults.rs`.

use std::ffi::{c_char, c_int, c_long};

#[repr(C)]
pub struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn getenv(name: *const c_char) -> *const c_char;
    fn atoll(text: *const c_char) -> i64;
}

#[cfg(target_arch = "x86_64")]
const CLOCK_GETTIME: c_long = 228;
#[cfg(not(target_arch = "x86_64"))]
const CLOCK_GETTIME: c_long = 113;

const CLOCK_REALTIME: c_int = 0;

/// As that of the C library.
///
/// # Safety
/// `time` is to be a valid pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int {
    // SAFETY: the kernel checks its arguments, and the environment of a test does not change.
    unsafe {
        let result = syscall(CLOCK_GETTIME, clock, time);
        if result == 0 && clock == CLOCK_REALTIME {
            let ahead = getenv(c"PSIJOIN_TEST_CLOCK_AHEAD".as_ptr());
            if !ahead.is_null() {
                (*time).seconds += atoll(ahead);
            }
        }
        result as c_int
    }
}

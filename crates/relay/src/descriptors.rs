//! The number of sockets and pipes that the process may have.

use crate::Limits;

/// Of a pair: two sockets, and two pipes with two ends each.
const PER_PAIR: usize = 6;

/// Of those who have not said whom they meet, of those who are leaving, and of the process itself.
const OTHERS: usize = 1500;

/// Lets the process have as many as it may, and warns if these are fewer than the limits allow.
/// Most systems begin with 1,024.
pub(crate) fn raise(limits: &Limits) {
    let wanted = limits.waiting + PER_PAIR * limits.pairs + OTHERS;
    let wanted = u64::try_from(wanted).unwrap_or(u64::MAX);
    if let Some(given) = given(wanted).filter(|given| *given < wanted) {
        tracing::warn!(
            "the system lets this relay have {given} connections and pipes, and its limits need \
             {wanted}: allow more (`ulimit -n`, or LimitNOFILE of systemd), or lower the limits"
        );
    }
}

/// Returns how many the process may have, after asking for more. `None` means no limit, or none
/// that is known.
#[cfg(unix)]
fn given(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let now = getrlimit(Resource::Nofile);
    let current = now.current.filter(|current| *current < wanted)?;
    let raised = Rlimit {
        current: Some(now.maximum.map_or(wanted, |maximum| maximum.min(wanted))),
        maximum: now.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => Some(current),
    }
}

#[cfg(not(unix))]
fn given(_wanted: u64) -> Option<u64> {
    None
}

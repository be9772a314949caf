//! Joins of tables that lie in several processes: what `psijoin.lanes` is made of.
//!
//! A reader reads a portion of the table, the driver agrees with the other party, and each lane
//! runs its parts. Nothing here knows an engine: tables come and go as Arrow data, and everything
//! else as bytes.

use psijoin::Pool;
use psijoin_frontend::Failure;
use psijoin_session::Error;

use crate::joining::contained;

mod column;
mod driver;
mod lane;
mod placed;
mod portions;
mod secrets;
mod taken;

pub(crate) use column::Column;
pub(crate) use driver::{Agreed, agree, decline};
pub(crate) use lane::Lane;
pub(crate) use placed::shared;
pub(crate) use portions::{keys_of, merge_facts, merged, place, read_portion};
pub(crate) use secrets::{Places, Report, Router, Ticket};
pub(crate) use taken::{Taken, Unpacked, unpacked};

/// Does this work with one thread of its own: an engine runs as many processes as it has cores. A
/// process that is forked has no others.
fn with_one_thread<T: Send>(
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let pool = Pool::new(1).map_err(|_| Failure::Session(Error::OutOfMemory))?;
    pool.run(|| contained(work))
}

//! The events of a session, for its watcher.

use std::{path::Path, time::Duration};

use psijoin::{Info, Plan, Role};
use psijoin_channel::gauge::Gauged;
use psijoin_channel::path::Measured;
use psijoin_forecast::Network;
use psijoin_source::{Doubt, Source};
use psijoin_table::BadCellsOfKey;
use psijoin_transport::{
    Connection, Fingerprint, KeyExchange, RelayAddress, Sight, endpoint::Address,
};

use crate::{Error, key_facts::KeyDifference};

/// Watches a session, from the thread that runs it.
pub trait Watcher: Sync {
    /// Hears what has happened.
    fn hear(&self, event: Event<'_>);

    /// Calls `work` once, and may show meanwhile how far it is: `position` is how many bytes are
    /// done, and how many there are in all, 0 if that is not known.
    fn during(
        &self,
        _what: Work<'_>,
        _position: &mut (dyn FnMut() -> (u64, u64) + Send),
        work: &mut dyn FnMut(),
    ) {
        work();
    }
}

/// Nobody watches.
impl Watcher for () {
    fn hear(&self, _: Event<'_>) {}
}

/// An event.
pub enum Event<'a> {
    /// Something that the user should think about. Nothing has failed.
    Warning(Warning<'a>),
    /// A name refers to several files, which are one table.
    SeveralFiles {
        /// The name.
        name: &'a Path,
        /// The number of files.
        files: usize,
    },
    /// The table is open. It has not been read.
    Opened(&'a Source),
    /// All keys are read.
    TableRead {
        /// The name of the table.
        name: &'a str,
        /// The number of its rows.
        rows: u64,
        /// The number of its distinct keys.
        keys: u64,
    },
    /// With how many threads this party computes.
    Threads(usize),
    /// This party listens.
    Listening {
        /// At this address.
        address: &'a Address,
        /// For this long.
        wait: Duration,
    },
    /// This party connects.
    Connecting {
        /// To this address.
        address: &'a Address,
        /// For this long.
        wait: Duration,
    },
    /// This party goes where both meet.
    Going {
        /// To this place.
        place: MeetingPlace<'a>,
        /// For this long.
        wait: Duration,
    },
    /// This is seen where both meet. The other party is not met yet.
    Seen {
        /// The place.
        place: MeetingPlace<'a>,
        /// What is seen there.
        sight: Sight,
    },
    /// The other party is there.
    Connected {
        /// Its key's fingerprint; nothing if anybody may be at the other end.
        peer: Option<Fingerprint>,
        /// Its address, or what stands between.
        address: String,
        /// The network's measurements during the greeting.
        measured: Measured,
        /// The exchange of the connection's keys; nothing without TLS.
        key_exchange: Option<KeyExchange>,
    },
    /// The other party is known by this connection, of which something may be kept for later ones.
    Met(&'a Connection),
    /// The parties agree on what they do.
    Agreed {
        /// The session's name, which both share, and which tells nothing.
        session: &'a str,
        /// The plan that will run.
        plan: &'a Plan,
    },
    /// The network to the other party was measured.
    NetworkMeasured(Gauged),
    /// The cost of a join is known.
    Foreseen {
        /// The plan that would run.
        plan: &'a Plan,
        /// Over this network.
        network: Network,
        /// With this number of threads.
        threads: usize,
    },
    /// A job is resumed.
    GoesOn {
        /// The number of parts done before.
        done: u32,
        /// Of how many.
        parts: u32,
        /// The bytes left to move.
        bytes_left: u64,
    },
    /// All of a job was done before, so that the other party is not needed any more.
    AllDoneBefore,
    /// The record was written, which both sides have signed.
    RecordWritten(&'a Path),
    /// The result is about to be handed out: what happens from now on is this party's own affair.
    HandsOut,
    /// This party cannot go on, and the other party is about to be told so.
    TellsOther(&'a Error),
    /// The other party could not be told, for this reason.
    NotTold(&'a Error),
}

/// A place where both parties go to meet.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum MeetingPlace<'a> {
    /// A relay.
    Relay(&'a RelayAddress),
    /// A folder.
    Folder(&'a Path),
}

/// A warning for the user.
#[derive(Debug)]
pub enum Warning<'a> {
    /// Nobody knows who is at the other end, and anybody can read and change what is said.
    Plaintext,
    /// The protocol is insecure.
    Insecure(&'a Info),
    /// A table is doubtful.
    Doubtful {
        /// The name of the table.
        name: &'a str,
        /// The doubt.
        doubt: &'a Doubt,
    },
    /// Cells of the key count as null, as they cannot be read.
    BadCells {
        /// These cells.
        cells: &'a BadCellsOfKey,
        /// The number of the table's rows.
        rows: u64,
    },
    /// Equal keys of the two sides may not match.
    UnlikeKeys(KeyDifference),
    /// The receiver has far more keys than this party, a sender.
    Curious {
        /// The number of the other party's keys.
        theirs: u64,
        /// The number of this party's keys.
        own: u64,
    },
    /// The receiver gets a sum over however few keys.
    SumOverFew,
    /// The receiver gets totals of groups of however few keys.
    GroupsOfFew,
    /// The environment names a proxy that cannot be used, for this reason. None is.
    UnusableProxy(&'static str),
    /// The connection was lost, and the parties meet again, to go on with the job.
    MeetsAgain(&'a Error),
}

/// A piece of work that may take a while.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    /// Opening the table: standard input, or what else has to be read at once.
    Opening(&'a [std::path::PathBuf]),
    /// Taking the rows of a table that is in memory, or comes from a query.
    Copying,
    /// Reading the keys of the table that is called so.
    ReadingKeys(&'a str),
    /// Waiting for the other party to turn up.
    WaitingForPeer,
    /// Waiting for it to read its table.
    WaitingForTable,
    /// Waiting for it to offer its columns.
    WaitingForColumns,
    /// Waiting for it to finish.
    WaitingForEnd,
    /// Measuring the columns that are given.
    MeasuringColumns,
    /// Reading them.
    ReadingColumns,
    /// Measuring the network.
    MeasuringNetwork,
    /// Running the protocol. The position counts what this attempt has sent and received.
    Protocol {
        /// The plan that runs.
        plan: &'a Plan,
        /// This party's role.
        role: Role,
        /// With how many threads it computes.
        threads: usize,
        /// The bytes moved in earlier attempts.
        done: u64,
    },
    /// Writing the rows.
    WritingRows,
}

/// Does some work while `watcher` may show how far it is.
pub(crate) fn during<T>(
    watcher: &dyn Watcher,
    what: Work<'_>,
    mut position: impl FnMut() -> (u64, u64) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (mut work, mut done) = (Some(work), None);
    watcher.during(what, &mut position, &mut || {
        done = work.take().map(|work| work());
    });
    done.expect("a watcher calls it once")
}

/// Returns the same, of work whose position is not known.
pub(crate) fn waiting<T>(watcher: &dyn Watcher, what: Work<'_>, work: impl FnOnce() -> T) -> T {
    during(watcher, what, || (0, 0), work)
}

//! A relay: binding, running, draining.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::endpoint::Address;

use crate::{
    AccessKeys, Error, Limits, descriptors,
    lobby::Lobby,
    metrics::{Metrics, page},
    tag::Tagger,
};

/// The connections that the system keeps for a relay that is busy.
const BACKLOG: i32 = 4096;

/// The thread that serves metrics needs little.
const STACK_BYTES: usize = 256 << 10;

/// The longest drain, so that no time overflows.
const LONGEST_DRAIN: Duration = Duration::from_secs(365 * 24 * 3600);

/// The options of a relay. Made by [`new`](Self::new), and changed field by field.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where it listens to parties.
    pub listen: Address,
    /// Where it serves metrics: an address that only monitors reach. Nowhere by default.
    pub metrics: Option<Address>,
    /// Those who may use it. Everybody by default.
    pub access: Option<AccessKeys>,
    /// The addresses of front ends, which are believed where a party comes from
    /// (`X-Forwarded-For`). Without that, all who come through one count for its address.
    pub front_ends: Vec<IpAddr>,
    /// The limits.
    pub limits: Limits,
}

impl Options {
    /// Returns those of a relay that serves everybody.
    pub fn new(listen: Address) -> Self {
        Self {
            listen,
            metrics: None,
            access: None,
            front_ends: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// All that the threads of a relay share.
pub(crate) struct House {
    pub(crate) limits: Limits,
    pub(crate) access: Option<Arc<AccessKeys>>,
    pub(crate) front_ends: Vec<IpAddr>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tagger: Tagger,
}

/// A relay that listens. See the [crate](crate).
pub struct Relay {
    listener: TcpListener,
    address: SocketAddr,
    metrics: Option<(TcpListener, SocketAddr)>,
    house: House,
    drain: Drain,
}

impl Relay {
    /// Starts to listen. The process may have more files open from then on, as the limits need it.
    ///
    /// # Errors
    /// [`Error::Listen`] if an address is taken, or not one of this machine's, and
    /// [`Error::Randomness`].
    pub fn bind(options: Options) -> Result<Self, Error> {
        let Options {
            listen,
            metrics,
            access,
            front_ends,
            limits,
        } = options;
        descriptors::raise(&limits);
        let (listener, address) = bind(&listen)?;
        Ok(Self {
            listener,
            address,
            metrics: metrics.as_ref().map(bind).transpose()?,
            house: House {
                limits,
                access: access.map(Arc::new),
                front_ends: front_ends.iter().map(IpAddr::to_canonical).collect(),
                metrics: Arc::default(),
                tagger: Tagger::new()?,
            },
            drain: Drain::default(),
        })
    }

    /// Returns where it listens, with the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns where it serves metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|(_, address)| *address)
    }

    /// Returns the handle that ends it.
    pub fn drain(&self) -> Drain {
        self.drain.clone()
    }

    /// Runs until it has [drained](Drain).
    ///
    /// # Errors
    /// [`Error::Thread`]. Nothing that anybody sends is one.
    pub fn run(self) -> Result<(), Error> {
        let Self {
            listener,
            metrics,
            house,
            drain,
            ..
        } = self;
        let counters = house.metrics.clone();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let _ending = Ending(&is_over);
            if let Some((listener, _)) = &metrics {
                let (counters, is_over) = (&counters, &is_over);
                thread::Builder::new()
                    .name("psijoin-metrics".into())
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || page::serve(listener, counters, is_over))
                    .map_err(Error::Thread)?;
            }
            Lobby::new(listener, house, drain).run();
            Ok(())
        })
    }
}

/// Tells the thread that serves metrics when the relay has ended, however it has.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Listens without blocking.
fn bind(address: &Address) -> Result<(TcpListener, SocketAddr), Error> {
    let bound = || -> io::Result<_> {
        let listener = TcpListener::bind(address.as_str())?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound().map_err(|source| Error::Listen {
        address: address.as_str().to_owned(),
        source,
    })
}

/// A handle that ends a relay in order: a handler of SIGTERM holds a clone.
#[derive(Debug, Clone, Default)]
pub struct Drain(Arc<Mutex<Option<Instant>>>);

impl Drain {
    /// Lets the relay take nobody more, tell all who wait that it stops, and run until its pairs
    /// have ended, but no longer than this. If it drains already, the shorter time counts.
    pub fn begin(&self, limit: Duration) {
        let until = Instant::now() + limit.min(LONGEST_DRAIN);
        let mut deadline = self.0.lock().expect(UNPOISONED);
        *deadline = Some(deadline.map_or(until, |before| before.min(until)));
    }

    /// Returns until when pairs may run, if it drains.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        *self.0.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "no thread panics while it holds this lock";

//! Connections that lead over somebody else, who can cut one, stop it, or let no more pass.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use psijoin_transport::endpoint::Address;

/// See the [module](self).
pub(super) struct Tunnels {
    front: Address,
    shared: Arc<Shared>,
}

struct Shared {
    target: Mutex<Address>,
    open: Mutex<Vec<Tunnel>>,
    /// The number that may pass at all.
    limit: AtomicUsize,
}

struct Tunnel {
    ends: [TcpStream; 2],
    /// `true` if bytes that enter do not come out.
    is_stalled: Arc<AtomicBool>,
}

impl Tunnels {
    pub(super) fn to(target: &Address) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let front = listener.local_addr().unwrap().into();
        let shared = Arc::new(Shared {
            target: Mutex::new(target.clone()),
            open: Mutex::default(),
            limit: AtomicUsize::new(usize::MAX),
        });
        let sharing = shared.clone();
        thread::spawn(move || {
            for near in listener.incoming() {
                let mut open = sharing.open.lock().unwrap();
                if open.len() < sharing.limit.load(Ordering::Relaxed)
                    && let Ok(far) = TcpStream::connect(sharing.target.lock().unwrap().as_str())
                {
                    open.push(Tunnel::between(near.unwrap(), far));
                }
            }
        });
        Self { front, shared }
    }

    /// Returns where they begin.
    pub(super) fn front(&self) -> &Address {
        &self.front
    }

    /// Leads all that are still to come elsewhere.
    pub(super) fn lead_to(&self, target: &Address) {
        *self.shared.target.lock().unwrap() = target.clone();
    }

    /// Lets no more than this many pass, those that are open already included.
    pub(super) fn limit(&self, count: usize) {
        self.shared.limit.store(count, Ordering::Relaxed);
    }

    /// Ends a tunnel, as seen from both ends.
    pub(super) fn cut(&self, index: usize) {
        for end in &self.shared.open.lock().unwrap()[index].ends {
            // It may have noticed the other end's already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Lets nothing pass through a tunnel any more.
    pub(super) fn stall(&self, index: usize) {
        let open = self.shared.open.lock().unwrap();
        open[index].is_stalled.store(true, Ordering::Relaxed);
    }
}

impl Tunnel {
    fn between(near: TcpStream, far: TcpStream) -> Self {
        let tunnel = Self {
            ends: [near, far],
            is_stalled: Arc::default(),
        };
        for [from, to] in [[0, 1], [1, 0]] {
            let [from, to] = [from, to].map(|end: usize| tunnel.ends[end].try_clone().unwrap());
            let is_stalled = tunnel.is_stalled.clone();
            thread::spawn(move || carry(from, to, &is_stalled));
        }
        tunnel
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_stalled: &AtomicBool) {
    to.set_nodelay(true).unwrap();
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if !is_stalled.load(Ordering::Relaxed) && to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    if !is_stalled.load(Ordering::Relaxed) {
        let _ = to.shutdown(Shutdown::Write);
    }
}

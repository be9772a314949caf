//! A way to a relay that lets so many bytes pass, and then none until it is cut.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
    time::Duration,
};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// See the [module](self).
pub(crate) struct Valve {
    address: String,
    shared: Arc<Shared>,
    is_shut: mpsc::Receiver<()>,
}

struct Shared {
    state: Mutex<State>,
    cut: Condvar,
    shut: mpsc::Sender<()>,
}

/// All connections together have so many bytes left, in both directions, until it is cut. From then
/// on there is no limit.
struct State {
    left: usize,
    is_cut: bool,
    sockets: Vec<TcpStream>,
}

impl Valve {
    /// Leads to a relay.
    pub(crate) fn before(relay: &str, bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (shut, is_shut) = mpsc::channel();
        let state = State {
            left: bytes,
            is_cut: false,
            sockets: Vec::new(),
        };
        let shared = Arc::new(Shared {
            state: state.into(),
            cut: Condvar::new(),
            shut,
        });
        let (relay, sharing) = (relay.to_owned(), shared.clone());
        thread::spawn(move || {
            for near in listener.incoming() {
                let near = near.unwrap();
                // The relay may be gone for a while.
                if let Ok(far) = TcpStream::connect(&relay) {
                    sharing.join(near, far);
                }
            }
        });
        Self {
            address,
            shared,
            is_shut,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until all bytes have passed.
    #[track_caller]
    pub(crate) fn wait(&self) {
        let shut = self.is_shut.recv_timeout(PATIENCE);
        shut.expect("there is less to say than that");
    }

    /// Ends all connections. Others pass from now on.
    pub(crate) fn cut(&self) {
        let mut state = self.shared.state.lock().unwrap();
        state.is_cut = true;
        for socket in state.sockets.drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.shared.cut.notify_all();
    }
}

impl Shared {
    fn join(self: &Arc<Self>, near: TcpStream, far: TcpStream) {
        let copy = |socket: &TcpStream| socket.try_clone().unwrap();
        let mut state = self.state.lock().unwrap();
        if !state.is_cut {
            state.sockets.extend([copy(&near), copy(&far)]);
        }
        let is_limited = !state.is_cut;
        for (from, to) in [(copy(&near), copy(&far)), (far, near)] {
            let shared = self.clone();
            thread::spawn(move || shared.carry(from, to, is_limited));
        }
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream, is_limited: bool) {
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            let passes = match is_limited {
                true => self.take(length),
                false => length,
            };
            if to.write_all(&piece[..passes]).is_err() || passes < length {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }

    /// Returns how many of these bytes may pass; waits until the end if these are not all.
    fn take(&self, length: usize) -> usize {
        let mut state = self.state.lock().unwrap();
        let passes = length.min(state.left);
        if state.left > 0 && passes == state.left {
            let _ = self.shut.send(());
        }
        state.left -= passes;
        if passes < length {
            drop(self.cut.wait_while(state, |state| !state.is_cut).unwrap());
        }
        passes
    }
}

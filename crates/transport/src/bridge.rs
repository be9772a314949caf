//! A bridge from a socket of this machine to something that is none: messages of a WebSocket, or
//! files in a folder.
//!
//! All else in this crate speaks over a [`TcpStream`], polls it, and hands it to threads. So what
//! is no socket is put behind one: two sockets of this machine are connected with each other. One
//! is used as if it led to the other party. Between the other and that which really does, two
//! threads carry bytes, one each way.
//!
//! The price is one more copy each way through the kernel: at some GB/s, nothing beside what such
//! ways take anyway.

use std::{
    any::Any,
    fmt,
    io::{self, ErrorKind, Read, Write},
    net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

pub(crate) mod websocket;

/// The bytes that are carried at once.
const PIECE_BYTES: usize = 128 << 10;

/// The time between two looks whether there is something else to do.
const POLL: Duration = Duration::from_millis(20);

/// Programs of this machine that may come first where two sockets are connected, before that counts
/// as hostile.
const MAX_STRANGERS: usize = 100;

/// The way out of a bridge.
pub(crate) trait Sink: Send + 'static {
    /// One direction may end before the other on all of the way.
    const HALF_CLOSES: bool;

    /// Takes bytes on their way to the other party.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Does what there is to do when nothing has come for a moment.
    fn idle(&mut self) -> io::Result<()>;

    /// Hears that nothing more will come.
    fn end(&mut self) -> io::Result<()>;
}

/// The way into a bridge.
pub(crate) trait Source: Send + 'static {
    /// Waits a moment for bytes of the other party, and appends them.
    fn give(&mut self, bytes: &mut Vec<u8>) -> io::Result<Given>;
}

/// What a [`Source`] has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Some bytes.
    Bytes,
    /// Nothing for a moment.
    Nothing,
    /// Nothing more will come, after the bytes that it gave with this.
    End,
}

/// Tells the threads of a bridge to end, whatever they do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.store(true, Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The threads of a bridge. They end when this is dropped.
pub(crate) struct Bridge {
    half_closes: bool,
    stop: Stop,
    outward: JoinHandle<()>,
    inward: JoinHandle<()>,
    /// Dropped with it.
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl Bridge {
    /// Makes a bridge to what `ends` returns, and gives the socket before it.
    pub(crate) fn start<O: Sink, I: Source>(
        ends: impl FnOnce(&Stop) -> (O, I),
    ) -> io::Result<(TcpStream, Self)> {
        let [near, far] = pair()?;
        far.set_read_timeout(Some(POLL))?;
        far.set_write_timeout(Some(POLL))?;
        let far = Arc::new(far);
        let stop = Stop::default();
        let (sink, source) = ends(&stop);
        let outward = spawn("psijoin-outward", {
            let (far, stop) = (far.clone(), stop.clone());
            move || finish(carry_out(&far, sink, &stop), &far, "out")
        })?;
        let inward = spawn("psijoin-inward", {
            let stop = stop.clone();
            move || finish(carry_in(&far, source, &stop), &far, "in")
        });
        match inward {
            Ok(inward) => Ok((
                near,
                Self {
                    half_closes: O::HALF_CLOSES,
                    stop,
                    outward,
                    inward,
                    _kept: None,
                },
            )),
            Err(no_thread) => {
                stop.stop();
                Err(no_thread)
            }
        }
    }

    /// Returns whether one direction may end before the other on all of the way.
    pub(crate) fn half_closes(&self) -> bool {
        self.half_closes
    }

    /// Keeps something for as long as the bridge is there.
    pub(crate) fn keeping(mut self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        self._kept = Some(kept);
        self
    }

    /// Waits until what was sent is on its way, and the other party has ended its own, at most
    /// until `deadline`. The socket has been shut down before.
    pub(crate) fn close(self, deadline: Instant) {
        let is_over = || self.outward.is_finished() && self.inward.is_finished();
        while !is_over() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").finish_non_exhaustive()
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(run)
}

/// Ends both ways if one has failed.
fn finish(carried: io::Result<()>, far: &TcpStream, way: &str) {
    if let Err(error) = carried {
        tracing::debug!("a bridge broke on the way {way}: {error}");
        // The other side of it may have gone already.
        let _ = far.shutdown(Shutdown::Both);
    }
}

fn carry_out(mut far: &TcpStream, mut sink: impl Sink, stop: &Stop) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    while !stop.is_stopped() {
        match far.read(&mut piece) {
            Ok(0) => return sink.end(),
            Ok(length) => sink.take(&piece[..length])?,
            Err(error) if is_pause(&error) => sink.idle()?,
            Err(error) => {
                let _ = sink.end();
                return Err(error);
            }
        }
    }
    // The other party is not to wait for more.
    sink.end()
}

fn carry_in(far: &TcpStream, mut source: impl Source, stop: &Stop) -> io::Result<()> {
    let mut piece = Vec::new();
    while !stop.is_stopped() {
        piece.clear();
        let given = source.give(&mut piece)?;
        write_all(far, &piece, stop)?;
        if given == Given::End {
            return far.shutdown(Shutdown::Write);
        }
    }
    Ok(())
}

fn write_all(mut far: &TcpStream, mut bytes: &[u8], stop: &Stop) -> io::Result<()> {
    while !bytes.is_empty() && !stop.is_stopped() {
        match far.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Returns two sockets of this machine that are connected with each other, and with nobody else:
/// another program may connect to the first while it listens, but not from the port that the second
/// has.
pub(crate) fn pair() -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .or_else(|_| TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, 0))))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let ours = near.local_addr()?;
    for _ in 0..MAX_STRANGERS {
        let (far, from) = listener.accept()?;
        if from == ours {
            near.set_nodelay(true)?;
            far.set_nodelay(true)?;
            return Ok([near, far]);
        }
    }
    Err(io::Error::other(
        "other programs of this machine keep connecting to a port that is meant for this one",
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Sent(mpsc::Sender<Vec<u8>>);

    impl Sink for Sent {
        const HALF_CLOSES: bool = true;

        fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)
        }

        fn idle(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn end(&mut self) -> io::Result<()> {
            self.take(b"the end")
        }
    }

    struct Received(mpsc::Receiver<Vec<u8>>);

    impl Source for Received {
        fn give(&mut self, bytes: &mut Vec<u8>) -> io::Result<Given> {
            match self.0.recv_timeout(POLL) {
                Ok(came) if came == b"fail" => Err(io::Error::other("it fails")),
                Ok(came) => {
                    bytes.extend(came);
                    Ok(Given::Bytes)
                }
                Err(mpsc::RecvTimeoutError::Timeout) => Ok(Given::Nothing),
                Err(mpsc::RecvTimeoutError::Disconnected) => Ok(Given::End),
            }
        }
    }

    type Ends = (mpsc::Receiver<Vec<u8>>, mpsc::Sender<Vec<u8>>);

    fn bridge() -> (TcpStream, Bridge, Ends) {
        let (sent, out) = mpsc::channel();
        let (inward, received) = mpsc::channel();
        let (near, bridge) = Bridge::start(|_| (Sent(sent), Received(received))).unwrap();
        (near, bridge, (out, inward))
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn bytes_pass_both_ways_until_each_ends() {
        let (mut near, bridge, (out, inward)) = bridge();
        near.write_all(b"hello").unwrap();
        inward.send(b"welcome".to_vec()).unwrap();
        let mut heard = [0; 7];
        near.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"welcome");
        near.shutdown(Shutdown::Write).unwrap();
        let mut said = Vec::new();
        while !said.ends_with(b"the end") {
            said.extend(out.recv().unwrap());
        }
        assert_eq!(said, b"hellothe end");
        // The way in is still open.
        inward.send(b"and on".to_vec()).unwrap();
        drop(inward);
        let mut rest = Vec::new();
        near.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"and on");
        bridge.close(soon());
    }

    #[test]
    fn what_was_sent_last_is_on_its_way_when_it_is_closed() {
        let (mut near, bridge, (out, inward)) = bridge();
        near.write_all(&[7; 1 << 20]).unwrap();
        near.shutdown(Shutdown::Both).unwrap();
        drop(inward);
        bridge.close(soon());
        let sent: usize = out.try_iter().map(|piece| piece.len()).sum();
        assert_eq!(sent, (1 << 20) + b"the end".len());
    }

    #[test]
    fn if_one_way_fails_the_socket_ends() {
        let (mut near, _bridge, (_out, inward)) = bridge();
        inward.send(b"fail".to_vec()).unwrap();
        let _ = near.read_to_end(&mut Vec::new());
    }

    #[test]
    fn threads_end_with_it() {
        let (_near, bridge, (out, _inward)) = bridge();
        drop(bridge);
        assert_eq!(out.recv().unwrap(), b"the end");
        // Its sender is gone.
        assert!(out.recv().is_err());
    }
}

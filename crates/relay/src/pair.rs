//! Two connections that are joined: a thread for each direction, until both have ended.
//!
//! On Linux, bare bytes go from socket to socket by `splice(2)`, through a pipe and not through
//! this process. Elsewhere, and where one side speaks WebSocket, they go through a buffer.
//!
//! The end of one direction is passed on, and leaves the other open: the end of a stream is a close
//! frame in WebSocket, and the other way round.

use std::{
    fmt,
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{
            AtomicU8, AtomicU64,
            Ordering::{AcqRel, Relaxed},
        },
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::websocket::{Control, Decoder, Encoder, Header};

use crate::{Limits, bucket::Bucket, metrics::Metrics, tag::Tag};

mod carry;
#[cfg(target_os = "linux")]
mod splice;

/// The time for which a system call may block before the thread looks at the limits.
const POLL: Duration = Duration::from_millis(500);

/// The bytes that are moved at once: as many as a pipe holds.
const PIECE_BYTES: usize = 64 << 10;

/// A thread moves bytes and calls nothing deep.
const STACK_BYTES: usize = 128 << 10;

/// The place of the TLS client's end, after the server's.
const CLIENT: usize = 1;

/// One of two joined connections.
pub(crate) struct End {
    socket: TcpStream,
    from: SocketAddr,
    /// If it speaks WebSocket: the decoder of what it sends.
    framing: Option<Decoder>,
}

impl End {
    pub(crate) fn new(
        socket: TcpStream,
        from: SocketAddr,
        framing: Option<Decoder>,
    ) -> io::Result<Self> {
        socket.set_read_timeout(Some(POLL))?;
        socket.set_write_timeout(Some(POLL))?;
        Ok(Self {
            socket,
            from,
            framing,
        })
    }
}

/// The reason that a pair has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// Both directions have ended.
    Done,
    /// A connection broke.
    Lost,
    /// One that speaks WebSocket sent something else.
    Malformed,
    /// The TLS client did not speak.
    Silent,
    /// Nothing moved for too long.
    Idle,
    /// It ran for as long as a pair may.
    Old,
    /// The relay stops.
    Drained,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "both sides have ended",
            Self::Lost => "a connection broke",
            Self::Malformed => "a side sent what is no WebSocket",
            Self::Silent => "the TLS client said nothing",
            Self::Idle => "nothing moved for too long",
            Self::Old => "it ran for as long as a pair may",
            Self::Drained => "the relay stops",
        })
    }
}

/// See the [module](self).
pub(crate) struct Pair {
    tag: Tag,
    sides: [Side; 2],
    limits: Limits,
    bucket: Option<Mutex<Bucket>>,
    started: Instant,
    /// The time at which bytes moved last, in milliseconds since it started.
    moved_at: AtomicU64,
    why: OnceLock<Why>,
    /// The number of directions that have not ended.
    open: AtomicU8,
    metrics: Arc<Metrics>,
}

struct Side {
    socket: TcpStream,
    from: SocketAddr,
    is_framed: bool,
    /// The content of its last ping, if that was not answered yet.
    ping: Mutex<Option<Control>>,
    /// The bytes that have come from it.
    bytes: AtomicU64,
}

impl Pair {
    /// Joins a server's end and a client's. `ended` is called by the last thread.
    pub(crate) fn start(
        ends: [End; 2],
        tag: Tag,
        limits: Limits,
        metrics: &Arc<Metrics>,
        ended: impl FnOnce() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let started = Instant::now();
        let mut decoders = Vec::new();
        let sides = ends.map(|end| {
            let is_framed = end.framing.is_some();
            decoders.push(end.framing);
            Side {
                socket: end.socket,
                from: end.from,
                is_framed,
                ping: Mutex::default(),
                bytes: AtomicU64::new(0),
            }
        });
        let rate = limits.bytes_per_second;
        let pair = Arc::new(Self {
            tag,
            sides,
            limits,
            bucket: rate.map(|rate| Mutex::new(Bucket::new(rate.get(), started))),
            started,
            moved_at: AtomicU64::new(0),
            why: OnceLock::new(),
            open: AtomicU8::new(2),
            metrics: metrics.clone(),
        });
        let [server, client] = &pair.sides;
        tracing::info!("{tag}: joined {} and {}", server.from, client.from);
        let ended = Arc::new(Mutex::new(Some(ended)));
        for (from, decoder) in decoders.into_iter().enumerate() {
            let (moved, ended) = (pair.clone(), ended.clone());
            let thread = thread::Builder::new()
                .name("psijoin-relay".into())
                .stack_size(STACK_BYTES);
            let spawned = thread.spawn(move || {
                moved.run(from, decoder);
                if moved.close()
                    && let Some(ended) = ended.lock().expect(UNPOISONED).take()
                {
                    ended();
                }
            });
            if let Err(error) = spawned {
                pair.finish(Why::Lost);
                // The thread of the other direction may run, and then ends the pair.
                return match from > 0 && !pair.close() {
                    true => Ok(pair),
                    false => Err(error),
                };
            }
        }
        Ok(pair)
    }

    /// Ends it, unless it has ended.
    pub(crate) fn finish(&self, why: Why) {
        self.why.get_or_init(|| why);
        for side in &self.sides {
            // It fails if the connection has ended already, which is as good.
            let _ = side.socket.shutdown(Shutdown::Both);
        }
    }

    /// Carries one direction to its end.
    fn run(&self, from: usize, decoder: Option<Decoder>) {
        let carried = self
            .carry(from, decoder)
            .and_then(|()| self.end_writing(1 - from));
        if let Err(why) = carried {
            self.finish(why);
        }
    }

    fn carry(&self, from: usize, decoder: Option<Decoder>) -> Result<(), Why> {
        #[cfg(target_os = "linux")]
        if !self.sides.iter().any(|side| side.is_framed)
            && let Some(pipe) = splice::Pipe::new()
        {
            return pipe.carry(self, from);
        }
        carry::through_buffer(self, from, decoder)
    }

    /// One direction has ended. Tells whether it was the last.
    fn close(&self) -> bool {
        if self.open.fetch_sub(1, AcqRel) > 1 {
            return false;
        }
        let [server, client] = self.sides.each_ref().map(|side| side.bytes.load(Relaxed));
        tracing::info!(
            "{}: ended after {} s, {server} bytes from the server of TLS and {client} from the \
             client: {}",
            self.tag,
            self.started.elapsed().as_secs(),
            self.why.get().unwrap_or(&Why::Done)
        );
        true
    }

    /// Returns why this direction must end, if it must.
    fn check(&self, from: usize) -> Result<(), Why> {
        if let Some(why) = self.why.get() {
            return Err(*why);
        }
        let age = self.started.elapsed();
        let moved_at = Duration::from_millis(self.moved_at.load(Relaxed));
        let is_silent = || from == CLIENT && self.sides[CLIENT].bytes.load(Relaxed) == 0;
        if age >= self.limits.age {
            Err(Why::Old)
        } else if age.saturating_sub(moved_at) >= self.limits.idle {
            Err(Why::Idle)
        } else if age >= self.limits.first_words && is_silent() {
            Err(Why::Silent)
        } else {
            Ok(())
        }
    }

    /// Notes that bytes have come from a side.
    fn moves(&self, from: usize, bytes: usize) {
        let bytes = bytes as u64;
        self.sides[from].bytes.fetch_add(bytes, Relaxed);
        self.metrics.bytes.fetch_add(bytes, Relaxed);
        let now = self.started.elapsed().as_millis() as u64;
        self.moved_at.fetch_max(now, Relaxed);
    }

    /// Moves at most a piece by `read`, which is told how many bytes, when the rate allows it.
    /// `None` means that nothing came for a moment.
    fn within_rate(
        &self,
        read: impl FnOnce(usize) -> io::Result<usize>,
    ) -> Result<Option<usize>, Why> {
        let allowed = match &self.bucket {
            None => PIECE_BYTES,
            Some(bucket) => {
                let taken = bucket
                    .lock()
                    .expect(UNPOISONED)
                    .take(PIECE_BYTES, Instant::now());
                match taken {
                    Ok(allowed) => allowed,
                    Err(wait) => {
                        thread::sleep(wait.min(POLL));
                        return Ok(None);
                    }
                }
            }
        };
        let read = read(allowed);
        if let Some(bucket) = &self.bucket {
            let unused = allowed - read.as_ref().map_or(0, |read| *read);
            bucket.lock().expect(UNPOISONED).give_back(unused);
        }
        match read {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_pause(&error) => Ok(None),
            Err(_) => Err(Why::Lost),
        }
    }

    /// Reads from a side: nothing at its end, and `None` if nothing came for a moment.
    fn read(&self, from: usize, buffer: &mut [u8]) -> Result<Option<usize>, Why> {
        let mut socket = &self.sides[from].socket;
        self.within_rate(|allowed| {
            let allowed = allowed.min(buffer.len());
            socket.read(&mut buffer[..allowed])
        })
    }

    /// Sends bytes to a side, in its framing.
    fn write(&self, to: usize, bytes: &[u8]) -> Result<(), Why> {
        match self.sides[to].is_framed && !bytes.is_empty() {
            true => self.write_all(to, [&Header::of_server(bytes.len()), bytes]),
            false => self.write_all(to, [&[], bytes]),
        }
    }

    fn write_all(&self, to: usize, parts: [&[u8]; 2]) -> Result<(), Why> {
        let mut slices = parts.map(IoSlice::new);
        let mut left = &mut slices[..];
        // Those without bytes at the front go.
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match (&self.sides[to].socket).write_vectored(left) {
                Ok(0) => return Err(Why::Lost),
                Ok(bytes) => IoSlice::advance_slices(&mut left, bytes),
                Err(error) if is_pause(&error) => self.check(1 - to)?,
                Err(_) => return Err(Why::Lost),
            }
        }
        Ok(())
    }

    /// Notes a ping, which the thread answers that writes to its side.
    fn is_pinged(&self, by: usize, content: Control) {
        *self.sides[by].ping.lock().expect(UNPOISONED) = Some(content);
    }

    /// Answers the last ping of a side.
    fn answer_ping(&self, to: usize) -> Result<(), Why> {
        let ping = self.sides[to].ping.lock().expect(UNPOISONED).take();
        let Some(content) = ping else {
            return Ok(());
        };
        let mut pong = Vec::new();
        Encoder::server().pong(&content, &mut pong);
        self.write_all(to, [&[], &pong])
    }

    /// Tells a side that nothing more comes from the other.
    fn end_writing(&self, to: usize) -> Result<(), Why> {
        /// That of a close without a fault (RFC 6455, §7.4.1).
        const NORMAL: u16 = 1000;

        let side = &self.sides[to];
        if side.is_framed {
            let mut close = Vec::new();
            Encoder::server().close(NORMAL, &mut close);
            return self.write_all(to, [&[], &close]);
        }
        side.socket.shutdown(Shutdown::Write).map_err(|_| Why::Lost)
    }
}

/// Returns whether a system call ended only because its moment was over.
fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

const UNPOISONED: &str = "no thread panics while it holds this lock";

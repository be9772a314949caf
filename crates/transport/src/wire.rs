//! The socket and, around it, TLS or nothing, for one reading and one writing thread.
//!
//! The TLS state is shared under a lock that is held for computing only, never while the
//! socket is read or written, so the two directions do not wait for each other's network.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use psijoin_channel::Error as ChannelError;
use rustls::{Connection, Error as TlsError};

use crate::tls;

/// The bytes that are read from the socket at once, and those that are encrypted at once.
const PIECE_BYTES: usize = 128 << 10;

/// The time for which a system call may block before the thread checks whether it is still wanted.
const POLL: Duration = Duration::from_millis(200);

/// An established connection.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: TcpStream,
    tls: Option<Mutex<Connection>>,
}

impl Wire {
    pub(crate) fn new(socket: TcpStream, tls: Option<Connection>) -> io::Result<Arc<Self>> {
        socket.set_read_timeout(Some(POLL))?;
        socket.set_write_timeout(Some(POLL))?;
        Ok(Arc::new(Self {
            socket,
            tls: tls.map(Mutex::new),
        }))
    }

    /// Ends whatever the threads do on the socket.
    pub(crate) fn shut_down(&self) {
        // It fails if the peer has ended the connection already, which is as good.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn tls(&self) -> Option<MutexGuard<'_, Connection>> {
        Some(
            self.tls
                .as_ref()?
                .lock()
                .expect("no thread panics while it holds this lock"),
        )
    }
}

/// The data that came from the peer.
pub(crate) enum Received<'a> {
    /// Some bytes.
    Bytes(&'a [u8]),
    /// Nothing for a moment.
    Nothing,
    /// The end.
    End,
}

/// The reading end of a [`Wire`].
pub(crate) struct WireReader {
    wire: Arc<Wire>,
    raw: Box<[u8]>,
    plaintext: Vec<u8>,
    /// The peer has said by TLS that nothing more comes.
    has_peer_closed: bool,
}

impl WireReader {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            raw: vec![0; PIECE_BYTES].into(),
            plaintext: Vec::new(),
            has_peer_closed: false,
        }
    }

    /// Waits a moment for bytes from the peer.
    pub(crate) fn read(&mut self) -> Result<Received<'_>, ChannelError> {
        if self.wire.tls.is_none() {
            return Ok(match self.read_raw()? {
                Some(0) => Received::End,
                Some(length) => Received::Bytes(&self.raw[..length]),
                None => Received::Nothing,
            });
        }
        self.plaintext.clear();
        // The handshake may have left some behind.
        self.decrypt(0)?;
        while self.plaintext.is_empty() {
            if self.has_peer_closed {
                return Ok(Received::End);
            }
            match self.read_raw()? {
                Some(0) => return Ok(Received::End),
                Some(length) => self.decrypt(length)?,
                None => return Ok(Received::Nothing),
            }
        }
        Ok(Received::Bytes(&self.plaintext))
    }

    /// Reads from the socket. Gives the number of bytes, 0 at the end, or nothing for a moment.
    fn read_raw(&mut self) -> Result<Option<usize>, ChannelError> {
        match (&self.wire.socket).read(&mut self.raw) {
            Ok(length) => Ok(Some(length)),
            Err(error) if is_pause(&error) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// Moves what TLS makes of the first `length` raw bytes to `plaintext`.
    fn decrypt(&mut self, length: usize) -> Result<(), ChannelError> {
        let Some(mut tls) = self.wire.tls() else {
            return Ok(());
        };
        let mut take = |tls: &mut Connection| {
            self.has_peer_closed |= take_plaintext(tls, &mut self.plaintext);
        };
        take(&mut tls);
        tls::take_in(&mut tls, &self.raw[..length], take).map_err(tls_fault)
    }

    /// Returns whether TLS wants to send something, as an answer to what was read.
    pub(crate) fn has_answer(&self) -> bool {
        self.wire.tls().is_some_and(|tls| tls.wants_write())
    }
}

/// Takes what there is, and returns whether the peer has closed.
fn take_plaintext(tls: &mut Connection, plaintext: &mut Vec<u8>) -> bool {
    // An error means that there is no more now.
    tls.reader().read_to_end(plaintext).is_ok()
}

fn tls_fault(error: TlsError) -> ChannelError {
    match error {
        TlsError::AlertReceived(_) => ChannelError::Malformed("a TLS alert"),
        _ => ChannelError::Malformed("a TLS record that is damaged or forged"),
    }
}

/// The writing end of a [`Wire`].
pub(crate) struct WireWriter<S> {
    wire: Arc<Wire>,
    encrypted: Vec<u8>,
    is_stopped: S,
}

impl<S: Fn() -> bool> WireWriter<S> {
    /// Returns a writer that gives up as soon as `is_stopped`.
    pub(crate) fn new(wire: Arc<Wire>, is_stopped: S) -> Self {
        Self {
            wire,
            encrypted: Vec::new(),
            is_stopped,
        }
    }

    /// Writes all of `bytes`, and TLS's own messages.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        if self.wire.tls.is_none() {
            return self.write_raw(bytes);
        }
        for piece in bytes.chunks(PIECE_BYTES) {
            self.write_tls(|tls| tls.writer().write_all(piece))?;
        }
        Ok(())
    }

    /// Writes TLS's own messages, if there are any.
    pub(crate) fn answer(&mut self) -> Result<(), ChannelError> {
        self.write_tls(|_| Ok(()))
    }

    /// Writes these last bytes, and tells the peer that nothing more will come. All of it goes at
    /// once: a peer that reads the one may end the connection before it has read the other.
    pub(crate) fn say_last(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        if self.wire.tls.is_none() {
            return self.write_raw(bytes);
        }
        self.write_tls(|tls| {
            tls.writer().write_all(bytes)?;
            tls.send_close_notify();
            Ok(())
        })
    }

    /// Ends this direction of the connection.
    pub(crate) fn close(&self) -> Result<(), ChannelError> {
        self.wire.socket.shutdown(Shutdown::Write).map_err(broken)
    }

    /// Writes TLS's messages after `act`. The lock is free again by then.
    fn write_tls(
        &mut self,
        act: impl FnOnce(&mut Connection) -> io::Result<()>,
    ) -> Result<(), ChannelError> {
        let mut encrypted = std::mem::take(&mut self.encrypted);
        encrypted.clear();
        if let Some(mut tls) = self.wire.tls() {
            act(&mut tls).map_err(broken)?;
            tls::write_out(&mut tls, &mut encrypted).map_err(broken)?;
        }
        let written = self.write_raw(&encrypted);
        self.encrypted = encrypted;
        written
    }

    fn write_raw(&self, mut bytes: &[u8]) -> Result<(), ChannelError> {
        while !bytes.is_empty() {
            match (&self.wire.socket).write(bytes) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(length) => bytes = &bytes[length..],
                Err(error) if is_pause(&error) && !(self.is_stopped)() => {}
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(())
    }
}

/// Returns whether a system call ended only because its moment was over.
fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Returns what a failed system call tells about the peer.
fn broken(error: io::Error) -> ChannelError {
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::BrokenPipe => ChannelError::Closed,
        _ => ChannelError::Io(error),
    }
}

//! Going to the other party's address.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::{Established, POLL, Patience, Side, authenticate};
use crate::{Error, Options, endpoint::Address};

/// How long to wait before a party that does not listen yet is tried again.
const RETRY: Duration = Duration::from_millis(200);

/// How long to wait for an address that does not even refuse, before the next is tried.
const ATTEMPT: Duration = Duration::from_secs(10);

/// Connects to the peer, however late it starts to listen.
pub(crate) fn connect(address: &Address, options: &Options) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let socket = reach(address, &patience)?;
    authenticate(socket, Side::Connecting, options, None)
}

fn reach(address: &Address, patience: &Patience<'_>) -> Result<TcpStream, Error> {
    let text = address.as_str();
    let late = |waited| Error::NobodyListened {
        address: text.to_owned(),
        waited,
    };
    let host = text.to_owned();
    let candidates: Vec<_> = unless_impatient(patience, late, move |_| host.to_socket_addrs())?
        .map_err(|source| Error::Resolve {
            address: text.to_owned(),
            source,
        })?
        .collect();
    loop {
        let mut fault = None;
        let mut may_come = false;
        for &candidate in &candidates {
            match unless_impatient(patience, late, move |left| connect_once(candidate, left))? {
                Ok(socket) => return Ok(socket),
                Err(error) if is_not_there_yet(&error) => may_come = true,
                Err(error) => fault = Some(error),
            }
        }
        match fault {
            Some(source) if !may_come => {
                return Err(Error::Connect {
                    address: text.to_owned(),
                    source,
                });
            }
            _ => thread::sleep(RETRY.min(patience.left(late)?)),
        }
    }
}

fn connect_once(address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&address, limit.min(ATTEMPT))?;
    // A port of this machine that nobody listens at can be given to the very socket that
    // tries to reach it, which then talks to itself.
    if socket.local_addr()? == socket.peer_addr()? {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    Ok(socket)
}

fn is_not_there_yet(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::TimedOut
    )
}

/// Runs a system call that nothing can interrupt on a thread of its own, which is left to
/// itself when patience ends.
fn unless_impatient<T: Send + 'static>(
    patience: &Patience<'_>,
    late: impl Fn(Duration) -> Error,
    call: impl FnOnce(Duration) -> T + Send + 'static,
) -> Result<T, Error> {
    let left = patience.left(&late)?;
    let (result, results) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("psijoin-connect".into())
        .spawn(move || {
            // Nobody may be waiting any more.
            let _ = result.send(call(left));
        })?;
    loop {
        match results.recv_timeout(POLL) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => patience.left(&late).map(drop)?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the connecting thread panicked").into());
            }
        }
    }
}

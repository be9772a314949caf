//! Waiting for the other party at an address.
//!
//! Whoever connects is a candidate. The first that proves to be the peer ends the wait. A
//! candidate that shows itself as a psijoin party, but the wrong one, ends it with an error:
//! somebody made a mistake that must not stay hidden. Anything else (a port scanner, a lost
//! browser) is dropped, and does not keep the peer from being heard meanwhile.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use super::{Established, Patience, Side, authenticate};
use crate::{Error, Listener, Options};

/// How often the listening socket is asked for candidates.
const POLL: Duration = Duration::from_millis(20);

/// How many candidates are heard at once.
const MAX_CANDIDATES: usize = 16;

/// Waits for the peer.
pub(crate) fn accept(listener: Listener, options: &Options) -> Result<Established, Error> {
    listener.socket.set_nonblocking(true)?;
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let found = AtomicBool::new(false);
    thread::scope(|scope| {
        let (verdict, verdicts) = mpsc::channel();
        let mut candidates = 0;
        let hear = |socket: TcpStream| {
            let (verdict, found) = (verdict.clone(), &found);
            let thread = thread::Builder::new().name("psijoin-accept".into());
            thread.spawn_scoped(scope, move || {
                let outcome = authenticate(socket, Side::Listening, options, Some(found));
                // Nobody may be waiting any more.
                let _ = verdict.send(outcome);
            })
        };
        let outcome = loop {
            if let Err(error) = patience.left(|waited| Error::NobodyConnected {
                address: listener.address().as_str().to_owned(),
                waited,
            }) {
                break Err(error);
            }
            if candidates < MAX_CANDIDATES {
                match next_candidate(&listener) {
                    Ok(Some((socket, from))) => {
                        tracing::debug!("{from} connected");
                        if let Err(error) = hear(socket) {
                            break Err(error.into());
                        }
                        candidates += 1;
                    }
                    Ok(None) => {}
                    Err(error) => break Err(error),
                }
            }
            match verdicts.recv_timeout(POLL) {
                Ok(Ok(established)) => break Ok(established),
                Ok(Err(error)) if is_a_mistake(&error) => break Err(error),
                Ok(Err(error)) => {
                    candidates -= 1;
                    tracing::warn!("dropped somebody who connected: {error}");
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("this thread holds a sender itself")
                }
            }
        };
        found.store(true, Ordering::Relaxed);
        outcome
    })
}

/// Whether a candidate is a psijoin party that cannot be the peer.
fn is_a_mistake(error: &Error) -> bool {
    matches!(
        error,
        Error::WrongPeer { .. }
            | Error::Refused { .. }
            | Error::Mismatch { .. }
            | Error::Version { .. }
    )
}

fn next_candidate(listener: &Listener) -> Result<Option<(TcpStream, SocketAddr)>, Error> {
    match listener.socket.accept() {
        Ok((socket, from)) => {
            // On some systems it inherits this from the listening socket.
            socket.set_nonblocking(false)?;
            Ok(Some((socket, from)))
        }
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset => Ok(None),
            _ => Err(error.into()),
        },
    }
}

//! Serving the counters over HTTP, at an address of their own.
//!
//! One request at a time: a monitor asks every few seconds, and nobody else should reach the
//! address.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Metrics;

/// The wait for somebody, between two looks whether the relay has ended.
const POLL: Duration = Duration::from_millis(200);

/// The time that a request may take.
const LIMIT: Duration = Duration::from_secs(1);

const MAX_REQUEST_BYTES: usize = 8192;

/// Answers requests until `is_over`.
pub(crate) fn serve(listener: &TcpListener, metrics: &Metrics, is_over: &AtomicBool) {
    while !is_over.load(Relaxed) {
        let limit = Timespec::try_from(POLL).expect("a moment");
        let ready = poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&limit));
        if ready.is_err() {
            std::thread::sleep(POLL);
        }
        if let Ok((socket, from)) = listener.accept()
            && let Err(error) = answer(socket, metrics)
        {
            tracing::debug!("{from} asked for metrics and got none: {error}");
        }
    }
}

fn answer(mut socket: TcpStream, metrics: &Metrics) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(POLL))?;
    socket.set_write_timeout(Some(LIMIT))?;
    let request = read_head(&mut socket)?;
    let (status, text) = match request.strip_prefix(b"GET ") {
        Some(rest) if rest.starts_with(b"/metrics ") || rest.starts_with(b"/metrics?") => {
            ("200 OK", metrics.text())
        }
        Some(_) => ("404 Not Found", "It is at /metrics.\n".to_owned()),
        None => ("405 Method Not Allowed", "Use GET.\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    socket.write_all((head + &text).as_bytes())?;
    socket.shutdown(Shutdown::Write)
}

/// Reads a request, which has no body, to its end.
fn read_head(socket: &mut TcpStream) -> io::Result<Vec<u8>> {
    let started = Instant::now();
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MAX_REQUEST_BYTES || started.elapsed() > LIMIT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match socket.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => head.extend(&buffer[..length]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

//! A TCP connection that is kept alive: a link, and the two threads that serve it.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use psijoin_channel::Channel;

use crate::{
    Error, KeyExchange, Options,
    bridge::Bridge,
    establish::Established,
    link::{self, Bond, LINGER, Link, LinkInbound, LinkOutbound},
    wire::Wire,
};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) link: Arc<Link>,
    /// `None` without TLS.
    pub(crate) key_exchange: Option<KeyExchange>,
    threads: Threads,
    /// What carries the bytes further, if the socket does not lead out of this machine.
    bridge: Option<Bridge>,
}

impl Line {
    /// Serves a connection whose other end is the peer, and shares the fate of `bond`.
    pub(crate) fn start(
        Established {
            socket,
            is_direct,
            bridge,
            tls,
            ..
        }: Established,
        options: &Options,
        bond: &Arc<Bond>,
    ) -> Result<Self, Error> {
        let key_exchange = tls.as_ref().and_then(KeyExchange::of);
        if let Some(exchange) = key_exchange {
            tracing::debug!("keys exchanged by {exchange}");
        }
        let wire = Wire::new(socket, tls)?;
        let half_closes = bridge.as_ref().is_some_and(Bridge::half_closes);
        let pulse = options.pulse.clone();
        let link = Link::new(options.timeouts, pulse, bond, is_direct, half_closes);
        let threads = Threads::start(&link, wire)?;
        options.interrupt.watch(&link);
        Ok(Self {
            link,
            key_exchange,
            threads,
            bridge,
        })
    }

    /// Returns what the peer is spoken with. It works for as long as the line lives.
    pub(crate) fn channel(&self) -> Channel {
        let link = &self.link;
        Channel::new(LinkOutbound(link.clone()), LinkInbound(link.clone()))
    }
}

/// Hangs up, and waits a moment until the peer has taken what was sent: no longer for all lines
/// than for one.
pub(crate) fn hang_up(lines: &mut [Line]) {
    for line in &*lines {
        line.link.hang_up();
    }
    let deadline = Instant::now() + LINGER;
    for line in &mut *lines {
        line.link.close(deadline);
        line.threads.join();
    }
    // What was said last may still be on a bridge, and the peer's last file on its way.
    let deadline = Instant::now() + 2 * LINGER;
    for bridge in lines.iter_mut().filter_map(|line| line.bridge.take()) {
        bridge.close(deadline);
    }
}

/// The reading and the writing thread of a line.
#[derive(Debug)]
struct Threads {
    wire: Arc<Wire>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(link: &Arc<Link>, wire: Arc<Wire>) -> Result<Self, Error> {
        let mut threads = Self {
            wire,
            handles: Vec::new(),
        };
        let started = threads
            .spawn("psijoin-read", link, link::read_until_the_end)
            .and_then(|()| threads.spawn("psijoin-write", link, link::write_until_the_end));
        if let Err(error) = started {
            link.hang_up();
            link.close(Instant::now());
            threads.join();
            return Err(Error::Thread(error));
        }
        Ok(threads)
    }

    fn spawn(&mut self, name: &str, link: &Arc<Link>, run: fn(&Link, Arc<Wire>)) -> io::Result<()> {
        let (link, wire) = (link.clone(), self.wire.clone());
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(move || run(&link, wire))?;
        self.handles.push(thread);
        Ok(())
    }

    /// Waits for the threads, which the link has told to end.
    fn join(&mut self) {
        self.wire.shut_down();
        for thread in self.handles.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of a connection panicked; this is a bug in psijoin");
            }
        }
    }
}

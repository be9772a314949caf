//! A line to a listening party that takes its time.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::endpoint::Address;

/// Leads to `target`, with that delay each way, for as many connections as a session has at most.
pub(crate) fn line(target: &Address, delay: Duration) -> Address {
    let front = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = front.local_addr().unwrap().into();
    let target = target.as_str().to_owned();
    thread::spawn(move || {
        for near in front.incoming().take(256) {
            let (near, target) = (near.unwrap(), target.clone());
            thread::spawn(move || lead(near, &target, delay));
        }
    });
    address
}

fn lead(near: TcpStream, target: &str, delay: Duration) -> io::Result<()> {
    // Connecting takes a round trip. The other end sees the connection when the first words arrive.
    thread::sleep(2 * delay);
    let words = delayed(near.try_clone()?, delay);
    let Ok(first) = words.recv() else {
        return Ok(());
    };
    first.wait();
    let far = TcpStream::connect(target)?;
    (&far).write_all(&first.bytes)?;
    let answers = delayed(far.try_clone()?, delay);
    thread::spawn(move || deliver(&answers, &near));
    deliver(&words, &far)
}

struct Packet {
    due: Instant,
    bytes: Vec<u8>,
}

impl Packet {
    fn wait(&self) {
        thread::sleep(self.due.saturating_duration_since(Instant::now()));
    }
}

fn delayed(mut from: TcpStream, delay: Duration) -> mpsc::Receiver<Packet> {
    let (under_way, arriving) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let packet = Packet {
                due: Instant::now() + delay,
                bytes: bytes[..length].to_vec(),
            };
            if under_way.send(packet).is_err() {
                return;
            }
        }
    });
    arriving
}

fn deliver(packets: &mpsc::Receiver<Packet>, mut to: &TcpStream) -> io::Result<()> {
    to.set_nodelay(true)?;
    for packet in packets {
        packet.wait();
        to.write_all(&packet.bytes)?;
    }
    to.shutdown(Shutdown::Write)
}

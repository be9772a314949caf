//! A line between the parties that changes what one of them says: what the other sees of a cheat.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use crate::support::{Joined, Process};

/// What a party that does not encrypt says before its first frame.
const PREAMBLE_BYTES: u64 = 8;

/// The kind of a frame that holds a message.
const MESSAGE: u8 = 1;

/// Whose messages are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cheat {
    Sender,
    Receiver,
}

/// Runs a receiver and a sender, which do not encrypt, with these options, to their ends. All
/// messages of the cheat go through `change`.
pub(crate) fn join_over_a_line(
    receiver: &[&str],
    sender: &[&str],
    cheat: Cheat,
    change: impl FnMut(&mut [u8]) + Send,
) -> Joined {
    let mut receiver =
        Process::start(&[&["receive", "--listen", "127.0.0.1:0"], receiver].concat());
    let line = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = line.local_addr().unwrap().to_string();
    let sender = Process::start(&[&["send", "--connect", &address], sender].concat());

    let to_receiver = TcpStream::connect(receiver.address()).unwrap();
    let (to_sender, _) = line.accept().unwrap();
    let honest = |_: &mut [u8]| ();
    // A party that ends may reset the line.
    let _ = thread::scope(|scope| match cheat {
        Cheat::Sender => {
            scope.spawn(|| forward(&to_receiver, &to_sender, honest));
            forward(&to_sender, &to_receiver, change)
        }
        Cheat::Receiver => {
            scope.spawn(|| forward(&to_sender, &to_receiver, honest));
            forward(&to_receiver, &to_sender, change)
        }
    });
    Joined {
        receiver: receiver.end(),
        sender: sender.end(),
    }
}

/// Copies all frames, until one of the parties is gone.
fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    mut change: impl FnMut(&mut [u8]),
) -> io::Result<()> {
    let result = io::copy(&mut from.take(PREAMBLE_BYTES), &mut to).and_then(|_| {
        loop {
            let mut header = [0; 5];
            from.read_exact(&mut header)?;
            let [kind, length @ ..] = header;
            let mut payload = vec![0; u32::from_le_bytes(length) as usize];
            from.read_exact(&mut payload)?;
            if kind == MESSAGE {
                change(&mut payload);
            }
            to.write_all(&[&header[..], &payload].concat())?;
        }
    });
    let _ = to.shutdown(Shutdown::Write);
    result
}

//! A line between the parties that changes the messages of one of them: the other's view of a
//! cheat, or of a party that leaves.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    process::Stdio,
    thread,
};

use crate::support::{Joined, Process};

/// The bytes that a party which does not encrypt sends before its first frame.
const PREAMBLE_BYTES: u64 = 8;

/// The kind of a frame that holds a message.
const MESSAGE: u8 = 1;

/// The kind of a frame by which a party tells that it is done.
const BYE: u8 = 4;

/// The party whose messages are changed.
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
    mut change: impl FnMut(&mut [u8]) + Send,
) -> Joined {
    join_by(receiver, sender, cheat, Stdio::piped(), |kind, payload| {
        if kind == MESSAGE {
            change(payload);
        }
        Ok(())
    })
}

/// Joins where the sender is gone before it can tell that it is done.
pub(crate) fn join_without_goodbye(receiver: &[&str], sender: &[&str]) -> Joined {
    let stdout = Stdio::piped();
    join_by(
        receiver,
        sender,
        Cheat::Sender,
        stdout,
        |kind, _| match kind {
            BYE => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => Ok(()),
        },
    )
}

/// Joins where the cheat's last word never arrives: that it has kept what it got. Nor is it
/// done itself, as it cannot write what it got.
#[cfg(target_os = "linux")]
pub(crate) fn join_without_receipt(receiver: &[&str], sender: &[&str], cheat: Cheat) -> Joined {
    let full = File::options().write(true).open("/dev/full").unwrap();
    join_by(
        receiver,
        sender,
        cheat,
        full.into(),
        |kind, payload| match (kind, &*payload) {
            (MESSAGE, [1]) => Err(io::ErrorKind::ConnectionAborted.into()),
            _ => Ok(()),
        },
    )
}

/// Returns all frames of the cheat, whose standard output this is, go through `change`; the line
/// ends for them where that fails.
fn join_by(
    receiver: &[&str],
    sender: &[&str],
    cheat: Cheat,
    stdout: Stdio,
    change: impl FnMut(u8, &mut [u8]) -> io::Result<()> + Send,
) -> Joined {
    let [receivers, senders] = match cheat {
        Cheat::Receiver => [stdout, Stdio::piped()],
        Cheat::Sender => [Stdio::piped(), stdout],
    };
    let (receiver, receivers_address) =
        Process::listen_with("receive", receiver, |command| command.stdout(receivers));
    let line = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = line.local_addr().unwrap().to_string();
    let sender = [&["send", "--connect", &address], sender].concat();
    let sender = Process::start_with(&sender, |command| command.stdout(senders));

    let to_receiver = TcpStream::connect(receivers_address).unwrap();
    let (to_sender, _) = line.accept().unwrap();
    let honest = |_, _: &mut [u8]| Ok(());
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
    mut change: impl FnMut(u8, &mut [u8]) -> io::Result<()>,
) -> io::Result<()> {
    let result = io::copy(&mut from.take(PREAMBLE_BYTES), &mut to).and_then(|_| {
        loop {
            let mut header = [0; 5];
            from.read_exact(&mut header)?;
            let [kind, length @ ..] = header;
            let mut payload = vec![0; u32::from_le_bytes(length) as usize];
            from.read_exact(&mut payload)?;
            change(kind, &mut payload)?;
            to.write_all(&[&header[..], &payload].concat())?;
        }
    });
    let _ = to.shutdown(Shutdown::Write);
    result
}

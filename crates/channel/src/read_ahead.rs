//! Receiving ahead: one thread takes messages off the channel while another, which will use
//! them, still computes and sends.

use std::{
    sync::{
        Arc,
        mpsc::{self, TryRecvError},
    },
    time::Instant,
};

use crate::{Channel, Error, Inbound, listener::Listener, turns};

/// The queue for messages.
pub struct Reader(mpsc::Sender<Vec<u8>>);

/// The end where they are taken out, in order. [`Error::Closed`] means that there will be no more,
/// and that the reader knows why.
pub struct Ahead {
    messages: mpsc::Receiver<Vec<u8>>,
    listeners: Vec<Arc<dyn Listener>>,
}

/// Returns a queue of messages that one thread of an exchange reads off `channel` for the other. It
/// has no bound: what is read ahead should not be longer than what the party keeps anyway.
pub fn queue(channel: &Channel) -> (Reader, Ahead) {
    let (put, messages) = mpsc::channel();
    let listeners = channel.listeners.clone();
    (
        Reader(put),
        Ahead {
            messages,
            listeners,
        },
    )
}

impl Reader {
    /// Receives messages of these lengths, or until nobody wants them any more.
    pub fn read(
        self,
        inbound: &mut dyn Inbound,
        lengths: impl Iterator<Item = usize>,
    ) -> Result<(), Error> {
        for length in lengths {
            let mut message = vec![0; length];
            inbound.recv(&mut message)?;
            if self.0.send(message).is_err() {
                break;
            }
        }
        Ok(())
    }
}

impl Inbound for Ahead {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let since = Instant::now();
        let read = match self.messages.try_recv() {
            Err(TryRecvError::Empty) => turns::while_waiting(|| self.messages.recv().ok()),
            arrived => arrived.ok(),
        };
        let read = read.ok_or(Error::Closed)?;
        for listener in &self.listeners {
            listener.taken_ahead(since, &read);
        }
        if read.len() != message.len() {
            return Err(Error::MessageLength {
                expected: message.len(),
                received: read.len(),
            });
        }
        message.copy_from_slice(&read);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::memory;

    #[test]
    fn messages_come_in_order_and_then_the_end() {
        let (mut left, mut right) = memory::pair();
        let (reader, mut ahead) = queue(&right);
        left.send(&[1, 2]).unwrap();
        left.send(&[3]).unwrap();
        reader.read(right.halves().1, [2, 1].into_iter()).unwrap();
        let mut message = [0; 2];
        ahead.recv(&mut message).unwrap();
        assert_eq!(message, [1, 2]);
        ahead.recv(&mut message[..1]).unwrap();
        assert_eq!(message, [3, 2]);
        assert!(matches!(ahead.recv(&mut message), Err(Error::Closed)));
    }

    #[test]
    fn a_reader_whose_messages_nobody_wants_stops() {
        let (mut left, mut right) = memory::pair();
        let (reader, ahead) = queue(&right);
        drop(ahead);
        left.send(&[1]).unwrap();
        reader.read(right.halves().1, [1, 1].into_iter()).unwrap();
    }

    #[test]
    fn another_length_is_an_error() {
        let (mut left, mut right) = memory::pair();
        let (reader, mut ahead) = queue(&right);
        thread::scope(|scope| {
            scope.spawn(|| reader.read(right.halves().1, [3].into_iter()).unwrap());
            left.send(&[1, 2, 3]).unwrap();
            let error = ahead.recv(&mut [0; 2]).unwrap_err();
            assert!(matches!(
                error,
                Error::MessageLength {
                    expected: 2,
                    received: 3
                }
            ));
        });
    }
}

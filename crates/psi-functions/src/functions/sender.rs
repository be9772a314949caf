//! The sender, which opens its shares of what the receiver is to learn.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, garble::garbler};
use psijoin_psi::{Error, Output, OutputKind, Role, Shares};

use super::{Function, Prepared, products, send, sums};

/// What the sender needs, after the offline phase.
pub struct Sender(Prepared<garbler::Setup>);

impl Sender {
    /// Prepares the function; the peer calls [`Receiver::offline`](super::Receiver::offline).
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        function: Function,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let set_up = garbler::Setup::new;
        let prepared = Prepared::offline(function, Role::Sender, set_up, channel, rng)?;
        Ok(Self(prepared))
    }

    /// Lets the receiver learn its output. The receiver calls
    /// [`Receiver::learn`](super::Receiver::learn). `numbers` has a column u for each of the sender's
    /// columns, with one number per lane.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn release(
        self,
        shares: Bits,
        numbers: Vec<Vec<u64>>,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        let Prepared {
            function,
            multipliers,
            circuit,
        } = self.0;
        let theirs = function.factors(Role::Receiver);
        let mut products = products::multiply(multipliers, &shares, numbers, theirs, channel)?;
        let count = function.take_count(&mut products);
        if let Some((comparison, circuit)) = function.comparison.zip(circuit)
            && comparison.garble(circuit, count, channel)? == Some(false)
        {
            return Ok(Output::TooFew);
        }
        match function.output {
            OutputKind::Rows => send(&shares.to_bytes(), channel)?,
            OutputKind::Count => send(&count.to_le_bytes(), channel)?,
            OutputKind::Sums(_) => send(bytemuck::cast_slice(&sums(&products)), channel)?,
            OutputKind::Shares(_) => {
                return Ok(Output::Shares(Shares::new(shares, products, None)));
            }
            _ => {}
        }
        Ok(Output::Nothing)
    }
}

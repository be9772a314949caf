//! The sender, which opens its shares of what the receiver is to learn.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_psi::{Context, Error, Output, OutputKind, Role, Shares};

use super::{Function, Prepared, opening};
use crate::products;

/// The sender's state after the offline phase.
pub struct Sender(Prepared<opening::Sender>);

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
        let prepare = opening::Sender::offline;
        let prepared = Prepared::offline(function, Role::Sender, prepare, channel, rng)?;
        Ok(Self(prepared))
    }

    /// Lets the receiver learn its output. The receiver calls
    /// [`Receiver::learn`](super::Receiver::learn). `numbers` has a column u for each of the
    /// sender's columns, with one number per lane, or a share by
    /// XOR of its labels.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn release(
        self,
        shares: Bits,
        numbers: Vec<Vec<u64>>,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Prepared {
            function,
            multipliers,
            grouper,
            opening,
        } = self.0;
        let channel = &mut *context.channel;
        let [own, theirs] = [Role::Sender, Role::Receiver].map(|giver| function.widths(giver));
        let (totals, products) = match grouper {
            Some(grouper) => (grouper.add_up(&shares, numbers, channel)?, Vec::new()),
            None => {
                let widths = [&own[..], &theirs];
                let products = products::multiply(multipliers, &shares, numbers, widths, channel)?;
                (function.add_up(&products), products)
            }
        };
        let Some(opening) = opening else {
            return Ok(match function.output {
                OutputKind::Shares(_) => Output::Shares(Shares::new(shares, products, None)),
                _ => Output::Totals(totals),
            });
        };
        opening.release(&totals, &[shares], context)
    }
}

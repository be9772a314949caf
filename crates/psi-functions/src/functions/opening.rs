//! The opening at the end: of the totals that both parties have shares of, or of the bits
//! themselves, or of nothing if too few items are shared.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{
    Bits, Lanes,
    garble::{evaluator, garbler},
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{
    Context, Conversation, Error, Group, Groups, Output, OutputKind, Request, Role, TotalShares,
    Totals,
};

use super::{bytes_up_to, comparison::Comparison, lowest_bytes, shown::Shown};

/// Bytes that travel together.
const BYTES_PER_MESSAGE: usize = 1 << 16;

/// The sender's part of the opening.
#[derive(Debug, Clone)]
pub struct Opening {
    output: OutputKind,
    /// No more items than this can be shared.
    most: u64,
    comparison: Option<Comparison>,
    /// If groups may be withheld.
    shown: Option<Shown>,
}

impl Opening {
    /// Returns what this request asks for.
    ///
    /// # Panics
    /// If it asks for shares, which are not opened.
    pub fn new(request: &Request) -> Self {
        let least = match request.output {
            OutputKind::Shares(_) | OutputKind::Totals(_) | OutputKind::GroupTotals(_) => {
                panic!("shares are kept")
            }
            OutputKind::Threshold(least) => Some((least, false)),
            _ => (request.min_intersection > 0).then_some((request.min_intersection, true)),
        };
        let most = request.sizes.smaller();
        let shown = match request.output {
            OutputKind::Groups(groups) if groups.least > 0 => Some(Shown {
                groups,
                most,
                base_ots: request.base_ots,
            }),
            _ => None,
        };
        Self {
            output: request.output.clone(),
            most,
            comparison: least.map(|(least, both_learn)| Comparison {
                least,
                most,
                both_learn,
                base_ots: request.base_ots,
            }),
            shown,
        }
    }

    /// Returns what has to be added up for it over all lanes: nothing if it is added up by groups.
    pub fn totals(&self) -> Totals {
        if self.output.groups().is_some() {
            return Totals::default();
        }
        Totals {
            columns: self.output.columns(),
            counted: self.output == OutputKind::Count || self.comparison.is_some(),
        }
    }

    /// Returns what is said offline and online. If rows are opened, there are bits of these numbers
    /// of lanes.
    pub fn conversations(&self, lanes: &[usize]) -> [Conversation; 2] {
        let [offline, online] = match (self.comparison, self.shown) {
            (Some(comparison), _) => comparison.conversations(),
            (None, Some(shown)) => shown.conversations(),
            (None, None) => Default::default(),
        };
        [offline, online.sender(self.opened_bytes(lanes) as u64)]
    }

    /// Returns the bytes of the count, and of the shares of it.
    pub(super) fn count_bytes(&self) -> usize {
        bytes_up_to(self.most)
    }

    /// Returns the numbers of noise that the sender adds.
    fn noise(&self) -> usize {
        self.output.noise(Role::Sender)
    }

    /// Returns the OTs of the garbled circuit, if there is one.
    fn extension(&self) -> Option<Extension> {
        let comparison = self.comparison.map(Comparison::extension);
        comparison.or_else(|| self.shown.map(Shown::extension))
    }

    /// Returns the bytes that the sender opens at last.
    fn opened_bytes(&self, lanes: &[usize]) -> usize {
        match self.output {
            OutputKind::Rows => lanes.iter().map(|lanes| lanes.div_ceil(8)).sum(),
            OutputKind::Count => size_of::<u64>(),
            OutputKind::Sums(columns) => columns.total() * size_of::<u64>(),
            OutputKind::Groups(groups) if groups.least == 0 => {
                groups.totals() * groups.count() * size_of::<u64>()
            }
            // A threshold is opened by the comparison, and groups are by their circuit.
            _ => 0,
        }
    }
}

/// The receiver's result of the opening.
pub enum Opened {
    /// The output.
    Output(Output),
    /// The bits of all lanes.
    Bits(Vec<Bits>),
}

/// The sender, which opens its shares.
pub struct Sender {
    opening: Opening,
    circuit: Option<garbler::Setup>,
}

impl Sender {
    /// Prepares it; the peer calls [`Receiver::offline`].
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(opening: Opening, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let set_up = |extension| garbler::Setup::new(extension, channel, rng);
        let circuit = opening.extension().map(set_up).transpose()?;
        Ok(Self { opening, circuit })
    }

    /// Lets the receiver, which calls [`Receiver::learn`], learn what it is to learn. Bits are
    /// those of rows. The context's [noise](Context::noise) goes into this party's shares first: so
    /// neither a count that is compared nor a total that is opened is without it.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the noise is not what was agreed on, and if the channel breaks or the
    /// peer misbehaves.
    pub fn release(
        self,
        totals: &TotalShares,
        bits: &[Bits],
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { opening, circuit } = self;
        if context.noise.len() != opening.noise() {
            return Err(Error::OTHER_NOISE);
        }
        let totals = &with_noise(totals, context.noise);
        let channel = &mut *context.channel;
        if let Some(shown) = opening.shown {
            let circuit = circuit.expect("it was set up");
            shown.garble(circuit, &totals.sums, channel)?;
            return Ok(Output::Nothing);
        }
        if let Some((comparison, circuit)) = opening.comparison.zip(circuit)
            && comparison.garble(circuit, totals.count, channel)? == Some(false)
        {
            return Ok(Output::TooFew);
        }
        match opening.output {
            OutputKind::Rows => {
                for bits in bits {
                    send(&bits.to_bytes(), channel)?;
                }
            }
            OutputKind::Count => send(&totals.count.to_le_bytes(), channel)?,
            OutputKind::Sums(_) | OutputKind::Groups(_) => {
                send(bytemuck::cast_slice(&totals.sums), channel)?;
            }
            _ => {}
        }
        Ok(Output::Nothing)
    }
}

/// The receiver, which adds its shares to what the sender opens.
pub struct Receiver {
    opening: Opening,
    circuit: Option<evaluator::Setup>,
}

impl Receiver {
    /// Prepares it; the peer calls [`Sender::offline`].
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(opening: Opening, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let set_up = |extension| evaluator::Setup::new(extension, channel, rng);
        let circuit = opening.extension().map(set_up).transpose()?;
        Ok(Self { opening, circuit })
    }

    /// Learns what it is to learn; the peer calls [`Sender::release`].
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn learn(
        self,
        totals: &TotalShares,
        bits: &[Bits],
        channel: &mut Channel,
    ) -> Result<Opened, Error> {
        let Self { opening, circuit } = self;
        if let OutputKind::Groups(groups) = opening.output {
            let groups = match opening.shown.zip(circuit) {
                Some((shown, circuit)) => shown.evaluate(circuit, &totals.sums, channel)?,
                None => open_groups(groups, &totals.sums, channel)?,
            };
            return of_groups(groups, &opening).map(Opened::Output);
        }
        let reached = (opening.comparison.zip(circuit))
            .map(|(comparison, circuit)| comparison.evaluate(circuit, totals.count, channel))
            .transpose()?;
        let output = match (&opening.output, reached) {
            (OutputKind::Threshold(_), reached) => Output::Reached(reached == Some(true)),
            (_, Some(false)) => Output::TooFew,
            (OutputKind::Count, _) => open_count(totals.count, opening.most, channel)?,
            (OutputKind::Sums(_), _) => open_sums(&totals.sums, channel)?,
            _ => return open_bits(bits, channel).map(Opened::Bits),
        };
        Ok(Opened::Output(output))
    }
}

fn open_bits(shares: &[Bits], channel: &mut Channel) -> Result<Vec<Bits>, Error> {
    let open = |shares: &Bits| {
        let mut theirs = vec![0; shares.lanes().div_ceil(8)];
        receive(&mut theirs, channel)?;
        Ok(shares ^ &Bits::from_bytes(&theirs, shares.lanes()))
    };
    shares.iter().map(open).collect()
}

/// A peer that reveals more than there can be.
const TOO_MANY: Error = Error::Peer("it revealed that more items are shared than a party has");

fn open_count(share: u64, most: u64, channel: &mut Channel) -> Result<Output, Error> {
    let mut theirs = [0_u64];
    receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
    let count = lowest_bytes(share.wrapping_add(theirs[0]), bytes_up_to(most));
    if count > most {
        return Err(TOO_MANY);
    }
    Ok(Output::Count(count))
}

fn open_sums(shares: &[u64], channel: &mut Channel) -> Result<Output, Error> {
    Ok(Output::Sums(open_numbers(shares, channel)?))
}

fn open_numbers(shares: &[u64], channel: &mut Channel) -> Result<Vec<i64>, Error> {
    let mut theirs = vec![0_u64; shares.len()];
    receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
    let sums = shares.iter().zip(theirs);
    let sums = sums.map(|(ours, theirs)| ours.wrapping_add(theirs) as i64);
    Ok(sums.collect())
}

/// Returns the totals of all groups.
fn open_groups(
    groups: Groups,
    shares: &[u64],
    channel: &mut Channel,
) -> Result<Vec<Option<Group>>, Error> {
    let numbers = open_numbers(shares, channel)?;
    let (counts, sums) = numbers.split_at(groups.count());
    let group = |(i, count): (usize, &i64)| {
        Some(Group {
            count: *count,
            sums: sums.chunks(groups.count()).map(|sums| sums[i]).collect(),
        })
    };
    Ok(counts.iter().enumerate().map(group).collect())
}

/// Returns groups that all have no more items than can be shared. With noise they may seem to have.
fn of_groups(groups: Vec<Option<Group>>, opening: &Opening) -> Result<Output, Error> {
    let mut left = Some(opening.most);
    for group in groups.iter().flatten() {
        let count = u64::try_from(group.count).ok();
        left = left
            .zip(count)
            .and_then(|(left, count)| left.checked_sub(count));
    }
    match left.is_some() || opening.noise() > 0 {
        true => Ok(Output::Groups(groups)),
        false => Err(TOO_MANY),
    }
}

/// Returns the shares of totals to which a party has added its noise, if it has any.
fn with_noise(totals: &TotalShares, noise: &[u64]) -> TotalShares {
    let mut totals = totals.clone();
    for (share, noise) in totals.sums.iter_mut().zip(noise) {
        *share = share.wrapping_add(*noise);
    }
    totals
}

fn send(bytes: &[u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.send(part)?))
}

fn receive(bytes: &mut [u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks_mut(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.recv(part)?))
}

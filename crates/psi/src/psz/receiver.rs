use psijoin_block::memory::Buffer;
use psijoin_channel::{Channel, Outbound};
use psijoin_encode::{CHOICES, Chosen, CuckooTable, SimpleTable, TwoChoiceTable};
use psijoin_ot::kk13::{self, Choice, Hash, Row};
use psijoin_params::simple;

use super::{
    Params,
    functions::{Functions, Letters, Masker, Spot, TWO},
    layout::{Candidates, Section},
    params::Method,
};
use crate::{
    Context, Error, Input, Output, Party, items::by_digest, protocol, sorted_masks::Own, stream,
};

/// The party that learns the result, after the offline phase.
pub struct Receiver {
    params: Params,
    ots: kk13::Receiver,
}

impl Receiver {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        Ok(Self {
            params: params.clone(),
            ots: kk13::Receiver::setup(channel, &mut context.rng)?,
        })
    }

    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, ots } = self;
        let functions = Functions::new(&params, input);
        functions.check(items)?;
        let hash = Hash::new(input.joint_key("psijoin 2026 psz strings"));

        // Step 2.
        context.phase("hashing");
        let placed = Placed::build(items, &functions, &params)?;

        // Steps 3 and 4.
        context.phase("letters");
        let (outbound, inbound) = channel.halves();
        let (mut own, mut owners) = (Vec::new(), Vec::new());
        for section in params.sections() {
            let places = placed.of(&section);
            let hashes = choose(section, places, &ots, &hash, outbound)?;
            for (hash, place) in hashes.iter().zip(places) {
                if let Some((item, _)) = place {
                    own.push(*hash);
                    owners.push(*item);
                }
            }
        }

        // Step 5.
        context.phase("masks");
        let mut found = Vec::new();
        for list in params.lists() {
            let masks = params.masks(&list);
            let (own, owners) = (&own[list.clone()], &owners[list]);
            let positions = masks.receive(&Own::new(masks, own), inbound)?;
            let positions = positions.iter().flatten();
            found.extend(positions.map(|position| owners[*position as usize]));
        }
        Ok(protocol::rows(found, items.len()))
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}

/// What a place holds: an item's number, and its letters.
type Place = Option<(u32, Letters)>;

/// Chooses the letters of all places of a section; the hashes of those that hold an item.
fn choose(
    section: Section,
    places: &[Place],
    ots: &kk13::Receiver,
    hash: &Hash,
    outbound: &mut dyn Outbound,
) -> Result<Buffer<u128>, Error> {
    let messages = section.messages_of_places();
    let mut own = Buffer::<u128>::zeroed(places.len());
    stream::send_with(
        outbound,
        messages,
        &mut own,
        &Scratch::default,
        &|range, own, scratch, message| {
            let first_ot = section.first_ot_of(range.start / messages.per_message);
            let words = Words {
                ots,
                first_ot,
                letters: section.letters,
                places: &places[range],
            };
            scratch.choose(&words, message);
            scratch.hash(&words, hash, own);
            Ok(())
        },
    )?;
    Ok(own)
}

/// The words of the places of a message.
struct Words<'a> {
    ots: &'a kk13::Receiver,
    first_ot: u64,
    letters: usize,
    places: &'a [Place],
}

/// For the letters of a message.
#[derive(Default)]
struct Scratch {
    choices: Vec<Choice>,
    columns: kk13::Scratch,
    rows: Vec<Row>,
    hashes: Vec<u128>,
}

impl Scratch {
    /// Appends what chooses the letters, and keeps their rows.
    fn choose(&mut self, words: &Words<'_>, message: &mut Vec<u8>) {
        self.choices.clear();
        for place in words.places {
            match place {
                Some((_, word)) => {
                    let letters = word[..words.letters].iter().copied();
                    self.choices.extend(letters.map(Choice::letter));
                }
                None => (self.choices).extend((0..words.letters).map(|_| Choice::BLANK)),
            }
        }
        words.ots.choose(
            words.first_ot,
            &self.choices,
            &mut self.columns,
            message,
            &mut self.rows,
        );
    }

    /// Hashes the rows of the places that hold an item.
    fn hash(&mut self, words: &Words<'_>, hash: &Hash, own: &mut [u128]) {
        let mut masker = Masker::new(hash, words.letters);
        self.hashes.clear();
        let first_ots = (words.first_ot..).step_by(words.letters);
        let rows = self.rows.chunks_exact(words.letters);
        for ((rows, place), first) in rows.zip(words.places).zip(first_ots) {
            if place.is_some() {
                let inputs = rows.iter().zip(first..);
                masker.push(
                    inputs.map(|(row, number)| words.ots.input(row, number)),
                    &mut self.hashes,
                );
            }
        }
        masker.flush(&mut self.hashes);
        let occupied = own
            .iter_mut()
            .zip(words.places)
            .filter(|(_, place)| place.is_some());
        for ((own, _), hash) in occupied.zip(&self.hashes) {
            *own = *hash;
        }
    }
}

/// The bins of each item.
fn choices_of<const N: usize>(spots: &[Spot]) -> Vec<[u32; N]> {
    spots
        .chunks_exact(N)
        .map(|spots| std::array::from_fn(|i| spots[i].bin))
        .collect()
}

/// Every item in a place.
struct Placed {
    in_bins: Vec<Place>,
    beside: Vec<Place>,
}

impl Placed {
    fn build<const D: usize>(
        items: &[[u8; D]],
        functions: &Functions,
        params: &Params,
    ) -> Result<Self, Error> {
        let mut spots = vec![Spot::default(); items.len() * functions.per_item()];
        functions.spots(items, &mut spots);
        let beside = |item: u32| Some((item, functions.all_letters(&items[item as usize])));
        match params.method {
            Method::None => Ok(Self {
                in_bins: Vec::new(),
                beside: (0..items.len() as u32).map(beside).collect(),
            }),
            Method::Simple(shape) => {
                let bins: Vec<u32> = spots.iter().map(|spot| spot.bin).collect();
                let table = SimpleTable::build(&bins, shape).map_err(|_| params.bad_luck())?;
                let spot = |item: &u32| (*item, spots[*item as usize].letters);
                Ok(Self::in_bins(shape, |bin| table.bin(bin).iter().map(spot)))
            }
            Method::Balanced(shape) => {
                let table = TwoChoiceTable::build(&choices_of::<TWO>(&spots), shape)
                    .map_err(|_| params.bad_luck())?;
                let spot = |chosen: &Chosen| {
                    let spot = chosen.item as usize * TWO + usize::from(chosen.choice);
                    (chosen.item, spots[spot].letters)
                };
                let items = |bin| table.bin(bin as usize).iter().map(spot);
                Ok(Self::in_bins(shape, items))
            }
            Method::Cuckoo(shape) | Method::Permuted(shape) => {
                let table = CuckooTable::build(&choices_of(&spots), shape)
                    .map_err(|_| params.bad_luck())?;
                let place = |placed: psijoin_encode::Placed| {
                    let spot = placed.item as usize * CHOICES + usize::from(placed.choice);
                    (placed.item, spots[spot].letters)
                };
                let mut stash: Vec<Place> =
                    table.stash().iter().map(|item| beside(*item)).collect();
                stash.resize(shape.stash as usize, None);
                Ok(Self {
                    in_bins: table.bins().map(|placed| placed.map(place)).collect(),
                    beside: stash,
                })
            }
        }
    }

    /// Bins of several places: `items` are those of a bin.
    fn in_bins<I: Iterator<Item = (u32, Letters)>>(
        shape: simple::Shape,
        items: impl Fn(u32) -> I,
    ) -> Self {
        let mut in_bins = vec![None; shape.slots() as usize];
        let places = in_bins.chunks_exact_mut(shape.capacity as usize);
        for (places, bin) in places.zip(0..) {
            for (place, item) in places.iter_mut().zip(items(bin)) {
                *place = Some(item);
            }
        }
        Self {
            in_bins,
            beside: Vec::new(),
        }
    }

    fn of(&self, section: &Section) -> &[Place] {
        match section.candidates {
            Candidates::OfBin => &self.in_bins,
            Candidates::All => &self.beside,
        }
    }
}

use psijoin_block::{memory::Buffer, scatter};
use psijoin_channel::{Channel, Inbound};
use psijoin_ot::kk13::{self, Hash, Row};
use rayon::prelude::*;

use super::{
    Params,
    functions::{Functions, Masker, Spot},
    layout::{Candidates, Section},
};
use crate::{Context, Error, Input, Output, Party, items::by_digest, sorted_masks::sort, stream};

/// Items that one task hashes to bins.
const ITEMS_PER_TASK: usize = 4096;

/// The party that learns nothing, after the offline phase.
pub struct Sender {
    params: Params,
    ots: kk13::Sender,
}

impl Sender {
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
            ots: kk13::Sender::setup(channel, &mut context.rng)?,
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

        // Steps 2 to 4.
        let (_, inbound) = channel.halves();
        let mut hashes = Vec::new();
        for section in params.sections() {
            let opened = Opened {
                section,
                ots: &ots,
                hash: &hash,
            };
            match section.candidates {
                Candidates::OfBin => {
                    context.phase("hashing");
                    let spots = Grouped::new(items, &functions, section);
                    context.phase("letters");
                    let evaluate = |message, rows: &[Row]| {
                        opened.evaluate_bins(message, rows, spots.of_message(message))
                    };
                    opened.receive(inbound, evaluate, &mut hashes)?;
                }
                Candidates::All => {
                    context.phase("letters");
                    let evaluate = |message, rows: &[Row]| {
                        opened.evaluate_all(message, rows, items, &functions)
                    };
                    opened.receive(inbound, evaluate, &mut hashes)?;
                }
            }
        }

        // Step 5: sorting is the permutation.
        context.phase("masks");
        let hashes = hashes.concat();
        let sorted = sort(&hashes);
        drop(hashes);
        params.masks().send(&sorted, channel.halves().0)?;
        Ok(Output::Nothing)
    }
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_digest!(self, input, channel, context)
    }
}

/// The OTs of a section.
struct Opened<'a> {
    section: Section,
    ots: &'a kk13::Sender,
    hash: &'a Hash,
}

impl Opened<'_> {
    /// Receives what was chosen, and appends what `evaluate` makes of the rows of each message.
    fn receive(
        &self,
        inbound: &mut dyn Inbound,
        evaluate: impl Fn(usize, &[Row]) -> Vec<u128> + Sync,
        hashes: &mut Vec<Vec<u128>>,
    ) -> Result<(), Error> {
        let section = &self.section;
        let of_messages = stream::receive_each(
            inbound,
            section.messages(),
            |bins| section.message_bytes(bins),
            |bins, sent| {
                let message = bins.start / section.bins_per_message();
                let (mut scratch, mut rows) = (kk13::Scratch::default(), Vec::new());
                self.ots.rows(
                    section.first_ot_of(message),
                    section.ots(bins.len()),
                    sent,
                    &mut scratch,
                    &mut rows,
                );
                evaluate(message, &rows)
            },
        )?;
        hashes.extend(of_messages);
        Ok(())
    }

    /// Each spot with each place of its bin.
    fn evaluate_bins(&self, message: usize, rows: &[Row], spots: &[Spot]) -> Vec<u128> {
        let capacity = self.section.capacity as usize;
        let first_bin = message * self.section.bins_per_message();
        let mut words = self.words(message, rows, spots.len() * capacity);
        for spot in spots {
            let bin = spot.bin as usize - first_bin;
            for place in bin * capacity..(bin + 1) * capacity {
                words.push(place, &spot.letters);
            }
        }
        words.finish()
    }

    /// Each item with each place.
    fn evaluate_all<const D: usize>(
        &self,
        message: usize,
        rows: &[Row],
        items: &[[u8; D]],
        functions: &Functions,
    ) -> Vec<u128> {
        let places = rows.len() / self.section.letters;
        let mut words = self.words(message, rows, items.len() * places);
        for item in items {
            let letters = functions.all_letters(item);
            for place in 0..places {
                words.push(place, &letters);
            }
        }
        words.finish()
    }

    fn words<'a>(&'a self, message: usize, rows: &'a [Row], count: usize) -> Words<'a> {
        Words {
            ots: self.ots,
            first_ot: self.section.first_ot_of(message),
            letters: self.section.letters,
            rows,
            masker: Masker::new(self.hash, self.section.letters),
            hashes: Vec::with_capacity(count),
        }
    }
}

/// The words that are compared with the places of a message.
struct Words<'a> {
    ots: &'a kk13::Sender,
    first_ot: u64,
    letters: usize,
    rows: &'a [Row],
    masker: Masker<'a>,
    hashes: Vec<u128>,
}

impl Words<'_> {
    #[inline]
    fn push(&mut self, place: usize, letters: &[u8]) {
        let first = place * self.letters;
        let rows = &self.rows[first..first + self.letters];
        let numbers = self.first_ot + first as u64..;
        let inputs = rows
            .iter()
            .zip(letters)
            .zip(numbers)
            .map(|((row, letter), number)| self.ots.input(row, *letter, number));
        self.masker.push(inputs, &mut self.hashes);
    }

    fn finish(mut self) -> Vec<u128> {
        self.masker.flush(&mut self.hashes);
        self.hashes
    }
}

/// The spots of all items, those of a message's bins together.
struct Grouped {
    spots: Buffer<Spot>,
    ranges: Vec<std::ops::Range<usize>>,
}

impl Grouped {
    fn new<const D: usize>(items: &[[u8; D]], functions: &Functions, section: Section) -> Self {
        let messages = section.messages().count();
        let message_of = |spot: &Spot| spot.bin as usize / section.bins_per_message();
        let per_item = functions.per_item();

        let mut unordered = Buffer::<Spot>::zeroed(items.len() * per_item);
        unordered
            .par_chunks_mut(ITEMS_PER_TASK * per_item)
            .zip(items.par_chunks(ITEMS_PER_TASK))
            .for_each(|(spots, items)| functions.spots(items, spots));

        let unit = unordered
            .len()
            .div_ceil(rayon::current_num_threads())
            .max(1);
        let counts: Vec<Vec<usize>> = unordered
            .par_chunks(unit)
            .map(|spots| {
                let mut counts = vec![0; messages];
                spots.iter().for_each(|spot| counts[message_of(spot)] += 1);
                counts
            })
            .collect();
        let mut spots = Buffer::<Spot>::zeroed(unordered.len());
        let (places, ranges) = scatter::places(&mut spots, &counts);
        unordered
            .par_chunks(unit)
            .zip(places)
            .for_each(|(spots, mut places)| {
                for spot in spots {
                    places[message_of(spot)].push(*spot);
                }
            });
        Self { spots, ranges }
    }

    fn of_message(&self, message: usize) -> &[Spot] {
        &self.spots[self.ranges[message].clone()]
    }
}

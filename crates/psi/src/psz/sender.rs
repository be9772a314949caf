use psijoin_block::{memory::Buffer, parallel, scatter};
use psijoin_channel::{Channel, Inbound};
use psijoin_ot::kk13::{self, Hash, Row};

use super::{
    Params,
    functions::{Functions, Masker, Spot},
    layout::{Candidates, Section},
    params::Method,
};
use crate::{Context, Error, Input, Output, Party, items::by_digest, sorted_masks::sort, stream};

/// Items that one task compares with places.
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

        if let (Method::None, [section]) = (params.method, &params.sections()[..]) {
            let opened = Opened {
                section: *section,
                ots: &ots,
                hash: &hash,
            };
            context.phase("letters");
            opened.send_lists(items, &params, &functions, channel)?;
            return Ok(Output::Nothing);
        }

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
                    hashes.extend(opened.receive(inbound, &|message, rows| {
                        opened.evaluate_bins(message, &rows, spots.of_message(message))
                    })?);
                }
                Candidates::All => {
                    context.phase("letters");
                    hashes.extend(opened.receive(inbound, &|message, rows| {
                        let first_ot = section.first_ot_of(message);
                        opened.evaluate_all(first_ot, &rows, items, &functions)
                    })?);
                }
            }
        }

        // Step 5: sorting is the permutation.
        context.phase("masks");
        let hashes = hashes.concat();
        let sorted = sort(&hashes);
        drop(hashes);
        for list in params.lists() {
            params.masks(&list).send(&sorted, channel.halves().0)?;
        }
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
    /// Receives what was chosen: what `evaluate` makes of the rows of each message.
    fn receive<T: Send>(
        &self,
        inbound: &mut dyn Inbound,
        evaluate: &(dyn Fn(usize, Vec<Row>) -> T + Sync),
    ) -> Result<Vec<T>, Error> {
        let section = &self.section;
        stream::receive_each(
            inbound,
            section.messages(),
            &|bins| section.message_bytes(bins),
            &|bins, sent| {
                let message = bins.start / section.bins_per_message();
                let (mut scratch, mut rows) = (kk13::Scratch::default(), Vec::new());
                self.ots.rows(
                    section.first_ot_of(message),
                    section.ots(bins.len()),
                    sent,
                    &mut scratch,
                    &mut rows,
                );
                evaluate(message, rows)
            },
        )
    }

    /// Steps 3 to 5 where there are no bins: masks of all items for a few places at a time, since
    /// there are more of them than fit into memory.
    fn send_lists<const D: usize>(
        &self,
        items: &[[u8; D]],
        params: &Params,
        functions: &Functions,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let (outbound, inbound) = channel.halves();
        let tasks: Vec<_> = items.chunks(ITEMS_PER_TASK).collect();
        let messages = self.receive(inbound, &|_, rows| rows)?;
        let mut lists = params.lists().into_iter();
        let letters = self.section.letters;
        for (message, rows) in messages.iter().enumerate() {
            let first_ots =
                (self.section.first_ot_of(message)..).step_by(params.places_per_list() * letters);
            let places = rows.chunks(params.places_per_list() * letters);
            for ((rows, first_ot), list) in places.zip(first_ots).zip(&mut lists) {
                let hashes = parallel::map(tasks.len(), &|i| {
                    self.evaluate_all(first_ot, rows, tasks[i], functions)
                });
                let hashes = hashes.concat();
                params.masks(&list).send(&sort(&hashes), outbound)?;
            }
        }
        Ok(())
    }

    /// Each spot with each place of its bin.
    fn evaluate_bins(&self, message: usize, rows: &[Row], spots: &[Spot]) -> Vec<u128> {
        let capacity = self.section.capacity as usize;
        let first_bin = message * self.section.bins_per_message();
        let first_ot = self.section.first_ot_of(message);
        let mut words = self.words(first_ot, rows, spots.len() * capacity);
        for spot in spots {
            let bin = spot.bin as usize - first_bin;
            for place in bin * capacity..(bin + 1) * capacity {
                words.push(place, &spot.letters);
            }
        }
        words.finish()
    }

    /// Each item with each place, whose OTs are numbered from `first_ot` on.
    fn evaluate_all<const D: usize>(
        &self,
        first_ot: u64,
        rows: &[Row],
        items: &[[u8; D]],
        functions: &Functions,
    ) -> Vec<u128> {
        let places = rows.len() / self.section.letters;
        let mut words = self.words(first_ot, rows, items.len() * places);
        for item in items {
            let letters = functions.all_letters(item);
            for place in 0..places {
                words.push(place, &letters);
            }
        }
        words.finish()
    }

    fn words<'a>(&'a self, first_ot: u64, rows: &'a [Row], count: usize) -> Words<'a> {
        Words {
            ots: self.ots,
            first_ot,
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

        let mut unordered = Buffer::<Spot>::zeroed(items.len() * functions.per_item());
        functions.spots(items, &mut unordered);

        let per_unit = unordered.len().div_ceil(parallel::threads()).max(1);
        let units: Vec<&[Spot]> = unordered.chunks(per_unit).collect();
        let counts = parallel::map(units.len(), &|i| {
            let mut counts = vec![0; messages];
            for spot in units[i] {
                counts[message_of(spot)] += 1;
            }
            counts
        });
        let mut spots = Buffer::<Spot>::zeroed(unordered.len());
        let (mut places, ranges) = scatter::places(&mut spots, &counts);
        parallel::each_mut(&mut places, &|i, places| {
            for spot in units[i] {
                places[message_of(spot)].push(*spot);
            }
        });
        Self { spots, ranges }
    }

    fn of_message(&self, message: usize) -> &[Spot] {
        &self.spots[self.ranges[message].clone()]
    }
}

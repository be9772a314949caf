use std::ops::Range;

use psijoin_block::scatter;
use psijoin_channel::{Channel, Inbound, stream};
use psijoin_encode::Digests;
use psijoin_ot::kk13::{self, Row};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::{memory::Buffer, parallel};

use super::{
    Params,
    functions::{Functions, Spot, Word, letters_of, word_of},
    layout::{Candidates, Section},
    masker::Masker,
    spelling::Method,
};

/// Items that one task compares with places.
const ITEMS_PER_TASK: usize = 4096;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(kk13::Sender);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        context.phases.begin("base OT");
        let ots = kk13::Sender::setup(params.base_ots(), context.channel, &mut context.rng)?;
        Ok(Self(ots))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let items = input.items.digests();
        // Step 2.
        let functions = Functions::new(params, input.joint_seed);
        match (params.spelling.method, &params.sections()[..]) {
            (Method::None, [section]) => {
                context.phases.begin("letters");
                let opened = self.opened(*section, &functions);
                opened.send_lists(items, params, context.channel)?;
            }
            (_, sections) => {
                let hashes = self.evaluate(items, sections, &functions, context)?;
                // Step 5.
                context.phases.begin("masks");
                let masks = params.masks(&params.whole_list());
                masks.send_unsorted(hashes, context.channel.halves().0)?;
            }
        }
        Ok(Output::Nothing)
    }
}

impl Sender {
    /// Steps 3 and 4 with bins: m_x of all items x and places, hashed.
    fn evaluate(
        &self,
        items: Digests<'_>,
        sections: &[Section],
        functions: &Functions,
        context: &mut Context,
    ) -> Result<Vec<u128>, Error> {
        let (_, inbound) = context.channel.halves();
        let mut hashes = Vec::new();
        for section in sections {
            let opened = self.opened(*section, functions);
            match section.candidates {
                Candidates::OfBin => {
                    context.phases.begin("hashing");
                    let spots = Grouped::new(items, functions, section);
                    context.phases.begin("letters");
                    hashes.extend(opened.receive(inbound, &|message, rows| {
                        opened.evaluate_bins(message, &rows, spots.of_message(message))
                    })?);
                }
                Candidates::All => {
                    context.phases.begin("letters");
                    hashes.extend(opened.receive(inbound, &|message, rows| {
                        opened.evaluate_all(section.first_ot_of(message), &rows, items)
                    })?);
                }
            }
        }
        Ok(hashes.concat())
    }

    fn opened<'a>(&'a self, section: Section, functions: &'a Functions) -> Opened<'a> {
        Opened {
            section,
            ots: &self.0,
            functions,
        }
    }
}

/// The OTs of a section.
struct Opened<'a> {
    section: Section,
    ots: &'a kk13::Sender,
    functions: &'a Functions,
}

impl Opened<'_> {
    /// Step 3: what `evaluate` makes of the rows of each message.
    fn receive<T: Send>(
        &self,
        inbound: &mut dyn Inbound,
        evaluate: &(dyn Fn(usize, Vec<Row>) -> T + Sync),
    ) -> Result<Vec<T>, Error> {
        let section = &self.section;
        let received = stream::receive_each(
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
        )?;
        Ok(received)
    }

    /// Steps 3 to 5 without bins: masks of all items for a few places at a time, since
    /// there are more of them than fit into memory.
    fn send_lists(
        &self,
        items: Digests<'_>,
        params: &Params,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let (outbound, inbound) = channel.halves();
        let tasks: Vec<_> = items.chunks(ITEMS_PER_TASK).collect();
        // Step 3.
        let messages = self.receive(inbound, &|_, rows| rows)?;
        let mut lists = params.lists().into_iter();
        let rows_per_list = params.places_per_list() * self.section.letters;
        for (message, rows) in messages.iter().enumerate() {
            let first_ots = (self.section.first_ot_of(message)..).step_by(rows_per_list);
            let places = rows.chunks(rows_per_list);
            for ((rows, first_ot), list) in places.zip(first_ots).zip(&mut lists) {
                // Step 4.
                let hashes = parallel::map(tasks.len(), &|i| {
                    self.evaluate_all(first_ot, rows, tasks[i])
                });
                // Step 5.
                let masks = params.masks(&list);
                masks.send_unsorted(hashes.concat(), outbound)?;
            }
        }
        Ok(())
    }

    /// Step 4: each spot with each place of its bin.
    fn evaluate_bins(&self, message: usize, rows: &[Row], spots: &[Spot]) -> Vec<u128> {
        let capacity = self.section.capacity as usize;
        let first_bin = message * self.section.bins_per_message();
        let first_ot = self.section.first_ot_of(message);
        let mut words = self.words(first_ot, rows, spots.len() * capacity);
        for spot in spots {
            let bin = spot.bin as usize - first_bin;
            for place in bin * capacity..(bin + 1) * capacity {
                words.push(place, &spot.word);
            }
        }
        words.finish()
    }

    /// Step 4: each item with each place, whose OTs are numbered from `first_ot` on.
    fn evaluate_all(&self, first_ot: u64, rows: &[Row], items: Digests<'_>) -> Vec<u128> {
        let places = rows.len() / self.section.letters;
        let mut words = self.words(first_ot, rows, items.len() * places);
        for item in 0..items.len() {
            let word = word_of(items.words(item));
            for place in 0..places {
                words.push(place, &word);
            }
        }
        words.finish()
    }

    fn words<'a>(&'a self, first_ot: u64, rows: &'a [Row], count: usize) -> Words<'a> {
        Words {
            ots: self.ots,
            first_ot,
            letters: self.section.letters,
            letter_bits: self.functions.letter_bits,
            rows,
            masker: Masker::new(&self.functions.strings, self.section.letters),
            hashes: Vec::with_capacity(count),
        }
    }
}

/// The words that are compared with the places of a message.
struct Words<'a> {
    ots: &'a kk13::Sender,
    first_ot: u64,
    letters: usize,
    letter_bits: u32,
    rows: &'a [Row],
    masker: Masker<'a>,
    hashes: Vec<u128>,
}

impl Words<'_> {
    #[inline]
    fn push(&mut self, place: usize, word: &Word) {
        let first = place * self.letters;
        let rows = &self.rows[first..first + self.letters];
        let numbers = self.first_ot + first as u64..;
        let inputs = rows
            .iter()
            .zip(letters_of(word, self.letter_bits, self.letters))
            .zip(numbers)
            .map(|((row, letter), number)| self.ots.input(row, letter, number));
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
    ranges: Vec<Range<usize>>,
}

impl Grouped {
    fn new(items: Digests<'_>, functions: &Functions, section: &Section) -> Self {
        let messages = section.messages().count();
        let message_of = |spot: &Spot| spot.bin as usize / section.bins_per_message();

        let unordered = functions.spots(items);
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

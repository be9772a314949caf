use psijoin_channel::{Outbound, stream};
use psijoin_ot::kk13::{self, Choice, Hash, Row};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::memory::Buffer;

use super::{
    Params,
    functions::{Functions, letters_of},
    layout::Section,
    masker::Masker,
    places::{Place, Placed},
};

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver(kk13::Receiver);

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        context.phases.begin("base OT");
        let ots = kk13::Receiver::setup(params.base_ots(), context.channel, &mut context.rng)?;
        Ok(Self(ots))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();

        // Step 2.
        let functions = Functions::new(params, input.joint_seed);
        context.phases.begin("hashing");
        let placed = Placed::build(input.items, &functions, params)?;

        // Step 3: the hashes of m_y, and the items y.
        context.phases.begin("letters");
        let (mut own, mut owners) = (Vec::new(), Vec::new());
        for section in params.sections() {
            let places = placed.of(&section);
            let hashes = self.choose(section, places, &functions, outbound)?;
            for (hash, place) in hashes.iter().zip(places) {
                if let Some((item, _)) = place {
                    own.push(*hash);
                    owners.push(*item);
                }
            }
        }

        // Step 5.
        context.phases.begin("masks");
        let mut found = Vec::new();
        for list in params.lists() {
            let positions = params.masks(&list).find(&own[list.clone()], inbound)?;
            let owners = &owners[list];
            found.extend(positions.iter().map(|position| owners[*position as usize]));
        }
        Ok(Output::rows(found, input.items.len()))
    }
}

impl Receiver {
    /// Step 3 for the places of a section; the hashes of those that hold an item.
    fn choose(
        &self,
        section: Section,
        places: &[Place],
        functions: &Functions,
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
                let words = Words {
                    ots: &self.0,
                    first_ot: section.first_ot_of(range.start / messages.per_message),
                    letters: section.letters,
                    letter_bits: functions.letter_bits,
                    places: &places[range],
                };
                scratch.choose(&words, message);
                scratch.hash(&words, &functions.strings, own);
                Ok::<(), Error>(())
            },
        )?;
        Ok(own)
    }
}

/// The words of the places of a message.
struct Words<'a> {
    ots: &'a kk13::Receiver,
    first_ot: u64,
    letters: usize,
    letter_bits: u32,
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
                    let letters = letters_of(word, words.letter_bits, words.letters);
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

    /// Computes m_y, hashed, of the places that hold an item y.
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

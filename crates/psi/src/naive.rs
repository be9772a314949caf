//! `naive`: the parties compare salted hashes. **Insecure**: a baseline for measurements.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** "Naive hashing", PSZ14 §1.1 and KKRT16 Table 3: the sender hashes its items,
//! permutes the hashes and sends them; the receiver compares.
//!
//! **Security.** None worth the name. The receiver can try any item that it can think of
//! against the sender's hashes, so it learns every item of a small domain (names, numbers,
//! addresses). A salt does not help: the receiver knows it.
//!
//! **Cost.** One round; n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits (half of the
//! failure budget is the masks').

use psijoin_block::parallel;
use psijoin_channel::Channel;
use psijoin_params::FailureBudget;

use crate::{
    Adversary, Context, Cost, Error, Info, Input, Items, Output, Parameter, Request, Role, Traffic,
    basis::Basis,
    items::words,
    masks::{Mask, MaskIndex, MaskLength},
    protocol::{self, Party, Plan, Protocol},
    stream::{self, Chunks},
};

/// The entry of the registry.
pub struct Naive;

static INFO: Info = Info {
    name: "naive",
    summary: "INSECURE baseline: the sender sends salted hashes",
    paper: "PSZ14 §1.1",
    adversary: Adversary::Insecure,
    leaks: "set sizes; EVERY item of the sender that the receiver can guess",
    version: 1,
};

/// Masks in a message.
const MASKS_PER_MESSAGE: usize = 8192;

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params(Basis);

impl Params {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    pub fn new(request: &Request) -> Result<Self, Error> {
        Ok(Self(Basis::new(request)?))
    }

    fn chunks(&self) -> Chunks {
        Chunks {
            total: self.0.sizes().sender() as usize,
            per_message: MASKS_PER_MESSAGE,
        }
    }
}

impl Protocol for Naive {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn request(&self) -> &Request {
        &self.0.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.0.parameters()
    }

    fn budget(&self) -> &FailureBudget {
        &self.0.budget
    }

    fn cost(&self) -> Cost {
        let sender_bytes = self
            .chunks()
            .bytes(|count| self.0.masks.packed_bytes(count));
        Cost {
            online: Traffic {
                sender_bytes,
                rounds: 1,
                ..Traffic::default()
            },
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.0.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        _channel: &mut Channel,
        _context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        let params = self.clone();
        Ok(match role {
            Role::Sender => Box::new(Sender { params }),
            Role::Receiver => Box::new(Receiver { params }),
        })
    }
}

/// The party that sends its hashes.
pub struct Sender {
    params: Params,
}

/// The party that compares.
pub struct Receiver {
    params: Params,
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        context.phase("hashing");
        let mut masks = self.params.masks_of(&input);
        // Sorting is the permutation: the order says nothing about the sender's.
        parallel::sort_unstable(&mut masks);
        context.phase("masks");
        let (outbound, _) = channel.halves();
        stream::send(outbound, self.params.chunks(), &|range, message| {
            let length = self.params.0.masks;
            length.pack(masks[range].iter().copied(), message);
            Ok(())
        })?;
        Ok(Output::Nothing)
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let length = self.params.0.masks;
        context.phase("hashing");
        let masks = self.params.masks_of(&input);
        let index = MaskIndex::new(&masks, length, 0..masks.len() as u32);
        context.phase("masks");
        let (_, inbound) = channel.halves();
        let found = stream::receive_each(
            inbound,
            self.params.chunks(),
            &|count| length.packed_bytes(count),
            &|range, message| {
                let sent = length.unpack(message, range.len());
                let mut found = Vec::new();
                index.find_all(sent, |_, position| found.push(position));
                found
            },
        )?;
        Ok(protocol::rows(found.into_iter().flatten(), masks.len()))
    }
}

impl Params {
    fn masks_of(&self, input: &Input<'_>) -> Vec<Mask> {
        let key = input.joint_key("psijoin 2026 naive masks");
        match input.items {
            Items::Short(items) => hash_all(items, &key, self.0.masks),
            Items::Long(items) => hash_all(items, &key, self.0.masks),
        }
    }
}

fn hash_all<const D: usize>(items: &[[u8; D]], key: &[u8; 32], length: MaskLength) -> Vec<Mask> {
    const CHUNK: usize = 1024;
    let mut masks = vec![0; items.len()];
    parallel::chunks_mut(&mut masks, CHUNK, &|range, masks| {
        let rows: Vec<[u64; 4]> = items[range].iter().map(|item| words(item)).collect();
        for (mask, hash) in masks.iter_mut().zip(length.hash(key, &rows)) {
            *mask = hash;
        }
    });
    masks
}

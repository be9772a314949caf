//! `naive`: the parties compare salted hashes. **Insecure**: a baseline for measurements.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** "Naive hashing", PSZ14 §1.1 and KKRT16 Table 3:
//!
//! 1. The sender hashes its items, permutes the hashes and sends them.
//! 2. The receiver hashes its own, and compares.
//!
//! **Security.** None. The receiver can try any item that it can think of
//! against the sender's hashes, so it learns every item of a small domain (names, numbers,
//! addresses). A salt does not help: the receiver knows it.
//!
//! **Cost.** One flight: n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits. Masks may take
//! half of the failure budget.

use psijoin_channel::stream::{self, Chunks};
use psijoin_psi::{
    Adversary, Context, Conversation, Dialogue, Error, Info, Input, Output, Party, Plan, Protocol,
    Result, Role,
    mask_params::MaskParams,
    masks::{Mask, MaskIndex, MaskLength},
};
use psijoin_runtime::parallel;

use crate::compare;

/// `naive`.
pub static NAIVE: Protocol = Protocol::new(&INFO, |request| Ok(plan(MaskParams::new(request)?)));

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

/// Items that a task hashes.
const ITEMS_PER_TASK: usize = 1024;

fn plan(params: MaskParams) -> Plan {
    let masks = chunks(&params).bytes(|count| params.masks.packed_bytes(count));
    let dialogue = Dialogue::new(
        Conversation::default(),
        Conversation::default().sender(masks),
    );
    let derived = params.derived(&INFO, params.parameters(), dialogue);
    Plan::new::<Sender, Receiver>(derived, params)
}

/// Returns how the sender's masks are cut into messages.
fn chunks(params: &MaskParams) -> Chunks {
    compare::chunks(params, Role::Sender, MASKS_PER_MESSAGE)
}

/// The party that sends its hashes.
struct Sender;

/// The party that compares.
struct Receiver;

impl Party for Sender {
    type Params = MaskParams;

    fn offline(_: &MaskParams, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, params: &MaskParams, input: &Input, context: &mut Context) -> Result<Output> {
        let length = params.masks;

        // Step 1.
        context.phases.begin("hashing");
        // Sorting is the permutation: the new order tells nothing about the sender's.
        let masks = length.sort(masks(input, length));
        context.phases.begin("masks");
        let (outbound, _) = context.channel.halves();
        stream::send(outbound, chunks(params), &|range, message| {
            length.pack(masks[range].iter().copied(), message);
        })?;
        Ok(Output::Nothing)
    }
}

impl Party for Receiver {
    type Params = MaskParams;

    fn offline(_: &MaskParams, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, params: &MaskParams, input: &Input, context: &mut Context) -> Result<Output> {
        let length = params.masks;

        // Step 2.
        context.phases.begin("hashing");
        let masks = masks(input, length);
        let index = MaskIndex::new(&masks, length, 0..masks.len() as u32);
        context.phases.begin("masks");
        let (_, inbound) = context.channel.halves();
        let found = stream::receive_each(
            inbound,
            chunks(params),
            &|count| length.packed_bytes(count),
            &|range, message| {
                let sent = length.unpack(message, range.len());
                let mut found = Vec::new();
                index.find_all(sent, |_, position| found.push(position));
                found
            },
        )?;
        Ok(Output::rows(found.into_iter().flatten(), masks.len()))
    }
}

/// Returns the masks of a party's items.
fn masks(input: &Input, length: MaskLength) -> Vec<Mask> {
    let key = input.joint_seed.key("psijoin 2026 naive masks");
    let digests = input.items.digests();
    let mut masks = vec![0; digests.len()];
    parallel::chunks_mut(&mut masks, ITEMS_PER_TASK, &|range, masks| {
        let rows: Vec<[u64; 4]> = range.map(|i| digests.words(i)).collect();
        for (mask, hash) in masks.iter_mut().zip(length.hash(&key, &rows)) {
            *mask = hash;
        }
    });
    masks
}

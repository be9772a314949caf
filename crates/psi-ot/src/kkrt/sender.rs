use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};
use psijoin_encode::{CHOICES, DigestVec, Digests};
use psijoin_ot::matrix::{SenderMatrix, Strip};
use psijoin_psi::{Context, Error, Input, Output, Party, Result, masks::Mask};
use psijoin_runtime::memory::{Buffer, prefetch};
use zeroize::Zeroizing;

use super::{
    Functions, Params, STASH,
    code::{self, CodeInput, code_input},
};

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(SenderMatrix);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let seeds = params.ots().choose(context)?;
        Ok(Self(seeds.into_matrix(params.row_shape())))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let order = context.rng.permutation(input.items.len() as u32);
        // Step 2.
        let functions = Functions::new(params, input.joint_seed);

        // Step 3.
        context.phases.begin("code words");
        let delta = self.0.delta();
        let rows = self.receive_code_words(params, &delta, inbound)?;

        // Step 4.
        context.phases.begin("masks");
        let oprf = Oprf {
            params,
            functions,
            delta,
            rows,
        };
        oprf.send_masks(input.items.digests(), &order, outbound)?;
        Ok(Output::Nothing)
    }
}

impl Sender {
    /// Step 3: the rows q_j.
    fn receive_code_words(
        &self,
        params: &Params,
        delta: &[u64],
        inbound: &mut dyn Inbound,
    ) -> Result<Buffer<u64>, Error> {
        let (chunks, row_bytes) = (params.row_chunks(), params.row_bytes());
        let row_words = delta.len();
        let mut rows = Buffer::zeroed(chunks.total * row_words);
        stream::receive_into(
            inbound,
            chunks,
            &|count| count * row_bytes,
            &mut rows,
            &Strip::default,
            &|range, message, rows, strip| {
                // q ⊕ (u_j ∧ Δ)
                self.0.expand(range, strip, rows);
                let rows = rows.chunks_exact_mut(row_words);
                for (row, sent) in rows.zip(message.chunks_exact(row_bytes)) {
                    code::add_masked(row, &code::from_bytes(sent), delta);
                }
            },
        )?;
        Ok(rows)
    }
}

/// The oblivious PRF, as the sender knows it.
struct Oprf<'a> {
    params: &'a Params,
    functions: Functions,
    delta: Zeroizing<Vec<u64>>,
    /// q_j.
    rows: Buffer<u64>,
}

impl Oprf<'_> {
    fn row(&self, number: u32) -> &[u64] {
        let row_words = self.delta.len();
        &self.rows[number as usize * row_words..][..row_words]
    }

    /// Step 4: the masks of all items, in this order. A message holds the same items of each list.
    fn send_masks(
        &self,
        items: Digests<'_>,
        order: &[u32],
        outbound: &mut dyn Outbound,
    ) -> Result<(), Error> {
        let chunks: Chunks = self.params.mask_chunks();
        stream::send_with(
            outbound,
            chunks,
            &mut [(); 0],
            &|| Scratch::new(items.digest_bytes()),
            &|range, _, scratch, message| {
                let positions = order[range].iter().map(|position| *position as usize);
                scratch.items.gather(items, positions);
                scratch.evaluate_all(self);
                let masks = scratch.masks.iter().copied();
                self.params.masks.pack(masks, message);
                Ok(())
            },
        )
    }
}

/// The values of step 4 for the items of one message.
struct Scratch {
    items: DigestVec,
    bins: Vec<[u32; CHOICES]>,
    inputs: Vec<CodeInput>,
    rows: Vec<u64>,
    masks: Vec<Mask>,
}

impl Scratch {
    fn new(digest_bytes: usize) -> Self {
        Self {
            items: DigestVec::zeroed(0, digest_bytes),
            bins: Vec::new(),
            inputs: Vec::new(),
            rows: Vec::new(),
            masks: Vec::new(),
        }
    }

    /// Computes the masks of all lists, one list after the other.
    fn evaluate_all(&mut self, oprf: &Oprf<'_>) {
        let items = self.items.as_digests();
        self.bins.resize(items.len(), [0; CHOICES]);
        oprf.functions.bins.hash(items, &mut self.bins);
        self.masks.clear();
        for list in 0..CHOICES {
            self.evaluate(oprf, list as u8, |bins| bins[list]);
        }
        let bins = oprf.params.shape.bins;
        for place in 0..oprf.params.shape.stash {
            self.evaluate(oprf, STASH, |_| bins + place);
        }
    }

    /// Appends F_j(x, list) of each item, in the row j that `row_of` picks.
    fn evaluate(&mut self, oprf: &Oprf<'_>, list: u8, row_of: impl Fn(&[u32; CHOICES]) -> u32) {
        // The rows arrive while the code words are computed.
        for bins in &self.bins {
            for part in code::parts(oprf.row(row_of(bins))) {
                prefetch(part);
            }
        }
        let items = self.items.as_digests();
        self.inputs.clear();
        self.inputs
            .extend((0..items.len()).map(|i| code_input(items.words(i), list)));
        let row_words = oprf.delta.len();
        self.rows.resize(items.len() * row_words, 0);
        oprf.functions.code.encode(&mut self.inputs, &mut self.rows);
        let rows = self.rows.chunks_exact_mut(row_words);
        for (row, bins) in rows.zip(&self.bins) {
            let number = row_of(bins);
            code::evaluate(row, oprf.row(number), &oprf.delta, number);
        }
        let done = self.masks.len();
        self.masks.resize(done + self.bins.len(), 0);
        oprf.functions
            .hash
            .masks(&self.rows, &mut self.masks[done..]);
    }
}

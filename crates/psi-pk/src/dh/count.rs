//! `dh` where the receiver learns a count. Memory need hold neither party's set: what it cannot
//! hold is kept on disk, and nothing that is said depends on how much that is.
//!
//! The sender returns masks in an order that is random among *all* of them: if it were random among
//! those of a part of the session, it would tell how many items of that part are shared. So it has
//! seen all elements of the receiver before it returns the first mask, and draws the order over
//! [buckets](Shuffle); memory holds one at a time. The elements of either party's own items go out
//! in such an order, too, as the order in which items come tells what they are; and only when all
//! items have been read, or the time that reading takes would tell how many there are of each sort.
//!
//! The receiver compares masks [partition by partition](MaskPartitions).

use std::{marker::PhantomData, ops::Range};

use psijoin_block::Prg;
use psijoin_channel::{Inbound, Outbound};
use psijoin_encode::Digests;
use psijoin_files::spill::{Spill, Store};
use psijoin_psi::{BatchInput, Context, Error, Input, Output, Party, Result, Role};
use psijoin_runtime::parallel;

use super::{
    Params, Secret, group::Exponent, mask_partitions::MaskPartitions, regrouped::Regrouped,
    shuffle::Shuffle,
};

/// Bytes of a bucket or a partition: an average, if there are several.
pub(super) const BUCKET_BYTES: usize = 4 << 20;

/// A party that counts, in this role.
pub(super) struct Counting<R> {
    exponent: Exponent,
    role: PhantomData<R>,
}

/// The part of a count that depends on the role.
pub(super) trait Counts: Send + 'static {
    const ROLE: Role;

    /// Runs the online phase.
    fn count(run: &Run<'_>, context: &mut Context) -> Result<Output>;
}

/// The party that helps.
pub(super) struct Sender;

/// The party that learns the result.
pub(super) struct Receiver;

impl<R: Counts> Party for Counting<R> {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self> {
        Ok(Self {
            exponent: params.group.exponent(&mut context.rng),
            role: PhantomData,
        })
    }

    /// Runs the online phase with as much memory as it takes.
    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let input = BatchInput {
            items: input.items,
            joint_seed: input.joint_seed,
            spill: &Spill::in_memory(),
        };
        R::count(&Run::new(params, self.exponent, R::ROLE, &input), context)
    }

    fn batch_by_batch(
        params: &Params,
        input: &BatchInput,
        context: &mut Context,
    ) -> Result<Output> {
        let Self { exponent, .. } = Self::offline(params, context)?;
        R::count(&Run::new(params, exponent, R::ROLE, input), context)
    }
}

impl Counts for Sender {
    const ROLE: Role = Role::Sender;

    fn count(run: &Run<'_>, context: &mut Context) -> Result<Output> {
        let params = run.secret.params;
        let elements = params.chunks(Role::Receiver);

        // Step 2.
        context.phases.begin("own items");
        let own = run.shuffled_digests(context.rng.fork())?;
        let received = run.store(elements.total, params.group.element_bytes());
        let mut received = Shuffle::new(received, context.rng.fork());
        context.channel.exchange(
            |outbound| run.send_own(own, outbound),
            |inbound| run.receive(inbound, |_, some| received.add(some)),
        )?;

        // Step 3.
        context.phases.begin("their items");
        let powers = run.secret.powers(run.input.joint_seed);
        let compute = |elements: &[u8], message: &mut Vec<u8>| {
            let masks = powers.masks(elements)?;
            powers.length.pack(masks.into_iter(), message);
            Ok(())
        };
        let (outbound, _) = context.channel.halves();
        let bytes = params.group.element_bytes();
        let mut masks = Regrouped::new(outbound, bytes, elements.per_message, &compute);
        received.drain(&mut |some| masks.push(some))?;
        masks.finish()?;
        Ok(Output::Nothing)
    }
}

impl Counts for Receiver {
    const ROLE: Role = Role::Receiver;

    fn count(run: &Run<'_>, context: &mut Context) -> Result<Output> {
        let params = run.secret.params;
        let element_bytes = params.group.element_bytes();

        // Step 2.
        context.phases.begin("own items");
        let own = run.shuffled_digests(context.rng.fork())?;
        let elements = params.chunks(Role::Sender);
        // Bucket after bucket.
        let received = run.store(elements.total, element_bytes);
        let per_bucket = elements.total.div_ceil(received.partitions());
        context.channel.exchange(
            |outbound| run.send_own(own, outbound),
            |inbound| {
                run.receive(inbound, |range, some| {
                    received.append(range.start / per_bucket, some)?;
                    Ok(())
                })
            },
        )?;

        // Steps 3 and 4. The sender computes at the same time: what it sends is taken in meanwhile,
        // so that it need not wait.
        context.phases.begin("their items");
        let powers = run.secret.powers(run.input.joint_seed);
        let message_bytes = elements.per_message * element_bytes;
        let (theirs, returned) = (run.masks(), run.masks());
        context.channel.exchange(
            |_| {
                for bucket in 0..received.partitions() {
                    let some = received.take(bucket)?;
                    let chunks: Vec<_> = some.chunks(message_bytes).collect();
                    for masks in parallel::map(chunks.len(), &|i| powers.masks(chunks[i])) {
                        theirs.add(masks?)?;
                    }
                }
                Ok(())
            },
            |inbound| {
                let mut message = Vec::new();
                for range in params.chunks(Role::Receiver).ranges() {
                    message.resize(powers.length.packed_bytes(range.len()), 0);
                    inbound.recv(&mut message)?;
                    returned.add(powers.length.unpack(&message, range.len()))?;
                }
                Ok::<_, Error>(())
            },
        )?;
        Ok(Output::Count(returned.shared(&theirs)?))
    }
}

/// A party in a run.
pub(super) struct Run<'a> {
    secret: Secret<'a>,
    role: Role,
    input: &'a BatchInput<'a>,
}

impl<'a> Run<'a> {
    fn new(params: &'a Params, exponent: Exponent, role: Role, input: &'a BatchInput<'a>) -> Self {
        Self {
            secret: Secret { params, exponent },
            role,
            input,
        }
    }

    /// Returns a store for records of this number and size.
    fn store(&self, records: usize, record_bytes: usize) -> Store {
        let partitions = self.secret.params.buckets(records, record_bytes);
        Store::new(partitions, record_bytes, self.input.spill)
    }

    /// Returns partitions for masks of either party's items.
    fn masks(&self) -> MaskPartitions {
        let params = self.secret.params;
        let length = params.masks.masks;
        let bytes = MaskPartitions::mask_bytes(length);
        let larger = params.masks.sizes().larger() as usize;
        let most = 2 * params.bucket_bytes / bytes;
        MaskPartitions::new(self.store(larger, bytes), length, most as u64)
    }

    /// Returns the digests of all items, in random order.
    fn shuffled_digests(&self, rng: Prg) -> Result<Shuffle> {
        let params = self.secret.params;
        let items = params.chunks(self.role).total;
        let mut shuffle = Shuffle::new(self.store(items, params.digest_bytes()), rng);
        (self.input).each(params.digest_bytes(), &mut |items| match items.digests() {
            Digests::Short(digests) => shuffle.add(digests.as_flattened()),
            Digests::Long(digests) => shuffle.add(digests.as_flattened()),
        })?;
        Ok(shuffle)
    }

    /// Step 2: sends the elements of items with these digests.
    fn send_own(&self, digests: Shuffle, outbound: &mut dyn Outbound) -> Result<()> {
        let params = self.secret.params;
        let (key, bytes) = (
            self.secret.hash_key(self.input.joint_seed),
            params.digest_bytes(),
        );
        let compute = |digests: &[u8], message: &mut Vec<u8>| {
            let rows: Vec<[u64; 4]> = digests.chunks_exact(bytes).map(row).collect();
            message.extend(self.secret.exponent.hash_power(&key, &rows));
            Ok(())
        };
        let per_message = params.group.elements_per_message();
        let mut elements = Regrouped::new(outbound, bytes, per_message, &compute);
        digests.drain(&mut |some| elements.push(some))?;
        elements.finish()
    }

    /// Step 2: takes in the other party's elements.
    fn receive(
        &self,
        inbound: &mut dyn Inbound,
        mut take: impl FnMut(Range<usize>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let params = self.secret.params;
        let mut message = Vec::new();
        for range in params.chunks(self.role.other()).ranges() {
            message.resize(range.len() * params.group.element_bytes(), 0);
            inbound.recv(&mut message)?;
            take(range, &message)?;
        }
        Ok(())
    }
}

/// Returns a digest as words, a short one padded with zeros.
fn row(digest: &[u8]) -> [u64; 4] {
    let mut words = [[0; 8]; 4];
    words.as_flattened_mut()[..digest.len()].copy_from_slice(digest);
    words.map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests;

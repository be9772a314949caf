use psijoin_block::tower::{Element, Gf64};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::equality;
use psijoin_encode::{CHOICES, Digests};
use psijoin_ot::{iknp::SemiHonest, vole::Base};
use psijoin_psi::{Context, Error, Input, Output, Party, Result, output_hash::Outputs};
use psijoin_psi_functions::functions;
use psijoin_runtime::memory::{Buffer, give_kept_pages_back, prefetch};

use super::{Params, hints::Hints, masks::Of};
use crate::oprf::{self, over_base};

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender<B: Base> {
    oprf: oprf::Sender<B>,
    tests: equality::Sender,
    output: functions::Sender,
}

impl<B: Base> Party for Sender<B> {
    type Params = Params;

    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        let oprf = oprf::Sender::offline::<SemiHonest>(&params.oprf, context)?;
        context.phases.begin("lookups");
        let mut tests = equality::Sender::set_up(
            params.base.request.base_ots,
            context.channel,
            &mut context.rng,
        )?;
        tests.prepare(params.lookups(), context.channel)?;
        context.phases.begin("output OTs");
        let output =
            functions::Sender::offline(params.function(), context.channel, &mut context.rng)?;
        Ok(Self {
            oprf,
            tests,
            output,
        })
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let Self {
            oprf,
            mut tests,
            output,
        } = self;
        // Step 2.
        context.phases.begin("hashing");
        let (owners, inputs) = spread(params, input.items.digests(), input.joint_seed);
        // Step 3.
        context.phases.begin("evaluation");
        let outputs = Outputs::hashes(inputs.items.digests().len());
        let inbound = context.channel.halves().1;
        let outputs = oprf.evaluate(&inputs, inbound, outputs)?;
        // Step 4.
        context.phases.begin("hints");
        let keys = inputs.items.digests();
        let hints = Hints::new(&params.hints, input.joint_seed, keys, outputs.hashes);
        // The hints have the keys in an order of their own.
        let positions = inputs.items.into_positions();
        let owners_of = |places: &[u32]| {
            let keys = places.iter().map(|place| positions[*place as usize]);
            owners.of(keys)
        };
        let targets = over_base!(params.target_width, T => {
            send_targets::<T>(params, &tests, &hints, &owners_of, context)
        })?;
        let numbers = send_columns(params, &hints, &owners_of, input.columns, context)?;
        drop((hints, positions, owners));
        // Step 5.
        context.phases.begin("equality tests");
        give_kept_pages_back();
        let shares = tests.equal(&targets, context.channel)?;
        // Step 6.
        context.phases.begin("output");
        output.release(shares, numbers, context)
    }
}

/// The item and the bin of each key.
struct Owners {
    /// The positions of the items, in ascending order of the items.
    items: Vec<u32>,
    /// The bins of each, in the same order.
    bins: Buffer<[u32; CHOICES]>,
}

/// The position of the item, and the bin, of a key.
struct Owner {
    item: usize,
    bin: usize,
}

impl Owners {
    /// Returns the owners of keys. What is known of these lies anywhere, so all of it is fetched
    /// before any of it is looked at.
    fn of(&self, keys: impl Iterator<Item = u32> + Clone) -> Vec<Owner> {
        let (items, bins) = (&self.items[..], &self.bins[..]);
        let keys = keys.map(|key| (key as usize / CHOICES, key as usize % CHOICES));
        for (item, _) in keys.clone() {
            prefetch(&items[item]);
            prefetch(&bins[item]);
        }
        let owner = |(item, choice): (usize, usize)| Owner {
            item: items[item] as usize,
            bin: bins[item][choice] as usize,
        };
        keys.map(owner).collect()
    }
}

/// Step 2: the keys of all items as inputs of the PRF. Items are sorted before, so that nothing
/// depends on the order that they had.
fn spread<'a>(
    params: &'a Params,
    items: Digests<'_>,
    joint_seed: &JointSeed,
) -> (Owners, oprf::Inputs<'a>) {
    let (sorted, positions) = items.sorted_with_positions();
    let (items, keys) = (sorted.as_digests(), params.keys(joint_seed));
    let owners = Owners {
        items: positions,
        bins: keys.bins(items),
    };
    let keys = keys.of_all(items);
    let inputs = oprf::Inputs::new::<SemiHonest>(&params.oprf, keys.as_digests(), joint_seed);
    (owners, inputs)
}

/// Step 4: draws the target of each bin, and sends the hints for them.
fn send_targets<T: Element>(
    params: &Params,
    tests: &equality::Sender,
    hints: &Hints<'_>,
    owners_of: &(impl Fn(&[u32]) -> Vec<Owner> + Sync),
    context: &mut Context,
) -> Result<equality::Targets> {
    let (bits, lanes) = (params.number_bits(), params.lanes());
    let (numbers, targets) = tests.targets::<T>(bits, lanes, &mut context.rng);
    let numbers = &numbers[..];
    let program = |places: &[u32], hints: &mut [T]| {
        let owners = owners_of(places);
        (owners.iter()).for_each(|owner| prefetch(&numbers[owner.bin]));
        for (hint, owner) in hints.iter_mut().zip(owners) {
            *hint = numbers[owner.bin];
        }
    };
    let outbound = context.channel.halves().0;
    hints.send(Of::Target, &program, outbound, &mut context.rng)?;
    Ok(targets)
}

/// Step 4: draws u for each bin and column of numbers, and sends the hints for v − u; or of labels,
/// which come last, for v ⊕ u.
fn send_columns(
    params: &Params,
    hints: &Hints<'_>,
    owners_of: &(impl Fn(&[u32]) -> Vec<Owner> + Sync),
    columns: &[Vec<i64>],
    context: &mut Context,
) -> Result<Vec<Vec<u64>>, Error> {
    let groups = params.base.request.output.groups();
    let numbers = groups.map_or(columns.len(), |groups| groups.columns.sender);
    let send = |(column, v): (usize, &Vec<i64>)| {
        let mut u = vec![0_u64; params.lanes()];
        context.rng.fill_bytes(bytemuck::cast_slice_mut(&mut u));
        let program = |places: &[u32], hints: &mut [Gf64]| {
            for (hint, Owner { item, bin }) in hints.iter_mut().zip(owners_of(places)) {
                let v = v[item] as u64;
                *hint = Gf64(match column < numbers {
                    true => v.wrapping_sub(u[bin]),
                    false => v ^ u[bin],
                });
            }
        };
        let outbound = context.channel.halves().0;
        hints.send(Of::Column(column), &program, outbound, &mut context.rng)?;
        Ok(u)
    };
    columns.iter().enumerate().map(send).collect()
}

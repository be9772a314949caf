//! The party whose items are signed, blindly.

use crypto_bigint::{U3072, modular::FixedMontyForm};
use psijoin_block::Prg;
use psijoin_channel::stream;
use psijoin_psi::{Context, Error, Input, Output, Party, Result, Role, mask_params::MaskParams};
use psijoin_runtime::parallel;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    NUMBER_BYTES, chunks,
    public::{PublicKey, encode, hash_key, masks},
};
use crate::{compare, uniform_hash};

/// Factors that share an inversion, which takes as long as a hundred multiplications.
const FACTORS_PER_INVERSION: usize = 256;

/// The receiver after the offline phase.
pub(super) struct Receiver {
    key: PublicKey,
    /// One for each item.
    factors: Vec<BlindingFactor>,
}

/// The factor that hides an item. Wiped on drop.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
struct BlindingFactor {
    /// r^e.
    power: U3072,
    /// 1/r.
    inverse: U3072,
}

impl Party for Receiver {
    type Params = MaskParams;

    fn offline(params: &MaskParams, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        context.phases.begin("key");
        let mut encoded = vec![0; PublicKey::encoded_bytes()];
        context.channel.recv(&mut encoded)?;
        let key = PublicKey::decode(&encoded)?;

        // Step 2.
        context.phases.begin("blinding factors");
        let count = chunks(params, Role::Receiver).total;
        let factors = random_factors(&key, count, &mut context.rng)?;
        Ok(Self { key, factors })
    }

    fn online(self, params: &MaskParams, input: &Input, context: &mut Context) -> Result<Output> {
        let Self { key, factors } = self;
        let own = chunks(params, Role::Receiver);
        let (outbound, inbound) = context.channel.halves();

        // Step 3.
        context.phases.begin("own items");
        let hash_key = hash_key(input);
        compare::try_send(outbound, own, &|range, message| {
            let rows = input.items.rows(range.clone().map(|i| i as u32));
            let hashes = key.hash(&hash_key, &rows);
            blind(&key, &hashes, &factors[range], message)
        })?;

        // Step 5, while the sender signs.
        let length = params.masks;
        let own_masks = stream::receive_each(
            inbound,
            own,
            &|count| count * NUMBER_BYTES,
            &|range, message| {
                let blinded = key.decode_numbers(message)?;
                let signatures = unblind(&key, &blinded, &factors[range]);
                Ok(masks(input, length, &signatures))
            },
        )?;
        let own_masks = own_masks
            .into_iter()
            .collect::<Result<Vec<_>, Error>>()?
            .concat();
        context.phases.begin("their items");
        let theirs = length.receive(inbound, chunks(params, Role::Sender))?;
        let found = compare::find(&own_masks, &theirs, length);
        Ok(Output::rows(found, own_masks.len()))
    }
}

/// Appends H(y)·r^e of each hash.
///
/// # Errors
/// If a hash is not a unit modulo N: then N is invalid.
fn blind(
    key: &PublicKey,
    hashes: &[U3072],
    factors: &[BlindingFactor],
    message: &mut Vec<u8>,
) -> Result<(), Error> {
    let monty = |number| FixedMontyForm::new(number, key.modulus.params());
    let mut product = monty(&U3072::ONE);
    for (hash, factor) in hashes.iter().zip(factors) {
        let hash = monty(hash);
        product *= hash;
        encode([&(hash * monty(&factor.power)).retrieve()], message);
    }
    // All are units if their product is.
    match product.invert().into_option() {
        Some(_) => Ok(()),
        None => Err(Error::Peer("its RSA modulus has small factors")),
    }
}

/// Returns the signatures without what hid them.
fn unblind(key: &PublicKey, blinded: &[U3072], factors: &[BlindingFactor]) -> Vec<U3072> {
    let monty = |number| FixedMontyForm::new(number, key.modulus.params());
    blinded
        .iter()
        .zip(factors)
        .map(|(number, factor)| (monty(number) * monty(&factor.inverse)).retrieve())
        .collect()
}

/// Returns random units r, as r^e and 1/r.
///
/// # Errors
/// If one is not a unit.
fn random_factors(
    key: &PublicKey,
    count: usize,
    rng: &mut Prg,
) -> Result<Vec<BlindingFactor>, Error> {
    let mut factors = vec![BlindingFactor::default(); count];
    let mut tasks: Vec<_> = factors
        .chunks_mut(FACTORS_PER_INVERSION)
        .map(|factors| (factors, rng.fork(), Ok(())))
        .collect();
    parallel::each_mut(&mut tasks, &|_, (factors, rng, result)| {
        *result = draw(key, factors, rng);
    });
    tasks.into_iter().try_for_each(|(_, _, result)| result)?;
    Ok(factors)
}

/// Fills factors that share an inversion (Montgomery's trick).
fn draw(key: &PublicKey, factors: &mut [BlindingFactor], rng: &mut Prg) -> Result<(), Error> {
    let random = |_| {
        let bytes = Zeroizing::new(rng.bytes::<{ uniform_hash::BYTES }>());
        key.modulus.from_uniform(&*bytes)
    };
    let randoms: Zeroizing<Vec<U3072>> = Zeroizing::new((0..factors.len()).map(random).collect());
    for (factor, power) in factors.iter_mut().zip(key.raise(&randoms)) {
        factor.power = power;
    }

    let monty = |number: &U3072| FixedMontyForm::new(number, key.modulus.params());
    let mut product = monty(&U3072::ONE);
    for (factor, random) in factors.iter_mut().zip(randoms.iter()) {
        // For now, the product of those before.
        factor.inverse = product.retrieve();
        product *= monty(random);
    }
    let mut inverse_of_rest = product
        .invert()
        .into_option()
        .ok_or(Error::Peer("its RSA modulus has small factors"))?;
    for (factor, random) in factors.iter_mut().zip(randoms.iter()).rev() {
        let product_before = monty(&factor.inverse);
        factor.inverse = (inverse_of_rest * product_before).retrieve();
        inverse_of_rest *= monty(random);
    }
    Ok(())
}

use std::marker::PhantomData;

use psijoin_channel::Channel;
use psijoin_circuit::plain::Gates;
use psijoin_params::{FailureBudget, domain};

use super::{
    Engine, Receiver, Sender,
    circuit::{self, Reveals},
};
use crate::{Context, Cost, Error, Info, Items, Parameter, Party, Plan, Request, Role};

/// The most items of both parties together: beyond that, a run takes quarters of an hour, sends
/// from a hundred gigabytes on, and under Yao takes more memory than most machines have.
pub const MOST_ITEMS: u64 = 1 << 20;

/// Bytes of the digests of which numbers are parts.
const DIGEST_BYTES: usize = domain::MAX_BITS as usize / 8;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params<E> {
    request: Request,
    reveals: Reveals,
    bits: u32,
    budget: FailureBudget,
    engine: PhantomData<fn() -> E>,
}

impl<E> Clone for Params<E> {
    fn clone(&self) -> Self {
        Self {
            request: self.request.clone(),
            budget: self.budget.clone(),
            ..*self
        }
    }
}

/// What a run has to do.
pub struct Work {
    /// The gates of each layer.
    pub layers: Vec<Gates>,
    /// All gates.
    pub gates: Gates,
    /// Bits that the receiver puts in.
    pub receiver_bits: usize,
    /// Bits that the receiver learns.
    pub revealed_bits: usize,
}

impl<E: Engine> Params<E> {
    /// Derives them. The whole failure budget is for items that have the same number.
    ///
    /// # Errors
    /// If there is no circuit for the output, a set is empty, or numbers would be longer than a digest.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let reveals = Reveals::of(&request.output).ok_or_else(|| Error::UnsupportedOutput {
            protocol: E::INFO.name,
            output: request.output.to_string(),
        })?;
        let mut budget = FailureBudget::new(request.security);
        let bits = domain::bits(sizes, budget.remaining())?;
        budget.charge("two items with one number", domain::collision(sizes, bits))?;
        Ok(Self {
            request: request.clone(),
            reveals,
            bits,
            budget,
            engine: PhantomData,
        })
    }

    pub(super) fn reveals(&self) -> Reveals {
        self.reveals
    }

    /// Bits of a number.
    pub(super) fn bits(&self) -> usize {
        self.bits as usize
    }

    pub(super) fn items(&self, role: Role) -> usize {
        role.items(self.request.sizes) as usize
    }

    /// Lanes that are shuffled: none, if the receiver does not learn rows.
    pub(super) fn shuffled(&self) -> u32 {
        match self.reveals {
            Reveals::Rows => (self.request.sizes.union() / 2) as u32,
            Reveals::Count | Reveals::Threshold(_) => 0,
        }
    }

    /// A number for each item, and the item's position: ascending.
    pub(super) fn numbers(&self, items: &Items) -> Vec<(u128, u32)> {
        let positions = 0..items.len() as u32;
        let rows = items.rows(positions.clone());
        let numbers = rows.iter().map(|row| {
            let digest = u128::from(row[0]) | u128::from(row[1]) << 64;
            digest & (u128::MAX >> (domain::MAX_BITS - self.bits))
        });
        let mut numbers: Vec<_> = numbers.zip(positions).collect();
        numbers.sort_unstable();
        numbers
    }

    pub(super) fn work(&self) -> Work {
        let numbers = self.request.sizes.union() as usize;
        let (count, revealed_bits) =
            circuit::count(E::counter(), self.reveals, numbers, self.bits());
        Work {
            layers: count.layers().to_vec(),
            gates: count.gates(),
            receiver_bits: self.items(Role::Receiver) * self.bits(),
            revealed_bits,
        }
    }
}

impl<E: Engine> Plan for Params<E> {
    fn info(&self) -> &'static Info {
        E::INFO
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter {
            name: "bits of a number",
            value: self.bits.into(),
        }]
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        E::cost(&self.work())
    }

    fn feasible(&self) -> Result<(), Error> {
        if self.request.sizes.union() > MOST_ITEMS {
            return Err(Error::Misuse(
                "a circuit for more than 2^20 items together would take too long; take another \
                 protocol",
            ));
        }
        Ok(())
    }

    fn digest_bytes(&self) -> usize {
        DIGEST_BYTES
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::offline(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::offline(self, channel, context)?),
        })
    }
}

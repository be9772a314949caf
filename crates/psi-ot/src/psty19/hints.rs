//! Step 4: the hints, on either side.

use psijoin_block::{
    Prg,
    gf2k::{Element, Field},
};
use psijoin_channel::{
    Inbound, Outbound,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_encode::{Digests, poly::Quadratic};
use psijoin_params::simple::Shape;
use psijoin_psi::{Error, Request};
use psijoin_psi_functions::bins::KeyHash;
use psijoin_runtime::memory::Buffer;

use crate::spot::{pack, packed_bytes, unpack};

/// Bytes of a message, about; it has at least one polynomial.
const MESSAGE_BYTES: usize = 1 << 16;

/// The numbers of the polynomials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polynomials {
    /// How many there are, and the coefficients of each.
    pub(super) shape: Shape,
    /// w: coefficients are in GF(2^2w).
    pub(super) field_bits: u32,
}

impl Polynomials {
    /// Returns the bytes of all messages.
    pub(super) fn bytes(self) -> u64 {
        self.messages()
            .bytes(|polynomials| polynomials * self.polynomial_bytes())
    }

    fn messages(self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: (MESSAGE_BYTES / self.polynomial_bytes()).max(1),
        }
    }

    fn polynomial_bytes(self) -> usize {
        packed_bytes(self.field_bits, self.shape.capacity as usize)
    }

    fn field(self) -> Field {
        Field::new(self.field_bits)
    }

    /// Returns the element of these bits, of which 2w count.
    fn element(self, field: &Field, bits: u128) -> Element {
        field.from_words([bits as u64, (bits >> self.field_bits) as u64])
    }

    /// Returns the bits of an element.
    fn number(self, field: &Field, element: Element) -> u128 {
        let [low, high] = field.to_words(element).map(u128::from);
        low | high << self.field_bits
    }
}

/// A party's keys, in the order of their polynomials.
pub(super) struct Places<'a> {
    polynomials: Polynomials,
    keys: Digests<'a>,
    /// The positions of the keys, polynomial by polynomial.
    order: Vec<u32>,
    /// Where the keys of each polynomial begin, and at last where they end.
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    /// Finds the polynomial of each key.
    pub(super) fn new(polynomials: Polynomials, keys: Digests<'a>, joint_seed: &JointSeed) -> Self {
        let hash = KeyHash::new(joint_seed.key("psijoin 2026 psty19 polynomials"));
        let hashes = hash.keys(keys, keys.len(), &|key| (key, 0));
        let hashes = hashes.as_digests();
        let count = polynomials.shape.bins;
        let place = |key: usize| {
            let [word, ..] = hashes.words(key);
            ((u128::from(word) * u128::from(count)) >> u64::BITS) as usize
        };
        let mut starts = vec![0; count as usize + 1];
        for key in 0..keys.len() {
            starts[place(key) + 1] += 1;
        }
        for polynomial in 0..count as usize {
            starts[polynomial + 1] += starts[polynomial];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; keys.len()]);
        for key in 0..keys.len() {
            let next = &mut next[place(key)];
            order[*next] = key as u32;
            *next += 1;
        }
        Self {
            polynomials,
            keys,
            order,
            starts,
        }
    }

    /// Returns the keys of a polynomial.
    fn of(&self, polynomial: usize) -> &[u32] {
        &self.order[self.starts[polynomial]..self.starts[polynomial + 1]]
    }

    /// Returns the points of keys: they begin like these.
    fn points(&self, field: &Field, keys: &[u32]) -> Vec<Element> {
        let point = |key: &u32| {
            let [low, high, ..] = self.keys.words(*key as usize);
            let bits = u128::from(low) | u128::from(high) << u64::BITS;
            self.polynomials.element(field, bits)
        };
        keys.iter().map(point).collect()
    }

    /// Sends polynomials that have the value of each key at its point.
    ///
    /// # Errors
    /// If the channel breaks; [`Error::BadLuck`] if there are none.
    pub(super) fn send(
        &self,
        values: &[u128],
        request: &Request,
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let Shape { bins, capacity } = self.polynomials.shape;
        let capacity = capacity as usize;
        if !(0..bins as usize).all(|polynomial| self.of(polynomial).len() <= capacity) {
            return Err(request.bad_luck("a polynomial has too many keys"));
        }
        let field = self.polynomials.field();
        // For the points and values that fill each of them up.
        let mut fillers: Vec<Prg> = (0..bins).map(|_| rng.fork()).collect();
        stream::send_with(
            outbound,
            self.polynomials.messages(),
            &mut fillers,
            &|| Quadratic::new(field),
            &|range, fillers, quadratic, message| {
                for (polynomial, filler) in range.zip(fillers) {
                    let keys = self.of(polynomial);
                    let element = |bits| self.polynomials.element(&field, bits);
                    let mut random = || element(u128::from_le_bytes(filler.bytes()));
                    let mut points = self.points(&field, keys);
                    let coefficients = keys.iter().map(|key| element(values[*key as usize]));
                    let mut coefficients = Vec::from_iter(coefficients);
                    points.resize_with(capacity, &mut random);
                    coefficients.resize_with(capacity, &mut random);
                    quadratic
                        .interpolate(capacity, &points, &mut coefficients)
                        .map_err(|_| request.bad_luck("two points are equal"))?;
                    pack(&field, coefficients.iter(), message);
                }
                Ok::<_, Error>(())
            },
        )
    }

    /// Receives polynomials: the value at the point of each key.
    ///
    /// # Errors
    /// If the channel breaks.
    pub(super) fn receive(&self, inbound: &mut dyn Inbound) -> Result<Buffer<u128>, Error> {
        let (polynomials, field) = (self.polynomials, self.polynomials.field());
        let capacity = polynomials.shape.capacity as usize;
        let mut values = Buffer::zeroed(self.keys.len());
        stream::receive_in_turn(
            inbound,
            polynomials.messages(),
            &|count| count * polynomials.polynomial_bytes(),
            &|range, message| {
                let mut quadratic = Quadratic::new(field);
                let mut coefficients = vec![Element::ZERO; capacity];
                let mut found = Vec::new();
                let messages = message.chunks_exact(polynomials.polynomial_bytes());
                for (polynomial, message) in range.zip(messages) {
                    unpack(&field, message, coefficients.iter_mut());
                    let points = self.points(&field, self.of(polynomial));
                    let mut values = vec![Element::ZERO; points.len()];
                    quadratic.evaluate(&points, capacity, &coefficients, &mut values);
                    let values = values.iter();
                    found.extend(values.map(|value| polynomials.number(&field, *value)));
                }
                found
            },
            &mut |range, found: Vec<u128>| {
                let keys = &self.order[self.starts[range.start]..self.starts[range.end]];
                for (key, value) in keys.iter().zip(found) {
                    values[*key as usize] = value;
                }
            },
        )?;
        Ok(values)
    }
}

//! Sketches of sets, which tell by how many elements two sets differ, if these are few.
//!
//! **What it is.** An element is a number x of GF(2^128), not zero. The sketch of a set is s_i = Σ
//! x^i over its elements, for i = 1, 3, …, 2K − 1; as squares are linear, s_2i = s_i². These are
//! the syndromes of a BCH code, the sketch of sets of Dodis, Ostrovsky, Reyzin and Smith ("Fuzzy
//! Extractors", SIAM Journal on Computing 38(1), 2008, section 6.3). The sum of two sketches is
//! that of the elements that are in one of the sets only.
//!
//! **What it tells.** Say that these are m different elements. The shortest linear recurrence of
//! s_1, …, s_2K, which Berlekamp and Massey's algorithm finds, has length m if m < K: always. If
//! m ≥ K, it has length K or more, unless det(s_(i+j+1)) = 0 for i, j < K. That is a polynomial of
//! degree K² in the elements, not the zero one: by Cauchy and Binet, it is the sum over all K of
//! them of their product times the square of their Vandermonde determinant. So it is 0 for random
//! elements with a probability of at most K²/2^128 (Schwartz and Zippel).

use std::{fmt, ops::BitXorAssign, str::FromStr};

use psijoin_block::{Block, gf128};

/// The sums of the odd powers of a set's elements, K of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sketch(Vec<Block>);

impl Sketch {
    /// Returns the sketch of the empty set, which tells apart sets that differ by fewer than
    /// `least` elements.
    pub(crate) fn new(least: u32) -> Self {
        Self(vec![Block::ZERO; least as usize])
    }

    /// Adds an element that is not there, or removes it. Zero is taken for one.
    pub(crate) fn add(&mut self, element: Block) {
        let mut power = match element {
            Block(0) => Block(1),
            element => element,
        };
        let square = gf128::multiply(power, power);
        for sum in &mut self.0 {
            *sum ^= power;
            power = gf128::multiply(power, square);
        }
    }

    /// Returns by how many elements two sets differ; K stands for K or more.
    ///
    /// # Panics
    /// If the sketches tell apart other numbers of elements.
    pub(crate) fn difference(&self, other: &Self) -> u32 {
        let mut both = self.clone();
        both ^= other;
        let least = both.0.len();
        recurrence(&both.all_sums()).min(least) as u32
    }

    /// Returns s_1, …, s_2K.
    fn all_sums(&self) -> Vec<Block> {
        let mut sums = Vec::with_capacity(2 * self.0.len());
        for (at, odd) in self.0.iter().enumerate() {
            sums.push(*odd);
            // That of the next power, 2·(at + 1).
            let root = sums[at];
            sums.push(gf128::multiply(root, root));
        }
        sums
    }

    /// Returns K.
    pub(crate) fn least(&self) -> usize {
        self.0.len()
    }
}

/// 32 hexadecimal digits for each sum.
impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|sum| write!(f, "{:032x}", sum.0))
    }
}

impl FromStr for Sketch {
    type Err = NoSketch;

    fn from_str(text: &str) -> Result<Self, NoSketch> {
        let (sums, rest) = text.as_bytes().as_chunks::<32>();
        let sum = |digits: &[u8; 32]| {
            let digits = str::from_utf8(digits).ok()?;
            u128::from_str_radix(digits, 16).ok().map(Block)
        };
        let sums: Option<_> = sums.iter().map(sum).collect();
        sums.filter(|_| rest.is_empty()).map(Self).ok_or(NoSketch)
    }
}

/// A text that is no sketch.
#[derive(Debug)]
pub(crate) struct NoSketch;

/// Adds all elements of a set that has none in common, or the symmetric difference.
impl BitXorAssign<&Self> for Sketch {
    fn bitxor_assign(&mut self, other: &Self) {
        assert_eq!(self.0.len(), other.0.len(), "sketches of one kind");
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            *sum ^= *other;
        }
    }
}

/// Returns the length of the shortest linear recurrence of a sequence (Massey, "Shift-Register
/// Synthesis and BCH Decoding", IEEE Transactions on Information Theory 15(1), 1969). Recurrences
/// are known up to a factor, so that nothing is divided.
fn recurrence(sequence: &[Block]) -> usize {
    let mut connection = vec![Block(1)];
    // Before the length last changed, and how it failed then.
    let (mut before, mut failure) = (vec![Block(1)], Block(1));
    let (mut length, mut steps) = (0, 1);
    for (at, _) in sequence.iter().enumerate() {
        let terms = connection.iter().zip(sequence[..=at].iter().rev());
        let discrepancy = terms.fold(Block::ZERO, |sum, (factor, term)| {
            sum ^ gf128::multiply(*factor, *term)
        });
        if discrepancy == Block::ZERO {
            steps += 1;
            continue;
        }
        let corrected = corrected(&connection, failure, &before, discrepancy, steps);
        if 2 * length <= at {
            length = at + 1 - length;
            before = connection;
            (failure, steps) = (discrepancy, 1);
        } else {
            steps += 1;
        }
        connection = corrected;
    }
    length
}

/// Returns failure·connection + discrepancy·x^steps·before.
fn corrected(
    connection: &[Block],
    failure: Block,
    before: &[Block],
    discrepancy: Block,
    steps: usize,
) -> Vec<Block> {
    let mut corrected = vec![Block::ZERO; connection.len().max(before.len() + steps)];
    for (to, factor) in corrected.iter_mut().zip(connection) {
        *to = gf128::multiply(failure, *factor);
    }
    for (to, factor) in corrected[steps..].iter_mut().zip(before) {
        *to ^= gf128::multiply(discrepancy, *factor);
    }
    corrected
}

#[cfg(test)]
mod tests {
    use psijoin_block::Prg;

    use super::*;

    const LEAST: u32 = 9;

    fn sketch(elements: &[Block]) -> Sketch {
        let mut sketch = Sketch::new(LEAST);
        elements.iter().for_each(|element| sketch.add(*element));
        sketch
    }

    /// In all of many sets, for each number of elements that one has more and the other has more.
    #[test]
    fn a_difference_is_exact_below_the_least_and_told_from_there_on() {
        let mut prg = Prg::from_seed(Block(7));
        for _ in 0..20 {
            let common: Vec<Block> = (0..30).map(|_| prg.block()).collect();
            for more in 0..14 {
                for fewer in 0..14 {
                    let mut own = |count: usize| (0..count).map(|_| prg.block()).collect();
                    let [one, other]: [Vec<Block>; 2] = [own(more), own(fewer)];
                    let [one, other] =
                        [one, other].map(|own| sketch(&[&common[..], &own].concat()));
                    let expected = LEAST.min((more + fewer) as u32);
                    assert_eq!(one.difference(&other), expected, "{more} and {fewer}");
                }
            }
        }
    }

    /// Whatever the elements are: those of a subspace, or powers of each other.
    #[test]
    fn few_elements_are_told_exactly_whatever_they_are() {
        let small: Vec<Block> = (1..9).map(Block).collect();
        let mut power = Block(3);
        let powers: Vec<Block> = (0..8)
            .map(|_| {
                power = gf128::multiply(power, power);
                power
            })
            .collect();
        for elements in [small, powers] {
            for count in 0..=elements.len() {
                let difference = sketch(&elements[..count]).difference(&sketch(&[]));
                assert_eq!(difference as usize, count);
            }
        }
    }

    #[test]
    fn a_sketch_of_all_is_that_of_the_parts() {
        let mut prg = Prg::from_seed(Block(8));
        let elements: Vec<Block> = (0..40).map(|_| prg.block()).collect();
        let mut parts = sketch(&elements[..11]);
        parts ^= &sketch(&elements[11..]);
        assert_eq!(parts, sketch(&elements));
        let text = parts.to_string();
        assert_eq!(text.parse::<Sketch>().unwrap(), parts);
        for wrong in [&text[1..], "0", &text.replace('0', "g")] {
            assert!(wrong.parse::<Sketch>().is_err());
        }
    }
}

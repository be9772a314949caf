//! Waksman's permutation network (Waksman, J. ACM 1968), for any number of lanes (Beauquier and
//! Darrot, 2002): switches that swap two lanes or leave them, in 2⌈log2 n⌉ − 1 layers. One party
//! chooses the permutation and computes the settings of the switches. They are its secret input, so
//! nobody else learns the permutation.
//!
//! A network of n lanes is a row of ⌊n/2⌋ switches, an upper and a lower network of half the size,
//! and another row of switches. One lane of each pair goes through the upper network and one
//! through the lower network; the switches before and behind decide which. A lane left over goes
//! through the lower network. If there is none, the last switch behind is not needed. So n lanes
//! take Σ ⌈log2 i⌉ switches, i from 1 to n: n·log2 n − n + 1 for a power of two.

use std::collections::BTreeMap;

use crate::{Backend, Lanes, select};

/// Two lanes that a switch may swap.
pub type Switch = (u32, u32);

/// Returns the layers of switches for `lanes` lanes.
pub fn layers(lanes: u32) -> Vec<Vec<Switch>> {
    let mut layers = empty_layers(lanes as usize);
    wire(&(0..lanes).collect::<Vec<_>>(), 0, &mut layers);
    layers
}

/// Returns how many switches each of the [`layers`] has.
pub fn switches_by_layer(lanes: u32) -> Vec<usize> {
    let mut switches: Vec<usize> = empty_layers::<Switch>(lanes as usize)
        .iter()
        .map(Vec::len)
        .collect();
    // Networks of one level, by their lanes: of two sizes at most.
    let mut networks = BTreeMap::from([(lanes as usize, 1)]);
    for level in 0..switches.len().div_ceil(2) {
        let behind = switches.len() - 1 - level;
        let mut smaller = BTreeMap::new();
        for (lanes, count) in networks {
            switches[level] += count * (lanes / 2);
            if lanes > 2 {
                switches[behind] += count * switches_behind(lanes);
                *smaller.entry(lanes / 2).or_default() += count;
                *smaller.entry(lanes.div_ceil(2)).or_default() += count;
            }
        }
        networks = smaller;
    }
    switches
}

/// Returns the settings of the switches of [`layers`], `true` for those that swap, so that lane i
/// gets what lane `permutation[i]` had. Time depends on the permutation.
///
/// # Panics
/// If it is not a permutation.
pub fn settings(permutation: &[u32]) -> Vec<Vec<bool>> {
    let mut layers = empty_layers(permutation.len());
    route(permutation, 0, &mut layers);
    layers
}

/// Sends lanes through the network: one layer of products per layer of switches, whose settings are
/// the lanes of a wire.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the numbers of settings and switches differ.
pub fn permute<B: Backend>(
    backend: &mut B,
    layers: &[Vec<Switch>],
    settings: &[B::Wires],
    wires: &mut [B::Wires],
) -> Result<(), B::Error> {
    assert_eq!(layers.len(), settings.len(), "a wire for each layer");
    for (switches, settings) in layers.iter().zip(settings) {
        let at_once = backend.lanes_at_once().clamp(1, switches.len().max(1));
        for (part, switches) in switches.chunks(at_once).enumerate() {
            let first = part * at_once;
            let settings = settings.range(first..first + switches.len());
            let (low, high): (Vec<u32>, Vec<u32>) = switches.iter().copied().unzip();
            let gather = |lanes: &[u32]| -> Vec<B::Wires> {
                wires.iter().map(|wire| wire.gather(lanes)).collect()
            };
            let [a, b] = select::swap(backend, &settings, &gather(&low), &gather(&high))?;
            for (wire, (a, b)) in wires.iter_mut().zip(a.iter().zip(&b)) {
                wire.scatter(&low, a);
                wire.scatter(&high, b);
            }
        }
    }
    Ok(())
}

fn empty_layers<T>(lanes: usize) -> Vec<Vec<T>> {
    let depth = lanes.max(1).next_power_of_two().ilog2() as usize;
    (0..(2 * depth).saturating_sub(1))
        .map(|_| Vec::new())
        .collect()
}

/// Switches behind the two smaller networks.
fn switches_behind(lanes: usize) -> usize {
    lanes.div_ceil(2) - 1
}

fn wire(lanes: &[u32], level: usize, layers: &mut [Vec<Switch>]) {
    if lanes.len() < 2 {
        return;
    }
    let pairs = lanes.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    layers[level].extend(pairs.clone());
    if lanes.len() == 2 {
        return;
    }
    let behind = layers.len() - 1 - level;
    layers[behind].extend(pairs.take(switches_behind(lanes.len())));
    let upper: Vec<u32> = lanes.chunks_exact(2).map(|pair| pair[0]).collect();
    let lower: Vec<u32> = lanes.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
    wire(&upper, level + 1, layers);
    wire(&lower, level + 1, layers);
}

/// Visits the switches in the order of [`wire`].
fn route(permutation: &[u32], level: usize, layers: &mut [Vec<bool>]) {
    let n = permutation.len();
    if n < 2 {
        return;
    }
    if n == 2 {
        layers[level].push(permutation[0] == 1);
        return;
    }
    let [inputs, outputs] = colour(permutation);
    let swaps = |lower: &[Option<bool>]| -> Vec<bool> {
        let first_of_pairs = lower.chunks_exact(2).map(|pair| pair[0]);
        first_of_pairs
            .map(|lower| lower.expect("each has a colour"))
            .collect()
    };
    let behind = layers.len() - 1 - level;
    layers[level].extend(swaps(&inputs));
    layers[behind].extend(swaps(&outputs).iter().take(switches_behind(n)));
    let half = |lower: bool| -> Vec<u32> {
        let mine = permutation.iter().zip(&outputs);
        mine.filter(|(_, colour)| **colour == Some(lower))
            .map(|(input, _)| input / 2)
            .collect()
    };
    route(&half(false), level + 1, layers);
    route(&half(true), level + 1, layers);
}

/// Returns for each input and each output whether its lane goes through the lower network, so that
/// the two of a pair never go through the same one.
fn colour(permutation: &[u32]) -> [Vec<Option<bool>>; 2] {
    let n = permutation.len();
    let mut output_of = vec![0; n];
    for (output, &input) in permutation.iter().enumerate() {
        output_of[input as usize] = output;
    }
    let (mut inputs, mut outputs) = (vec![None; n], vec![None; n]);
    // The last output comes from the lower network. All others may begin with the upper one.
    for (start, lower) in std::iter::once((n - 1, true)).chain((0..n).map(|start| (start, false))) {
        let mut output = start;
        // A path of pairs ends where it began, or at the input or output that has no partner.
        while output < n && outputs[output].is_none() {
            let input = permutation[output] as usize;
            (outputs[output], inputs[input]) = (Some(lower), Some(lower));
            let partner = input ^ 1;
            if partner >= n {
                break;
            }
            let other = output_of[partner];
            (outputs[other], inputs[partner]) = (Some(!lower), Some(!lower));
            output = other ^ 1;
        }
    }
    [inputs, outputs]
}

#[cfg(test)]
mod tests {
    use psijoin_block::{Block, Prg};

    use super::*;
    use crate::{Bits, plain::Plain};

    fn permuted(permutation: &[u32], plain: &mut Plain) -> Vec<u128> {
        let n = permutation.len();
        let numbers: Vec<u128> = (0..n as u128).collect();
        let mut wires = Bits::transposed(&numbers, 12);
        let settings: Vec<Bits> = settings(permutation)
            .into_iter()
            .map(|layer| layer.into_iter().collect())
            .collect();
        permute(plain, &layers(n as u32), &settings, &mut wires).unwrap();
        Bits::numbers(&wires)
    }

    /// Calls `done` with each permutation of 0 to n − 1 (Heap's algorithm).
    fn all(n: usize, done: &mut impl FnMut(&[u32])) {
        fn heap(k: usize, list: &mut [u32], done: &mut impl FnMut(&[u32])) {
            if k <= 1 {
                return done(list);
            }
            for i in 0..k {
                heap(k - 1, list, done);
                list.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
            }
        }
        heap(n, &mut (0..n as u32).collect::<Vec<_>>(), done);
    }

    fn check(permutation: &[u32]) {
        let moved = permuted(permutation, &mut Plain::small());
        let expected: Vec<u128> = permutation.iter().map(|&input| input.into()).collect();
        assert_eq!(moved, expected);
    }

    #[test]
    fn every_small_permutation_can_be_set() {
        for n in 0..=6 {
            all(n, &mut check);
        }
    }

    #[test]
    fn large_permutations_can_be_set() {
        let mut rng = Prg::from_seed(Block(1));
        for n in [7, 8, 9, 31, 32, 33, 100, 1000] {
            check(&rng.permutation(n));
        }
    }

    #[test]
    fn switches_are_counted_without_a_network() {
        for n in 0..200 {
            let lengths: Vec<usize> = layers(n).iter().map(Vec::len).collect();
            assert_eq!(switches_by_layer(n), lengths, "{n} lanes");
        }
    }

    #[test]
    fn gates_are_as_published() {
        // PSZ14 App. D.1: σ(n·log2 n − n + 1).
        for log2 in 1..=10 {
            let n: u32 = 1 << log2;
            let mut plain = Plain::small();
            permuted(&(0..n).collect::<Vec<_>>(), &mut plain);
            assert_eq!(plain.gates().ands(), 12 * u64::from(n * log2 - n + 1));
            assert_eq!(plain.gates().layers, u64::from(2 * log2 - 1));
        }
        for n in [3_u32, 5, 77, 300] {
            let switches: usize = layers(n).iter().map(Vec::len).sum();
            let published: u32 = (1..=n).map(|i| i.next_power_of_two().ilog2()).sum();
            assert_eq!(switches as u32, published);
        }
    }
}

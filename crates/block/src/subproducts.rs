//! The pointwise steps of subproduct trees over [`gf2k`](crate::gf2k), one level at a time.
//!
//! A level has nodes of `half` values each, one after the other; two neighbours have a parent of
//! 2·`half` values. A last node without a neighbour is a parent by itself. The code that builds the
//! tree decides what the values belong to.

use crate::{
    cpu::{self, multiversion},
    gf2k::{
        Element, Field,
        products::{Constants, portable},
    },
};

#[cfg(target_arch = "x86_64")]
use crate::gf2k::products::x86;

/// Computes parents: the first half of each is the product of its children's parts of `first`, the
/// second half that of their parts of `second`.
///
/// # Panics
/// If the lengths do not fit together.
pub fn products(
    field: &Field,
    half: usize,
    first: &[Element],
    second: &[Element],
    parents: &mut [Element],
) {
    check(half, first.len(), parents.len());
    assert_eq!(first.len(), second.len(), "as many nodes");
    products_on(cpu::best(), field, half, first, second, parents);
}

/// Computes the nodes: each is its parent's second half times the node's factors.
///
/// # Panics
/// If the lengths do not fit together.
pub fn quotients(
    field: &Field,
    half: usize,
    parents: &[Element],
    factors: &[Element],
    nodes: &mut [Element],
) {
    check(half, factors.len(), parents.len());
    assert_eq!(factors.len(), nodes.len(), "as many nodes");
    quotients_on(cpu::best(), field, half, parents, factors, nodes);
}

/// Replaces parents by their nodes: each node is its parent's first half plus a·b. A place
/// without a node keeps what it has.
///
/// # Panics
/// If the lengths do not fit together.
pub fn remainders(
    field: &Field,
    half: usize,
    parents: &mut [Element],
    a: &[Element],
    b: &[Element],
) {
    check(half, a.len(), parents.len());
    assert_eq!(a.len(), b.len(), "as many nodes");
    remainders_on(cpu::best(), field, half, parents, a, b);
}

/// Replaces nodes by their parents: with children l and r, a parent is n_l·d_r + n_r·d_l, at its
/// first half with n from `nodes` and d from `first`, at its second half with n from `others` and
/// d from `second`. Without a child r it is n_l.
///
/// # Panics
/// If the lengths do not fit together: `nodes` have room for whole parents, the others do not.
pub fn numerators(
    field: &Field,
    half: usize,
    nodes: &mut [Element],
    others: &[Element],
    first: &[Element],
    second: &[Element],
) {
    check(half, others.len(), nodes.len());
    assert!(
        first.len() == others.len() && second.len() == others.len(),
        "as many nodes"
    );
    numerators_on(cpu::best(), field, half, nodes, others, first, second);
}

fn check(half: usize, nodes: usize, parents: usize) {
    assert!(
        nodes.is_multiple_of(half) && parents == nodes.next_multiple_of(2 * half),
        "two nodes for each parent, except the last one"
    );
}

multiversion! {
    fn products_on(
        field: &Field, half: usize, first: &[Element], second: &[Element], parents: &mut [Element],
    )
    portable all_products(*field.constants(), half, first, second, parents, portable::product);
    avx2 all_products(
        *field.constants(), half, first, second, parents, |c, a, b| x86::product(c, a, b)
    );
    avx512 all_products(
        *field.constants(), half, first, second, parents, |c, a, b| x86::product(c, a, b)
    );
}

multiversion! {
    fn quotients_on(
        field: &Field, half: usize, parents: &[Element], factors: &[Element], nodes: &mut [Element],
    )
    portable all_quotients(*field.constants(), half, parents, factors, nodes, portable::product);
    avx2 all_quotients(
        *field.constants(), half, parents, factors, nodes, |c, a, b| x86::product(c, a, b)
    );
    avx512 all_quotients(
        *field.constants(), half, parents, factors, nodes, |c, a, b| x86::product(c, a, b)
    );
}

multiversion! {
    fn remainders_on(
        field: &Field, half: usize, parents: &mut [Element], a: &[Element], b: &[Element],
    )
    portable all_remainders(*field.constants(), half, parents, a, b, portable::product);
    avx2 all_remainders(
        *field.constants(), half, parents, a, b, |c, a, b| x86::product(c, a, b)
    );
    avx512 all_remainders(
        *field.constants(), half, parents, a, b, |c, a, b| x86::product(c, a, b)
    );
}

multiversion! {
    fn numerators_on(
        field: &Field, half: usize, nodes: &mut [Element], others: &[Element], first: &[Element],
        second: &[Element],
    )
    portable all_numerators(
        *field.constants(), half, nodes, others, first, second, portable::sum
    );
    avx2 all_numerators(
        *field.constants(), half, nodes, others, first, second,
        |field, a, b, c, d| x86::sum(field, a, b, c, d)
    );
    avx512 all_numerators(
        *field.constants(), half, nodes, others, first, second,
        |field, a, b, c, d| x86::sum(field, a, b, c, d)
    );
}

#[inline(always)]
fn all_products(
    field: Constants,
    half: usize,
    first: &[Element],
    second: &[Element],
    parents: &mut [Element],
    product: impl Fn(Constants, Element, Element) -> Element,
) {
    let children = first.chunks(2 * half).zip(second.chunks(2 * half));
    for (parent, (first, second)) in parents.chunks_exact_mut(2 * half).zip(children) {
        for (parent, children) in parent.chunks_exact_mut(half).zip([first, second]) {
            let (left, right) = children.split_at(half);
            parent.copy_from_slice(left);
            for (parent, right) in parent.iter_mut().zip(right) {
                *parent = product(field, *parent, *right);
            }
        }
    }
}

#[inline(always)]
fn all_quotients(
    field: Constants,
    half: usize,
    parents: &[Element],
    factors: &[Element],
    nodes: &mut [Element],
    product: impl Fn(Constants, Element, Element) -> Element,
) {
    let children = factors.chunks(2 * half).zip(nodes.chunks_mut(2 * half));
    for (parent, (factors, nodes)) in parents.chunks_exact(2 * half).zip(children) {
        let second = &parent[half..];
        let children = factors.chunks_exact(half).zip(nodes.chunks_exact_mut(half));
        for (factors, node) in children {
            for ((node, second), factor) in node.iter_mut().zip(second).zip(factors) {
                *node = product(field, *second, *factor);
            }
        }
    }
}

#[inline(always)]
fn all_remainders(
    field: Constants,
    half: usize,
    parents: &mut [Element],
    a: &[Element],
    b: &[Element],
    product: impl Fn(Constants, Element, Element) -> Element,
) {
    let children = a.chunks(2 * half).zip(b.chunks(2 * half));
    for (parent, (a, b)) in parents.chunks_exact_mut(2 * half).zip(children) {
        let (left, right) = parent.split_at_mut(half);
        let ((a_left, a_right), (b_left, b_right)) = (a.split_at(half), b.split_at(half));
        for (((left, right), a), b) in left.iter().zip(right).zip(a_right).zip(b_right) {
            *right = *left ^ product(field, *a, *b);
        }
        for ((left, a), b) in left.iter_mut().zip(a_left).zip(b_left) {
            *left ^= product(field, *a, *b);
        }
    }
}

#[inline(always)]
fn all_numerators(
    field: Constants,
    half: usize,
    nodes: &mut [Element],
    others: &[Element],
    first: &[Element],
    second: &[Element],
    sum: impl Fn(Constants, Element, Element, Element, Element) -> Element,
) {
    let children = others
        .chunks(2 * half)
        .zip(first.chunks(2 * half))
        .zip(second.chunks(2 * half));
    for (parent, ((others, first), second)) in nodes.chunks_exact_mut(2 * half).zip(children) {
        let (left, right) = parent.split_at_mut(half);
        if others.len() == half {
            right.copy_from_slice(others);
            continue;
        }
        let (other_left, other_right) = others.split_at(half);
        let (first_left, first_right) = first.split_at(half);
        let (second_left, second_right) = second.split_at(half);
        for i in 0..half {
            left[i] = sum(field, left[i], first_right[i], right[i], first_left[i]);
            right[i] = sum(
                field,
                other_left[i],
                second_right[i],
                other_right[i],
                second_left[i],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    fn random(field: &Field, seed: u128, len: usize) -> Vec<Element> {
        let mut prg = Prg::from_seed(Block(seed));
        (0..len)
            .map(|_| field.from_words(bytemuck::cast(prg.block().to_bytes())))
            .collect()
    }

    /// The steps on every backend, with and without a last neighbour, node by node.
    #[test]
    fn every_backend_follows_the_definitions() {
        let field = Field::new(54);
        for (half, nodes) in [(1_usize, 1), (1, 2), (1, 3), (2, 5), (4, 2), (4, 3)] {
            let len = nodes * half;
            let parent_len = len.next_multiple_of(2 * half);
            let [a, b, c] = [1, 2, 3].map(|seed| random(&field, seed, len));
            let parents = random(&field, 4, parent_len);
            // The value of a node at a place belongs with its neighbour's at the same place.
            let mate = |place: usize| place ^ half;
            let times = |x: Element, y: Element| field.product(x, y);
            for backend in cpu::available() {
                let check = |computed: &[Element], expected: &dyn Fn(usize) -> Element, len| {
                    for (place, computed) in computed[..len].iter().enumerate() {
                        assert!(field.is_zero(*computed ^ expected(place)), "{backend:?}");
                    }
                };
                let left_of = |place: usize| place / (2 * half) * 2 * half + place % half;
                let is_left = |place: usize| place % (2 * half) < half;

                let mut out = parents.clone();
                products_on(backend, &field, half, &a, &b, &mut out);
                let product = |place: usize| {
                    let from = if is_left(place) { &a } else { &b };
                    let left = left_of(place);
                    match from.get(left + half) {
                        Some(right) => times(from[left], *right),
                        None => from[left],
                    }
                };
                check(&out, &product, parent_len);

                let mut out = a.clone();
                quotients_on(backend, &field, half, &parents, &b, &mut out);
                let quotient = |place: usize| times(parents[left_of(place) + half], b[place]);
                check(&out, &quotient, len);

                let mut out = parents.clone();
                remainders_on(backend, &field, half, &mut out, &a, &b);
                let remainder = |place: usize| parents[left_of(place)] ^ times(a[place], b[place]);
                check(&out, &remainder, len);

                let mut out = parents.clone();
                numerators_on(backend, &field, half, &mut out, &a, &b, &c);
                let numerator = |place: usize| {
                    let (n, d) = match is_left(place) {
                        true => (&parents, &b),
                        false => (&a, &c),
                    };
                    let left = left_of(place);
                    let right = mate(left);
                    match d.get(right) {
                        Some(other) => times(n[left], *other) ^ times(n[right], d[left]),
                        None => n[left],
                    }
                };
                check(&out, &numerator, parent_len);
            }
        }
    }
}

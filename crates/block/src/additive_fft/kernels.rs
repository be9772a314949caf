//! The layers, once for each instruction set.
//!
//! The lowest three work on groups of eight elements in registers: their blocks are too short for
//! loops. Where the offset is zero, the first twiddle of every layer is zero too, and its products
//! are left out: as many as two layers have.

/// Layers of a group.
const GROUP_LOG: u32 = 3;
const GROUP: usize = 1 << GROUP_LOG;

/// Defines all loops from sums and products of single elements.
macro_rules! layers {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(in super::super) fn evaluate(
            fft: &AdditiveFft,
            log: u32,
            offset: usize,
            data: &mut [Element],
        ) {
            let data = vectors(data);
            match log {
                0 => return,
                1 => return evaluate_groups::<2>(fft, offset, data),
                2 => return evaluate_groups::<4>(fft, offset, data),
                3 => return evaluate_groups::<8>(fft, offset, data),
                _ => {}
            }
            let firsts = first_twiddles(fft, offset);
            let first_group = group_twiddles(fft, offset);
            for chunk in data.chunks_exact_mut(1 << log) {
                for layer in (GROUP_LOG..log).rev() {
                    let mut twiddle = firsts[layer as usize];
                    for (number, block) in chunk.chunks_exact_mut(2 << layer).enumerate() {
                        let (left, right) = block.split_at_mut(1 << layer);
                        if number == 0 && offset == 0 {
                            add_all(right, left);
                        } else {
                            evaluate_block(&fft.field, twiddle, left, right);
                        }
                        twiddle = next(fft, layer, number, twiddle);
                    }
                }
                let mut twiddles = first_group;
                for (number, group) in chunk.chunks_exact_mut(GROUP).enumerate() {
                    if number == 0 && offset == 0 {
                        evaluate_group::<8, true>(&fft.field, &twiddles, group);
                    } else {
                        evaluate_group::<8, false>(&fft.field, &twiddles, group);
                    }
                    next_group(fft, number, &mut twiddles);
                }
            }
        }

        $(#[$attribute])*
        pub(in super::super) fn interpolate(
            fft: &AdditiveFft,
            log: u32,
            offset: usize,
            data: &mut [Element],
        ) {
            let data = vectors(data);
            match log {
                0 => return,
                1 => return interpolate_groups::<2>(fft, offset, data),
                2 => return interpolate_groups::<4>(fft, offset, data),
                3 => return interpolate_groups::<8>(fft, offset, data),
                _ => {}
            }
            let firsts = first_twiddles(fft, offset);
            let first_group = group_twiddles(fft, offset);
            for chunk in data.chunks_exact_mut(1 << log) {
                let mut twiddles = first_group;
                for (number, group) in chunk.chunks_exact_mut(GROUP).enumerate() {
                    if number == 0 && offset == 0 {
                        interpolate_group::<8, true>(&fft.field, &twiddles, group);
                    } else {
                        interpolate_group::<8, false>(&fft.field, &twiddles, group);
                    }
                    next_group(fft, number, &mut twiddles);
                }
                for layer in GROUP_LOG..log {
                    let mut twiddle = firsts[layer as usize];
                    for (number, block) in chunk.chunks_exact_mut(2 << layer).enumerate() {
                        let (left, right) = block.split_at_mut(1 << layer);
                        if number == 0 && offset == 0 {
                            add_all(right, left);
                        } else {
                            interpolate_block(&fft.field, twiddle, left, right);
                        }
                        twiddle = next(fft, layer, number, twiddle);
                    }
                }
            }
        }

        $(#[$attribute])*
        pub(in super::super) fn evaluate_layer(
            field: &Field,
            twiddle: u64,
            left: &mut [Element],
            right: &mut [Element],
        ) {
            let (left, right) = (vectors(left), vectors(right));
            match twiddle {
                0 => add_all(right, left),
                _ => evaluate_block(field, constant(twiddle), left, right),
            }
        }

        $(#[$attribute])*
        pub(in super::super) fn interpolate_layer(
            field: &Field,
            twiddle: u64,
            left: &mut [Element],
            right: &mut [Element],
        ) {
            let (left, right) = (vectors(left), vectors(right));
            match twiddle {
                0 => add_all(right, left),
                _ => interpolate_block(field, constant(twiddle), left, right),
            }
        }

        /// Either transform of a block whose twiddle is zero.
        #[inline]
        $(#[$attribute])*
        fn add_all(sums: &mut [Vector], summands: &[Vector]) {
            for (sum, summand) in sums.iter_mut().zip(summands) {
                *sum = add(*sum, *summand);
            }
        }

        /// The polynomial low + ŝ·high has the value low + twiddle·high on the left half, and
        /// one `high` more on the right one.
        #[inline]
        $(#[$attribute])*
        fn evaluate_block(field: &Field, twiddle: Vector, left: &mut [Vector], right: &mut [Vector]) {
            for (left, right) in left.iter_mut().zip(right) {
                *left = add(*left, scale(*field.constants(), *right, twiddle));
                *right = add(*right, *left);
            }
        }

        #[inline]
        $(#[$attribute])*
        fn interpolate_block(
            field: &Field,
            twiddle: Vector,
            left: &mut [Vector],
            right: &mut [Vector],
        ) {
            for (left, right) in left.iter_mut().zip(right) {
                *right = add(*right, *left);
                *left = add(*left, scale(*field.constants(), *right, twiddle));
            }
        }

        /// Those of the first block of each layer.
        $(#[$attribute])*
        fn first_twiddles(fft: &AdditiveFft, offset: usize) -> [Vector; KERNEL_LOG as usize] {
            let mut twiddles = [constant(0); KERNEL_LOG as usize];
            for (twiddle, layer) in twiddles.iter_mut().zip(0..) {
                *twiddle = constant(fft.twiddle(layer, offset));
            }
            twiddles
        }

        /// The twiddle of the block after block `number`.
        #[inline]
        $(#[$attribute])*
        fn next(fft: &AdditiveFft, layer: u32, number: usize, twiddle: Vector) -> Vector {
            let zeros = (number + 1).trailing_zeros() as usize;
            add(twiddle, step(&fft.steps[layer as usize][zeros % LAYERS]))
        }

        /// Transforms that are groups, or parts of one: all have the same twiddles.
        #[inline]
        $(#[$attribute])*
        fn evaluate_groups<const SIZE: usize>(
            fft: &AdditiveFft,
            offset: usize,
            data: &mut [Vector],
        ) {
            let twiddles = group_twiddles(fft, offset);
            let groups = data.chunks_exact_mut(SIZE);
            if offset == 0 {
                groups.for_each(|group| evaluate_group::<SIZE, true>(&fft.field, &twiddles, group));
            } else {
                groups.for_each(|group| evaluate_group::<SIZE, false>(&fft.field, &twiddles, group));
            }
        }

        #[inline]
        $(#[$attribute])*
        fn interpolate_groups<const SIZE: usize>(
            fft: &AdditiveFft,
            offset: usize,
            data: &mut [Vector],
        ) {
            let twiddles = group_twiddles(fft, offset);
            let groups = data.chunks_exact_mut(SIZE);
            if offset == 0 {
                groups.for_each(|group| interpolate_group::<SIZE, true>(&fft.field, &twiddles, group));
            } else {
                groups.for_each(|group| interpolate_group::<SIZE, false>(&fft.field, &twiddles, group));
            }
        }

        /// The twiddles of a group: the block of layer i that starts at place j of it has number
        /// 2^(2 − i) + j/2^(i + 1) − 1.
        #[inline]
        $(#[$attribute])*
        fn group_twiddles(fft: &AdditiveFft, offset: usize) -> [Vector; GROUP - 1] {
            let mut twiddles = [constant(0); GROUP - 1];
            for layer in 0..GROUP_LOG {
                let blocks = GROUP >> (layer + 1);
                for block in 0..blocks {
                    let place = offset + (block << (layer + 1));
                    twiddles[blocks + block - 1] = constant(fft.twiddle(layer, place));
                }
            }
            twiddles
        }

        /// The twiddles of the group after group `number`.
        #[inline]
        $(#[$attribute])*
        fn next_group(fft: &AdditiveFft, number: usize, twiddles: &mut [Vector; GROUP - 1]) {
            let zeros = (number + 1).trailing_zeros() as usize;
            for layer in 0..GROUP_LOG {
                let change = step(&fft.group_steps[layer as usize][zeros % LAYERS]);
                let blocks = GROUP >> (layer + 1);
                for twiddle in &mut twiddles[blocks - 1..2 * blocks - 1] {
                    *twiddle = add(*twiddle, change);
                }
            }
        }

        /// All layers of a group of SIZE elements; FIRST if it starts at the zero of the field.
        #[inline]
        $(#[$attribute])*
        fn evaluate_group<const SIZE: usize, const FIRST: bool>(
            field: &Field,
            twiddles: &[Vector; GROUP - 1],
            group: &mut [Vector],
        ) {
            let group: &mut [Vector; SIZE] = group.try_into().expect("a whole group");
            let mut values = *group;
            for layer in (0..SIZE.ilog2()).rev() {
                for i in (0..SIZE).filter(|i| i >> layer & 1 == 0) {
                    let (block, other) = (i >> (layer + 1), i + (1 << layer));
                    if !(FIRST && block == 0) {
                        let twiddle = twiddles[(GROUP >> (layer + 1)) + block - 1];
                        let product = scale(*field.constants(), values[other], twiddle);
                        values[i] = add(values[i], product);
                    }
                    values[other] = add(values[other], values[i]);
                }
            }
            *group = values;
        }

        #[inline]
        $(#[$attribute])*
        fn interpolate_group<const SIZE: usize, const FIRST: bool>(
            field: &Field,
            twiddles: &[Vector; GROUP - 1],
            group: &mut [Vector],
        ) {
            let group: &mut [Vector; SIZE] = group.try_into().expect("a whole group");
            let mut values = *group;
            for layer in 0..SIZE.ilog2() {
                for i in (0..SIZE).filter(|i| i >> layer & 1 == 0) {
                    let (block, other) = (i >> (layer + 1), i + (1 << layer));
                    values[other] = add(values[other], values[i]);
                    if !(FIRST && block == 0) {
                        let twiddle = twiddles[(GROUP >> (layer + 1)) + block - 1];
                        let product = scale(*field.constants(), values[other], twiddle);
                        values[i] = add(values[i], product);
                    }
                }
            }
            *group = values;
        }
    };
}

use super::{AdditiveFft, KERNEL_LOG, LAYERS};
use crate::{
    Block,
    gf2k::{Element, Field},
};

pub(super) mod portable {
    use super::{AdditiveFft, Block, Element, Field, GROUP, GROUP_LOG, KERNEL_LOG, LAYERS};
    use crate::gf2k::products::{Constants, portable};

    type Vector = Element;

    fn vectors(data: &mut [Element]) -> &mut [Vector] {
        data
    }

    fn constant(word: u64) -> Vector {
        Element { low: word, high: 0 }
    }

    fn step(block: &Block) -> Vector {
        constant(block.0 as u64)
    }

    fn add(a: Vector, b: Vector) -> Vector {
        a ^ b
    }

    fn scale(field: Constants, a: Vector, by: Vector) -> Vector {
        portable::scale(field, a, by.low)
    }

    layers!();
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::{AdditiveFft, Block, Element, Field, GROUP, GROUP_LOG, KERNEL_LOG, LAYERS};
    use crate::gf2k::products::x86::scale;

    type Vector = __m128i;

    fn vectors(data: &mut [Element]) -> &mut [Vector] {
        bytemuck::cast_slice_mut(data)
    }

    #[inline]
    fn constant(word: u64) -> Vector {
        bytemuck::cast([word, 0])
    }

    #[inline]
    fn step(block: &Block) -> Vector {
        bytemuck::cast(*block)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(a: Vector, b: Vector) -> Vector {
        _mm_xor_si128(a, b)
    }

    layers!(
        #[target_feature(enable = "avx2,pclmulqdq")]
    );
}

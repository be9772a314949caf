//! The kernels, each alone: `cargo bench -p psijoin-block`.

use divan::{
    Bencher,
    counter::{BytesCount, ItemsCount},
};
use psijoin_block::{
    Block, Prg,
    additive_fft::AdditiveFft,
    aes::Aes128,
    blake3_rows,
    cells::Cells,
    crhf,
    gf2k::{Element as Pair, Field},
    gf128, positions, select,
    tower::{Element, Gf64, Subspace, Tower},
    transpose,
};

fn main() {
    divan::main();
}

fn random(n: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; n];
    Prg::from_seed(Block(1)).fill(&mut blocks);
    blocks
}

#[divan::bench]
fn prg(bencher: Bencher) {
    let (mut prg, mut blocks) = (Prg::from_seed(Block(1)), random(4096));
    bencher
        .counter(BytesCount::of_slice(&blocks))
        .bench_local(|| prg.fill(&mut blocks));
}

#[divan::bench]
fn correlation_robust(bencher: Bencher) {
    let mut blocks = random(4096);
    bencher
        .counter(ItemsCount::new(blocks.len()))
        .bench_local(|| crhf::correlation_robust(&mut blocks));
}

#[divan::bench]
fn tweakable(bencher: Bencher) {
    let mut blocks = random(4096);
    bencher
        .counter(ItemsCount::new(blocks.len()))
        .bench_local(|| crhf::tweakable(0, &mut blocks));
}

#[divan::bench]
fn gf128_inner_product(bencher: Bencher) {
    let (a, b) = (random(4096), random(4096));
    bencher
        .counter(ItemsCount::new(a.len()))
        .bench_local(|| gf128::inner_product(divan::black_box(&a), &b));
}

#[divan::bench(types = [Gf64, Subspace<Tower, 72>, Tower])]
fn add_products<E: Element>(bencher: Bencher) {
    let (mut sums, elements) = (random(4096), random(4096));
    let elements: &[E] = &bytemuck::cast_slice(&elements)[..4096];
    let sums: &mut [Tower] = bytemuck::cast_slice_mut(&mut sums);
    bencher
        .counter(ItemsCount::new(4096_usize))
        .bench_local(|| E::add_products(sums, divan::black_box(sums[0]), elements));
}

#[divan::bench(consts = [2, 8])]
fn transpose_2048_rows<const WORDS: usize>(bencher: Bencher) {
    let columns = random(64 * WORDS * 2048 / 128);
    let mut rows = vec![[0_u64; WORDS]; 2048];
    bencher
        .counter(BytesCount::of_slice(&columns))
        .bench_local(|| {
            transpose::transpose(bytemuck::cast_slice(divan::black_box(&columns)), &mut rows)
        });
}

#[divan::bench]
fn select_sums(bencher: Bencher) {
    let rows = vec![7_u64; 8 * select::ROWS];
    let (selectors, mut sums) = (random(4096), vec![0_u64; 8 * 4096]);
    bencher
        .counter(ItemsCount::new(selectors.len()))
        .bench_local(|| select::sums(8, divan::black_box(&rows), &selectors, &mut sums));
}

#[divan::bench]
fn blake3_code_word(bencher: Bencher) {
    let rows = vec![[7_u64; 3]; 4096];
    let mut out = vec![[0_u64; 8]; 4096];
    bencher
        .counter(ItemsCount::new(rows.len()))
        .bench_local(|| blake3_rows::keyed_hash(&[1; 32], divan::black_box(&rows), &mut out));
}

#[divan::bench]
fn blake3_row_to_mask(bencher: Bencher) {
    let rows = vec![[7_u64; 8]; 4096];
    let mut out = vec![[0_u64; 2]; 4096];
    bencher
        .counter(ItemsCount::new(rows.len()))
        .bench_local(|| blake3_rows::keyed_hash(&[1; 32], divan::black_box(&rows), &mut out));
}

#[divan::bench]
fn blake3_derive_key(bencher: Bencher) {
    let context = blake3_rows::ContextKey::new("a bench");
    let (blocks, lengths) = (vec![[7; 64]; 4096], vec![64; 4096]);
    let mut out = vec![[0; 32]; 4096];
    bencher
        .counter(ItemsCount::new(blocks.len()))
        .bench_local(|| {
            blake3_rows::derive_key(&context, divan::black_box(&blocks), &lengths, &mut out)
        });
}

#[divan::bench]
fn aes_and_positions(bencher: Bencher) {
    let (aes, inputs) = (Aes128::new(Block(1)), random(8192));
    let mut blocks = [Block::ZERO; 128];
    // Rows do not start a multiple of 4 KiB apart.
    let mut rows = vec![0; 8 * (inputs.len() + 32)];
    bencher
        .counter(ItemsCount::new(rows.len()))
        .bench_local(|| {
            for (batch, inputs) in inputs.chunks(128).enumerate() {
                blocks.copy_from_slice(inputs);
                aes.encrypt(&mut blocks);
                positions::scale(&blocks, 8192, 128 * batch, &mut rows);
            }
        });
}

/// A column of 2^13 rows, and as many reads.
#[divan::bench(args = [false, true])]
fn read_cells(bencher: Bencher, clear: bool) {
    let (mut cells, mut other) = (Cells::new(), Cells::new());
    let (mut column, mut bits) = (vec![5; 128], vec![0; 128]);
    let mut positions = vec![0; 8 * 8192];
    positions::scale(&random(8192), 8192, 0, &mut positions);
    let positions = &positions[..8192];
    bencher
        .counter(ItemsCount::new(positions.len()))
        .bench_local(|| {
            cells.spread(&column);
            if clear {
                other.set(8192);
                cells.read_and_clear(&mut other, positions, &mut bits);
                other.pack(&mut column);
            } else {
                cells.read(positions, &mut bits);
            }
        });
}

fn pairs(field: &Field, n: usize) -> Vec<Pair> {
    let words = random(n);
    (words
        .iter()
        .map(|block| field.from_words(bytemuck::cast(block.to_bytes()))))
    .collect()
}

#[divan::bench]
fn gf2k_multiply(bencher: Bencher) {
    let field = Field::new(55);
    let (mut a, b) = (pairs(&field, 4096), pairs(&field, 4096));
    bencher
        .counter(ItemsCount::new(a.len()))
        .bench_local(|| field.multiply(&mut a, divan::black_box(&b)));
}

/// Four polynomials with 41 coefficients at 32 points: the items are products.
#[divan::bench]
fn gf2k_matrix_product(bencher: Bencher) {
    let field = Field::new(55);
    let (left, right, mut product) = (
        pairs(&field, 4 * 41),
        pairs(&field, 41 * 32),
        pairs(&field, 4 * 32),
    );
    bencher
        .counter(ItemsCount::new(4 * 41 * 32_usize))
        .bench_local(|| field.matrix_product(41, &left, divan::black_box(&right), &mut product));
}

/// The items are butterflies, k·2^(k−1) a transform: of 2^12 elements, or as many as it needs.
#[divan::bench(args = [1, 2, 3, 4, 6, 10, 16, 20], consts = [0, 1])]
fn additive_fft_butterflies<const OFFSET: usize>(bencher: Bencher, log: u32) {
    let fft = AdditiveFft::new(Field::new(55));
    let mut data = pairs(fft.field(), 1 << log.max(12));
    bencher
        .counter(ItemsCount::new(data.len() / 2 * log as usize))
        .bench_local(|| fft.evaluate(log, OFFSET << log, &mut data));
}

use super::*;

fn random<const W: usize>(len: usize, seed: u128) -> Vec<Words<W>> {
    let mut blocks = vec![Block::ZERO; (len * W).div_ceil(2)];
    Prg::from_seed(Block(seed)).fill(&mut blocks);
    bytemuck::cast_slice::<_, u64>(&blocks)
        .chunks_exact(W)
        .take(len)
        .map(|words| words.try_into().unwrap())
        .collect()
}

fn encode<const W: usize>(code: &BlockAccumulate, input: &[Words<W>]) -> Vec<Words<W>> {
    let mut scratch = vec![[0; W]; input.len()];
    code.compress(&mut input.to_vec(), &mut scratch);
    scratch.truncate(code.outputs);
    scratch
}

/// Sizes of one bucket, of several, and of several pieces.
const SIZES: [usize; 5] = [1, 32, 1000, 5000, 40_000];

#[test]
fn is_linear_and_depends_on_every_input() {
    for size in SIZES {
        let code = BlockAccumulate::new(size);
        let (a, b) = (
            random::<2>(code.input_len(), 1),
            random::<2>(code.input_len(), 2),
        );
        let sum: Vec<_> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| [a[0] ^ b[0], a[1] ^ b[1]])
            .collect();
        let (encoded_a, encoded_b) = (encode(&code, &a), encode(&code, &b));
        for ((sum, a), b) in encode(&code, &sum).iter().zip(&encoded_a).zip(&encoded_b) {
            assert_eq!(*sum, [a[0] ^ b[0], a[1] ^ b[1]]);
        }
    }
    let code = BlockAccumulate::new(1000);
    for i in [0, 1, 999, 1000, code.input_len() - 1] {
        let mut unit = vec![[0]; code.input_len()];
        unit[i] = [1];
        let weight = encode(&code, &unit)
            .iter()
            .filter(|word| word[0] == 1)
            .count();
        assert!(weight > 100, "a unit vector becomes dense: {weight}");
    }
}

/// The definition: prefix sums, a permutation that is found by sending positions through, and
/// blocks.
#[test]
fn rounds_are_what_they_should_be() {
    for size in SIZES {
        let code = BlockAccumulate::new(size);
        let len = code.input_len();
        let input = random::<1>(len, 3);
        let mut vector = input.clone();
        for permutation in &code.permutations {
            let mut total = 0;
            for element in &mut vector {
                total ^= element[0];
                element[0] = total;
            }
            vector = follow(permutation).iter().map(|i| vector[*i]).collect();
        }
        let mut out = vec![[0]; code.outputs];
        code.multiply(0, &vector, &mut out);
        assert_eq!(encode(&code, &input), out);
    }
}

/// Returns which element a permutation puts in each place.
fn follow(permutation: &Permutation) -> Vec<usize> {
    let len = permutation.order.len();
    // The sum of these up to i is i + 1.
    let elements: Vec<Words<1>> = (0..len as u64).map(|i| [i ^ (i + 1)]).collect();
    let mut bucketed = vec![[0]; len];
    round(&elements, None, permutation, &mut bucketed);
    let mut order = Vec::new();
    for bucket in &permutation.buckets {
        let shuffled = permutation.shuffled(bucket, &bucketed[bucket.clone()]);
        order.extend(shuffled.map(|[sum]| sum as usize - 1));
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..len), "a permutation");
    order
}

#[test]
fn threads_change_nothing() {
    let code = BlockAccumulate::new(40_000);
    let input = random::<3>(code.input_len(), 4);
    let [one, three] = [1, 3].map(|threads| {
        let pool = parallel::Pool::new(threads).unwrap();
        pool.run(|| encode(&code, &input))
    });
    assert!(one == three);
}

#[test]
fn blocks_are_multiplied_by_the_matrix() {
    let (x, z) = (random::<1>(BLOCK, 6), random::<1>(BLOCK, 7));
    let rows: Vec<u32> = random::<1>(BLOCK, 8)
        .iter()
        .map(|word| word[0] as u32)
        .collect();
    let mut out = vec![[0]; BLOCK];
    compress::block(&rows, &x, &z, &mut out);
    for (i, out) in out.iter().enumerate() {
        let product = (0..BLOCK)
            .filter(|j| rows[i] >> j & 1 == 1)
            .fold(0, |sum, j| sum ^ z[j][0]);
        assert_eq!(out[0], x[i][0] ^ product);
    }
}

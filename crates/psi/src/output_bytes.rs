//! Outputs as bytes, for whoever keeps one or hands it to another process of the same party: a byte
//! for the kind, and the output's numbers, little endian.

use psijoin_circuit::Bits;
use zeroize::Zeroizing;

use crate::{Group, Matched, Output, Shares, TotalShares};

/// Stands for a place that holds no item.
const NO_ITEM: u32 = u32::MAX;

/// Returns an output as bytes.
pub fn encode(output: &Output) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::new());
    match output {
        Output::Nothing => bytes.push(0),
        Output::Rows(rows) => {
            bytes.reserve_exact(1 + 4 * rows.len());
            bytes.push(1);
            rows.iter().for_each(|row| bytes.extend(row.to_le_bytes()));
        }
        Output::Count(count) => {
            bytes.push(2);
            bytes.extend(count.to_le_bytes());
        }
        Output::Reached(reached) => bytes.extend([3, u8::from(*reached)]),
        Output::Sums(sums) => {
            bytes.push(4);
            sums.iter().for_each(|sum| bytes.extend(sum.to_le_bytes()));
        }
        Output::Shares(shares) => encode_shares(shares, &mut bytes),
        Output::Totals(totals) => {
            bytes.push(6);
            let numbers = [totals.count]
                .into_iter()
                .chain(totals.sums.iter().copied());
            numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        Output::TooFew => bytes.push(7),
        Output::Matched(Matched { rows, payloads }) => {
            bytes.reserve_exact(9 + 4 * rows.len() + payloads.len());
            bytes.push(8);
            bytes.extend((rows.len() as u64).to_le_bytes());
            rows.iter().for_each(|row| bytes.extend(row.to_le_bytes()));
            bytes.extend_from_slice(payloads);
        }
        Output::Groups(groups) => encode_groups(groups, &mut bytes),
    }
    bytes
}

/// Writes the numbers of groups and of columns, and for each group whether it is shown, its count
/// and its sums.
fn encode_groups(groups: &[Option<Group>], bytes: &mut Vec<u8>) {
    let columns = groups
        .iter()
        .flatten()
        .next()
        .map_or(0, |group| group.sums.len());
    bytes.reserve_exact(17 + groups.len() * (9 + 8 * columns));
    bytes.push(9);
    bytes.extend((groups.len() as u64).to_le_bytes());
    bytes.extend((columns as u64).to_le_bytes());
    for group in groups {
        bytes.push(group.is_some().into());
        if let Some(Group { count, sums }) = group {
            bytes.extend(count.to_le_bytes());
            sums.iter().for_each(|sum| bytes.extend(sum.to_le_bytes()));
        }
    }
}

fn encode_shares(shares: &Shares, bytes: &mut Vec<u8>) {
    let (places, columns) = (shares.places(), shares.columns());
    // At once, so that no copy is left behind when the vector grows.
    bytes.reserve_exact(18 + places.div_ceil(8) + (8 * columns.len() + 4) * places);
    bytes.push(5);
    bytes.extend((places as u64).to_le_bytes());
    bytes.extend((columns.len() as u64).to_le_bytes());
    bytes.push(u8::from(shares.items().is_some()));
    bytes.extend_from_slice(&Zeroizing::new(shares.membership().to_bytes()));
    for number in columns.iter().flatten() {
        bytes.extend(number.to_le_bytes());
    }
    for item in shares.items().into_iter().flatten() {
        bytes.extend(item.unwrap_or(NO_ITEM).to_le_bytes());
    }
}

/// Returns the output that these bytes encode, if they are valid.
pub fn decode(bytes: &[u8]) -> Option<Output> {
    let (kind, rest) = bytes.split_first()?;
    let output = match (kind, rest) {
        (0, []) => Output::Nothing,
        (1, rows) => Output::Rows(numbers(rows, u32::from_le_bytes)?),
        (2, count) => Output::Count(u64::from_le_bytes(count.try_into().ok()?)),
        (3, [reached @ 0..=1]) => Output::Reached(*reached == 1),
        (4, sums) => Output::Sums(numbers(sums, i64::from_le_bytes)?),
        (5, shares) => Output::Shares(decode_shares(shares)?),
        (6, totals) => {
            let mut sums = numbers(totals, u64::from_le_bytes)?;
            let count = (!sums.is_empty()).then(|| sums.remove(0))?;
            Output::Totals(TotalShares { sums, count })
        }
        (7, []) => Output::TooFew,
        (8, matched) => Output::Matched(decode_matched(matched)?),
        (9, groups) => Output::Groups(decode_groups(groups)?),
        _ => return None,
    };
    Some(output)
}

fn decode_matched(bytes: &[u8]) -> Option<Matched> {
    let (rows, rest) = bytes.split_first_chunk()?;
    let rows = usize::try_from(u64::from_le_bytes(*rows)).ok()?;
    let (rows, payloads) = rest.split_at_checked(rows.checked_mul(4)?)?;
    let rows = numbers(rows, u32::from_le_bytes)?;
    // As many bytes for each.
    let rest = payloads
        .len()
        .checked_rem(rows.len())
        .unwrap_or(payloads.len());
    (rest == 0).then(|| Matched {
        rows,
        payloads: payloads.to_vec(),
    })
}

fn decode_groups(bytes: &[u8]) -> Option<Vec<Option<Group>>> {
    let (count, rest) = bytes.split_first_chunk()?;
    let (columns, mut rest) = rest.split_first_chunk()?;
    let columns = usize::try_from(u64::from_le_bytes(*columns)).ok()?;
    let mut groups = Vec::new();
    for _ in 0..u64::from_le_bytes(*count) {
        let (is_shown, after) = rest.split_first()?;
        rest = after;
        groups.push(match is_shown {
            0 => None,
            1 => {
                let (count, after) = rest.split_first_chunk()?;
                let (sums, after) = after.split_at_checked(columns.checked_mul(8)?)?;
                rest = after;
                Some(Group {
                    count: i64::from_le_bytes(*count),
                    sums: numbers(sums, i64::from_le_bytes)?,
                })
            }
            _ => return None,
        });
    }
    rest.is_empty().then_some(groups)
}

fn decode_shares(bytes: &[u8]) -> Option<Shares> {
    let (places, rest) = bytes.split_first_chunk()?;
    let (columns, rest) = rest.split_first_chunk()?;
    let (has_items, rest) = rest.split_first()?;
    let places = usize::try_from(u64::from_le_bytes(*places)).ok()?;
    let columns = usize::try_from(u64::from_le_bytes(*columns)).ok()?;
    let (bits, rest) = rest.split_at_checked(places.div_ceil(8))?;
    let (sums, items) = rest.split_at_checked(places.checked_mul(columns)?.checked_mul(8)?)?;
    let mut sums = Zeroizing::new(numbers(sums, u64::from_le_bytes)?);
    let taken = (0..columns).map(|column| sums[column * places..][..places].to_vec());
    let columns = taken.collect();
    sums.clear();
    let items = match has_items {
        0 if items.is_empty() => None,
        1 if items.len() == 4 * places => Some(numbers(items, u32::from_le_bytes)?),
        _ => return None,
    };
    let item = |item: u32| (item != NO_ITEM).then_some(item);
    let items = items.map(|items| items.into_iter().map(item).collect());
    Some(Shares::new(Bits::from_bytes(bits, places), columns, items))
}

fn numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks();
    rest.is_empty()
        .then(|| chunks.iter().map(|chunk| number(*chunk)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_survive() {
        let bits = Bits::from_bytes(&[0b101, 1], 9);
        let columns = vec![vec![u64::MAX; 9], (0..9).collect()];
        let items = (0..9).map(|item| (item != 4).then_some(item)).collect();
        for output in [
            Output::Nothing,
            Output::Rows(vec![]),
            Output::Rows(vec![0, 7, u32::MAX - 1]),
            Output::Count(3),
            Output::Reached(true),
            Output::Reached(false),
            Output::Sums(vec![]),
            Output::Sums(vec![-1, i64::MAX]),
            Output::Shares(Shares::new(bits.clone(), columns, Some(items))),
            Output::Shares(Shares::new(bits, vec![], None)),
            Output::Shares(Shares::new(Bits::default(), vec![vec![]], Some(vec![]))),
            Output::Totals(TotalShares {
                sums: vec![1, u64::MAX],
                count: 5,
            }),
            Output::TooFew,
            Output::Groups(vec![]),
            Output::Groups(vec![None, None]),
            Output::Groups(vec![
                None,
                Some(Group {
                    count: -7,
                    sums: vec![-1, 1 << 60],
                }),
            ]),
            Output::Matched(Matched::default()),
            Output::Matched(Matched {
                rows: vec![3, 9],
                payloads: vec![1, 2, 3, 4],
            }),
        ] {
            let bytes = encode(&output);
            assert_eq!(decode(&bytes), Some(output));
            let longer = [&bytes[..], &[0]].concat();
            assert_eq!(decode(&longer), None);
        }
    }

    #[test]
    fn what_is_no_output_is_none() {
        let lengths_that_overflow = [&[5][..], &[0xff; 17]].concat();
        let shown_or_what = [&[9, 1][..], &[0; 15], &[2]].concat();
        for bytes in [
            &[][..],
            &[8],
            &[9],
            &[0, 0],
            &[3, 2],
            &[6],
            &lengths_that_overflow,
            &shown_or_what,
        ] {
            assert_eq!(decode(bytes), None);
        }
    }
}

//! The comparison of both parties' output with a plain join.

use psijoin::{Output, OutputKind, Request, Shares};

use super::sets::{Pair, Sets};

/// Returns whether these are the right outputs of the sender and of the receiver.
pub(super) fn is_met(sets: &Sets, request: &Request, sent: &Output, received: &Output) -> bool {
    let shared = sets.shared_items();
    if shared < request.min_intersection {
        return [sent, received] == [&Output::TooFew; 2];
    }
    match (&request.output, sent, received) {
        (OutputKind::Rows, Output::Nothing, Output::Rows(rows)) => *rows == sets.shared_rows(),
        (OutputKind::Count, Output::Nothing, Output::Count(count)) => *count == shared,
        (OutputKind::Threshold(least), Output::Nothing, Output::Reached(reached)) => {
            *reached == (shared >= *least)
        }
        (OutputKind::Sums(columns), Output::Nothing, Output::Sums(found)) => {
            *found == sums(sets, columns.total())
        }
        (OutputKind::Shares(columns), Output::Shares(sent), Output::Shares(received)) => {
            add_up(sets, columns.total(), sent, received)
        }
        _ => false,
    }
}

/// Returns the sum of each column over the shared items.
fn sums(sets: &Sets, columns: usize) -> Vec<i64> {
    let mut sums = vec![0; columns];
    for pair in sets.pairs() {
        for (sum, number) in sums.iter_mut().zip(sets.numbers(pair)) {
            *sum += number;
        }
    }
    sums
}

/// Returns whether each item of the receiver has one place, and both parties' shares of each place
/// open to the right values.
fn add_up(sets: &Sets, columns: usize, sent: &Shares, received: &Shares) -> bool {
    let both = [sent, received];
    let places = received.items().unwrap_or_default();
    let are_alike = both
        .iter()
        .all(|shares| shares.places() == places.len() && shares.columns().len() == columns);
    if sets.sender.items.is_empty() {
        return are_alike && places.is_empty();
    }
    are_alike && has_each_once(places, sets.receiver.items.len()) && {
        let pairs = by_receiver(sets);
        (0..).zip(places).all(|(place, item)| {
            let pair = item.and_then(|item| pairs[item as usize]);
            is_right_at(place, pair, sets, both)
        })
    }
}

/// Returns whether these places have each of the `items` items once.
fn has_each_once(places: &[Option<u32>], items: usize) -> bool {
    let mut found: Vec<_> = places.iter().flatten().copied().collect();
    found.sort_unstable();
    found.into_iter().eq(0..items as u32)
}

/// Returns for each item of the receiver its pair, if it is shared.
fn by_receiver(sets: &Sets) -> Vec<Option<Pair>> {
    let mut pairs = vec![None; sets.receiver.items.len()];
    for pair in sets.pairs() {
        pairs[pair.receiver] = Some(pair);
    }
    pairs
}

/// Returns whether the shares of a place open to a shared item and its numbers, if there is a pair,
/// and to nothing but zeros if there is none.
fn is_right_at(
    place: usize,
    pair: Option<Pair>,
    sets: &Sets,
    [sent, received]: [&Shares; 2],
) -> bool {
    let is_member = sent.membership().get(place) ^ received.membership().get(place);
    let mut numbers = (sent.columns().iter().zip(received.columns()))
        .map(|(sent, received)| sent[place].wrapping_add(received[place]) as i64);
    is_member == pair.is_some()
        && match pair {
            Some(pair) => numbers.eq(sets.numbers(pair)),
            None => numbers.all(|number| number == 0),
        }
}

#[cfg(test)]
mod tests {
    use psijoin::Columns;
    use psijoin_circuit::Bits;
    use psijoin_frontend::sizes::SetSizes;

    use super::*;

    const COLUMNS: Columns = Columns {
        sender: 1,
        receiver: 1,
    };

    /// Returns 4 items of the sender and 6 of the receiver, 2 of them shared.
    fn sets() -> Sets {
        let sizes = SetSizes {
            sender: 4,
            receiver: 6,
        };
        Sets::of(sizes, None, COLUMNS)
    }

    fn request(output: OutputKind) -> Request {
        Request::rows(4, 6).unwrap().output(output)
    }

    #[test]
    fn only_what_a_plain_join_gives_is_right() {
        let sets = sets();
        let mut other_rows = sets.shared_rows();
        other_rows.pop();
        let [a, b] = [0, 1].map(|column| {
            let numbers = sets.pairs().map(|pair| sets.numbers(pair).nth(column));
            numbers.map(Option::unwrap).sum::<i64>()
        });
        for (kind, right, wrong) in [
            (
                OutputKind::Rows,
                Output::Rows(sets.shared_rows()),
                Output::Rows(other_rows),
            ),
            (OutputKind::Count, Output::Count(2), Output::Count(3)),
            (
                OutputKind::Threshold(2),
                Output::Reached(true),
                Output::Reached(false),
            ),
            (
                OutputKind::Threshold(3),
                Output::Reached(false),
                Output::Reached(true),
            ),
            (
                OutputKind::Sums(COLUMNS),
                Output::Sums(vec![a, b]),
                Output::Sums(vec![a, b + 1]),
            ),
        ] {
            let request = request(kind);
            assert!(is_met(&sets, &request, &Output::Nothing, &right));
            for (sent, received) in [
                (&Output::Nothing, &wrong),
                (&Output::Nothing, &Output::TooFew),
                (&Output::TooFew, &right),
            ] {
                assert!(!is_met(&sets, &request, sent, received), "{request:?}");
            }
        }
    }

    #[test]
    fn a_minimum_is_reached_or_both_learn_that_it_is_not() {
        let sets = sets();
        let reached = request(OutputKind::Count).min_intersection(2);
        let missed = request(OutputKind::Count).min_intersection(3);
        let (nothing, count, few) = (Output::Nothing, Output::Count(2), Output::TooFew);
        assert!(is_met(&sets, &reached, &nothing, &count));
        assert!(!is_met(&sets, &reached, &few, &few));
        assert!(is_met(&sets, &missed, &few, &few));
        assert!(!is_met(&sets, &missed, &nothing, &few));
        assert!(!is_met(&sets, &missed, &nothing, &count));
    }

    /// Returns shares of the truth, or of something else after `change`. Places 0 to 5 are of the
    /// receiver's items in the opposite order; place 6 is empty.
    fn shares(
        sets: &Sets,
        change: impl FnOnce(&mut [u64; 7], &mut [Option<u32>; 7]),
    ) -> [Output; 2] {
        let mut items = std::array::from_fn(|place| 5_u32.checked_sub(place as u32));
        let pairs = by_receiver(sets);
        let pair_at = |place: usize| items[place].and_then(|item| pairs[item as usize]);
        let number = |column: usize, place: usize| {
            pair_at(place).map_or(0, |pair| sets.numbers(pair).nth(column).unwrap() as u64)
        };
        let truth: u64 = (0..7)
            .map(|place| u64::from(pair_at(place).is_some()) << place)
            .sum();
        let mut first: [u64; 7] = std::array::from_fn(|place| number(0, place));
        let second: Vec<u64> = (0..7).map(|place| number(1, place)).collect();
        change(&mut first, &mut items);
        // The sender's shares are fixed; the receiver's make up for them.
        let mask = u64::MAX / 3;
        let masked = |numbers: &[u64]| numbers.iter().map(|n| n.wrapping_sub(mask)).collect();
        let bits = |bits: u64| Bits::from_words(vec![bits & 0x7f], 7);
        let receivers = vec![masked(&first), masked(&second)];
        [
            Shares::new(bits(mask), vec![vec![mask; 7]; 2], None),
            Shares::new(bits(mask ^ truth), receivers, Some(items.to_vec())),
        ]
        .map(Output::Shares)
    }

    #[test]
    fn shares_must_add_up() {
        let sets = sets();
        let is_right = |[sent, received]: [Output; 2]| {
            is_met(
                &sets,
                &request(OutputKind::Shares(COLUMNS)),
                &sent,
                &received,
            )
        };
        assert!(is_right(shares(&sets, |_, _| {})));
        for place in 0..7 {
            let wrong = shares(&sets, |numbers, _| numbers[place] ^= 1);
            assert!(!is_right(wrong), "a number at {place}");
        }
        let shared = sets.pairs().map(|pair| 5 - pair.receiver).next().unwrap();
        assert!(!is_right(shares(&sets, |_, items| items.swap(shared, 6))));
        assert!(!is_right(shares(&sets, |_, items| items[0] = None)));
        assert!(!is_right(shares(&sets, |_, items| items[6] = Some(0))));
        let [sent, _] = shares(&sets, |_, _| {});
        assert!(!is_right([sent.clone(), sent]));
    }
}

use std::thread;

use psijoin_block::Prg;
use psijoin_channel::{Channel, memory};
use psijoin_circuit::compare;
use psijoin_psi::ErrorKind;

use super::*;

/// Of each place whether it is shared, and its numbers; and whether any number is at least 5.
struct Everything;

impl Circuit for Everything {
    fn outputs<B: Backend>(
        &self,
        backend: &mut B,
        places: &Places<B::Wires>,
    ) -> Result<Vec<B::Wires>, B::Error> {
        let mut outputs = vec![places.shared.clone()];
        for column in &places.columns {
            outputs.extend(column.iter().cloned());
            outputs.push(compare::at_least(backend, column, 5)?);
        }
        Ok(outputs)
    }
}

/// Returns two shares of these places: whether an item is shared, and its numbers.
fn shared(places: &[(bool, [u64; 2])]) -> [Shares; 2] {
    let mut rng = Prg::from_os();
    let mask: Vec<(bool, [u64; 2])> = (places.iter())
        .map(|_| (rng.block().bit(0), [(); 2].map(|()| rng.block().0 as u64)))
        .collect();
    let column = |k: usize| mask.iter().map(|mask| mask.1[k]).collect();
    let rest = |k: usize| {
        let places = places.iter().zip(&mask);
        places
            .map(|(place, mask)| place.1[k].wrapping_sub(mask.1[k]))
            .collect()
    };
    let ours = mask.iter().map(|mask| mask.0).collect();
    let theirs = places
        .iter()
        .zip(&mask)
        .map(|(place, mask)| place.0 ^ mask.0)
        .collect();
    [
        Shares::new(ours, vec![column(0), column(1)], None),
        Shares::new(theirs, vec![rest(0), rest(1)], None),
    ]
}

/// Returns what sender and receiver learn.
fn evaluated([ours, theirs]: [Shares; 2]) -> [Result<Option<Vec<Bits>>, Error>; 2] {
    let (mut sending, mut receiving) = memory::pair();
    let run = |role, shares: &Shares, channel: &mut Channel| {
        let context = &mut Context::new(channel);
        evaluate(&Everything, role, BaseOts::MlKem, shares, context)
    };
    thread::scope(|scope| {
        let sent = scope.spawn(move || run(Role::Sender, &ours, &mut sending));
        let received = run(Role::Receiver, &theirs, &mut receiving);
        [sent.join().unwrap(), received]
    })
}

#[test]
fn a_circuit_computes_with_what_is_shared() {
    let places = [(true, [7, u64::MAX]), (false, [0, 0]), (true, [4, 1 << 63])];
    let [sent, received] = evaluated(shared(&places));
    assert!(sent.unwrap().is_none());
    let learned = received.unwrap().unwrap();
    assert_eq!(learned.len(), 1 + 2 * 65);
    for (lane, (is_shared, numbers)) in places.into_iter().enumerate() {
        let bit = |wire: usize| learned[wire].get(lane);
        assert_eq!(bit(0), is_shared);
        for (number, first) in numbers.into_iter().zip([1, 66]) {
            assert!((0..64).all(|i| bit(first + i) == (number >> i & 1 == 1)));
            assert_eq!(bit(first + 64), number >= 5);
        }
    }
}

#[test]
fn shares_that_do_not_belong_together_are_refused() {
    let [ours, _] = shared(&[(true, [1, 2]); 3]);
    let [_, theirs] = shared(&[(true, [1, 2]); 300]);
    let results = evaluated([ours, theirs]).map(Result::unwrap_err);
    assert!(results.iter().any(|error| error.kind() == ErrorKind::Peer));
}

#[test]
fn no_share_is_shown() {
    let [ours, _] = shared(&[(true, [1, 2]); 3]);
    assert_eq!(format!("{ours:?}"), "Shares { places: 3, columns: 2, .. }");
}

use std::{collections::HashSet, thread};

use psijoin_channel::{count::counted, memory};

use super::{ml_kem::OFFER_BYTES, *};

const BOTH: [BaseOts; 2] = [BaseOts::DiffieHellman, BaseOts::MlKem];

type Keys = (Zeroizing<Vec<[Block; 2]>>, Zeroizing<Vec<Block>>);

fn seeded(seed: u128) -> Prg {
    Prg::from_seed(Block(seed))
}

/// Returns the keys of both parties.
fn run(base: BaseOts, choices: &[bool]) -> Keys {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        let sender = scope.spawn(move || base.send(choices.len(), &mut a, &mut seeded(1)));
        let received = base.receive(choices, &mut b, &mut seeded(2)).unwrap();
        (sender.join().unwrap().unwrap(), received)
    })
}

#[test]
fn receiver_gets_the_key_it_chose_and_no_other() {
    for base in BOTH {
        let choices: Vec<bool> = (0..70).map(|i| i % 3 == 0).collect();
        let (sent, received) = run(base, &choices);
        let mut all = HashSet::new();
        for ((pair, key), choice) in sent.iter().zip(received.iter()).zip(&choices) {
            assert!(*key == pair[usize::from(*choice)]);
            assert!(*key != pair[usize::from(!*choice)]);
            all.extend(pair.map(Block::to_bytes));
        }
        assert_eq!(all.len(), 140, "all keys differ");
    }
}

#[test]
fn no_ots_are_none() {
    for base in BOTH {
        let (sent, received) = run(base, &[]);
        assert!(sent.is_empty() && received.is_empty());
    }
}

/// It compiles only if all keys are wiped when they are dropped.
#[test]
fn keys_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &Result<T, Error>) {}
    fn wiped_pair<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |base: BaseOts, channel: &mut Channel, rng: &mut Prg| {
        wiped(&base.send(1, channel, rng));
        wiped(&base.receive(&[true], channel, rng));
    };
    let _ = |pair: &::ml_kem::DecapsulationKey<::ml_kem::MlKem768>| wiped_pair(pair);
}

#[test]
fn traffic_is_as_stated() {
    for base in BOTH {
        for count in [1, 32, 33, 128] {
            let (a, mut b) = memory::pair();
            let (mut a, counters) = counted(a);
            thread::scope(|scope| {
                scope.spawn(move || base.send(count, &mut a, &mut seeded(1)).unwrap());
                base.receive(&vec![true; count], &mut b, &mut seeded(2))
                    .unwrap();
            });
            let traffic = counters.snapshot();
            assert_eq!(traffic.sent.bytes, base.sender_bytes(count), "{base:?}");
            assert_eq!(traffic.received.bytes, base.receiver_bytes(count));
            assert_eq!(traffic.flights, 1 + u64::from(base.sender_answers()));
        }
    }
    let (of_receiver, of_sender) = (
        BaseOts::MlKem.receiver_bytes(128),
        BaseOts::MlKem.sender_bytes(128),
    );
    assert_eq!(of_receiver + of_sender, 436_224, "as the table says");
}

#[test]
fn invalid_points_are_refused() {
    let base = BaseOts::DiffieHellman;
    for bad in [[0; 32], [0xff; 32]] {
        let (mut a, mut b) = memory::pair();
        b.send(&[bad, bad].concat()).unwrap();
        let error = base.send(1, &mut a, &mut Prg::from_os()).unwrap_err();
        assert!(matches!(error, Error::InvalidPoint));

        let (mut a, mut b) = memory::pair();
        b.send(&bad).unwrap();
        let error = base.receive(&[true], &mut a, &mut Prg::from_os());
        assert!(matches!(error.unwrap_err(), Error::InvalidPoint));
    }
}

#[test]
fn vectors_with_a_number_from_q_on_are_refused() {
    let mut offer = [0; OFFER_BYTES];
    for at in [33, 32 + 1151] {
        offer[at] = 0xff;
        let (mut a, mut b) = memory::pair();
        b.send(&offer).unwrap();
        let error = BaseOts::MlKem.send(1, &mut a, &mut seeded(1)).unwrap_err();
        assert!(matches!(error, Error::InvalidPublicKey));
        offer[at] = 0;
    }
}

/// Returns a receiver's messages of 64 OTs, all of this choice, and its keys for what `spoil` makes
/// of the answer.
fn offers(choice: bool, spoil: impl Fn(&mut [u8])) -> (Vec<u8>, Keys) {
    let base = BaseOts::MlKem;
    let choices = [choice; 64];
    let (mut a, mut b) = memory::pair();
    let (mut sender, mut receiver) = memory::pair();
    thread::scope(|scope| {
        let sent = scope.spawn(move || base.send(64, &mut sender, &mut seeded(3)).unwrap());
        let received = scope.spawn(move || base.receive(&choices, &mut b, &mut seeded(4)).unwrap());
        let mut offers = vec![0; base.receiver_bytes(64) as usize];
        for message in offers.chunks_mut(32 * OFFER_BYTES) {
            a.recv(message).unwrap();
            receiver.send(message).unwrap();
        }
        let mut answers = vec![0; base.sender_bytes(64) as usize];
        for message in answers.chunks_mut(32 * 2 * 1088) {
            receiver.recv(message).unwrap();
            spoil(message);
            a.send(message).unwrap();
        }
        (offers, (sent.join().unwrap(), received.join().unwrap()))
    })
}

/// Whatever the choice, the receiver's numbers spread evenly over 0 .. q, and its bits are half
/// ones.
#[test]
fn offers_look_alike_for_both_choices() {
    for choice in [false, true] {
        let (offers, _) = offers(choice, |_| ());
        let mut counts = [0_f64; 13];
        let mut ones = 0;
        for offer in offers.chunks(OFFER_BYTES) {
            let (vector, tag) = offer[32..].split_at(1152);
            for bytes in vector.chunks(3) {
                let [a, b, c] = [bytes[0], bytes[1], bytes[2]].map(usize::from);
                for number in [a | (b & 0xf) << 8, b >> 4 | c << 4] {
                    counts[number * 13 / 3329] += 1.0;
                }
            }
            ones += tag.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
        let expected = 64.0 * 768.0 / 13.0;
        let squares: f64 = counts
            .iter()
            .map(|n| (n - expected).powi(2) / expected)
            .sum();
        assert!(squares < 40.0, "χ² of 12 degrees of freedom: {squares}");
        // 24,576 bits, whose standard deviation is 78.
        assert!((11_900..12_676).contains(&ones), "{ones} ones");
    }
}

/// A ciphertext that was changed is opened to another key, and to no error: whether the receiver
/// noticed would depend on its choice.
#[test]
fn a_changed_ciphertext_gives_another_key() {
    for at in [0, 1087, 1088, 2175] {
        let (_, (sent, received)) = offers(at % 2 == 0, |message| message[at] ^= 1);
        for (k, (pair, key)) in sent.iter().zip(received.iter()).enumerate() {
            let agree = *key == pair[usize::from(at % 2 == 0)];
            assert_eq!(agree, k % 32 > 0, "OT {k}, byte {at}");
        }
    }
}

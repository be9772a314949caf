use std::thread;

use psijoin_block::{Block, Prg};
use psijoin_channel::memory;

use super::*;

const SIZES: [u64; 2] = [700, 400];

fn delivery(from_sender: u32, back: Option<u32>) -> Delivery {
    let [senders, receivers] = SIZES;
    Delivery {
        masks: SortedMasks::new(senders as usize, 1 << 70),
        payloads: Payloads { from_sender, back },
        sizes: Sizes::new(senders, receivers).unwrap(),
    }
}

/// Outputs of the items from `first` on, which are in their places in reverse.
struct Party {
    outputs: Vec<[u64; 4]>,
    positions: Vec<u32>,
    payloads: Vec<u8>,
}

impl Party {
    fn new(first: u64, items: u64, bytes: usize) -> Self {
        let output = |item: u64| {
            let mut output = [0; 4];
            Prg::from_seed(Block(item.into())).fill_bytes(bytemuck::bytes_of_mut(&mut output));
            output
        };
        let payload = |item: u64| (0..bytes as u64).map(move |byte| (item * 3 + byte) as u8);
        Self {
            outputs: (first..first + items).rev().map(output).collect(),
            positions: (0..items as u32).rev().collect(),
            payloads: (first..first + items).flat_map(payload).collect(),
        }
    }

    fn holding(&self) -> Holding<'_> {
        Holding {
            outputs: Outputs::from_words(&self.outputs),
            positions: &self.positions,
            payloads: &self.payloads,
        }
    }
}

/// Returns the parties: the sender has items 0 to 699, the receiver 600 to 999, unless somebody
/// changes that.
fn parties(delivery: &Delivery) -> [Party; 2] {
    let [senders, receivers] = SIZES;
    [
        Party::new(0, senders, delivery.bytes(Role::Sender)),
        Party::new(600, receivers, delivery.bytes(Role::Receiver)),
    ]
}

fn seed() -> JointSeed {
    JointSeed::insecure_fixed([8; 32])
}

fn run(delivery: &Delivery, [sender, receiver]: &[Party; 2]) -> [Result<Output, Error>; 2] {
    let (mut sending, mut receiving) = memory::pair();
    thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let mut context = Context::new(&mut sending);
            let sent = delivery.send(sender.holding(), &seed(), &mut context);
            sent.inspect_err(|error| error.tell(&mut sending))
        });
        let mut context = Context::new(&mut receiving);
        let received = delivery.receive(receiver.holding(), &seed(), &mut context);
        [sent.join().unwrap(), received]
    })
}

#[test]
fn both_get_what_the_other_gives() {
    for (from_sender, back) in [(0, Some(0)), (20, None), (1, Some(2000)), (300, Some(0))] {
        let delivery = delivery(from_sender, back);
        let parties = parties(&delivery);
        let [sent, received] = run(&delivery, &parties).map(Result::unwrap);
        let matched = |first: u32, from: &Party, theirs: usize, bytes: usize| {
            Output::Matched(Matched {
                rows: (first..first + 100).collect(),
                payloads: from.payloads[theirs * bytes..(theirs + 100) * bytes].to_vec(),
            })
        };
        let bytes = [Role::Sender, Role::Receiver].map(|role| delivery.bytes(role));
        assert!(received == matched(0, &parties[0], 600, bytes[0]));
        assert!(match back {
            None => sent == Output::Nothing,
            Some(_) => sent == matched(600, &parties[1], 0, bytes[1]),
        });
    }
}

/// All items of the smaller set are shared, and none.
#[test]
fn nobody_or_everybody_is_shared() {
    let delivery = delivery(3, Some(5));
    for (first, shared) in [(700, 0), (300, 400)] {
        let [sender, _] = parties(&delivery);
        let receiver = Party::new(first, SIZES[1], 5);
        for output in run(&delivery, &[sender, receiver]).map(Result::unwrap) {
            let Output::Matched(matched) = output else {
                panic!("both learn");
            };
            assert_eq!(matched.rows.len(), shared);
        }
    }
}

/// The receiver returns the error after its last message, and the sender does not hear of it.
#[test]
fn what_was_sealed_wrongly_is_an_error_that_the_sender_does_not_see() {
    let delivery = delivery(10, Some(4));
    let parties = parties(&delivery);
    let [honest, _] = run(&delivery, &parties).map(Result::unwrap);
    let [sender, receiver] = parties;
    let (mut sending, mut receiving) = memory::pair();
    let [sent, received] = thread::scope(|scope| {
        let wrong = scope.spawn(|| {
            let other = Keys {
                stream: [0; 32],
                ..Keys::new(&seed())
            };
            let outbound = sending.halves().0;
            let ranked = (delivery.send_masks(sender.holding(), outbound)).unwrap();
            delivery.send_sealed(&ranked, &other, outbound).unwrap();
            delivery.learn(&ranked, &Keys::new(&seed()), &mut sending)
        });
        let mut context = Context::new(&mut receiving);
        let received = delivery.receive(receiver.holding(), &seed(), &mut context);
        [wrong.join().unwrap(), received]
    });
    assert!(matches!(received, Err(Error::Payload)));
    assert!(sent.unwrap() == honest);
}

#[test]
fn what_is_not_there_cannot_be_claimed() {
    let delivery = delivery(0, Some(0));
    let claims = |change: &dyn Fn(&mut Vec<u8>)| {
        let [sender, _] = parties(&delivery);
        let (mut sending, mut receiving) = memory::pair();
        thread::scope(|scope| {
            let sent = scope.spawn(move || {
                let mut context = Context::new(&mut sending);
                delivery.send(sender.holding(), &seed(), &mut context)
            });
            let masks = delivery.masks.receive_all(receiving.halves().1).unwrap();
            let mut bits = vec![0; masks.len().div_ceil(8)];
            change(&mut bits);
            receiving.send(&bits).unwrap();
            // A sender that has refused the bits is gone.
            let _ = receiving.send(&[0; CLAIM_BYTES]);
            sent.join().unwrap()
        })
    };
    let said = |change: &dyn Fn(&mut Vec<u8>)| match claims(change) {
        Err(Error::Peer(what)) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        said(&|bits| bits[3] = 1),
        "it claims an item that it does not have"
    );
    assert_eq!(said(&|_| ()), "it claims an item that it does not have");
    // There are 700 bits.
    assert_eq!(
        said(&|bits| bits[87] = 16),
        "it claims an item beyond the last"
    );
    assert_eq!(
        said(&|bits| bits[..51].fill(255)),
        "it claims more shared items than it has"
    );
}

/// Whoever does not have an item's output sees nothing of its payload: under equal randomness,
/// exchanged payloads of items that are not shared change nothing but their own bytes, and these
/// look random whatever they are.
#[test]
fn payloads_of_items_that_are_not_shared_look_random() {
    const BYTES: u32 = 32;
    let delivery = delivery(BYTES, None);
    let sent = |change: &dyn Fn(&mut Vec<u8>)| {
        let [mut sender, receiver] = parties(&delivery);
        change(&mut sender.payloads);
        let (sending, mut receiving) = memory::pair();
        let (mut sending, said) = psijoin_channel::transcript::recorded(sending);
        let received = thread::scope(|scope| {
            scope.spawn(|| {
                let mut context = Context::new(&mut sending);
                delivery
                    .send(sender.holding(), &seed(), &mut context)
                    .unwrap();
            });
            let mut context = Context::new(&mut receiving);
            delivery
                .receive(receiver.holding(), &seed(), &mut context)
                .unwrap()
        });
        (said.messages().concat(), received)
    };
    let unshared = 600 * BYTES as usize;
    let (as_it_is, received) = sent(&|_| ());
    let exchanged = sent(&|payloads| payloads[..unshared].reverse());
    assert!(exchanged.1 == received);
    assert_eq!(exchanged.0.len(), as_it_is.len());
    let masks = delivery.masks.coded_bytes() as usize;
    assert_eq!(exchanged.0[..masks], as_it_is[..masks]);
    for constant in [0, 255] {
        let (said, _) = sent(&|payloads| payloads.fill(constant));
        let ones: u32 = said[masks..].iter().map(|byte| byte.count_ones()).sum();
        let bits = 8 * (said.len() - masks) as u32;
        // Six standard deviations.
        assert!(
            ones.abs_diff(bits / 2) < 3 * bits.isqrt(),
            "{ones} of {bits}"
        );
    }
}

#[test]
fn costs_what_is_planned() {
    for (from_sender, back) in [(0, Some(0)), (20, None), (1, Some(2000))] {
        let delivery = delivery(from_sender, back);
        let [sender, receiver] = parties(&delivery);
        let (sending, mut receiving) = memory::pair();
        let (mut sending, counters) = psijoin_channel::count::counted(sending);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut context = Context::new(&mut sending);
                delivery
                    .send(sender.holding(), &seed(), &mut context)
                    .unwrap();
            });
            let mut context = Context::new(&mut receiving);
            delivery
                .receive(receiver.holding(), &seed(), &mut context)
                .unwrap();
        });
        let planned = delivery.conversation().traffic();
        let passed = counters.snapshot();
        assert_eq!(passed.sent.bytes, planned.sender_bytes);
        assert_eq!(passed.received.bytes, planned.receiver_bytes);
        assert_eq!(passed.flights, planned.flights);
    }
}

use std::{borrow::Cow, thread};

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, joint_seed::JointSeed, memory, transcript::recorded};
use psijoin_encode::DigestVec;
use psijoin_files::spill::{Budget, Folder};
use psijoin_psi::{
    Batches, ErrorKind, Items, OutputKind, Plan, Request, mask_params::MaskParams, masks::Mask,
};
use psijoin_psi_testing::items;
use psijoin_runtime::parallel::Pool;

use super::{
    super::{DH, DH_FFDHE3072, FFDHE3072, Group, RISTRETTO255},
    *,
};

/// Items in batches of equal size. The batch with a given number cannot be had.
struct Cut {
    items: Items,
    per_batch: usize,
    lost: Option<usize>,
}

impl Batches for Cut {
    fn items(&self) -> u64 {
        self.items.len() as u64
    }

    fn batches(&self) -> usize {
        self.items.len().div_ceil(self.per_batch)
    }

    fn batch(&self, number: usize) -> Result<Cow<'_, Items>> {
        if self.lost == Some(number) {
            return Err(Error::Table("it is gone".into()));
        }
        let first = number * self.per_batch;
        let last = self.items.len().min(first + self.per_batch);
        let digests: DigestVec = self.items.digests().slice(first..last).into();
        Ok(Cow::Owned(digests.into()))
    }
}

/// The state of a party.
#[derive(Clone)]
struct Side {
    per_batch: usize,
    lost: Option<usize>,
    budget: Budget,
    threads: usize,
}

impl Side {
    fn new(per_batch: usize, budget: Budget, threads: usize) -> Self {
        Self {
            per_batch,
            lost: None,
            budget,
            threads,
        }
    }

    /// Makes a side with one batch, all in memory.
    fn at_once() -> Self {
        Self::new(usize::MAX, Budget::unlimited(), 1)
    }

    /// Runs with the same randomness whenever it does.
    fn run(&self, role: Role, items: Items, plan: &Plan, channel: &mut Channel) -> Result<Output> {
        let mut context = Context::new(channel);
        context.rng = Prg::from_seed(Block(role as u128));
        let input = BatchInput {
            items: &Cut {
                items,
                per_batch: self.per_batch,
                lost: self.lost,
            },
            joint_seed: &JointSeed::insecure_fixed([5; 32]),
            spill: &Spill::new(self.budget.clone(), Folder::temporary()),
        };
        let pool = Pool::new(self.threads).unwrap();
        pool.run(|| psijoin_psi::run_batches(plan, role, &input, &mut context))
    }
}

/// The number of shared items, of the sender's and the receiver's sets below.
const SHARED: u32 = 30;

/// Returns a count that goes over several buckets and partitions.
fn plan(group: Group, [sender, receiver]: [u32; 2]) -> Plan {
    let request = Request::rows(sender.into(), receiver.into()).unwrap();
    let params = Params::new(group, &request.output(OutputKind::Count)).unwrap();
    let params = Params {
        bucket_bytes: 1 << 10,
        ..params
    };
    params.plan(match group {
        Group::Ristretto255 => &RISTRETTO255,
        Group::Ffdhe3072 => &FFDHE3072,
    })
}

/// Returns what both said and learned.
fn ran(plan: &Plan, [sender, receiver]: [&Side; 2]) -> ([Vec<Vec<u8>>; 2], [Result<Output>; 2]) {
    let sizes = plan.request().sizes;
    let (senders, receivers) = (sizes.sender() as u32, sizes.receiver() as u32);
    let (sending, receiving) = memory::pair();
    let (mut sending, sent) = recorded(sending);
    let (mut receiving, received) = recorded(receiving);
    let of_sender = items(0..senders, plan);
    let of_receiver = items(senders - SHARED..senders - SHARED + receivers, plan);
    let learned = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let result = sender.run(Role::Sender, of_sender, plan, &mut sending);
            drop(sending);
            result
        });
        let result = receiver.run(Role::Receiver, of_receiver, plan, &mut receiving);
        drop(receiving);
        [sender.join().unwrap(), result]
    });
    ([sent.messages(), received.messages()], learned)
}

/// Either side may have any memory, threads and batches: that is its own affair.
#[test]
fn what_is_said_depends_neither_on_memory_nor_on_batches() {
    for (group, sizes) in [
        (Group::Ristretto255, [700, 300]),
        (Group::Ristretto255, [300, 700]),
        (Group::Ffdhe3072, [31, 40]),
    ] {
        let plan = plan(group, sizes);
        let (said, learned) = ran(&plan, [&Side::at_once(), &Side::at_once()]);
        assert_eq!(
            learned.map(Result::unwrap),
            [Output::Nothing, Output::Count(SHARED.into())]
        );
        for (per_batch, budget, threads) in [(1, 0, 2), (41, 0, 7), (500, 5000, 1)] {
            let sides = || Side::new(per_batch, Budget::new(budget), threads);
            for sides in [
                [sides(), sides()],
                [sides(), Side::at_once()],
                [Side::at_once(), sides()],
            ] {
                let (again, learned) = ran(&plan, sides.each_ref());
                assert!(again == said, "{sizes:?}, {per_batch}, {threads}");
                assert_eq!(learned[1].as_ref().unwrap(), &Output::Count(SHARED.into()));
            }
        }
    }
}

/// So a folder can be asked whether it has room before anything is said.
#[test]
fn what_a_run_keeps_is_known_before() {
    let plan = plan(Group::Ristretto255, [700, 300]);
    let sides = [(); 2].map(|()| Side::new(50, Budget::new(0), 1));
    let (_, learned) = ran(&plan, sides.each_ref());
    assert!(learned.iter().all(Result::is_ok));
    let kept = [Role::Sender, Role::Receiver].map(|role| plan.kept_bytes(role));
    assert_eq!(sides.map(|side| Some(side.budget.spilled())), kept);
}

#[test]
fn items_that_cannot_be_had_end_the_run_on_both_sides() {
    let plan = plan(Group::Ristretto255, [700, 600]);
    for role in [Role::Sender, Role::Receiver] {
        for lost in [0, 3, 5] {
            let mut sides = [(); 2].map(|()| Side::new(100, Budget::new(0), 2));
            sides[role as usize].lost = Some(lost);
            let (_, learned) = ran(&plan, sides.each_ref());
            let kinds = learned.map(|result| result.unwrap_err().kind());
            assert_eq!(kinds[role as usize], ErrorKind::Table);
            assert_eq!(kinds[role.other() as usize], ErrorKind::Channel);
        }
    }
}

#[test]
fn items_are_as_many_and_as_long_as_was_agreed_on() {
    let plan = plan(Group::Ristretto255, [700, 300]);
    let run = |items: Items| {
        let (mut channel, _other) = memory::pair();
        Side::new(50, Budget::new(0), 1).run(Role::Sender, items, &plan, &mut channel)
    };
    let long = DigestVec::zeroed(700, 48 - plan.digest_bytes());
    for items in [items(0..699, &plan), items(0..701, &plan), long.into()] {
        assert!(matches!(run(items), Err(Error::Misuse(_))));
    }
}

/// They would all be in one partition, and take the memory of all.
#[test]
fn a_sender_that_repeats_an_element_or_a_mask_is_refused() {
    const ITEMS: [u32; 2] = [700, 300];
    let group = Group::Ristretto255;
    let plan = plan(group, ITEMS);
    let length = MaskParams::new(plan.request()).unwrap().masks;
    let mut rng = Prg::from_os();
    let exponent = group.exponent(&mut rng);
    let learned = |elements: &dyn Fn(u64) -> u64, masks: &mut dyn FnMut() -> Mask| {
        let rows: Vec<[u64; 4]> = (0..ITEMS[0].into()).map(|i| [elements(i); 4]).collect();
        let elements = exponent.hash_power(&[1; 32], &rows);
        let mut packed = Vec::new();
        length.pack((0..256).map(|_| masks()), &mut packed);
        let rest = length.packed_bytes(ITEMS[1] as usize - 256);
        let (mut sending, mut receiving) = memory::pair();
        thread::scope(|scope| {
            scope.spawn(|| {
                let messages = elements.chunks(256 * group.element_bytes());
                let messages = messages.chain([&packed[..], &packed[..rest]]);
                messages.for_each(|message| sending.send(message).unwrap());
            });
            let items = items(0..ITEMS[1], &plan);
            Side::at_once().run(Role::Receiver, items, &plan, &mut receiving)
        })
    };
    let mut random = || length.cut(Mask::from_le_bytes(rng.bytes()));
    assert_eq!(learned(&|i| i, &mut random).unwrap(), Output::Count(0));
    for refused in [learned(&|_| 1, &mut random), learned(&|i| i, &mut || 7)] {
        assert!(matches!(refused, Err(Error::Peer(_))), "{refused:?}");
    }
}

/// Returns the masks that the sender returns, and what the receiver learns: 30 of 64 items are
/// shared.
fn returned(output: OutputKind) -> (Vec<Mask>, Output) {
    let request = Request::rows(64, 64).unwrap().output(output);
    let plan = DH.plan(&request).unwrap();
    let (sending, mut receiving) = memory::pair();
    let (mut sending, sent) = recorded(sending);
    let run = |role, items: Items, channel: &mut Channel| {
        let mut context = Context::new(channel);
        context.rng = Prg::from_seed(Block(role as u128));
        let input = Input {
            items: &items,
            columns: &[],
            payloads: &[],
            joint_seed: &JointSeed::insecure_fixed([5; 32]),
        };
        psijoin_psi::run(&plan, role, &input, &mut context).unwrap()
    };
    let learned = thread::scope(|scope| {
        scope.spawn(|| run(Role::Sender, items(0..64, &plan), &mut sending));
        run(Role::Receiver, items(34..98, &plan), &mut receiving)
    });
    let masks = MaskParams::new(&request).unwrap().masks;
    let last = sent.messages().pop().unwrap();
    (masks.unpack(&last, 64).collect(), learned)
}

/// As for rows, but none of them where it was: with as much chance as any other order.
#[test]
fn masks_of_a_count_are_in_another_order() {
    let (in_order, rows) = returned(OutputKind::Rows);
    let (shuffled, count) = returned(OutputKind::Count);
    assert_eq!(rows, Output::Rows((0..30).collect()));
    assert_eq!(count, Output::Count(30));
    let moved = in_order.iter().zip(&shuffled).filter(|(a, b)| a != b);
    assert!(moved.count() > 50);
    let sorted = |mut masks: Vec<Mask>| {
        masks.sort_unstable();
        masks
    };
    assert!(sorted(in_order) == sorted(shuffled));
}

/// Rows are known by their positions among all items, so all items are there.
#[test]
fn counts_alone_are_for_batches() {
    for protocol in [&DH, &DH_FFDHE3072] {
        let takes_batches = |output| {
            let request = Request::rows(10, 10).unwrap().output(output);
            protocol.plan(&request).unwrap().takes_batches()
        };
        assert!(takes_batches(OutputKind::Count));
        assert!(!takes_batches(OutputKind::Rows));
    }
}

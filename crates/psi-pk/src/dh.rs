//! `dh`: Diffie-Hellman PSI over ristretto255; `dh-ffdhe3072`: over the group ffdhe3072.
//!
//! **Functionality.** The receiver learns which of its items the sender has, or only how many they
//! are.
//!
//! **Source.** Meadows (S&P 1986), Huberman, Franklin and Hogg (EC 1999); as "DH-based, ECC" and
//! "DH-based, FFC" in PSZ14 §7, and in SpOT19 §6. The count: Huberman, Franklin and Hogg again; De
//! Cristofaro, Gasti and Tsudik (CANS 2012).
//!
//! *Offline.*
//! 1. Each party draws a secret exponent: the sender α, the receiver β.
//!
//! *Online.*
//! 2. Each party hashes its items to the group. The sender sends { H(x)^α } in random order, the
//!    receiver { H(y)^β }; for a count, in random order as well.
//! 3. The sender raises what it got to the power α. It returns a mask of each H(y)^βα in the order
//!    in which they came; for a count, in random order.
//! 4. The receiver raises what it got to the power β. Its item y is shared if the mask of H(y)^βα
//!    is one of those of the H(x)^αβ. For a count it cannot tell which item a mask belongs to.
//!
//! *For a count* memory need not hold the sets (`dh/count.rs`).
//!
//! *With payloads* `dh` is another protocol, an oblivious PRF (`dh/oblivious.rs`): here the sender
//! has no secret in common with a receiver of the same item only.
//!
//! **Deviation.** Only the last list is cut to masks, as in SpOT19. A mask is a hash of the element
//! and not some bits of its encoding, since one of those is always zero.
//!
//! **Security.** Semi-honest, if the decisional Diffie-Hellman problem is hard in the group and H
//! is a random oracle. Over ristretto255, H is MAP of RFC 9496 §4.3.4 on a keyed hash of 32 bytes;
//! over ffdhe3072, the square of a keyed hash of 3,072 + 128 bits modulo p. So nobody knows
//! discrete logarithms of H(x).
//!
//! MAP's elements are not uniform, as sums of two would be. DDH is enough all the same: given (g^α,
//! g^b, g^c), the simulator makes as many uniform elements u = (g^b)^s·g^t as it needs, whose
//! powers u^α are (g^c)^s·(g^α)^t if c = α·b, and otherwise uniform and independent of u. It takes
//! a u with the probability (numbers that MAP takes to u)/16, which it can compute, and answers the
//! random oracle with one of these numbers at random. That is the distribution of MAP of a uniform
//! number, after two tries on average ([`psijoin_curve::map_mul_encode`]).
//!
//! Encodings that are not canonical, and the identity, are refused. Exponents
//! are fresh in every run. Both learn the set sizes. For a count the receiver sees both lists in an
//! order that only the sender knows. The matches tell how many items are shared, and no more.
//!
//! Exponents modulo p are short, 275 bits, as RFC 7919 §5.2 has it for Diffie-Hellman key exchange.
//! The assumption is DDH with short exponents ([`psijoin_curve::ffdhe3072`] says why that is
//! enough). They take a ninth of the time of full ones. PSZ14 does not say which it uses.
//!
//! **Cost.** Two flights: 32 bytes per item of either party, and n_receiver masks of σ + 1 +
//! log2(n_sender·n_receiver) bits. At 2^20 items each that is 593 bits per item (592 in SpOT19
//! Table 1; here the masks have half of the failure budget, not all of it). Each party computes two
//! exponentiations per item. Over ffdhe3072 an element has 384 bytes instead of 32: 6,225 bits per
//! item.

use psijoin_channel::{
    Channel,
    joint_seed::JointSeed,
    stream::{self, Chunks},
};
use psijoin_psi::{
    Adversary, Context, Conversation, Dialogue, Error, Info, Input, Output, OutputKind, Party,
    Plan, Protocol, Request, Result, Role,
    mask_params::MaskParams,
    masks::{Mask, MaskLength},
};
use psijoin_runtime::parallel;

use crate::compare;
use count::Counting;
use group::{Exponent, Group};
use mask_partitions::MaskPartitions;

mod count;
pub(crate) mod group;
mod mask_partitions;
mod oblivious;
mod regrouped;
mod shuffle;

/// `dh`.
pub static DH: Protocol = Protocol::new(&RISTRETTO255, |request| match request.output {
    OutputKind::Payloads(payloads) => {
        Ok(oblivious::Params::new(request, payloads)?.plan(&RISTRETTO255))
    }
    _ => Ok(Params::new(Group::Ristretto255, request)?.plan(&RISTRETTO255)),
})
.computing(|output| rows_or_count(output) || matches!(output, OutputKind::Payloads(_)));

/// `dh-ffdhe3072`.
pub static DH_FFDHE3072: Protocol = Protocol::new(&FFDHE3072, |request| {
    Ok(Params::new(Group::Ffdhe3072, request)?.plan(&FFDHE3072))
})
.computing(rows_or_count);

static RISTRETTO255: Info = Info {
    name: "dh",
    summary: "Diffie-Hellman: least traffic for small sets, most computing",
    paper: "PSZ14 §4.1, SpOT19 §6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 2,
};

static FFDHE3072: Info = Info {
    name: "dh-ffdhe3072",
    summary: "dh modulo a prime of 3072 bits: for those who may not use curves",
    paper: "PSZ14 §4.1",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

fn rows_or_count(output: &OutputKind) -> bool {
    matches!(output, OutputKind::Rows | OutputKind::Count)
}

/// All numbers of a run.
struct Params {
    group: Group,
    masks: MaskParams,
    /// [`count::BUCKET_BYTES`], except in tests.
    bucket_bytes: usize,
}

impl Params {
    fn new(group: Group, request: &Request) -> Result<Self, Error> {
        let masks = MaskParams::new(request)?;
        Ok(Self {
            group,
            masks,
            bucket_bytes: count::BUCKET_BYTES,
        })
    }

    fn plan(self, info: &'static Info) -> Plan {
        let elements = |owner| {
            let bytes = self.group.element_bytes();
            self.chunks(owner).bytes(|count| count * bytes)
        };
        let length = self.masks.masks;
        let masks = (self.chunks(Role::Receiver)).bytes(|count| length.packed_bytes(count));
        let online = Conversation::default()
            .both(elements(Role::Sender), elements(Role::Receiver))
            .sender(masks);
        let dialogue = Dialogue::new(Conversation::default(), online);
        let derived = (self.masks).derived(info, self.masks.parameters(), dialogue);
        match self.counts() {
            false => Plan::new::<Sender, Receiver>(derived, self),
            true => {
                let kept_bytes = self.kept_bytes();
                Plan::new::<Counting<count::Sender>, Counting<count::Receiver>>(derived, self)
                    .by_batches(kept_bytes)
            }
        }
    }

    /// Returns whether the receiver is to learn a count.
    fn counts(&self) -> bool {
        self.masks.base.request.output == OutputKind::Count
    }

    /// Returns the number of bytes of a digest.
    fn digest_bytes(&self) -> usize {
        self.masks.base.digest_bytes
    }

    /// Returns the number of buckets for records of this number and size, where memory holds one
    /// bucket at a time.
    fn buckets(&self, records: usize, record_bytes: usize) -> usize {
        (records * record_bytes).div_ceil(self.bucket_bytes).max(1)
    }

    /// Returns what the sender and the receiver keep for a count: either its digests and the
    /// elements that it got, and the receiver the masks of all, too.
    fn kept_bytes(&self) -> [u64; 2] {
        let sizes = self.masks.sizes();
        let of = |items: u64, bytes: usize| items * bytes as u64;
        let element_bytes = self.group.element_bytes();
        let mask_bytes = MaskPartitions::mask_bytes(self.masks.masks);
        [
            of(sizes.sender(), self.digest_bytes()) + of(sizes.receiver(), element_bytes),
            of(sizes.sender(), element_bytes + mask_bytes)
                + of(sizes.receiver(), self.digest_bytes() + mask_bytes),
        ]
    }

    /// Returns how a party's elements are cut into messages.
    fn chunks(&self, owner: Role) -> Chunks {
        compare::chunks(&self.masks, owner, self.group.elements_per_message())
    }
}

/// The party that helps.
struct Sender(Exponent);

/// The party that learns the result.
struct Receiver(Exponent);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(params.group.exponent(&mut context.rng)))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let secret = Secret {
            params,
            exponent: self.0,
        };

        // Step 2.
        context.phases.begin("own items");
        let order = context.rng.permutation(input.items.len() as u32);
        let received = secret.swap(Role::Sender, input, &order, context.channel)?;

        // Step 3.
        let theirs = params.chunks(Role::Receiver);
        let element_bytes = params.group.element_bytes();
        context.phases.begin("their items");
        let powers = secret.powers(input.joint_seed);
        let (outbound, _) = context.channel.halves();
        compare::try_send(outbound, theirs, &|range, message| {
            let elements = &received[range.start * element_bytes..range.end * element_bytes];
            let masks = powers.masks(elements)?;
            powers.length.pack(masks.into_iter(), message);
            Ok(())
        })?;
        Ok(Output::Nothing)
    }
}

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(params.group.exponent(&mut context.rng)))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let secret = Secret {
            params,
            exponent: self.0,
        };

        // Step 2.
        context.phases.begin("own items");
        let order: Vec<u32> = (0..input.items.len() as u32).collect();
        let received = secret.swap(Role::Receiver, input, &order, context.channel)?;

        // Steps 3 and 4. The sender computes at the same time: what it sends is taken in
        // meanwhile, so that it need not wait.
        context.phases.begin("their items");
        let powers = secret.powers(input.joint_seed);
        let (masks, returned) = context.channel.exchange(
            |_| {
                let message_bytes =
                    params.group.elements_per_message() * params.group.element_bytes();
                let chunks: Vec<_> = received.chunks(message_bytes).collect();
                parallel::map(chunks.len(), &|i| powers.masks(chunks[i]))
                    .into_iter()
                    .collect::<Result<Vec<_>, Error>>()
            },
            |inbound| {
                powers
                    .length
                    .receive(inbound, params.chunks(Role::Receiver))
            },
        )?;
        let found = compare::find(&returned, &masks.concat(), powers.length);
        Ok(Output::rows(found, returned.len()))
    }
}

/// A party's secret exponent.
struct Secret<'a> {
    params: &'a Params,
    exponent: Exponent,
}

impl Secret<'_> {
    /// Step 2: the elements of this party's items go out, in this order; the other party's come in.
    fn swap(
        &self,
        role: Role,
        input: &Input,
        order: &[u32],
        channel: &mut Channel,
    ) -> Result<Vec<u8>, Error> {
        let key = self.hash_key(input.joint_seed);
        let own = self.params.chunks(role);
        let theirs = self.params.chunks(role.other());
        let element_bytes = self.params.group.element_bytes();
        let mut received = vec![0; theirs.total * element_bytes];
        channel.exchange(
            |outbound| {
                stream::send(outbound, own, &|range, message| {
                    let rows = input.items.rows(order[range].iter().copied());
                    message.extend(self.exponent.hash_power(&key, &rows));
                })
            },
            |inbound| {
                let mut messages = received.chunks_mut(theirs.per_message * element_bytes);
                messages.try_for_each(|message| inbound.recv(message))
            },
        )?;
        Ok(received)
    }

    /// Returns the key of the hash to the group.
    fn hash_key(&self, joint_seed: &JointSeed) -> [u8; 32] {
        joint_seed.key("psijoin 2026 dh hash to group")
    }

    fn powers(&self, joint_seed: &JointSeed) -> Powers<'_> {
        Powers {
            secret: self,
            key: joint_seed.key("psijoin 2026 dh masks"),
            length: self.params.masks.masks,
        }
    }
}

/// The second exponentiation.
struct Powers<'a> {
    secret: &'a Secret<'a>,
    key: [u8; 32],
    length: MaskLength,
}

impl Powers<'_> {
    /// Returns the masks of the elements' powers.
    fn masks(&self, elements: &[u8]) -> Result<Vec<Mask>, Error> {
        let powers = self.secret.exponent.power(elements)?;
        let group = self.secret.params.group;
        Ok(group.masks(&powers, &self.key, self.length))
    }
}

//! A run of the protocol that both parties have agreed on: its streams, and its last words.

use std::iter;

use psijoin::{Context, Fingerprint, Input, JointSeed, Ledger, Output, Plan, Role, Traffic};
use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, Tally, counted},
};
use psijoin_record::{self as record, SAID_BYTES};
use psijoin_runtime::parallel::Pool;
use psijoin_transport::Connection;

use crate::{
    Error,
    agreement::Agreement,
    lanes::Ways,
    noise::Noising,
    party::Party,
    phases::Phases,
    signing::{self, Signing},
};

/// A session whose protocol may run.
pub(crate) struct Underway {
    /// That of the meeting, and those of the parts if these run over others.
    pub(crate) channels: Vec<Channel>,
    /// What passes over them.
    pub(crate) meter: Meter,
    receipts: Option<Receipts>,
    signing: Option<Signing>,
    /// The bytes that other processes have sent, and received, if parts run there.
    elsewhere: Option<[u64; 2]>,
}

impl Underway {
    /// Opens as many streams as both parties derived. They close at the exact last byte, before
    /// this party looks at it, so that the time of what follows reveals nothing.
    pub(crate) fn begin(
        party: &Party<'_>,
        agreement: &mut Agreement,
        (connection, first): (&mut Connection, (Channel, Counters)),
        ledger: Option<&dyn Ledger>,
    ) -> Result<Self, Error> {
        let signing = party.signing(agreement.document.take());
        let remaining = agreement.remaining(ledger);
        let all = match agreement.ways(remaining) {
            Ways::Meeting => {
                connection.open_streams(0, &agreement.joint_seed)?;
                vec![first]
            }
            Ways::Streams(further) => {
                let further = connection.open_streams(further, &agreement.joint_seed)?;
                let further = further.into_iter().map(counted);
                let after_parts = counted(connection.channel());
                [after_parts, first].into_iter().chain(further).collect()
            }
            Ways::Lanes(count) => {
                let lanes = agreement.lanes(count, connection.timeouts())?;
                let channels = connection.open_lanes(&lanes)?;
                let lanes = (0..count).zip(channels).map(|(lane, channel)| {
                    let traffic = remaining.lane_traffic(lane, count);
                    let (sent, received) = own_first(party.role, bytes(traffic));
                    counted(connection.lane_ends_after(lane, channel, sent, received))
                });
                iter::once(first).chain(lanes).collect()
            }
        };
        let (channels, counters): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        party.check_key_exchange(connection)?;
        let receipts = ledger.map(|_| Receipts::of(&agreement.plan));
        let of_protocol = bytes(remaining.traffic());
        let ending = Ending {
            farewell: Farewell::of(of_protocol, receipts, signing.as_ref()),
            of_protocol,
            here: of_protocol,
        };
        Ok(Self {
            meter: Meter::new(counters),
            channels: ending.by_itself(party.role, connection, channels),
            receipts,
            signing,
            elsewhere: None,
        })
    }

    /// Begins what both say once all parts have run elsewhere: the session ends by itself with the
    /// last byte of what is opened then, or when this party says so if nothing is.
    pub(crate) fn elsewhere(
        party: &Party<'_>,
        agreement: &mut Agreement,
        over: (&Connection, (Channel, Counters)),
    ) -> Self {
        let signing = party.signing(agreement.document.take());
        let (connection, (channel, counters)) = over;
        let remaining = agreement.remaining(None);
        let of_protocol = bytes(remaining.traffic());
        let ending = Ending {
            farewell: Farewell::of(of_protocol, None, signing.as_ref()),
            of_protocol,
            here: bytes(remaining.opening_traffic()),
        };
        let channels = match ending.here {
            [0, 0] => vec![channel],
            _ => ending.by_itself(party.role, connection, vec![channel]),
        };
        Self {
            meter: Meter::new(vec![counters]),
            channels,
            receipts: None,
            signing,
            elsewhere: Some([0; 2]),
        }
    }

    /// Adds what another process has sent, and received.
    pub(crate) fn add_elsewhere(&mut self, bytes: [u64; 2]) {
        for (all, bytes) in self.elsewhere.iter_mut().flatten().zip(bytes) {
            *all += bytes;
        }
    }

    /// Says the last words of a protocol that has given this: receipts, and signatures if they were
    /// not swapped already. Returns what it gave, and its traffic.
    ///
    /// # Errors
    /// That of the protocol, or that the other party did not confirm or sign.
    pub(crate) fn end<T>(
        mut self,
        party: &Party<'_>,
        ran: Result<T, Error>,
        output: impl Fn(&T) -> &Output,
    ) -> Result<(T, Snapshot), Error> {
        let ran = match &self.signing {
            None => ran,
            Some(signing) => signing.unless_unsigned(ran),
        };
        let outcome = match &ran {
            Ok(ran) => signing::outcome(output(ran)),
            // The other party must not see that it gave what cannot be opened, so the session ends
            // as any other. Where nothing is said behind the parts, it has ended.
            Err(Error::Psi(psijoin::Error::Payload))
                if self.receipts.is_some() || self.elsewhere.is_some() =>
            {
                record::Outcome::Done
            }
            Err(_) => return ran.map(|ran| (ran, Snapshot::default())),
        };
        let mut traffic = self.meter.passed();
        let [sent, received] = self.elsewhere.unwrap_or_default();
        traffic.sent.bytes += sent;
        traffic.received.bytes += received;
        if let Some(receipts) = self.receipts {
            receipts.swap(party.role, &mut self.channels[0])?;
        }
        if let Some(signing) = self.signing {
            signing.conclude(outcome, traffic, &mut self.channels[0], party.watcher)?;
        }
        Ok((ran?, traffic))
    }
}

/// Returns the bytes of the sender, and of the receiver.
fn bytes(traffic: Traffic) -> [u64; 2] {
    [traffic.sender_bytes, traffic.receiver_bytes]
}

/// Returns what a party sends, and what it receives, of what the sender and the receiver send.
fn own_first(role: Role, [sender, receiver]: [u64; 2]) -> (u64, u64) {
    match role {
        Role::Sender => (sender, receiver),
        Role::Receiver => (receiver, sender),
    }
}

/// Counts what a protocol sends and receives.
pub(crate) struct Meter {
    /// Of the session's channel, and of each lane; and what had passed there before.
    channels: Vec<(Counters, Snapshot)>,
}

impl Meter {
    /// Counts from now on.
    fn new(counters: Vec<Counters>) -> Self {
        let begin = |counters: Counters| {
            let before = counters.snapshot();
            (counters, before)
        };
        Self {
            channels: counters.into_iter().map(begin).collect(),
        }
    }

    /// Returns what has passed. Lanes run at the same time, and the session's channel is used
    /// before and after them.
    pub(crate) fn passed(&self) -> Snapshot {
        let since = |(counters, before): &(Counters, Snapshot)| counters.snapshot() - *before;
        let mut each = self.channels.iter().map(since);
        let alone = each.next().unwrap_or_default();
        let lanes: Snapshot = each.sum();
        Snapshot {
            sent: in_turn(alone.sent, lanes.sent),
            received: in_turn(alone.received, lanes.received),
            flights: alone.flights + lanes.flights,
        }
    }
}

/// Returns what passed in one direction, first of one and then of the other.
fn in_turn(one: Tally, other: Tally) -> Tally {
    Tally {
        bytes: one.bytes + other.bytes,
        messages: one.messages + other.messages,
        flights: one.flights + other.flights,
    }
}

/// The parties of a job that confirm that they have kept all: a party that the other one needs for
/// its result may end its job only then.
#[derive(Clone, Copy)]
pub(crate) enum Receipts {
    /// Only the receiver gets something.
    OfReceiver,
    /// Both get something, so each is needed.
    OfBoth,
}

impl Receipts {
    fn of(plan: &Plan) -> Self {
        match plan.request().output.is_for_both() {
            true => Self::OfBoth,
            false => Self::OfReceiver,
        }
    }

    /// Returns the bytes of the sender's receipt, and of the receiver's.
    fn bytes(self) -> [u64; 2] {
        match self {
            Self::OfReceiver => [0, 1],
            Self::OfBoth => [1, 1],
        }
    }

    /// Tells the other party that this one has kept all, and hears it from the other, where one
    /// needs the other for its result.
    fn swap(self, role: Role, channel: &mut Channel) -> Result<(), Error> {
        const RECEIPT: [u8; 1] = [1];
        let channel_failed = |error| Error::from(psijoin::Error::from(error));
        let mut theirs = [0; 1];
        match (self, role) {
            (Receipts::OfReceiver, Role::Sender) => {
                channel.recv(&mut theirs).map_err(channel_failed)?;
            }
            (Receipts::OfReceiver, Role::Receiver) => {
                // It is the sender's affair whether it hears this.
                let _ = channel.send(&RECEIPT);
                return Ok(());
            }
            (Receipts::OfBoth, _) => {
                let exchanged = channel.exchange(
                    |outbound| outbound.send(&RECEIPT),
                    |inbound| inbound.recv(&mut theirs),
                );
                exchanged.map_err(channel_failed)?;
            }
        }
        match theirs == RECEIPT {
            true => Ok(()),
            false => {
                Err(psijoin::Error::Peer("it did not confirm that it has kept its result").into())
            }
        }
    }
}

/// The last words of both parties.
enum Farewell<'a> {
    /// This number of bytes from the sender and from the receiver, once each has finished.
    Bytes([u64; 2]),
    /// The signatures of a record, at once after the last message.
    Signatures(&'a Signing),
}

/// The end of a session, by itself.
struct Ending<'a> {
    farewell: Farewell<'a>,
    /// The bytes of the whole protocol, of the sender and of the receiver.
    of_protocol: [u64; 2],
    /// Those over the channels that this process has.
    here: [u64; 2],
}

impl Ending<'_> {
    /// Lets the session end when these bytes have passed over the channels, and the last words with
    /// them.
    fn by_itself(
        &self,
        role: Role,
        connection: &Connection,
        channels: Vec<Channel>,
    ) -> Vec<Channel> {
        match self.farewell {
            Farewell::Bytes([of_sender, of_receiver]) => {
                let [senders, receivers] = self.here;
                let all = [senders + of_sender, receivers + of_receiver];
                let (sent, received) = own_first(role, all);
                connection.all_end_after(channels, sent, received)
            }
            Farewell::Signatures(signing) => {
                let (sent, received) = own_first(role, self.here);
                let last_words = signing.last_words(self.of_protocol);
                connection.all_end_with_last_words(channels, sent, received, last_words)
            }
        }
    }
}

impl<'a> Farewell<'a> {
    fn of(of_protocol: [u64; 2], receipts: Option<Receipts>, signing: Option<&'a Signing>) -> Self {
        let signatures = signing.map_or(0, |_| SAID_BYTES);
        match (receipts, signing) {
            // They sign when both have kept all.
            (Some(receipts), _) => {
                Self::Bytes(receipts.bytes().map(|receipt| receipt + signatures))
            }
            // There is no last message after which they could sign.
            (None, _) if of_protocol == [0; 2] => Self::Bytes([signatures; 2]),
            (None, None) => Self::Bytes([0; 2]),
            (None, Some(signing)) => Self::Signatures(signing),
        }
    }
}

/// The input of a party to a protocol.
pub struct Set<'a, F> {
    /// Its items' fingerprints.
    pub fingerprints: F,
    /// Its columns, each with one number per item.
    pub columns: &'a [Vec<i64>],
    /// Its payloads, one after the other.
    pub payloads: &'a [u8],
}

/// A run of one party.
pub struct Run<'a> {
    /// The plan that runs.
    pub plan: &'a Plan,
    /// The party's role.
    pub role: Role,
    /// Fresh for each run, or that of the job's first attempt.
    pub joint_seed: &'a JointSeed,
    /// The ledger that keeps its steps.
    pub ledger: Option<&'a dyn Ledger>,
    /// What it does for noise.
    pub noise: &'a Noising,
}

impl Run<'_> {
    /// Runs it in a thread pool over its channels, one at least, from its fingerprints on, which
    /// are dropped as soon as they are not needed any more.
    ///
    /// # Errors
    /// As [`psijoin::run`].
    pub fn compute(
        &self,
        Set {
            fingerprints,
            columns,
            payloads,
        }: Set<'_, impl AsRef<[Fingerprint]> + Send>,
        channels: &mut [Channel],
        pool: &Pool,
        phases: &Phases,
    ) -> Result<Output, psijoin::Error> {
        pool.run(|| {
            phases.begin("item digests");
            let items = &self.plan.items(fingerprints.as_ref(), self.joint_seed);
            drop(fingerprints);
            let input = Input {
                items,
                columns,
                payloads,
                joint_seed: self.joint_seed,
            };
            let mut context = self.context(channels, phases);
            psijoin::run(self.plan, self.role, &input, &mut context)
        })
    }

    /// Returns what it runs over.
    pub(crate) fn context<'c>(
        &'c self,
        channels: &'c mut [Channel],
        phases: &'c Phases,
    ) -> Context<'c> {
        let (first, further) = channels.split_first_mut().expect("a stream");
        let mut context = Context::new(first)
            .streams(further)
            .observed(phases)
            .adding(&self.noise.numbers);
        context.ledger = self.ledger;
        context
    }
}

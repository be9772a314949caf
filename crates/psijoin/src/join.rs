//! A whole join of items in memory over a channel: agreeing, drawing the seed, and running the
//! protocol. It compares and tells what the engine of tables does.

use std::{collections::HashMap, iter};

use psijoin_channel::{AbortCode, Channel, path::Measured};
use psijoin_handshake::{self as handshake, Hello};
use psijoin_params::{Security, Sizes};

use crate::{
    BaseOts, Columns, Context, Error, Fingerprint, Input, Output, OutputKind, Payloads, Protocol,
    Request, Role, auto, key, parts, run, settings,
};

mod numbers;

pub use numbers::NumberJoin;

// Whatever can be planned can be agreed on.
const _: () = assert!(handshake::MAX_SET_SIZE == Sizes::MAX_ITEMS);

/// Sends to a peer that calls [`receive`] with its own items. The peer learns which of them are
/// among these. See [`Join`] for other protocols and outputs.
///
/// # Errors
/// As [`Join::send`].
pub fn send(channel: &mut Channel, items: &[impl AsRef<[u8]>]) -> Result<(), JoinError> {
    Join::default().send(channel, items, &[]).map(drop)
}

/// Returns the positions, ascending, of the items that the peer, which calls [`send`], has too.
///
/// # Errors
/// As [`Join::receive`].
pub fn receive(channel: &mut Channel, items: &[impl AsRef<[u8]>]) -> Result<Vec<u32>, JoinError> {
    match Join::default().receive(channel, items, &[])? {
        Output::Rows(rows) => Ok(rows),
        _ => unreachable!("rows are what was asked for"),
    }
}

/// The computation of two parties, and how it is done. It must be the same on both sides, except
/// for what they [measured](Self::measured): they compare it before anything else.
///
/// The other party can be the program or the crate `psijoin-session`, over a
/// [`Connection`](crate::transport::Connection) with streams: an item is then a key of one text, as
/// it stands when its column's rules are applied. Both compare [`settings`] of the same names.
/// Columns of numbers are called by their numbers among a party's own, as in
/// `sum:sender.1,receiver.2`, and hold whole numbers. Payloads are for the library alone.
///
/// ```
/// use psijoin::{Join, Output, OutputKind, channel::memory};
///
/// let (mut alice, mut bob) = memory::pair();
/// let join = Join::default().output(OutputKind::Count);
/// let found = std::thread::scope(|scope| {
///     scope.spawn(|| join.send(&mut alice, &["ann", "bob", "eve"], &[]));
///     join.receive(&mut bob, &["bob", "joe"], &[])
/// })?;
/// assert_eq!(found, Output::Count(1));
/// # Ok::<(), psijoin::JoinError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Join {
    protocol: &'static Protocol,
    output: OutputKind,
    min_intersection: u64,
    security: Security,
    base_ots: BaseOts,
    measured: Measured,
    /// The bits of an item, if items are numbers.
    item_bits: Option<u32>,
}

/// The rows that are shared, by the protocol that suits the sizes of the sets and the network.
impl Default for Join {
    fn default() -> Self {
        Self {
            protocol: &auto::AUTO,
            output: OutputKind::Rows,
            min_intersection: 0,
            security: Security::default(),
            base_ots: BaseOts::default(),
            measured: Measured::default(),
            item_bits: None,
        }
    }
}

impl Join {
    /// Sets the protocol, one of the [`registry`](crate::registry).
    #[must_use]
    pub fn protocol(self, protocol: &'static Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// Sets what the receiver learns.
    #[must_use]
    pub fn output(self, output: OutputKind) -> Self {
        Self { output, ..self }
    }

    /// Withholds everything if fewer items than this are shared.
    #[must_use]
    pub fn min_intersection(self, min_intersection: u64) -> Self {
        Self {
            min_intersection,
            ..self
        }
    }

    /// Sets the security level.
    #[must_use]
    pub fn security(self, security: Security) -> Self {
        Self { security, ..self }
    }

    /// Lets the join rest on nothing that a quantum computer is known to break: its base OTs are by
    /// ML-KEM, and `auto` takes no protocol on discrete logarithms. Whoever records the connection
    /// is another matter: over TLS, see
    /// [`Connection::key_exchange`](crate::transport::Connection::key_exchange).
    #[must_use]
    pub fn post_quantum(self) -> Self {
        Self {
            base_ots: BaseOts::MlKem,
            ..self
        }
    }

    /// Sets what this party has measured of the network, as
    /// [`Connection::measured`](crate::transport::Connection::measured) returns it. Both parties
    /// tell the other, and [`auto`] goes by both. By default, nothing is known.
    #[must_use]
    pub fn measured(self, measured: Measured) -> Self {
        Self { measured, ..self }
    }

    /// Plays the sender, whose output is [`Output::Nothing`] unless shares were asked for, or too
    /// few items are shared. `columns` has one number per item for each of its columns.
    ///
    /// # Errors
    /// If an item is there twice, the peer was set up otherwise, or the protocol fails.
    pub fn send(
        &self,
        channel: &mut Channel,
        items: &[impl AsRef<[u8]>],
        columns: &[Vec<i64>],
    ) -> Result<Output, JoinError> {
        self.run(Role::Sender, channel, fingerprints(items), columns, &[])
    }

    /// Plays the receiver, which learns the output.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn receive(
        &self,
        channel: &mut Channel,
        items: &[impl AsRef<[u8]>],
        columns: &[Vec<i64>],
    ) -> Result<Output, JoinError> {
        self.run(Role::Receiver, channel, fingerprints(items), columns, &[])
    }

    /// Plays this role where shared items come with [payloads](OutputKind::Payloads). `payloads`
    /// are this party's own, of all items, one after the other; none if it gives nothing.
    ///
    /// ```
    /// use psijoin::{Join, Matched, Output, OutputKind, Payloads, Role, channel::memory};
    ///
    /// let (mut alice, mut bob) = memory::pair();
    /// let payloads = Payloads { from_sender: 2, back: None };
    /// let join = Join::default().output(OutputKind::Payloads(payloads));
    /// let found = std::thread::scope(|scope| {
    ///     scope.spawn(|| join.deliver(Role::Sender, &mut alice, &["ann", "bob", "eve"], b"a1b2e3"));
    ///     join.deliver(Role::Receiver, &mut bob, &["joe", "bob"], &[])
    /// })?;
    /// let matched = Matched { rows: vec![1], payloads: b"b2".to_vec() };
    /// assert_eq!(found, Output::Matched(matched));
    /// # Ok::<(), psijoin::JoinError>(())
    /// ```
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn deliver(
        &self,
        role: Role,
        channel: &mut Channel,
        items: &[impl AsRef<[u8]>],
        payloads: &[u8],
    ) -> Result<Output, JoinError> {
        self.run(role, channel, fingerprints(items), &[], payloads)
    }

    /// Turns this into a join of items that are numbers of at most this many bits, 1 to 64.
    ///
    /// ```
    /// use psijoin::{Join, Output, channel::memory};
    ///
    /// let (mut alice, mut bob) = memory::pair();
    /// let join = Join::default().numbers(32);
    /// let found = std::thread::scope(|scope| {
    ///     scope.spawn(|| join.send(&mut alice, &[10, 4_000_000_000], &[]));
    ///     join.receive(&mut bob, &[4_000_000_000, 11, 12], &[])
    /// })?;
    /// assert_eq!(found, Output::Rows(vec![0]));
    /// # Ok::<(), psijoin::JoinError>(())
    /// ```
    #[must_use]
    pub fn numbers(self, bits: u32) -> NumberJoin {
        NumberJoin {
            join: Self {
                item_bits: Some(bits),
                ..self
            },
            bits,
        }
    }

    fn run(
        &self,
        role: Role,
        channel: &mut Channel,
        fingerprints: Result<Vec<Fingerprint>, JoinError>,
        columns: &[Vec<i64>],
        payloads: &[u8],
    ) -> Result<Output, JoinError> {
        let fingerprints = &fingerprints.inspect_err(|_| channel.abort(AbortCode::LocalFailure))?;
        let pending = handshake::begin(channel, self.hello(role, fingerprints.len() as u64))?;
        pending.compare()?;
        check_whole(pending.peer(), &self.output)
            .inspect_err(|_| channel.abort(AbortCode::Incompatible))?;
        let (ours, theirs) = (fingerprints.len() as u64, pending.peer().set_size());
        let (senders, receivers) = match role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        let sizes = Sizes::new(senders, receivers).map_err(Error::from)?;
        let request = Request::of(sizes, self.security)
            .output(self.output.clone())
            .min_intersection(self.min_intersection)
            .base_ots(self.base_ots)
            .path(pending.path()?);
        let request = match self.item_bits {
            Some(bits) => request.numbers(bits)?,
            None => request,
        };
        let plan = parts::plan(self.protocol, &request)?;
        // The seed that salts the digests is drawn only now, when both sets are fixed.
        let only_checked = pending.peer().told(settings::ONLY_CHECKS).is_some();
        let joint_seed = &pending.confirm(channel, &[&plan.digest(), &encoded(&self.output)])?;
        if only_checked {
            return Err(JoinError::OnlyChecked);
        }
        let items = &plan.items(fingerprints, joint_seed);
        let input = Input {
            items,
            columns,
            payloads,
            joint_seed,
        };
        Ok(run(&plan, role, &input, &mut Context::new(channel))?)
    }

    /// Returns what the other party compares and is told, as any join tells it.
    fn hello(&self, role: Role, items: u64) -> Hello {
        let keys = settings::Keys {
            count: items,
            columns: 1,
            spelling: key::SPELLING_VERSION,
        };
        let hello = settings::hello(role, keys, self.protocol, self.security)
            .setting(settings::OUTPUT, asked(&self.output))
            .setting(settings::LEARNERS, learners(&self.output))
            .setting(settings::MINIMUM, self.min_intersection)
            .measured(self.measured);
        let hello = match self.base_ots {
            BaseOts::DiffieHellman => hello,
            BaseOts::MlKem => hello.setting(settings::POST_QUANTUM, "yes"),
        };
        let hello = match self.item_bits {
            Some(bits) => (hello.setting(settings::ITEM_BITS, bits))
                .fact(settings::key_column(0), key::number(bits)),
            None => hello.fact(settings::key_column(0), key::TEXT),
        };
        let hello = payloads(&self.output, hello);
        let own = holders(&self.output).filter(|(_, holder)| *holder == role);
        own.fold(hello, |hello, (at, _)| {
            hello.fact(settings::decimals(at), 0)
        })
    }
}

/// Returns the output in the words that all joins compare. Columns are called by their numbers.
fn asked(output: &OutputKind) -> String {
    let columns = |holder: Role, count| (1..=count).map(move |column| format!("{holder}.{column}"));
    let listed = |all: Columns| {
        let senders = columns(Role::Sender, all.sender);
        let all: Vec<String> = senders
            .chain(columns(Role::Receiver, all.receiver))
            .collect();
        all.join(",")
    };
    match output {
        OutputKind::Sums(columns) => format!("sum:{}", listed(*columns)),
        OutputKind::Shares(Columns::NONE) => "shares".to_owned(),
        OutputKind::Shares(columns) => format!("shares:{}", listed(*columns)),
        OutputKind::Payloads(_) => OutputKind::Rows.to_string(),
        other => other.to_string(),
    }
}

/// Returns the holder of each column of numbers, with its position among all.
fn holders(output: &OutputKind) -> impl Iterator<Item = (usize, Role)> + use<> {
    let Columns { sender, receiver } = output.columns();
    let senders = iter::repeat_n(Role::Sender, sender);
    (senders.chain(iter::repeat_n(Role::Receiver, receiver))).enumerate()
}

fn learners(output: &OutputKind) -> &'static str {
    match output {
        OutputKind::Payloads(Payloads { back: Some(_), .. }) => "both",
        _ => "receiver",
    }
}

/// Adds to a hello the bytes of payloads, which the program does not have: its columns are agreed
/// on by name.
fn payloads(output: &OutputKind, hello: Hello) -> Hello {
    let bytes = |role| output.payload_bytes(role);
    let given = [
        (settings::SENDERS_COLUMNS, bytes(Role::Sender)),
        (settings::RECEIVERS_COLUMNS, bytes(Role::Receiver)),
    ];
    let given = given.into_iter().filter(|(_, bytes)| *bytes > 0);
    given.fold(hello, |hello, (name, bytes)| {
        hello.setting(name, format_args!("payloads of {bytes} bytes"))
    })
}

/// Checks that the other party's numbers are whole, as this one's are.
fn check_whole(theirs: &Hello, output: &OutputKind) -> Result<(), JoinError> {
    let mut others = holders(output).filter(|(_, holder)| *holder == theirs.role());
    others.try_for_each(|(at, _)| match theirs.told(&settings::decimals(at)) {
        Some("0") => Ok(()),
        Some(_) => Err(JoinError::Decimals),
        None => Err(handshake::Error::Malformed("it did not tell the decimals of a column").into()),
    })
}

/// Returns, as all joins compare it, who has which columns of numbers, without decimals.
fn encoded(output: &OutputKind) -> Vec<u8> {
    holders(output)
        .flat_map(|(_, holder)| [holder as u8, 0])
        .collect()
}

/// Returns the fingerprint of each item, as of a key of one text.
fn fingerprints(items: &[impl AsRef<[u8]>]) -> Result<Vec<Fingerprint>, JoinError> {
    distinct(items.iter().map(|item| key::fingerprint(item.as_ref())))
}

/// Returns fingerprints that are all different.
fn distinct(
    fingerprints: impl Iterator<Item = Fingerprint>,
) -> Result<Vec<Fingerprint>, JoinError> {
    let fingerprints: Vec<Fingerprint> = fingerprints.collect();
    let mut first = HashMap::with_capacity(fingerprints.len());
    for (again, fingerprint) in fingerprints.iter().enumerate() {
        if let Some(first) = first.insert(fingerprint, again) {
            return Err(JoinError::Duplicate { first, again });
        }
    }
    Ok(fingerprints)
}

/// The reason that a join failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// An item is given twice. A set has each item once.
    #[error("item {again} is the same as item {first}: give each item once")]
    Duplicate {
        /// Its first position, from 0.
        first: usize,
        /// Its next position.
        again: usize,
    },

    /// An item is longer than the numbers that were promised.
    #[error("item {at} is not a number of {bits} bits or fewer")]
    TooLong {
        /// Its position, from 0.
        at: usize,
        /// The bits that were promised.
        bits: u32,
    },

    /// A column of the other party has numbers with decimals.
    #[error(
        "a column of the other party has numbers with decimals, and this one adds up whole numbers"
    )]
    Decimals,

    /// The two sides were not set up alike, or the peer speaks something else. The text names the
    /// difference.
    #[error("{0}")]
    Disagreement(String),

    /// The other party wanted to know only whether both could join.
    #[error("the other party only checks: nothing was done")]
    OnlyChecked,

    /// The protocol failed.
    #[error(transparent)]
    Run(#[from] Error),
}

impl From<handshake::Error> for JoinError {
    fn from(error: handshake::Error) -> Self {
        match error {
            handshake::Error::Channel(error) => Self::Run(error.into()),
            handshake::Error::Malformed(what) => Self::Run(Error::Peer(what)),
            other => Self::Disagreement(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use psijoin_channel::{memory, path::Path};

    use super::*;
    use crate::registry;

    type Table<'a> = (&'a [&'a str], &'a [Vec<i64>]);

    /// Returns what the sender and the receiver get.
    fn joined(
        [sending, receiving]: [&Join; 2],
        senders: Table<'_>,
        receivers: Table<'_>,
    ) -> [Result<Output, JoinError>; 2] {
        let (mut sender, mut receiver) = memory::pair();
        thread::scope(|scope| {
            let sent = scope.spawn(move || sending.send(&mut sender, senders.0, senders.1));
            let received = receiving.receive(&mut receiver, receivers.0, receivers.1);
            drop(receiver);
            [sent.join().unwrap(), received]
        })
    }

    const SENDERS: Table<'_> = (&["ann", "bob", "eve"], &[]);
    const RECEIVERS: Table<'_> = (&["bob", "joe", "ann", ""], &[]);

    #[test]
    fn every_protocol_joins_bytes() {
        for protocol in registry::PROTOCOLS {
            let join = Join::default().protocol(protocol);
            let [sent, received] = joined([&join; 2], SENDERS, RECEIVERS);
            assert_eq!(sent.unwrap(), Output::Nothing);
            assert_eq!(received.unwrap(), Output::Rows(vec![0, 2]));
        }
    }

    /// Alone, one would take `dh` and the other `rr22`.
    #[test]
    fn parties_with_unlike_measurements_take_the_same() {
        let measured = |bits_per_second| {
            let measured = Measured::default().round_trip(Duration::from_millis(10));
            Join::default().measured(measured.incoming(bits_per_second))
        };
        let items: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
        let (mut a, mut b) = memory::pair();
        let (slow, fast) = (measured(1_000_000), measured(1_000_000_000));
        let alone = |rate| {
            let path = Path::between(Measured::default(), Measured::default().incoming(rate));
            let request = Request::rows(5000, 5000).unwrap().path(path);
            auto::taken(&request).info().name
        };
        assert_ne!(alone(1_000_000), alone(1_000_000_000));
        thread::scope(|scope| {
            let sent = scope.spawn(|| slow.send(&mut a, &items, &[]));
            let received = fast.receive(&mut b, &items[..4000], &[]);
            assert_eq!(sent.join().unwrap().unwrap(), Output::Nothing);
            assert_eq!(received.unwrap(), Output::Rows((0..4000).collect()));
        });
    }

    #[test]
    fn columns_are_added_up() {
        let columns = Columns {
            sender: 1,
            receiver: 1,
        };
        let join = Join::default().output(OutputKind::Sums(columns));
        let senders = (SENDERS.0, &[vec![1, 2, 4]][..]);
        let receivers = (RECEIVERS.0, &[vec![10, 20, 40, 80]][..]);
        let [_, received] = joined([&join; 2], senders, receivers);
        assert_eq!(received.unwrap(), Output::Sums(vec![3, 50]));
        let withheld = join.min_intersection(3);
        for learned in joined([&withheld; 2], senders, receivers) {
            assert_eq!(learned.unwrap(), Output::TooFew);
        }
    }

    #[test]
    fn a_disagreement_is_named_on_both_sides() {
        let others = [
            Join::default().protocol(registry::find("kkrt").unwrap()),
            Join::default().output(OutputKind::Count),
            Join::default().min_intersection(1),
            Join::default().security(Security::new(60).unwrap()),
        ];
        for (other, what) in others
            .iter()
            .zip(["protocol", "output", "least", "security"])
        {
            for result in joined([&Join::default(), other], SENDERS, RECEIVERS) {
                let error = result.unwrap_err();
                assert!(matches!(error, JoinError::Disagreement(_)), "{error}");
                assert!(error.to_string().contains(what), "{error}");
            }
        }
    }

    #[test]
    fn an_item_that_is_there_twice_is_refused_and_the_peer_is_told() {
        let twice: Table<'_> = (&["ann", "bob", "ann"], &[]);
        let join = Join::default();
        let [sent, received] = joined([&join; 2], twice, RECEIVERS);
        let refusal = sent.unwrap_err();
        assert!(
            matches!(refusal, JoinError::Duplicate { first: 0, again: 2 }),
            "{refusal}"
        );
        assert!(matches!(received, Err(JoinError::Run(Error::Channel(_)))));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused_and_the_peer_is_told() {
        let columns = [vec![1; 3]];
        let senders = (SENDERS.0, &columns[..]);
        let join = Join::default();
        let [sent, received] = joined([&join; 2], senders, RECEIVERS);
        assert!(matches!(sent, Err(JoinError::Run(Error::Misuse(_)))));
        assert!(matches!(received, Err(JoinError::Run(Error::Channel(_)))));
    }
}

//! What the parties agree on before the protocol runs.

use psijoin_channel::Channel;
use psijoin_params::Security;
use psijoin_psi::{Plan, Role, registry};
use psijoin_table::Numbers;
use psijoin_transport::handshake::{self, Hello, Session};

use super::{PROTOCOL, Party};
use crate::{
    asked::Asked,
    columns::{AgreedColumns, OwnColumns},
    exit::Failure,
    figures, limits,
};

/// What both parties agreed on.
pub(super) struct Agreement {
    pub(super) plan: Box<dyn Plan>,
    pub(super) columns: AgreedColumns,
    pub(super) session: Session,
}

impl Party<'_> {
    /// What must be alike on both sides, and this party's set size.
    pub(super) fn hello(&self, items: u64) -> Hello {
        let info = self.protocol.info();
        let role = match self.task.role() {
            Role::Sender => handshake::Role::Sender,
            Role::Receiver => handshake::Role::Receiver,
        };
        let hello = Hello::new(role, items)
            .setting(PROTOCOL, info.name)
            .setting("the protocol's version", info.version)
            .setting(
                "the statistical security in bits",
                Security::default().statistical_bits(),
            )
            .setting("the number of key columns", self.key.width())
            .setting("the normalisation of the key", self.key.normalization());
        self.question.settings(hello)
    }

    /// Makes sure that both parties were set up alike, and derives what follows from their
    /// sizes and columns. `numbers` are those of this party's columns.
    pub(super) fn agree(
        &self,
        channel: &mut Channel,
        items: u64,
        own: &OwnColumns,
        numbers: &[Numbers],
    ) -> Result<Agreement, Failure> {
        let hello = own.tell(self.hello(items), numbers);
        let pending = self.talk.during(
            "waiting for the other party to read its table",
            || (0, 0),
            || handshake::begin(channel, hello),
        )?;
        let theirs = pending.peer().set_size();
        self.consent.max_peer_keys.check(items, theirs)?;
        if let Some(warning) = limits::warning(self.task.role(), items, theirs) {
            self.warn(warning);
        }
        let (senders, receivers) = match self.task.role() {
            Role::Sender => (items, theirs),
            Role::Receiver => (theirs, items),
        };
        let columns = own.agree(numbers, pending.peer())?;
        self.consent_to(&columns)?;
        self.question.check(self.protocol, columns.counts())?;
        let request = self
            .question
            .request(senders, receivers, columns.counts())?;
        let plan = registry::plan(self.protocol, &request)?;
        let session = pending.confirm(channel, &[&plan.digest(), &columns.encoded()])?;
        self.record.session(&session.joint_seed);
        self.talk.say(format_args!(
            "{}: {} of the sender, {} of the receiver, {} to move",
            plan.info().name,
            figures::counted(senders, "key"),
            figures::counted(receivers, "key"),
            figures::bytes(plan.cost().total().total_bytes()),
        ));
        Ok(Agreement {
            plan,
            columns,
            session,
        })
    }

    /// Refuses, as a sender, sums from which the receiver could read keys, unless the user allows
    /// them.
    fn consent_to(&self, columns: &AgreedColumns) -> Result<(), Failure> {
        let of_receiver = columns
            .0
            .iter()
            .find(|column| column.holder == Role::Receiver);
        match (&self.question.asked, self.task.role(), of_receiver) {
            (Asked::Sum(_), Role::Sender, Some(column)) if !self.consent.receiver_sums => {
                Err(Failure::ReceiverSums(column.name.name.clone()))
            }
            _ => Ok(()),
        }
    }
}

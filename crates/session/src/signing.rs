//! The record of a session, which both parties sign.
//!
//! Its content is settled before the protocol runs, except for the end. The signatures are swapped
//! as soon as the last message of the protocol has arrived, and before either party looks at it: so
//! the time at which they come tells nothing about the result. If the protocol ends early, or sends
//! nothing at all, both parties know why, and sign after it. The parties of a job sign once each
//! has confirmed that it has kept everything, in the session in which that happens.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use psijoin::{Output, Plan, Role};
use psijoin_channel::{Channel, Error as ChannelError, count::Snapshot};
use psijoin_handshake::{self as handshake, Hello, Pending};
use psijoin_params::Security;
use psijoin_record::{
    self as record, Document, FORMAT, Outcome, PerParty, SignedRecord, failure_bits,
};
use psijoin_table::share::PayloadLayout;
use psijoin_transport::PublicKey;

use crate::{
    Error, Watcher,
    columns::{AgreedColumn, AgreedColumns},
    event::Event,
    labels::{AgreedGroups, AgreedLabels},
    names,
    party::Party,
    question::{Learners, Question},
    recording::{CLOCK, Recording, VERSION, clock},
    requested_groups::RequestedGroups,
    requested_output::RequestedOutput,
    settings,
    trade::Given,
};

impl Party<'_> {
    /// Returns the content of the record, as far as it is known before the protocol runs; nothing
    /// if none is asked for.
    ///
    /// # Errors
    /// If the other party did not tell what it must, or cannot sign.
    pub(crate) fn draft(
        &self,
        pending: &Pending,
        peer_key: Option<PublicKey>,
        plan: &Plan,
        (columns, groups, given): (&AgreedColumns, &AgreedGroups, &Given),
    ) -> Result<Option<Document>, Error> {
        let Some(recording) = &self.recording else {
            return Ok(None);
        };
        let theirs = peer_key.ok_or(record::Error::PeerCannotSign)?;
        let width = self.key.width();
        let ours = party(pending.own(), recording.key, width)?;
        let theirs = party(pending.peer(), theirs, width)?;
        let (sender, receiver) = match self.role {
            Role::Sender => (ours, theirs),
            Role::Receiver => (theirs, ours),
        };
        let mut parties = PerParty { receiver, sender };
        for role in Role::BOTH {
            parties.of_mut(role).learns = learns(&self.question, role);
        }
        // Of a column with a list, nothing is said.
        let said = groups
            .0
            .iter()
            .filter(|agreed| agreed.column.public.is_none());
        for agreed in said {
            let learner = agreed.column.holder.other();
            parties.of_mut(learner).learns.push(labels(agreed));
        }
        for (giver, layout) in given.all() {
            let learner = giver.other();
            let columns = given_columns(giver, layout);
            parties.of_mut(learner).learns.push(columns);
        }
        let settings = pending.own().settings();
        let document = Document {
            format: FORMAT,
            // It is drawn next.
            session: String::new(),
            handshake: pending.version(),
            parties,
            terms: self.terms.clone(),
            settings: settings
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            columns: columns.0.iter().map(column).collect(),
            protocol: protocol(plan),
            // A job tells.
            steps_run_again: 0,
            outcome: Outcome::Done,
        };
        document.check()?;
        Ok(Some(document))
    }

    /// Returns what signs the record of this session, if one is asked for.
    pub(crate) fn signing(&self, document: Option<Document>) -> Option<Signing> {
        let recording = self.recording.as_ref()?;
        Some(Signing {
            document: document.expect("it was drafted, as a record is asked for"),
            role: self.role,
            recording: recording.clone(),
            signed: Arc::default(),
        })
    }
}

/// A record that is about to be signed.
pub(crate) struct Signing {
    document: Document,
    role: Role,
    recording: Arc<Recording>,
    /// The result of swapping signatures after the last message.
    signed: Arc<Mutex<Option<Signed>>>,
}

type Signed = Result<SignedRecord, record::Error>;

impl Signing {
    /// Returns the parties' exchange when the sender and the receiver have sent these bytes, which
    /// are all of the protocol.
    pub(crate) fn last_words(
        &self,
        [of_sender, of_receiver]: [u64; 2],
    ) -> impl FnOnce(&mut Channel) -> Result<(), ChannelError> + Send + use<> {
        let document = self.ended(Outcome::Done, [of_sender, of_receiver]);
        let (role, identity) = (self.role, self.recording.identity.clone());
        let signed = self.signed.clone();
        move |channel| {
            let result = record::exchange(document, role, &identity, channel);
            let broken = result.as_ref().err().map(as_channel_error);
            *signed.lock().expect(UNPOISONED) = Some(result);
            broken.map_or(Ok(()), Err)
        }
    }

    fn ended(&self, outcome: Outcome, [of_sender, of_receiver]: [u64; 2]) -> Document {
        let mut document = self.document.clone();
        document.outcome = outcome;
        document.parties.sender.sent_bytes = of_sender;
        document.parties.receiver.sent_bytes = of_receiver;
        document
    }

    /// Returns what the protocol gave, unless the other party has not signed: that is then what
    /// went wrong.
    pub(crate) fn unless_unsigned<T>(&self, ran: Result<T, Error>) -> Result<T, Error> {
        let unsigned = |signed: &mut Signed| signed.is_err();
        let unsigned = self.signed.lock().expect(UNPOISONED).take_if(unsigned);
        match unsigned {
            Some(Err(unsigned)) => Err(unsigned.into()),
            _ => ran,
        }
    }

    /// Writes the record of a protocol that succeeded. If the protocol ended before its last
    /// message, or sent nothing at all, the parties sign now.
    ///
    /// # Errors
    /// [`Error::Unsigned`] and [`Error::NoRecord`].
    pub(crate) fn conclude(
        self,
        outcome: Outcome,
        traffic: Snapshot,
        channel: &mut Channel,
        watcher: &dyn Watcher,
    ) -> Result<(), Error> {
        let swapped = self.signed.lock().expect(UNPOISONED).take();
        let signed = swapped.unwrap_or_else(|| {
            let (ours, theirs) = (traffic.sent.bytes, traffic.received.bytes);
            let sent = match self.role {
                Role::Sender => [ours, theirs],
                Role::Receiver => [theirs, ours],
            };
            let identity = &self.recording.identity;
            record::exchange(self.ended(outcome, sent), self.role, identity, channel)
        });
        self.recording.write(&signed?)?;
        watcher.hear(Event::RecordWritten(&self.recording.path));
        Ok(())
    }
}

const UNPOISONED: &str = "a thread that panics never unwinds";

/// Returns the error for the protocol, to which the last words are part of its last message.
fn as_channel_error(error: &record::Error) -> ChannelError {
    match error {
        record::Error::Channel(error) => error.clone(),
        _ => ChannelError::Malformed("it has not signed the record"),
    }
}

/// Returns how a protocol with this output ended.
pub(crate) fn outcome(output: &Output) -> Outcome {
    match output {
        Output::TooFew => Outcome::TooFew,
        _ => Outcome::Done,
    }
}

/// Returns a party as its hello shows it, with this number of key columns.
fn party(hello: &Hello, key: PublicKey, key_columns: usize) -> Result<record::Party, Error> {
    let malformed = || handshake::Error::Malformed("it did not tell what a record needs");
    let told = |name: &str| hello.told(name).ok_or_else(malformed);
    let is_time = |text: &&str| {
        let time = text.parse::<Timestamp>();
        time.is_ok_and(|time| clock(time) == **text)
    };
    let key_columns = (0..key_columns).map(|at| Ok(told(&settings::key_column(at))?.to_owned()));
    Ok(record::Party {
        fingerprint: key.fingerprint(),
        key,
        psijoin: told(VERSION)?.to_owned(),
        clock: Some(told(CLOCK)?)
            .filter(is_time)
            .ok_or_else(malformed)?
            .to_owned(),
        keys: hello.set_size(),
        key_columns: key_columns.collect::<Result<_, handshake::Error>>()?,
        learns: Vec::new(),
        sent_bytes: 0,
    })
}

/// Returns the output of a side. Both sides' programs must use the same words: others need another
/// [`FORMAT`].
fn learns(question: &Question, role: Role) -> Vec<String> {
    let Question {
        asked,
        min_intersection,
        learners,
        post_quantum: _,
    } = question;
    let mut learns = vec![format!("how many distinct keys the {} has", role.other())];
    if !asked.columns().is_empty() {
        learns.push(format!(
            "which of the columns that were asked for the {} has, and their decimals",
            role.other()
        ));
    }
    if *min_intersection > 0 {
        learns.push(format!(
            "whether at least {min_intersection} keys are shared"
        ));
    }
    learns.extend(match (role, asked) {
        (_, RequestedOutput::Shares(_)) => {
            Some("its shares, which tell nothing without the other side's".to_owned())
        }
        (Role::Sender, RequestedOutput::Rows) if *learners == Learners::Both => {
            Some("which of its keys are shared".to_owned())
        }
        (Role::Sender, _) => None,
        (Role::Receiver, RequestedOutput::Rows) => Some("which of its keys are shared".to_owned()),
        (Role::Receiver, RequestedOutput::Count) => Some("how many keys are shared".to_owned()),
        (Role::Receiver, RequestedOutput::Threshold(least)) => {
            Some(format!("whether at least {least} keys are shared"))
        }
        (Role::Receiver, RequestedOutput::Sum(_)) => {
            Some("what the columns that were asked for add up to over the shared keys".to_owned())
        }
        (Role::Receiver, RequestedOutput::Groups(groups)) => Some(totals_of(groups)),
    });
    learns
}

/// Returns what the receiver learns of groups.
fn totals_of(groups: &RequestedGroups) -> String {
    let sums = match groups.sums[..] {
        [] => "",
        _ => ", and what the columns that were asked for add up to over them,",
    };
    let which = match groups.least {
        0 => String::new(),
        least => format!(" that has at least {least} of them, and which groups have fewer"),
    };
    let noise = match groups.noise {
        None => "",
        Some(_) => ", all of this with the noise that was agreed on",
    };
    format!("how many keys are shared{sums} in each group{which}{noise}")
}

/// Returns what the other party learns of the labels of a column.
fn labels(AgreedLabels { column, labels }: &AgreedLabels) -> String {
    format!(
        "the {} different values of the column {} of the {}, by which keys are grouped",
        labels.len(),
        names::listed(std::slice::from_ref(&column.name)),
        column.holder
    )
}

/// Returns what the other party learns of these columns.
fn given_columns(giver: Role, layout: &PayloadLayout) -> String {
    let names: Vec<String> = layout.columns().names().map(str::to_owned).collect();
    format!(
        "the columns {} of the {giver} for the shared keys, in {} bytes per key",
        names::listed(&names),
        layout.payload_bytes()
    )
}

fn column(column: &AgreedColumn) -> record::Column {
    record::Column {
        name: column.name.to_string(),
        holder: column.holder,
        decimals: column.scale,
    }
}

fn protocol(plan: &Plan) -> record::Protocol {
    let info = plan.info();
    let parameters = plan.parameters().iter();
    let events = plan.budget().events().iter();
    record::Protocol {
        name: info.name.to_owned(),
        version: info.version,
        adversary: info.adversary.to_string(),
        parameters: parameters
            .map(|parameter| (parameter.name.to_owned(), parameter.value.to_string()))
            .collect(),
        computational_bits: Security::COMPUTATIONAL_BITS,
        statistical_bits: plan.request().security.statistical_bits(),
        failure_bits: events
            .filter_map(|event| {
                let bits = failure_bits(event.bound.log2())?;
                Some((event.name.to_owned(), bits))
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use psijoin_transport::Identity;

    use super::*;

    #[test]
    fn a_clock_is_told_in_one_way() {
        let key = Identity::generate().unwrap().public_key().unwrap();
        let told = |clock: &str| {
            let hello = Hello::new(Role::Sender, 1)
                .fact(VERSION, "0.1.0")
                .fact(CLOCK, clock);
            party(&hello, key, 0).map(|party| party.clock)
        };
        assert_eq!(
            told("2026-01-05T03:00:00Z").unwrap(),
            "2026-01-05T03:00:00Z"
        );
        for wrong in [
            "",
            "yesterday",
            "2026-01-05T03:00:00+00:00",
            "2026-01-05T03:00:00.5Z",
            "2026-13-05T03:00:00Z",
        ] {
            assert!(told(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_each_side_is_to_learn_follows_from_what_was_asked() {
        let question = |asked: &str, min_intersection| Question {
            asked: asked.parse().unwrap(),
            min_intersection,
            learners: Learners::Receiver,
            post_quantum: false,
        };
        let size = |side: &str| format!("how many distinct keys the {side} has");
        let rows = question("rows", 0);
        assert_eq!(learns(&rows, Role::Sender), [size("receiver")]);
        assert_eq!(
            learns(&rows, Role::Receiver),
            [size("sender"), "which of its keys are shared".to_owned()]
        );
        let both = Question {
            learners: Learners::Both,
            ..rows
        };
        for side in Role::BOTH {
            assert_eq!(learns(&both, side)[1..], ["which of its keys are shared"]);
        }
        let columns = |side: &str| {
            format!("which of the columns that were asked for the {side} has, and their decimals")
        };
        let sum = question("sum:amount", 7);
        let at_least = || "whether at least 7 keys are shared".to_owned();
        assert_eq!(
            learns(&sum, Role::Sender),
            [size("receiver"), columns("receiver"), at_least()]
        );
        let sums = "what the columns that were asked for add up to over the shared keys".to_owned();
        assert_eq!(
            learns(&sum, Role::Receiver),
            [size("sender"), columns("sender"), at_least(), sums]
        );
        let shares = question("shares", 0);
        for side in Role::BOTH {
            assert_eq!(
                learns(&shares, side)[1..],
                ["its shares, which tell nothing without the other side's"]
            );
        }
        let mut groups = question("counts", 0);
        let of_groups = |groups: &Question| learns(groups, Role::Receiver).pop().unwrap();
        assert_eq!(of_groups(&groups), "how many keys are shared in each group");
        groups.asked = RequestedOutput::Groups(RequestedGroups {
            sums: vec!["sender.amount".parse().unwrap()],
            least: 50,
            noise: None,
            ..RequestedGroups::default()
        });
        assert_eq!(
            of_groups(&groups),
            "how many keys are shared, and what the columns that were asked for add up to over \
             them, in each group that has at least 50 of them, and which groups have fewer"
        );
        let threshold = question("threshold:7", 0);
        assert_eq!(learns(&threshold, Role::Receiver)[1..], [at_least()]);
        let count = question("count", 0);
        assert_eq!(
            learns(&count, Role::Receiver)[1..],
            ["how many keys are shared"]
        );
    }
}

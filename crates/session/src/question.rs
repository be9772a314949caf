//! The question of both parties, and whether it can be answered.

use std::{fmt, str::FromStr};

use psijoin::{BaseOts, Columns, OutputKind, Payloads, Protocol, Request, Role, registry};
use psijoin_handshake::Hello;

use crate::{
    Error,
    fault::{Ability, Further, QuestionFault, Unable},
    requested_groups::RequestedGroups,
    requested_output::RequestedOutput,
    settings::{GROUP_BY, GROUP_LISTS, LEARNERS, MIN_GROUP, MINIMUM, NOISE, OUTPUT, POST_QUANTUM},
};

/// The output, and its condition.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The kind of output.
    pub asked: RequestedOutput,
    /// Nothing is learned if fewer keys are shared; 0 for no such condition.
    pub min_intersection: u64,
    /// The parties that learn it, if it is rows.
    pub learners: Learners,
    /// `true` if nothing that is learned may rest on what a quantum computer is known to break.
    pub post_quantum: bool,
}

/// The parties that learn which of their rows are shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Learners {
    /// The receiver alone.
    #[default]
    Receiver,
    /// Both parties.
    Both,
}

impl fmt::Display for Learners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Receiver => "receiver",
            Self::Both => "both",
        })
    }
}

impl FromStr for Learners {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "receiver" => Ok(Self::Receiver),
            "both" => Ok(Self::Both),
            _ => Err("say receiver or both".to_owned()),
        }
    }
}

impl Question {
    /// Checks that the protocol can answer it if each party has at least this many of the columns.
    ///
    /// # Errors
    /// [`Error::Unable`] and [`Error::Question`].
    pub fn check(&self, protocol: &Protocol, columns: Columns) -> Result<(), Error> {
        let labels = self.asked.groups().map(RequestedGroups::holders);
        let output = self.asked.output_kind(columns, labels.unwrap_or_default());
        if !protocol.computes(&output) {
            let what = Ability::Compute(Box::new(self.asked.clone()));
            return Err(unable(protocol, what, |other| other.computes(&output)));
        }
        self.check_minimum()?;
        self.check_groups()?;
        if self.learners == Learners::Both {
            self.check_carries(protocol, Further::Both)?;
        }
        if self.post_quantum && !protocol.is_post_quantum() {
            let able = |other: &Protocol| other.is_post_quantum() && other.computes(&output);
            return Err(unable(protocol, Ability::PostQuantum, able));
        }
        if self.min_intersection > 0 && !protocol.withholds() {
            let able = |other: &Protocol| other.withholds() && other.computes(&output);
            return Err(unable(protocol, Ability::Withhold, able));
        }
        Ok(())
    }

    /// Returns whether each party gets something.
    pub fn is_for_both(&self) -> bool {
        self.learners == Learners::Both || matches!(self.asked, RequestedOutput::Shares(_))
    }

    /// Returns whether a party in this role learns which of its rows are shared.
    pub fn finds_rows(&self, role: Role) -> bool {
        self.asked == RequestedOutput::Rows
            && (role == Role::Receiver || self.learners == Learners::Both)
    }

    /// Returns whether a party in this role gets a table: rows, or totals of groups.
    pub fn gives_table(&self, role: Role) -> bool {
        self.finds_rows(role) || (role == Role::Receiver && self.asked.groups().is_some())
    }

    /// Checks that the protocol can carry columns with the rows that are asked for.
    ///
    /// # Errors
    /// [`Error::Unable`] and [`Error::Question`].
    pub(crate) fn check_columns(&self, protocol: &Protocol) -> Result<(), Error> {
        self.check_carries(protocol, Further::Columns)
    }

    /// Checks that rows are found in any case, so that there can be further facts about them.
    ///
    /// # Errors
    /// If other outputs are asked for, or rows may be withheld.
    pub fn check_finds_rows(&self, further: Further) -> Result<(), QuestionFault> {
        if self.asked != RequestedOutput::Rows {
            let asked = self.asked.clone();
            return Err(QuestionFault::NoRows { asked, further });
        }
        match self.min_intersection {
            0 => Ok(()),
            _ => Err(QuestionFault::MinimumWith(further)),
        }
    }

    /// Checks that the protocol supports further facts about each shared row.
    fn check_carries(&self, protocol: &Protocol, further: Further) -> Result<(), Error> {
        const WITH_COLUMNS: OutputKind = OutputKind::Payloads(Payloads {
            from_sender: 1,
            back: None,
        });
        self.check_finds_rows(further)?;
        match protocol.computes(&WITH_COLUMNS) {
            true => Ok(()),
            false => Err(unable(protocol, Ability::Carry(further), |other| {
                other.computes(&WITH_COLUMNS)
            })),
        }
    }

    /// Checks that the output can be withheld, if that is asked for.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check_minimum(&self) -> Result<(), QuestionFault> {
        let output = (self.asked).output_kind(Columns::default(), Columns::default());
        match self.min_intersection == 0 || output.can_be_withheld() {
            true => Ok(()),
            false => Err(QuestionFault::MinimumOf(self.asked.clone())),
        }
    }

    /// Checks that groups have columns that name them, and that means and noise are for the columns
    /// that are added up.
    ///
    /// # Errors
    /// If they have none, or these are for others.
    pub fn check_groups(&self) -> Result<(), QuestionFault> {
        let Some(groups) = self.asked.groups() else {
            return Ok(());
        };
        if groups.by.is_empty() {
            return Err(QuestionFault::NoGroups);
        }
        let mut means = groups.means.iter();
        if let Some(other) = means.find(|mean| !groups.sums.contains(mean)) {
            return Err(QuestionFault::MeanOfOther(other.to_string()));
        }
        let noise = groups.noise.as_deref();
        noise.map_or(Ok(()), |noise| noise.check(&groups.sums))
    }

    /// Adds to a hello what must be the same on both sides.
    pub(crate) fn settings(&self, hello: Hello) -> Hello {
        let hello = hello
            .setting(OUTPUT, &self.asked)
            .setting(LEARNERS, self.learners)
            .setting(MINIMUM, self.min_intersection);
        let hello = match self.asked.groups() {
            None => hello,
            Some(groups) => hello
                .setting(GROUP_BY, groups.listed())
                .setting(MIN_GROUP, groups.least),
        };
        let hello = match self.asked.groups().and_then(RequestedGroups::lists) {
            None => hello,
            Some(lists) => hello.setting(GROUP_LISTS, lists),
        };
        let hello = match self
            .asked
            .groups()
            .and_then(|groups| groups.noise.as_deref())
        {
            None => hello,
            Some(noise) => hello.setting(NOISE, noise),
        };
        match self.post_quantum {
            false => hello,
            true => hello.setting(POST_QUANTUM, "yes"),
        }
    }

    /// Returns the request to the protocol for these sizes and numbers of columns and labels, where
    /// a party's columns for the other take this number of bytes per key, none if it gives none.
    ///
    /// # Errors
    /// If a set is too large.
    pub fn request(
        &self,
        senders: u64,
        receivers: u64,
        (columns, labels): (Columns, Columns),
        given_bytes: impl Fn(Role) -> u32,
    ) -> Result<Request, Error> {
        let from_sender = given_bytes(Role::Sender);
        let output = match self.learners {
            Learners::Receiver if from_sender == 0 => self.asked.output_kind(columns, labels),
            learners => OutputKind::Payloads(Payloads {
                from_sender,
                back: (learners == Learners::Both).then(|| given_bytes(Role::Receiver)),
            }),
        };
        Ok(Request::rows(senders, receivers)?
            .output(output)
            .min_intersection(self.min_intersection)
            .base_ots(match self.post_quantum {
                false => BaseOts::DiffieHellman,
                true => BaseOts::MlKem,
            }))
    }
}

/// Returns what a protocol cannot do, and others are able to.
fn unable(protocol: &Protocol, what: Ability, able: impl Fn(&Protocol) -> bool) -> Error {
    let others = registry::PROTOCOLS.iter().filter(|other| able(other));
    Error::Unable(Unable {
        protocol: protocol.info().name,
        what,
        others: others.map(|other| other.info().name).collect(),
    })
}

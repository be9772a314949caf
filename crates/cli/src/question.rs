//! What both parties want from a run, and whether they can have it.

use std::{fmt, str::FromStr};

use psijoin::{Columns, OutputKind, Payloads, Protocol, Request, Role, registry};
use psijoin_handshake::Hello;

use crate::{
    exit::Failure,
    requested_output::RequestedOutput,
    settings::{LEARNERS, MINIMUM, OUTPUT},
};

/// What is to be learned, and on what condition.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The kind of output.
    pub(crate) asked: RequestedOutput,
    /// Learn nothing if fewer keys are shared; 0 for no such condition.
    pub(crate) min_intersection: u64,
    /// Who learns it, if it is rows.
    pub(crate) learners: Learners,
}

/// Who learns which of its rows are shared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Learners {
    #[default]
    Receiver,
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
    /// [`Failure::Usage`].
    pub(crate) fn check(&self, protocol: &Protocol, columns: Columns) -> Result<(), Failure> {
        let output = self.asked.output_kind(columns);
        let name = protocol.info().name;
        if !protocol.computes(&output) {
            return Err(Failure::Usage(format!(
                "{name} cannot compute the output {}: {}",
                self.asked,
                others(|other| other.computes(&output)),
            )));
        }
        self.check_minimum()?;
        if self.learners == Learners::Both {
            self.check_carries(protocol, "--learn both")?;
        }
        if self.min_intersection > 0 && !protocol.withholds() {
            return Err(Failure::Usage(format!(
                "{name} cannot withhold what it finds, as --min-intersection demands: {}",
                others(|other| other.withholds() && other.computes(&output)),
            )));
        }
        Ok(())
    }

    /// Whether each party gets something.
    pub(crate) fn is_for_both(&self) -> bool {
        self.learners == Learners::Both || matches!(self.asked, RequestedOutput::Shares(_))
    }

    /// Whether a party in this role learns which of its rows are shared.
    pub(crate) fn finds_rows(&self, role: Role) -> bool {
        self.asked == RequestedOutput::Rows
            && (role == Role::Receiver || self.learners == Learners::Both)
    }

    /// Checks that the protocol can carry columns with the rows that are asked for.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(crate) fn check_columns(&self, protocol: &Protocol) -> Result<(), Failure> {
        self.check_carries(protocol, "--give and --take")
    }

    /// Checks that rows are found in any case, which these options say more about.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(crate) fn check_finds_rows(&self, options: &str) -> Result<(), Failure> {
        if self.asked != RequestedOutput::Rows {
            return Err(Failure::Usage(format!(
                "--output-kind {} finds no rows: leave it out, or {options}",
                self.asked
            )));
        }
        if self.min_intersection > 0 {
            return Err(Failure::Usage(format!(
                "no protocol can do both --min-intersection and {options}: leave one of them out"
            )));
        }
        Ok(())
    }

    /// Checks that the protocol can say more of each shared row, as these options demand.
    fn check_carries(&self, protocol: &Protocol, options: &str) -> Result<(), Failure> {
        const WITH_COLUMNS: OutputKind = OutputKind::Payloads(Payloads {
            from_sender: 1,
            back: None,
        });
        self.check_finds_rows(options)?;
        if !protocol.computes(&WITH_COLUMNS) {
            return Err(Failure::Usage(format!(
                "{} cannot do {options}: {}",
                protocol.info().name,
                others(|other| other.computes(&WITH_COLUMNS)),
            )));
        }
        Ok(())
    }

    /// Checks that the output can be withheld, if that is asked for.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(crate) fn check_minimum(&self) -> Result<(), Failure> {
        let output = self.asked.output_kind(Columns::default());
        if self.min_intersection == 0 || output.can_be_withheld() {
            return Ok(());
        }
        let why = match self.asked {
            RequestedOutput::Shares(_) => "shares tell nothing that could be withheld",
            _ => "a threshold is itself whether that many keys are shared",
        };
        Err(Failure::Usage(format!(
            "--min-intersection is for rows, count and sum; {why}: leave --min-intersection out"
        )))
    }

    /// Adds to a hello what must be the same on both sides.
    pub(crate) fn settings(&self, hello: Hello) -> Hello {
        hello
            .setting(OUTPUT, &self.asked)
            .setting(LEARNERS, self.learners)
            .setting(MINIMUM, self.min_intersection)
    }

    /// The request to the protocol for these sizes and numbers of columns, where a party's columns for the other take this
    /// number of bytes per key, none if it gives none.
    ///
    /// # Errors
    /// If a set is too large.
    pub(crate) fn request(
        &self,
        senders: u64,
        receivers: u64,
        columns: Columns,
        given_bytes: impl Fn(Role) -> u32,
    ) -> Result<Request, Failure> {
        let from_sender = given_bytes(Role::Sender);
        let output = match self.learners {
            Learners::Receiver if from_sender == 0 => self.asked.output_kind(columns),
            learners => OutputKind::Payloads(Payloads {
                from_sender,
                back: (learners == Learners::Both).then(|| given_bytes(Role::Receiver)),
            }),
        };
        Ok(Request::rows(senders, receivers)?
            .output(output)
            .min_intersection(self.min_intersection))
    }
}

/// What to do if a protocol cannot do what these can.
fn others(able: impl Fn(&Protocol) -> bool) -> String {
    let names: Vec<_> = registry::PROTOCOLS
        .iter()
        .filter(|protocol| able(protocol))
        .map(|protocol| protocol.info().name)
        .collect();
    let choice = match &*names {
        [only] => (*only).to_owned(),
        _ => format!("one of {}", names.join(", ")),
    };
    format!("leave --protocol out, or take {choice}")
}

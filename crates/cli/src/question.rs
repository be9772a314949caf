//! What both parties want from a run, and whether they can have it.

use psijoin::{Columns, OutputKind, Payloads, Protocol, Request, registry};
use psijoin_handshake::Hello;

use crate::{exit::Failure, requested_output::RequestedOutput, settings::OUTPUT};

/// What is to be learned, and on what condition.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The kind of output.
    pub(crate) asked: RequestedOutput,
    /// Learn nothing if fewer keys are shared; 0 for no such condition.
    pub(crate) min_intersection: u64,
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
        if self.min_intersection > 0 && !protocol.withholds() {
            return Err(Failure::Usage(format!(
                "{name} cannot withhold what it finds, as --min-intersection demands: {}",
                others(|other| other.withholds() && other.computes(&output)),
            )));
        }
        Ok(())
    }

    /// Checks that the protocol can carry columns of the sender for the rows that are asked for.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub(crate) fn check_columns(&self, protocol: &Protocol) -> Result<(), Failure> {
        const WITH_COLUMNS: OutputKind = OutputKind::Payloads(Payloads {
            from_sender: 1,
            back: None,
        });
        if self.asked != RequestedOutput::Rows {
            return Err(Failure::Usage(format!(
                "columns come with rows, and --output-kind {} finds none: leave --give and --take out",
                self.asked
            )));
        }
        if self.min_intersection > 0 {
            return Err(Failure::Usage(
                "no protocol can withhold rows with columns, as --min-intersection demands: leave it out, or --give and --take"
                    .to_owned(),
            ));
        }
        if !protocol.computes(&WITH_COLUMNS) {
            return Err(Failure::Usage(format!(
                "{} carries no columns of the sender: {}",
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
            .setting("the least number of shared keys", self.min_intersection)
    }

    /// The request to the protocol for these sizes and numbers of columns, and for payloads of so many bytes.
    ///
    /// # Errors
    /// If a set is too large.
    pub(crate) fn request(
        &self,
        senders: u64,
        receivers: u64,
        columns: Columns,
        payload_bytes: Option<usize>,
    ) -> Result<Request, Failure> {
        let output = match payload_bytes {
            None => self.asked.output_kind(columns),
            Some(bytes) => OutputKind::Payloads(Payloads {
                from_sender: bytes as u32,
                back: None,
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

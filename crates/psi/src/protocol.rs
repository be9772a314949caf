//! A protocol before a run: its name, its functionality, and its planner.

use std::fmt;

use crate::{BaseOts, Error, Groups, OutputKind, Payloads, Plan, Request, decided};

/// The deviations under which the protocol is still secure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Adversary {
    /// It protects nothing: a baseline to measure against.
    Insecure,
    /// Both follow the protocol, and are curious.
    SemiHonest,
    /// The sender may do what it likes; the receiver follows the protocol, and is curious.
    MaliciousSender,
    /// Either may do what it likes.
    Malicious,
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Insecure => "INSECURE",
            Self::SemiHonest => "semi-honest",
            Self::MaliciousSender => "malicious sender",
            Self::Malicious => "malicious",
        })
    }
}

/// The facts that a user should know before choosing a protocol.
#[derive(Debug)]
pub struct Info {
    /// The name on the command line and in the handshake.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The paper that it comes from.
    pub paper: &'static str,
    /// Whom it is secure against.
    pub adversary: Adversary,
    /// The leakage beyond the output: what the messages tell either party if the other one is as
    /// [`adversary`](Self::adversary) says. Whatever else a session tells, such as settings that
    /// are compared, is not the protocol's.
    pub leaks: &'static str,
    /// Raised by any change of what goes over the wire.
    pub version: u32,
}

/// A protocol of the registry.
///
/// ```text
/// pub static KKRT: Protocol = Protocol::new(&INFO, |request| Ok(Params::new(request)?.plan()));
/// ```
#[derive(Debug)]
pub struct Protocol {
    info: &'static Info,
    computes: fn(&OutputKind) -> bool,
    withholds: bool,
    on_base_ots: bool,
    derive: Derive,
}

/// The origin of its plans.
#[derive(Debug)]
enum Derive {
    Own(fn(&Request) -> Result<Plan, Error>),
    Choice(fn(&Request) -> &'static Protocol),
}

impl Protocol {
    /// Returns a protocol that finds rows. `derive` makes the plan for a request whose result does
    /// not follow from the sizes, so neither set is empty.
    pub const fn new(info: &'static Info, derive: fn(&Request) -> Result<Plan, Error>) -> Self {
        Self {
            info,
            computes: |output| matches!(output, OutputKind::Rows),
            withholds: false,
            on_base_ots: false,
            derive: Derive::Own(derive),
        }
    }

    /// Stands for the protocol that `choose` picks. It computes what `choose` finds protocols for.
    pub const fn choosing(info: &'static Info, choose: fn(&Request) -> &'static Protocol) -> Self {
        Self {
            info,
            computes: |_| true,
            withholds: false,
            on_base_ots: true,
            derive: Derive::Choice(choose),
        }
    }

    /// Sets the outputs that the protocol computes: those for which `computes` is true.
    #[must_use]
    pub const fn computing(self, computes: fn(&OutputKind) -> bool) -> Self {
        Self { computes, ..self }
    }

    /// Lets the protocol withhold its result ([`withholds`](Self::withholds)).
    #[must_use]
    pub const fn withholding(self) -> Self {
        Self {
            withholds: true,
            ..self
        }
    }

    /// States that base OTs are all of its public-key cryptography
    /// ([`is_post_quantum`](Self::is_post_quantum)).
    #[must_use]
    pub const fn on_base_ots(self) -> Self {
        Self {
            on_base_ots: true,
            ..self
        }
    }

    /// Returns what it is.
    pub fn info(&self) -> &'static Info {
        self.info
    }

    /// Returns the protocol that a request is planned with: itself, unless it chooses among others,
    /// as `auto` does.
    pub fn chosen(&'static self, request: &Request) -> &'static Protocol {
        match self.derive {
            Derive::Own(_) => self,
            Derive::Choice(choose) => choose(request),
        }
    }

    /// Returns whether it computes this output. Most protocols find rows only.
    pub fn computes(&self, output: &OutputKind) -> bool {
        (self.computes)(output)
    }

    /// Returns whether it can withhold what it computes if too few items are shared
    /// ([`Request::min_intersection`]). A protocol in which the receiver finds the intersection
    /// itself cannot.
    pub fn withholds(&self) -> bool {
        self.withholds
    }

    /// Returns whether it rests on no problem that a quantum computer is known to solve, once its
    /// base OTs are by ML-KEM ([`Request::base_ots`]).
    pub fn is_post_quantum(&self) -> bool {
        self.on_base_ots
    }

    /// Checks that it computes the output, can withhold it where that is asked for, and is
    /// post-quantum where that is.
    ///
    /// # Errors
    /// If not.
    pub fn serves(&self, request: &Request) -> Result<(), Error> {
        if !self.computes(&request.output) {
            return Err(Error::UnsupportedOutput {
                protocol: self.info.name,
                output: request.output.to_string(),
            });
        }
        if let OutputKind::Payloads(payloads) = request.output
            && payloads.from_sender.max(payloads.back.unwrap_or(0)) > Payloads::MAX_BYTES
        {
            return Err(Error::Misuse("a payload has at most 65,536 bytes per item"));
        }
        if let Some(refusal) = request.output.groups().and_then(Groups::refusal) {
            return Err(Error::Misuse(refusal));
        }
        if request.base_ots == BaseOts::MlKem && !self.on_base_ots {
            return Err(Error::NotPostQuantum(self.info.name));
        }
        if request.min_intersection > 0 {
            if !request.output.can_be_withheld() {
                return Err(Error::Misuse(
                    "a minimum intersection is for rows, counts and sums",
                ));
            }
            if !self.withholds {
                return Err(Error::CannotWithhold(self.info.name));
            }
        }
        Ok(())
    }

    /// Derives every parameter for one run. If the result follows from the sizes of the sets (one
    /// is empty, or a threshold or a minimum intersection exceeds the smaller one), the plan sends
    /// nothing.
    ///
    /// # Errors
    /// If the protocol does not compute the output, a set is too large for one run, or no
    /// parameters reach the security level.
    pub fn plan(&self, request: &Request) -> Result<Plan, Error> {
        let derive = match self.derive {
            Derive::Own(derive) => derive,
            Derive::Choice(choose) => return choose(request).plan(request),
        };
        self.serves(request)?;
        match decided::plan(self.info, request) {
            Some(plan) => Ok(plan),
            None => {
                request.sizes.at_once()?;
                derive(request)
            }
        }
    }
}

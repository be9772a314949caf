//! One party of a join, from its table to its result: the engine behind the program `psijoin`, the
//! Python package, and whatever else joins tables.
//!
//! A caller describes a join in a [`JoinSpec`], [watches](Watcher) its [events](Event), and gets a
//! [`Joined`]. There are no texts for people except those of [errors](Error), nothing reads a
//! command line or the environment, no signal is caught, and nothing ends the process.
//!
//! ```no_run
//! use psijoin_session::{JoinSpec, Joined, Meeting, Stop, TableSpec};
//! use psijoin_transport::{Endpoint, Identity, Security};
//!
//! // The other side runs `psijoin send --listen 0.0.0.0:7766 --input … --key mail --peer …`.
//! let identity = Identity::read(std::path::Path::new("me.pem"))?;
//! let security = Security::PinnedTls { identity, peer: "psi1-…".parse()? };
//! let meeting = Meeting::new(Endpoint::Connect("bob.example:7766".parse()?), security);
//! let key = psijoin_table::KeySpec::new(vec!["email".into()], vec!["email=email".parse()?])?;
//! let mut spec = JoinSpec::new(psijoin::Role::Receiver, meeting, TableSpec::file("customers.csv"), key);
//! spec.written.output = Some("shared.csv".into());
//! if let Joined::Done(outcome, _) = spec.join(&(), &Stop::default())? {
//!     println!("{:?}", outcome.received);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `spec` | the request for a join |
//! | `join` | from there to the end |
//! | `meet` | the meeting of two parties |
//! | `ready` | the whole of a party, from meeting to its result |
//! | `party`, `own_table` | a party, as the other one meets it |
//! | `workplace` | its table, and the use of the result |
//! | `run`, `lanes` | the protocol's streams, and the last words |
//! | `stages`, `lane`, `again` | all of that one by one, for a table that lies elsewhere |
//! | `negotiation`, `agreement`, `key_facts`, [`settings`], `setting` | the agreement before data moves |
//! | `question`, `requested_output`, `requested_groups`, `requested_noise` | the output that is asked for |
//! | `epsilon`, `noise`, `budget`, `spending` | noise in the totals of groups, what it promises, and how much of that a partner may have |
//! | `columns`, `labels`, `trade`, `giving` | columns of numbers and of labels, and columns that one gives to the other |
//! | `table` | the party's table during a run |
//! | `job`, `attempts`, `patience` | the state that is kept, so that a join that broke off can be resumed |
//! | `recording`, `signing` | the record that both sign |
//! | `allowance`, `limits`, [`memory`] | memory, and the limits on the other party's set |
//! | `error`, `fault` | the reasons that a join fails, and faults of requests |
//! | `event` | the events of a session |
//! | `outcome`, `grouped`, `shares`, `phases` | the result |

#![forbid(unsafe_code)]

mod again;
mod agreement;
pub mod allowance;
mod arrow_table;
mod attempts;
mod budget;
mod columns;
mod epsilon;
mod error;
mod event;
mod fault;
mod giving;
mod grouped;
mod job;
mod join;
mod key_facts;
mod labels;
mod lane;
mod lanes;
mod limits;
mod mean;
mod meet;
pub mod memory;
pub mod names;
mod negotiation;
mod network;
mod noise;
mod outcome;
mod own_table;
mod party;
mod patience;
mod peer_watch;
mod phases;
mod public_labels;
mod pulse;
mod question;
mod ready;
mod recording;
mod requested_groups;
mod requested_noise;
mod requested_output;
mod run;
mod setting;
mod shares;
mod signing;
mod spec;
mod spending;
mod stages;
mod table;
mod trade;
mod workplace;

pub use again::Attempt;
pub use allowance::Said as Memory;
pub use arrow_table::ArrowTable;
pub use budget::{Answer, Balance, Budget, BudgetError, Disclosed, Limits};
pub use columns::{AgreedColumn, AgreedColumns, Sum};
pub use epsilon::Epsilon;
pub use error::{Error, ErrorKind};
pub use event::{Event, MeetingPlace, Warning, Watcher, Work};
pub use fault::{
    Ability, ColumnsFault, ElsewhereFault, Further, LabelListFault, NoiseFault, QuestionFault,
    SpecFault, TooManyGroups, TooMuchGiven, Unable,
};
pub use grouped::{GroupTotals, Grouped, Totals};
pub use job::JobFolder;
pub use join::{Joined, KeptJob};
pub use key_facts::{KeyColumn, KeyDifference, PeerKind};
pub use labels::{AgreedGroups, AgreedLabels, LabelList};
pub use lane::{FoundKeys, Lane, LaneInOrder, LaneReport, LaneTicket};
pub use limits::MaxPeerKeys;
pub use mean::Mean;
pub use meet::meet;
pub use network::measure as measure_network;
pub use noise::{AgreedNoise, Noising, NoisyColumn};
pub use outcome::{Batches, Outcome, Received};
pub use party::{Consent, Mode};
pub use peer_watch::PeerWatch;
pub use phases::{Phase, Phases};
pub use psijoin::settings;
pub use public_labels::PublicLabels;
pub use question::{Learners, Question};
pub use requested_groups::{GroupColumn, RequestedGroups};
pub use requested_noise::{Bound, RequestedNoise};
pub use requested_output::{ColumnName, RequestedOutput};
pub use run::{Run, Set};
pub use setting::{JobTerm, Setting};
pub use spec::{JoinSpec, Meeting, Renewal, Resources, Stop, TableSpec, Written, check_aligned};
pub use stages::{Agreed, TableFacts};
pub use table::most_spilled;
pub use trade::{AtMost, Give, Given, Taken, Trade};

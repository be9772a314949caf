//! The arguments of `send` and `receive`.

use std::path::PathBuf;

use clap::{ArgAction, Args as ClapArgs, Subcommand};
use psijoin::Protocol;

use super::{
    connection::Connection,
    help,
    limits::{Evidence, Resources, Safety},
    protocol,
    result::Asked,
    table::Table,
};

#[derive(ClapArgs)]
pub(crate) struct Receive {
    #[command(flatten)]
    pub(crate) join: Join,
}

#[derive(ClapArgs)]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) join: Join,

    /// Allow sums of columns of the receiver, and groups by them without --min-group.
    ///
    /// The receiver chooses their numbers: with 1, 2, 4, 8 and so on, each such sum tells it which
    /// of 62 keys of its choice you have. A minimum does not prevent that. And it chooses its
    /// groups: one of a single key tells whether you have that key.
    #[arg(long, help_heading = "Safety")]
    pub(crate) allow_sums_that_reveal_keys: bool,

    /// Take the answer from the receiver's part of this budget for your table.
    ///
    /// `psijoin budget create` makes the file: with the privacy loss that all answers to one
    /// receiver may have together (--noise), or with the number of answers. What exceeds it is
    /// refused, and ends both sides with exit code 6. An answer is spent before it is sent.
    #[arg(
        long,
        help_heading = "Safety",
        value_name = "FILE",
        conflicts_with = "insecure_plaintext"
    )]
    pub(crate) budget: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Check {
    #[command(subcommand)]
    pub(crate) side: CheckedSide,
}

/// The command of a party that checks.
#[derive(Subcommand)]
pub(crate) enum CheckedSide {
    /// Check `psijoin receive`, with the options that it will have.
    #[command(after_help = help::RECEIVE, after_long_help = help::after_join(help::RECEIVE))]
    #[command(mut_args = help::showing(help::JOIN), disable_help_flag = true)]
    #[command(override_usage = "psijoin check receive <OPTIONS OF psijoin receive>")]
    Receive(Receive),
    /// Check `psijoin send`, with the options that it will have.
    #[command(after_help = help::SEND, after_long_help = help::after_join(help::SEND))]
    #[command(mut_args = help::showing(help::JOIN), disable_help_flag = true)]
    #[command(override_usage = "psijoin check send <OPTIONS OF psijoin send>")]
    Send(Send),
}

/// The arguments of both parties.
#[derive(ClapArgs)]
pub(crate) struct Join {
    #[command(flatten)]
    pub(crate) connection: Connection,

    #[command(flatten)]
    pub(crate) table: Table,

    #[command(flatten)]
    pub(crate) asked: Asked,

    #[command(flatten)]
    pub(crate) safety: Safety,

    #[command(flatten)]
    pub(crate) evidence: Evidence,

    #[command(flatten)]
    pub(crate) resources: Resources,

    /// The protocol; see `psijoin protocols`.
    ///
    /// Both sides pass the same. `auto` takes the one that suits the output, the sizes of the sets
    /// and the network.
    #[arg(long, help_heading = "Protocol", value_name = "NAME", default_value = "auto", hide_possible_values = true, value_parser = protocol())]
    pub(crate) protocol: &'static Protocol,

    /// Take options from a profile: those of profiles/NAME.toml in your folder for configuration,
    /// or of a file NAME.toml.
    ///
    /// It holds long names of options with their values: `peer = "bob"`, `align = true`. The
    /// command line wins. What the profile sets is said, and stands in the report.
    #[arg(long, help_heading = "Resources", value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Print help. (Not listed, as it belongs under none of the headings.)
    #[arg(short, long = "help", action = ArgAction::Help, hide = true)]
    _help: Option<bool>,
}

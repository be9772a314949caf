//! The arguments of the command line.

use std::{path::PathBuf, time::Duration};

use clap::{
    ArgGroup, Args as ClapArgs, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::Shell;
use psijoin::{Protocol, registry};
use psijoin_frontend::sizes::{self, SetSizes};
use psijoin_transport::Fingerprint;

use crate::dialect;

mod budget;
mod connection;
mod help;
mod join;
mod limits;
mod peers;
mod plan;
mod relay;
mod result;
mod table;

pub(crate) use budget::{Budget, BudgetAction, Limits};
pub(crate) use connection::{Connection, Meeting, Trust, Unlock};
pub(crate) use join::{Check, CheckedSide, Join, Receive, Send};
pub(crate) use peers::{Accept, Invite, Peers, PeersAction, Told};
pub(crate) use plan::{Calibrate, Goal, Part, Plan, PlanMeeting};
pub(crate) use relay::Relay;
pub(crate) use table::Key;

/// Join two private tables: find the keys that two parties share, and no others.
///
/// Both parties run psijoin at the same time, one as `send` and one as `receive`. The receiver
/// gets those of its own rows whose key the sender has too. If both sides ask for it, it learns a
/// count, whether a threshold is met, or column totals instead, or each side gets secret shares.
/// Beyond that, both learn how many distinct keys the other has, and how the other is set up: its
/// kinds of key columns, for example.
#[derive(Parser)]
#[command(name = "psijoin", version, max_term_width = 100)]
#[command(after_help = help::PROGRAM, after_long_help = help::after_program())]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show a join: both parties in one process, on sample tables.
    Demo(Demo),
    /// Make an identity, and print its fingerprint for the other party.
    Keygen(Keygen),
    /// Print this machine's fingerprint for the other party, or that of another identity.
    Fingerprint(Fingerprinted),
    /// Invite another party: print a link for it, and know it by name from then on.
    ///
    /// Send the link over a channel that you trust: who has it is the other party. It works once.
    /// Nobody waits: both get to know each other in their first session, whenever that is.
    Invite(Invite),
    /// Accept an invitation, and know the other party by name from then on.
    // Nothing else there needs the private key.
    #[command(mut_arg("passphrase_file", |arg| arg.requires("wait")))]
    Accept(Accept),
    /// List, show, rename or remove the parties that you know by name.
    Peers(Peers),
    /// List a table's columns.
    Columns(Columns),
    /// Show a table's keys as they are compared.
    ///
    /// Shows their kinds, the first keys, and what each rule of --normalize changed.
    Keys(Keys),
    /// Run a join as the receiver: learn the shared rows, or the agreed count, sum or shares.
    ///
    /// At a terminal, it asks for what is missing.
    #[command(after_help = help::RECEIVE, after_long_help = help::after_join(help::RECEIVE))]
    #[command(mut_args = help::showing(help::JOIN), disable_help_flag = true)]
    Receive(Receive),
    /// Run a join as the sender: let the other party learn the shared rows, or the agreed result.
    #[command(after_help = help::SEND, after_long_help = help::after_join(help::SEND))]
    #[command(mut_args = help::showing(help::JOIN), disable_help_flag = true)]
    Send(Send),
    /// Meet the other party and compare all settings, before any data moves.
    ///
    /// Compares the kinds of the key columns, too, and stops. The other party must check, too: one
    /// that joins ends with exit code 5.
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Predict the time, bytes, memory and money of a join with each protocol, before data moves.
    #[command(mut_args = help::showing(help::PLAN))]
    Plan(Plan),
    /// Measure this machine, so that `plan` knows it.
    Calibrate(Calibrate),
    /// List the protocols: whom they protect against, and what they cost.
    Protocols(Protocols),
    /// Show the progress of a resumable job (--job).
    Jobs(Jobs),
    /// Limit how much each receiver may learn of a table, over all answers (--budget).
    Budget(Budget),
    /// Show a file of shares, as CSV.
    Shares(Shares),
    /// Print a shell completion script.
    Completions(Completions),
    /// Write the manual, a page per command, to a folder.
    Manual(Manual),
    /// Verify a record that `send` and `receive` wrote with --record, and show what it says.
    Verify(Verify),
    /// Run a relay: a server at which two parties meet that both connect.
    ///
    /// Both parties may be behind firewalls. The relay joins their connections, and carries the
    /// bytes of their session, which it can neither read nor change. It keeps nothing on disk.
    #[command(after_help = help::RELAY)]
    #[command(mut_args = help::showing(help::OF_RELAY))]
    Relay(Relay),
}

#[derive(ClapArgs)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Demo {
    /// The protocol to show.
    #[arg(long, value_name = "NAME", default_value = "rr22", hide_possible_values = true, value_parser = protocol())]
    pub(crate) protocol: &'static Protocol,

    #[command(subcommand)]
    pub(crate) of: Option<DemoOf>,
}

#[derive(Subcommand)]
pub(crate) enum DemoOf {
    /// Show counts and sums by groups: the lift of an advertiser's campaign at a shop.
    Lift(Lift),
}

#[derive(ClapArgs)]
pub(crate) struct Lift {
    /// Write the result as a page, too: an HTML file with a chart, and without scripts.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct Completions {
    /// The shell.
    ///
    /// Its documentation says where such a text belongs. For bash, that is a file with the
    /// program's name in ~/.local/share/bash-completion/completions.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(ClapArgs)]
pub struct Manual {
    /// A folder where `man` looks, for example ~/.local/share/man/man1.
    ///
    /// It is made if it is not there; pages that are there are replaced.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

#[derive(ClapArgs)]
#[group(skip)]
#[command(group(ArgGroup::new("old").args(["replace", "change_passphrase"])))]
pub(crate) struct Keygen {
    /// Where to write the identity.
    ///
    /// It holds the private key: keep it to yourself. [default: identity.pem in your folder for
    /// configuration, where `send` and `receive` look]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Replace your identity, or that in FILE, by a new one, which the old one signs.
    ///
    /// Whoever knows you by the old one takes the new one over in its next session with you, if
    /// that is within --overlap, and says so. The old one is kept beside it, for parties that use
    /// an older release.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "out")]
    pub(crate) replace: Option<Option<PathBuf>>,

    /// How long others may take the new identity over, and still meet the old one: a number with m,
    /// h or d.
    #[arg(long, value_name = "TIME", default_value = "30d", requires = "replace", value_parser = peers::lasting)]
    pub(crate) overlap: Duration,

    /// Protect the new identity by a passphrase.
    ///
    /// It is asked for twice now, and once whenever the identity is used. With --replace alone, the
    /// new identity has the passphrase of the old one, if that has one.
    #[arg(long)]
    pub(crate) passphrase: bool,

    #[command(flatten)]
    pub(crate) unlock: Unlock,

    /// Give your identity, or that in FILE, another passphrase, or its first one.
    ///
    /// Its key stays, and with it its fingerprint: nobody has to be told. The new passphrase is
    /// asked for twice.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["out", "replace", "passphrase"])]
    pub(crate) change_passphrase: Option<Option<PathBuf>>,

    /// Take the passphrase off your identity, or that in FILE.
    ///
    /// Whoever can read the file has the key then.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["out", "replace", "passphrase", "change_passphrase"])]
    pub(crate) remove_passphrase: Option<Option<PathBuf>>,

    /// A file whose first line is the passphrase that --replace or --change-passphrase gives.
    ///
    /// Without this, it is asked for at the terminal. --passphrase-file is for the one that the
    /// identity has.
    #[arg(long, value_name = "FILE", requires = "old", conflicts_with_all = ["out", "remove_passphrase"])]
    pub(crate) new_passphrase_file: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Fingerprinted {
    /// The identity, as `psijoin keygen` wrote it.
    ///
    /// [default: your own, which is made if there is none]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Columns {
    /// The table, as --input of `send` and `receive` takes it.
    ///
    /// In CSV and TSV, the first line is taken for the header, whatever it holds, unless
    /// --no-header is given.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,
}

#[derive(ClapArgs)]
pub(crate) struct Keys {
    /// The table, as --input of `send` and `receive` takes it.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// How many keys to show.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) first: usize,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten, next_help_heading = "Input")]
    pub(crate) key: Key,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,
}

#[derive(ClapArgs)]
pub(crate) struct Protocols {
    /// The set sizes to give the costs for: N for both parties, or SENDER:RECEIVER.
    #[arg(long, value_name = "N[:M]", default_value = "2^20", value_parser = sizes::parse)]
    pub(crate) items: SetSizes,

    /// List all: also the baselines, and what papers compare with.
    ///
    /// Otherwise these are the protocols that `auto` may take, and those that hold against a party
    /// that cheats.
    #[arg(long)]
    pub(crate) all: bool,

    /// Print one JSON object per protocol.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Jobs {
    /// The folder that send or receive got with --job.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Shares {
    /// The file that send or receive wrote with --output-kind shares.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(ClapArgs)]
pub(crate) struct Verify {
    /// The record that send or receive wrote with --record.
    #[arg(value_name = "FILE.json")]
    pub(crate) file: PathBuf,

    /// A party that must have signed it.
    ///
    /// Can be given twice, for both.
    #[arg(long = "peer", value_name = "FINGERPRINT", value_parser = connection::fingerprint)]
    pub(crate) peers: Vec<Fingerprint>,

    /// The text that must be the terms.
    #[arg(long, value_name = "FILE")]
    pub(crate) terms: Option<PathBuf>,

    /// Another copy, such as the other side's: both must verify, and say the same.
    #[arg(long, value_name = "FILE.json")]
    pub(crate) against: Option<PathBuf>,

    /// Print what it says as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

// The measurements of `calibrate` and `psijoin-lab bench`. (A doc comment would become the
// description of both commands.)
#[derive(ClapArgs)]
pub struct Measured {
    /// The protocols to measure, or `all`.
    #[arg(
        long,
        value_name = "NAME[,NAME…]",
        default_value = "all",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = selection()
    )]
    protocol: Vec<Selection>,
}

impl Measured {
    /// Returns the protocols that are named, in the order of the list.
    pub fn protocols(&self) -> Vec<&'static Protocol> {
        let selections = self.protocol.iter();
        selections
            .flat_map(|selection| match selection {
                Selection::All => registry::PROTOCOLS.to_vec(),
                Selection::One(protocol) => vec![*protocol],
            })
            .collect()
    }
}

/// An element of a list of protocols.
#[derive(Clone)]
enum Selection {
    All,
    One(&'static Protocol),
}

/// Reads a selection.
fn selection() -> impl TypedValueParser<Value = Selection> {
    named(|name| match name {
        "all" => Some(Selection::All),
        name => registry::find(name).map(Selection::One),
    })
}

/// Reads the name of a protocol, or of one that takes one of the others, as [`registry::AUTO`].
fn protocol() -> impl TypedValueParser<Value = &'static Protocol> {
    named(registry::find)
}

/// Reads one of the names of values. For a mistyped one, clap suggests which was meant.
fn named<T: Clone + std::marker::Send + Sync + 'static>(
    meaning: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let names = registry::names().chain(["all"]);
    let names = names.filter(|name| meaning(name).is_some());
    PossibleValuesParser::new(names)
        .map(move |name| meaning(&name).expect("only names with a meaning pass"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}

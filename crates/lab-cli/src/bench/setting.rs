//! The measured computation, and its conditions.

use std::num::NonZeroUsize;

use psijoin::Columns;
use psijoin_channel::link::Link;
use psijoin_frontend::sizes::SetSizes;
use psijoin_printable::humanize;
use psijoin_session::{Learners, Question};

use super::sets;
use crate::args::{self, Transport};

/// The measured computation, and its conditions: the same for all protocols.
pub(super) struct Setting {
    pub(super) sizes: SetSizes,
    /// The bits of an item, if items are numbers.
    pub(super) item_bits: Option<u32>,
    pub(super) question: Question,
    /// The number of columns of numbers of each party.
    pub(super) columns: Columns,
    pub(super) network: Option<Link>,
    pub(super) transport: Transport,
    /// Of each party.
    pub(super) threads: NonZeroUsize,
    /// Runs that are not counted, before those that are.
    pub(super) warm_up: usize,
    pub(super) runs: NonZeroUsize,
}

impl Setting {
    pub(super) fn new(args: &args::Bench) -> Self {
        Self {
            sizes: args.items,
            item_bits: args.item_bits,
            question: Question {
                asked: args.output_kind.clone(),
                min_intersection: args.min_intersection.unwrap_or(0),
                learners: Learners::Receiver,
                post_quantum: args.post_quantum,
            },
            columns: args.output_kind.likely_holders(),
            network: args.network,
            transport: args.transport,
            threads: args.threads,
            warm_up: args.warm_up,
            runs: args.runs,
        }
    }

    /// Returns the number of shared items.
    pub(super) fn shared_items(&self) -> u64 {
        sets::shared_items(self.sizes)
    }

    /// Returns the output, with its condition if it has one.
    pub(super) fn output(&self) -> String {
        let Question {
            asked,
            min_intersection,
            post_quantum,
            ..
        } = &self.question;
        let output = match min_intersection {
            0 => asked.to_string(),
            least => format!("{asked} with --min-intersection {least}"),
        };
        match post_quantum {
            false => output,
            true => format!("{output}, post-quantum"),
        }
    }

    /// Describes the computation.
    pub(super) fn what(&self) -> String {
        let of_bits = self.item_bits.map(|bits| format!(" of {bits} bits"));
        format!(
            "{}{} of the sender, {} of the receiver, {} of them shared; output {}",
            humanize::counted(self.sizes.sender, "item"),
            of_bits.unwrap_or_default(),
            humanize::count(self.sizes.receiver),
            humanize::count(self.shared_items()),
            self.output(),
        )
    }

    /// Describes the conditions.
    pub(super) fn how(&self) -> String {
        let network = match self.network {
            Some(link) => format!("emulating {link}"),
            None => "no network emulated".to_owned(),
        };
        let warm_up = match self.warm_up {
            0 => "no warm-up".to_owned(),
            runs => format!("after {} to warm up", humanize::count(runs as u64)),
        };
        format!(
            "over {}, {network}; {} per party; {} per protocol, {warm_up}",
            self.transport.name(),
            humanize::counted(self.threads.get() as u64, "thread"),
            humanize::counted(self.runs.get() as u64, "run"),
        )
    }
}

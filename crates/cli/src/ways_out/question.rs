//! Advice for users about a question that cannot be answered as it is asked.

use psijoin_session::{Ability, Further, QuestionFault, SpecFault, Unable};

use super::Hint;

pub(super) fn of_unable(unable: &Unable) -> String {
    let asked = match &unable.what {
        Ability::Compute(_) => "--output-kind",
        Ability::Withhold => "--min-intersection",
        Ability::Carry(further) => that_ask_for(*further),
    };
    format!("leave --protocol out, or name one of these: others cannot do {asked}")
}

/// Returns the options that ask for more of shared rows.
fn that_ask_for(further: Further) -> &'static str {
    match further {
        Further::Both => "--learn both",
        Further::Columns => "--give and --take",
    }
}

pub(super) fn of_question(fault: &QuestionFault) -> Hint {
    match fault {
        QuestionFault::NoRows { further, .. } => {
            format!("leave --output-kind out, or {}", that_ask_for(*further)).into()
        }
        QuestionFault::MinimumWith(further) => format!(
            "leave --min-intersection out, or {}",
            that_ask_for(*further)
        )
        .into(),
        QuestionFault::MinimumOf(_) => Hint::Borrowed("leave --min-intersection out"),
    }
}

pub(super) fn of_spec(fault: SpecFault) -> &'static str {
    match fault {
        SpecFault::RecordWithoutIdentities => {
            "give --identity and --peer with --record, and leave out --insecure-plaintext"
        }
        SpecFault::NoFileForShares => "--output FILE names it",
        SpecFault::NothingToWrite => "leave --output out, which is for rows or shares",
        SpecFault::ReceiverGives => "give --learn both on both sides, or leave out --give",
        SpecFault::SenderTakes => "give --learn both on both sides, or leave out --take",
        SpecFault::TakesForUnshared => "leave out --take, or say --rows all",
        SpecFault::AlignedForOne => "give --learn both on both sides, or leave out --align",
    }
}

//! The outline: sections with anchors, and the number of claims that hold in them.

use std::collections::BTreeSet;

use crate::{Block, Outcome, Section};

/// A section with its anchor.
pub(crate) struct Entry<'a> {
    pub(crate) anchor: String,
    pub(crate) section: &'a Section,
    pub(crate) entries: Vec<Entry<'a>>,
}

/// Returns the anchors of all sections. `taken` are anchors that the page uses elsewhere.
pub(crate) fn outline<'a>(sections: &'a [Section], taken: &mut BTreeSet<String>) -> Vec<Entry<'a>> {
    let entry = |section: &'a Section| Entry {
        anchor: anchor(&section.heading, taken),
        section,
        entries: outline(&section.sections, taken),
    };
    sections.iter().map(entry).collect()
}

/// Returns the letters and digits of a heading, with a number if another one has them.
fn anchor(heading: &str, taken: &mut BTreeSet<String>) -> String {
    let words = heading.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let words = if words.is_empty() {
        "section".into()
    } else {
        words.join("-").to_lowercase()
    };
    let numbered = (2..).map(|number| format!("{words}-{number}"));
    let mut choices = [words.clone()].into_iter().chain(numbered);
    let anchor = choices
        .find(|choice| !taken.contains(choice))
        .expect("numbers do not end");
    taken.insert(anchor.clone());
    anchor
}

/// Returns how many claims of some sections hold, in words; nothing if there are none.
pub(crate) fn counted(sections: &[Section]) -> Option<String> {
    let mut outcomes = Vec::new();
    collect(sections, &mut outcomes);
    let count = |wanted| {
        outcomes
            .iter()
            .filter(|outcome| **outcome == wanted)
            .count()
    };
    let held = match count(Outcome::Holds) {
        1 => "1 claim holds".into(),
        number => format!("{number} claims hold"),
    };
    let mut text = vec![held];
    match count(Outcome::OtherFactor) {
        0 => (),
        number => text.push(format!("{number} by another factor")),
    }
    match count(Outcome::DoesNotHold) {
        0 => (),
        1 => text.push("1 does not".into()),
        number => text.push(format!("{number} do not")),
    }
    match count(Outcome::TooClose) {
        0 => (),
        number => text.push(format!("{number} too close to call")),
    }
    match count(Outcome::NotRun) {
        0 => (),
        number => text.push(format!("{number} not run")),
    }
    match count(Outcome::NotTestable) {
        0 => (),
        number => text.push(format!("{number} not testable")),
    }
    (!outcomes.is_empty()).then(|| text.join(", "))
}

fn collect(sections: &[Section], outcomes: &mut Vec<Outcome>) {
    for section in sections {
        for block in &section.blocks {
            if let Block::Verdicts(verdicts) = block {
                outcomes.extend(verdicts.iter().map(|verdict| verdict.outcome));
            }
        }
        collect(&section.sections, outcomes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn section(heading: &str, outcomes: &[Outcome], sections: Vec<Section>) -> Section {
        let verdict = |outcome: &Outcome| Verdict {
            outcome: *outcome,
            claim: "a claim".into(),
            reason: String::new(),
        };
        Section {
            heading: heading.into(),
            blocks: vec![Block::Verdicts(outcomes.iter().map(verdict).collect())],
            sections,
        }
    }

    #[test]
    fn anchors_are_words_and_differ() {
        let inner = vec![section("Table 2", &[], vec![])];
        let sections = [
            section("CM20: Table 2!", &[], inner),
            section("Table 2", &[], vec![]),
            section("§", &[], vec![]),
            section("Main", &[], vec![]),
        ];
        let mut taken = BTreeSet::from(["main".to_owned()]);
        let entries = outline(&sections, &mut taken);
        let anchors: Vec<_> = entries.iter().map(|entry| &*entry.anchor).collect();
        assert_eq!(anchors, ["cm20-table-2", "table-2-2", "section", "main-2"]);
        assert_eq!(entries[0].entries[0].anchor, "table-2");
    }

    #[test]
    fn claims_are_counted_through_all_parts() {
        use Outcome::{DoesNotHold, Holds, NotRun, NotTestable, OtherFactor, TooClose};
        let inner = vec![section(
            "b",
            &[Holds, NotRun, OtherFactor, NotTestable],
            vec![],
        )];
        let sections = [section("a", &[Holds, DoesNotHold, TooClose], inner)];
        assert_eq!(
            counted(&sections).unwrap(),
            "2 claims hold, 1 by another factor, 1 does not, 1 too close to call, 1 not run, 1 not testable"
        );
        assert_eq!(
            counted(&[section("a", &[Holds], vec![])]).unwrap(),
            "1 claim holds"
        );
        assert_eq!(counted(&[section("a", &[], vec![])]), None);
    }
}

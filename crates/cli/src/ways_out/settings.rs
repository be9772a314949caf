//! Advice for users about sides, or attempts of a job, that do not agree.

use psijoin_handshake::DERIVED_PARAMETERS;
use psijoin_session::settings::*;

/// Returns what users do about sides that disagree on these settings.
pub(super) fn of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let other_protocol = names.clone().any(|name| name == PROTOCOL);
    // Another protocol has another version.
    let told = names.filter(|name| !(other_protocol && *name == PROTOCOL_VERSION));
    let ways: Vec<_> = told.filter_map(way_out).collect();
    (!ways.is_empty()).then(|| ways.join("; "))
}

/// Returns the options that set this of a job.
pub(super) fn that_say(name: &str) -> Option<&'static str> {
    Some(match name {
        PROTOCOL => "--protocol says",
        OUTPUT => "--output-kind says",
        LEARNERS => "--learn says",
        TERMS => "--terms says",
        RECORD => "--record says",
        "the minimum" => "--min-intersection says",
        "the other party" => "--peer says",
        "the identity" => "--identity says",
        "a key" => "--key and --normalize say",
        "the columns that are given or taken" => "--give and --take say",
        "what is written" => {
            "--rows, --align, the format of --output, --quote-empty and --quote-formulas say"
        }
        _ => return None,
    })
}

fn way_out(name: &str) -> Option<&'static str> {
    Some(match name {
        PROTOCOL => {
            "give the same --protocol NAME on both sides, or leave it out on both: `auto`, the default, takes the one that \
             suits the sizes of the sets and the network"
        }
        JOB => "give --job FOLDER on both sides, each with a folder of its own, or on neither",
        TERMS => {
            "give --terms FILE on both sides, with the same text to the byte (`sha256sum FILE` prints its hash), or on \
             neither"
        }
        RECORD => "give --record FILE.json on both sides, or on neither",
        LEARNERS => {
            "give the same --learn on both sides, or leave it out on both: then the receiver learns"
        }
        ALIGNED => "give --align on both sides, or on neither",
        SENDERS_COLUMNS => {
            "let the sender say --give COLUMNS and the receiver --take COLUMNS or --take all, or neither of them"
        }
        RECEIVERS_COLUMNS => {
            "let the receiver say --give COLUMNS and the sender --take COLUMNS or --take all, or neither of them"
        }
        OUTPUT => {
            "give the same --output-kind on both sides, or leave it out on both: then it is rows"
        }
        MINIMUM => "give the same --min-intersection on both sides, or leave it out on both",
        KEY_COLUMNS => {
            "name as many columns in --key on both sides, in the same order: their names may differ"
        }
        PROTOCOL_VERSION | SPELLING | STATISTICAL_SECURITY => {
            "install the same release of psijoin on both sides"
        }
        DERIVED_PARAMETERS => {
            "install the same release of psijoin on both sides; if it is the same, what the sides say to each other was changed on \
             the way: meet with --peer instead of --insecure-plaintext"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(names: &[&str]) -> Option<String> {
        of(names.iter().copied())
    }

    #[test]
    fn each_disagreement_has_a_way_out() {
        let both = ways(&[TERMS, RECORD]).unwrap();
        assert!(both.contains("--terms FILE") && both.contains("; give --record FILE.json"));
        assert!(
            !ways(&[PROTOCOL, PROTOCOL_VERSION])
                .unwrap()
                .contains("release")
        );
        assert!(ways(&[PROTOCOL_VERSION]).unwrap().contains("release"));
        assert!(ways(&[STATISTICAL_SECURITY]).unwrap().contains("release"));
        assert!(ways(&[DERIVED_PARAMETERS]).unwrap().contains("release"));
        assert_eq!(ways(&["what only a later release knows"]), None);
    }
}

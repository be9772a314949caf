//! `psijoin verify`: checks a record, and shows its content.

use std::{fs::File, io::Read, path::Path};

use psijoin_frontend::files::read_terms;
use psijoin_printable::{Quoted, Word};
use psijoin_record::{Document, MAX_RECORD_BYTES, Outcome, Party, Role, SignedRecord};

use crate::{
    args,
    exit::{Failure, ProgramFault},
    humanize, output,
};

pub(super) fn run(args: &args::Verify) -> Result<(), Failure> {
    check_named(args)?;
    let record = read(&args.file)?;
    let document = record.document();
    check_peers(args, document)?;
    check_terms(args, document)?;
    compare(args, document)?;
    match args.json {
        true => output::json(document),
        false => output::text(&text(args, document)),
    }
}

/// Reads a record, and verifies its signatures.
fn read(path: &Path) -> Result<SignedRecord, Failure> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_RECORD_BYTES + 1).read_to_end(&mut text))
        .map_err(|error| refused(path, error.to_string()))?;
    SignedRecord::read(&text).map_err(|error| refused(path, error.to_string()))
}

fn refused(path: &Path, why: String) -> Failure {
    let path = path.to_owned();
    ProgramFault::Record { path, why }.into()
}

fn unmeant(path: &Path, why: String) -> Failure {
    let path = path.to_owned();
    ProgramFault::OtherRecord { path, why }.into()
}

/// Refuses a party that is named twice: it would pass for both.
fn check_named(args: &args::Verify) -> Result<(), Failure> {
    match args.peers[..] {
        [first, second] if first == second => Err(Failure::Usage(format!(
            "--peer names {first} twice: name each party of the record once"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a record of other parties than those that were named.
fn check_peers(args: &args::Verify, document: &Document) -> Result<(), Failure> {
    let signers = Role::BOTH.map(|side| document.parties.of(side).fingerprint);
    let strangers = args.peers.iter().filter(|peer| !signers.contains(peer));
    match strangers.collect::<Vec<_>>()[..] {
        [] => Ok(()),
        [peer, ..] => Err(unmeant(
            &args.file,
            format!(
                "{peer} has not signed it: its parties are the {}",
                parties(document)
            ),
        )),
    }
}

fn parties(document: &Document) -> String {
    let shown = |side| format!("{side} {}", document.parties.of(side).fingerprint);
    Role::BOTH.map(shown).join(" and the ")
}

fn check_terms(args: &args::Verify, document: &Document) -> Result<(), Failure> {
    let Some(path) = &args.terms else {
        return Ok(());
    };
    let given = read_terms(path)?;
    match &document.terms {
        Some(terms) if *terms == given => Ok(()),
        Some(terms) => Err(unmeant(
            &args.file,
            format!(
                "its terms are not those of {}: {terms} in the record, {given} there",
                psijoin_printable::path(path)
            ),
        )),
        None => Err(unmeant(&args.file, "its parties gave no terms".to_owned())),
    }
}

fn compare(args: &args::Verify, document: &Document) -> Result<(), Failure> {
    let Some(path) = &args.against else {
        return Ok(());
    };
    let other = read(path)?;
    let differences = document.differences(other.document());
    if differences.is_empty() {
        return Ok(());
    }
    let differences: Vec<_> = differences.iter().map(ToString::to_string).collect();
    Err(unmeant(
        &args.file,
        format!(
            "it differs from {}:\n  {}",
            psijoin_printable::path(path),
            differences.join("\n  ")
        ),
    ))
}

/// Returns the content of a record, for people.
fn text(args: &args::Verify, document: &Document) -> String {
    let mut lines = vec![format!(
        "{}: both parties have signed it, and nothing was changed since.",
        psijoin_printable::path(&args.file)
    )];
    if let Some(other) = &args.against {
        lines.push(format!(
            "{} is the same record.",
            psijoin_printable::path(other)
        ));
    }
    lines.push(String::new());
    lines.push(format!(
        "session {}: {}",
        document.session,
        outcome(document.outcome)
    ));
    lines.push(terms_said(args, document));
    for side in Role::BOTH {
        lines.push(String::new());
        lines.extend(party(side, document.parties.of(side)));
    }
    lines.push(String::new());
    lines.extend(protocol(document));
    lines.push("settings of both sides".to_owned());
    let settings = document.settings.iter();
    lines.extend(settings.map(|(name, value)| format!("  {name}: {}", Quoted(value))));
    if args.peers.len() < 2 {
        lines.push(String::new());
        lines.push(
            "Whose these fingerprints are is not in a record. --peer FINGERPRINT makes sure of a party that you know."
                .to_owned(),
        );
    }
    lines.join("\n") + "\n"
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "all messages of the protocol were exchanged",
        Outcome::TooFew => {
            "fewer keys were shared than the agreed minimum, so neither side learned more"
        }
    }
}

fn terms_said(args: &args::Verify, document: &Document) -> String {
    match (&document.terms, &args.terms) {
        (None, _) => "terms: none were given".to_owned(),
        (Some(terms), None) => format!("terms: {terms}"),
        (Some(terms), Some(path)) => format!(
            "terms: {terms}, the text of {}",
            psijoin_printable::path(path)
        ),
    }
}

fn party(side: Role, party: &Party) -> Vec<String> {
    let mut lines = vec![
        format!("{side} {}", party.fingerprint),
        format!("  its clock: {}", party.clock),
        format!("  its psijoin: {}", Word(&party.psijoin)),
        format!(
            "  its table: {}",
            humanize::counted(party.keys, "distinct key")
        ),
        format!("  it sent: {} bytes", humanize::count(party.sent_bytes)),
    ];
    let columns = party.key_columns.iter();
    lines.extend(columns.map(|meaning| format!("  a key column: {}", Quoted(meaning))));
    let learns = party.learns.iter();
    lines.extend(learns.map(|what| format!("  it was to learn {what}")));
    lines
}

fn protocol(document: &Document) -> Vec<String> {
    let protocol = &document.protocol;
    let mut lines = vec![
        format!(
            "protocol {}, version {}, of handshake {}",
            protocol.name, protocol.version, document.handshake
        ),
        format!("  adversary model: {}", protocol.adversary),
        format!(
            "  computational security: {} bits",
            protocol.computational_bits
        ),
        format!(
            "  any statistical failure: at most 2^-{}",
            protocol.statistical_bits
        ),
    ];
    if document.steps_run_again > 0 {
        lines.push(format!(
            "  {} of it ran more than once, as the join had broken off; each said the same again",
            humanize::counted(document.steps_run_again, "step")
        ));
    }
    let failures = protocol.failure_bits.iter();
    lines.extend(failures.map(|(name, bits)| format!("    {name}: at most 2^-{bits}")));
    let parameters = protocol.parameters.iter();
    lines.extend(parameters.map(|(name, value)| format!("  {name}: {value}")));
    let columns = document.columns.iter();
    lines.extend(columns.map(|column| {
        let decimals = humanize::counted(column.decimals.into(), "decimal");
        format!(
            "  column {} of the {}, with {decimals}",
            Quoted(&column.name),
            column.holder
        )
    }));
    lines
}

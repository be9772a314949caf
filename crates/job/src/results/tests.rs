use std::{fs::OpenOptions, path::Path};

use super::*;

const STEPS: u32 = 12;
const ALL_SPEAK: Steps = Steps {
    parts: STEPS,
    speaks: true,
};

fn open(path: &Path) -> Results {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false);
    let key = Key::new(Zeroizing::new([7; 32]));
    Results::open(file.open(path).unwrap(), key, "a job".into(), STEPS, true).unwrap()
}

fn kept(results: &Results) -> Vec<u32> {
    (0..STEPS).filter(|step| results.has(*step)).collect()
}

fn rows(step: u32) -> Output {
    Output::Rows(vec![step, step + 100])
}

/// Begins a step, and keeps what it gave.
fn run(results: &Results, step: u32, name: u8) -> Result<(), Error> {
    results.begin(step, &[])?;
    results.keep(step, Some(&rows(step)), [name; 32])
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

fn so_far(said: u8, heard: u8) -> SoFar {
    SoFar {
        said: [said; 32],
        heard: [heard; 32],
    }
}

#[test]
fn what_was_kept_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let results = open(path);
    for step in [3, 0, 11, 5] {
        run(&results, step, 1).unwrap();
    }
    results.begin(7, &[]).unwrap();
    results.keep(7, None, [1; 32]).unwrap();
    results.begin(8, &[]).unwrap();
    drop(results);
    let results = open(path);
    assert_eq!(kept(&results), [0, 3, 5, 7, 11]);
    assert_eq!((results.count(), results.begun()), (5, 6));
    assert_eq!(results.output(5).unwrap(), rows(5));
    assert!(matches!(results.output(7), Err(Error::Payload)));
    assert!(results.output(1).is_err());

    // The other party lacks a step, which runs again.
    let mut theirs = results.accounts();
    theirs[3].run = None;
    results.agree(&theirs, ALL_SPEAK).unwrap();
    assert_eq!(results.run_again(), 2, "of 3 and 8");
    assert_eq!(kept(&results), [0, 5, 7, 11]);
    run(&results, 3, 1).unwrap();
    assert!(results.accounts()[3].has_run_again);
    assert!(!results.accounts()[0].has_run_again);
    drop(results);
    let results = open(path);
    assert_eq!(kept(&results), [0, 3, 5, 7, 11]);
    assert_eq!(results.run_again(), 2);
}

#[test]
fn a_step_has_one_seed_and_others_have_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let drawn = |results: &Results, step| results.begin(step, &[]).unwrap().rng.block();
    let results = open(path);
    let first = [0, 1, 2].map(|step| drawn(&results, step));
    assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
    assert_eq!([0, 1, 2].map(|step| drawn(&results, step)), first);
    drop(results);
    let results = open(path);
    assert_eq!([0, 1, 2].map(|step| drawn(&results, step)), first);
}

/// The noise of a later attempt is of no use: two draws would tell more than one.
#[test]
fn a_step_has_the_noise_that_it_began_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let results = open(path);
    let begun = |results: &Results, noise: &[u64]| results.begin(3, noise).unwrap().noise.to_vec();
    results.begin(2, &[]).unwrap();
    assert_eq!(results.draw(), None);
    let first = [1, u64::MAX, 0];
    assert_eq!(begun(&results, &first), first);
    let name = results.draw().unwrap();
    assert_eq!(begun(&results, &[7, 8, 9]), first);
    drop(results);
    let results = open(path);
    assert_eq!(begun(&results, &[7, 8, 9]), first);
    assert_eq!(begun(&results, &[]), first);
    assert_eq!(results.draw(), Some(name.clone()));
    // The same numbers, drawn again.
    let lost = open(&folder.path().join("others"));
    begun(&lost, &first);
    assert_ne!(lost.draw(), Some(name));
}

#[test]
fn what_was_said_is_said_to_the_same_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let results = open(path);
    let mut first = results.begin(4, &[]).unwrap().witness;
    first.may_speak(&so_far(1, 2)).unwrap();
    first.may_speak(&so_far(3, 4)).unwrap();
    drop((first, results));
    let results = open(path);
    let before = len(path);
    let mut again = results.begin(4, &[]).unwrap().witness;
    again.may_speak(&so_far(1, 2)).unwrap();
    let other = again.may_speak(&so_far(3, 5));
    assert!(matches!(other, Err(Refusal::PeerDiffers)));
    let other = again.may_speak(&so_far(9, 4));
    assert!(matches!(other, Err(Refusal::OwnDiffers)));
    again.may_speak(&so_far(3, 4)).unwrap();
    again.may_speak(&so_far(5, 6)).unwrap();
    // An equal mark is not kept again.
    let grown = len(path);
    assert!(grown > before);
    for _ in 0..3 {
        let mut again = results.begin(4, &[]).unwrap().witness;
        for said in [1, 3, 5] {
            again.may_speak(&so_far(said, said + 1)).unwrap();
        }
    }
    assert_eq!(len(path), grown);
    // Another step has heard nothing yet.
    let mut other = results.begin(5, &[]).unwrap().witness;
    other.may_speak(&so_far(7, 7)).unwrap();
}

#[test]
fn another_run_of_what_is_done_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let results = open(path);
    run(&results, 2, 1).unwrap();
    run(&results, 2, 1).unwrap();
    let refused = run(&results, 2, 9).unwrap_err();
    assert!(matches!(refused, Error::Channel(ChannelError::PeerDiffers)));
    assert_eq!(results.accounts()[2].run, Some([1; 32]));
}

/// Whoever is told of a failed check must not make it fail again with another guess.
#[test]
fn a_failed_check_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let results = open(path);
    let mut witness = results.begin(0, &[]).unwrap().witness;
    for harmless in [
        AbortCode::ConnectionLost,
        AbortCode::LocalFailure,
        AbortCode::OtherRun,
    ] {
        witness.gives_up(harmless).unwrap();
        assert!(!open(path).is_spoilt(), "{harmless:?}");
    }
    let before = len(path);
    witness.gives_up(AbortCode::ProtocolViolation).unwrap();
    witness.gives_up(AbortCode::ProtocolViolation).unwrap();
    assert!(len(path) < 2 * before + 100);
    assert!(results.is_spoilt() && open(path).is_spoilt());
    assert!(results.begin(0, &[]).is_err());
    assert!(results.begin(1, &[]).is_err());
}

use std::fs;

use psijoin::JointSeed;
use psijoin_job::{Begun, Columns, Folder, Owner};
use psijoin_transport::Fingerprint;
use tempfile::TempDir;

use super::*;
use crate::budget::Limits;

/// The step that adds noise, behind some parts.
const OPENING: u32 = 3;

const NOISE: [u64; 2] = [5, u64::MAX];

/// A sender's job, and its budget of two answers.
struct Sender {
    folder: TempDir,
}

impl Sender {
    fn new() -> Self {
        let sender = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let limits = Limits {
            answers: Some(2),
            ..Limits::default()
        };
        Budget::create(&sender.budget(), limits).unwrap();
        let begun = Begun {
            program: "1",
            terms: Vec::new(),
            data: Vec::new(),
            protocol: "rr22-circuit",
            plan: [0; 32],
            items: [1, 1],
            parts: OPENING,
            steps: OPENING + 1,
            bytes: [1, 1],
            columns: Columns {
                numbers: Vec::new(),
                given: [Vec::new(), Vec::new()],
                labels: Vec::new(),
            },
            joint_seed: &JointSeed::insecure_fixed([1; 32]),
            command: "",
        };
        sender.open("job").begin(begun).unwrap();
        sender
    }

    fn budget(&self) -> PathBuf {
        self.folder.path().join("budget")
    }

    fn open(&self, job: &str) -> Folder {
        let owner = Owner {
            program: "1",
            secret: &[1; 32],
            marks: None,
        };
        Folder::open(&self.folder.path().join(job), &owner).unwrap()
    }

    /// Copies the job, as it is now.
    fn copy(&self, to: &str) {
        let [from, to] = ["job", to].map(|name| self.folder.path().join(name));
        let mut copying = std::process::Command::new("cp");
        let made = copying.arg("-a").args([from, to]).status();
        assert!(made.unwrap().success());
    }

    /// Attempts steps with this draw of noise, and returns what the last one adds.
    fn attempt(&self, job: &str, steps: &[u32], noise: &[u64]) -> Result<Vec<u64>, Error> {
        let job = self.open(job);
        let results = job.results().unwrap();
        let spending = &Spending::of_job(&self.budget(), answer(!noise.is_empty()), results)?;
        let spends = Spends { results, spending };
        let mut added = Vec::new();
        for step in steps {
            let drawn = if *step == OPENING { noise } else { &[] };
            let begun = spends.begin(*step, drawn);
            added = begun
                .map_err(|error| Spends::refusal(error.into()))?
                .noise
                .to_vec();
        }
        Ok(added)
    }

    fn spent(&self) -> usize {
        Budget::read(&self.budget()).unwrap().answers.len()
    }
}

/// The answer of the session.
fn answer(has_noise: bool) -> Answer {
    let partner = Fingerprint::of_public_key(&[1]);
    let epsilon = has_noise.then(|| "0.5".parse().unwrap());
    Answer::now(partner, None, epsilon, "session".to_owned())
}

/// Parts tell nothing before the noise is added. Whatever is killed then, there is one draw, and it
/// is spent once.
#[test]
fn noise_is_spent_once_and_before_it_is_added() {
    let sender = Sender::new();
    sender.attempt("job", &[0, 1, 2], &NOISE).unwrap();
    assert_eq!(sender.spent(), 0);
    // Killed between the two: the folder has the draw, and nothing is spent.
    sender
        .open("job")
        .results()
        .unwrap()
        .begin(OPENING, &NOISE)
        .unwrap();
    assert_eq!(sender.spent(), 0);
    for other in [[7, 7], [8, 8]] {
        let added = sender.attempt("job", &[OPENING], &other).unwrap();
        assert_eq!((&added[..], sender.spent()), (&NOISE[..], 1));
    }
}

/// A line that was not whole when the process was killed is none.
#[test]
fn a_spend_that_was_cut_off_is_made_again() {
    let sender = Sender::new();
    let before = fs::read(sender.budget()).unwrap();
    sender.attempt("job", &[OPENING], &NOISE).unwrap();
    let after = fs::read(sender.budget()).unwrap();
    for killed_at in [before.len(), before.len() + 1, after.len() - 1, after.len()] {
        fs::write(sender.budget(), &after[..killed_at]).unwrap();
        let added = sender.attempt("job", &[OPENING], &[0, 0]).unwrap();
        assert_eq!((&added[..], sender.spent()), (&NOISE[..], 1));
    }
}

/// A copy of the folder from before the noise was drawn draws again, and that is another answer;
/// one from after it has the same.
#[test]
fn an_old_copy_that_draws_anew_spends_anew() {
    let sender = Sender::new();
    sender.attempt("job", &[0, 1], &NOISE).unwrap();
    sender.copy("before");
    sender.copy("further");
    sender.attempt("job", &[OPENING], &NOISE).unwrap();
    sender.copy("after");
    sender.attempt("after", &[OPENING], &[0, 1]).unwrap();
    assert_eq!(sender.spent(), 1);
    // By the same numbers, too: what they are tells nobody.
    let added = sender.attempt("before", &[OPENING], &NOISE).unwrap();
    assert_eq!((&added[..], sender.spent()), (&NOISE[..], 2));
    // There are no more, but those that were had go on.
    let refused = sender.attempt("further", &[2, OPENING], &NOISE);
    assert!(matches!(
        refused,
        Err(Error::Budget(BudgetError::Answers(2)))
    ));
    sender.attempt("job", &[OPENING], &NOISE).unwrap();
    assert_eq!(sender.spent(), 2);
}

/// Each step of an answer without noise tells something: the first one that begins spends.
#[test]
fn exact_answers_are_spent_with_their_first_step() {
    let sender = Sender::new();
    for steps in [&[][..], &[1, 0], &[2], &[2, OPENING]] {
        sender.attempt("job", steps, &[]).unwrap();
        assert_eq!(sender.spent(), usize::from(!steps.is_empty()));
    }
}

/// Another process may have had what was left since the job was allowed to begin.
#[test]
fn who_comes_too_late_says_nothing() {
    let sender = Sender::new();
    let job = sender.open("job");
    let results = job.results().unwrap();
    let spending = &Spending::of_job(&sender.budget(), answer(true), results).unwrap();
    for session in ["another", "and another"] {
        let answer = Answer {
            session: session.to_owned(),
            ..answer(false)
        };
        Spending::at_once(&sender.budget(), answer).unwrap();
    }
    let refused = Spends { results, spending }.begin(OPENING, &NOISE);
    let refused = Spends::refusal(refused.err().unwrap().into());
    assert!(matches!(refused, Error::Budget(BudgetError::Answers(2))));
    assert!(!results.is_spoilt());
}

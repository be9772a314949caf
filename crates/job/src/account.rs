//! The messages about the steps of a job, which the parties exchange.

use std::io;

use psijoin_psi::ledger::RunName;

/// The account that a party gives of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// `true` if it has begun.
    pub has_begun: bool,
    /// `true` if it runs more than once, on either side.
    pub has_run_again: bool,
    /// The name of the run that is done, if one is.
    pub run: Option<RunName>,
}

/// Bytes of an account.
pub const ACCOUNT_BYTES: usize = 1 + size_of::<RunName>();

impl Account {
    /// As it is sent: a byte of flags, and the name of the run, or zeros.
    pub fn to_bytes(&self) -> [u8; ACCOUNT_BYTES] {
        let flags = [self.has_begun, self.has_run_again, self.run.is_some()];
        let mut bytes = [0; ACCOUNT_BYTES];
        bytes[0] = flags
            .iter()
            .rev()
            .fold(0, |all, flag| all << 1 | u8::from(*flag));
        bytes[1..].copy_from_slice(&self.run.unwrap_or_default());
        bytes
    }

    /// Returns what was sent, if it makes sense.
    pub fn from_bytes(bytes: &[u8; ACCOUNT_BYTES]) -> Option<Self> {
        let [flags, run @ ..] = bytes;
        let [has_begun, has_run_again, is_done] = [1, 2, 4].map(|flag| flags & flag != 0);
        let account = Self {
            has_begun,
            has_run_again,
            run: is_done.then_some(*run),
        };
        let is_consistent = has_begun || !is_done;
        (is_consistent && account.to_bytes() == *bytes).then_some(account)
    }
}

/// The conclusion from both parties' accounts.
#[derive(Debug)]
pub(crate) struct Agreed {
    /// The steps that are done.
    pub(crate) done: Vec<bool>,
    /// The steps that run more than once, in this attempt or before.
    pub(crate) run_again: Vec<u32>,
}

/// The reason that the parties cannot agree on the steps that are done.
#[derive(Debug)]
pub enum Disagreement {
    /// The other party has another run of a step than this one.
    OtherRun,
    /// The other party has done a step that takes this party's messages, and this one has not begun
    /// it: its own state is lost.
    Lost,
    /// The agreement cannot be kept.
    Io(io::Error),
}

/// The kinds of steps, from this party's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The number of steps that are parts. The later ones open the parts' results.
    pub parts: u32,
    /// `true` if this party sends anything in a part.
    pub speaks: bool,
}

/// Compares both accounts: a step is done if both have the same run of it. An opening is of all
/// parts, so it is done only if they are.
pub(crate) fn agree(
    ours: &[Account],
    theirs: &[Account],
    Steps { parts, speaks }: Steps,
) -> Result<Agreed, Disagreement> {
    let both = || ours.iter().zip(theirs);
    for (step, (ours, theirs)) in (0..).zip(both()) {
        let is_needed = speaks || step >= parts;
        match (ours.run, theirs.run) {
            (Some(ours), Some(theirs)) if ours != theirs => return Err(Disagreement::OtherRun),
            (None, Some(_)) if is_needed && !ours.has_begun => return Err(Disagreement::Lost),
            _ => {}
        }
    }
    let mut done: Vec<bool> = both()
        .map(|(ours, theirs)| ours.run.is_some() && theirs.run.is_some())
        .collect();
    let (of_parts, opened) = done.split_at_mut(parts as usize);
    let are_done = of_parts.iter().all(|part| *part);
    opened.iter_mut().for_each(|opened| *opened &= are_done);
    let runs_again = |((ours, theirs), done): &((&Account, &Account), &bool)| {
        let ran_again = ours.has_run_again || theirs.has_run_again;
        ran_again || !**done && (ours.has_begun || theirs.has_begun)
    };
    let run_again = (0..)
        .zip(both().zip(&done))
        .filter(|(_, step)| runs_again(step))
        .map(|(step, _)| step)
        .collect();
    Ok(Agreed { done, run_again })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Account = Account {
        has_begun: false,
        has_run_again: false,
        run: None,
    };
    const BEGUN: Account = Account {
        has_begun: true,
        ..NEW
    };

    fn done(run: u8) -> Account {
        Account {
            run: Some([run; 32]),
            ..BEGUN
        }
    }

    fn all(parts: u32) -> Steps {
        Steps {
            parts,
            speaks: true,
        }
    }

    fn again(account: Account) -> Account {
        Account {
            has_run_again: true,
            ..account
        }
    }

    #[test]
    fn accounts_survive_the_wire() {
        for account in [
            NEW,
            BEGUN,
            done(3),
            again(NEW),
            again(BEGUN),
            again(done(0)),
        ] {
            assert_eq!(Account::from_bytes(&account.to_bytes()), Some(account));
        }
        for flags in [4, 6, 8, 0x81] {
            let mut bytes = [0; ACCOUNT_BYTES];
            bytes[0] = flags;
            assert_eq!(Account::from_bytes(&bytes), None, "{flags}");
        }
        let mut bytes = BEGUN.to_bytes();
        bytes[7] = 1;
        assert_eq!(Account::from_bytes(&bytes), None, "a run that is not done");
    }

    #[test]
    fn done_is_what_both_have() {
        let ours = [NEW, BEGUN, done(1), done(2), again(done(3)), NEW];
        let theirs = [NEW, NEW, done(1), BEGUN, done(3), BEGUN];
        for sides in [[&ours, &theirs], [&theirs, &ours]] {
            let agreed = agree(sides[0], sides[1], all(6)).unwrap();
            assert_eq!(agreed.done, [false, false, true, false, true, false]);
            assert_eq!(agreed.run_again, [1, 3, 4, 5]);
        }
    }

    #[test]
    fn what_is_opened_is_opened_of_all_parts() {
        let of_all = [done(1), done(2), done(3)];
        assert_eq!(agree(&of_all, &of_all, all(2)).unwrap().done, [true; 3]);
        let ours = [done(1), BEGUN, done(3)];
        assert_eq!(
            agree(&ours, &of_all, all(2)).unwrap().done,
            [true, false, false]
        );
    }

    #[test]
    fn runs_that_do_not_fit_are_refused() {
        let agreed = |ours, theirs, steps| agree(&[ours], &[theirs], steps);
        let refused = |ours, theirs| agreed(ours, theirs, all(1)).unwrap_err();
        assert!(matches!(refused(done(1), done(2)), Disagreement::OtherRun));
        assert!(matches!(refused(NEW, done(2)), Disagreement::Lost));
        // It is the other party's loss.
        agreed(done(2), NEW, all(1)).unwrap();
        // Nobody needed this party for it.
        let silent = Steps {
            speaks: false,
            ..all(1)
        };
        agreed(NEW, done(2), silent).unwrap();
        assert!(agreed(NEW, done(2), Steps { parts: 0, ..silent }).is_err());
    }
}

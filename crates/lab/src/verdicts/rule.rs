//! The rule by which comparisons decide a conclusion.
//!
//! The comparisons of a conclusion that are about the same quantity and have the same bounds are a
//! *part* of it. A part holds if at least nine in ten of its comparisons do, so all of them if they
//! are fewer than ten. Otherwise it holds by another factor, unless more than one in ten fail in
//! who takes less. A conclusion is what the worst of its parts is.
//!
//! That is told if it is so wherever in its scatter each time lies. If not, it is too close to
//! call; and not measured, if figures that are missing could change it.

use super::Outcome;

/// The way in which a comparison comes out, from the best on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    Holds,
    /// The one that should take less does, but by another factor.
    OtherFactor,
    /// The other one takes less.
    Opposite,
}

/// What is known of a comparison: at best, and at worst.
pub(super) type Known = Option<[Grade; 2]>;

/// Of so many comparisons of a part, one may fail.
const ONE_MAY_FAIL_OF: usize = 10;

/// Returns the outcome of a conclusion with these parts.
pub(super) fn decide(parts: &[Vec<Known>]) -> Outcome {
    let at = |end: usize, missing: Grade| {
        let of = |known: &Known| known.map_or(missing, |ends| ends[end]);
        let grades = parts.iter().map(|part| part.iter().map(of).collect());
        grades
            .map(|grades: Vec<_>| of_part(&grades))
            .max()
            .unwrap_or(missing)
    };
    let best = at(0, Grade::Holds);
    if at(1, Grade::Opposite) == best {
        return match best {
            Grade::Holds => Outcome::Holds,
            Grade::OtherFactor => Outcome::OtherFactor,
            Grade::Opposite => Outcome::DoesNotHold,
        };
    }
    match at(0, Grade::Opposite) == best {
        true => Outcome::TooClose,
        false => Outcome::NotMeasured,
    }
}

fn of_part(grades: &[Grade]) -> Grade {
    let may_fail = grades.len() / ONE_MAY_FAIL_OF;
    let worse = |than: Grade| grades.iter().filter(|grade| **grade >= than).count() > may_fail;
    match (worse(Grade::Opposite), worse(Grade::OtherFactor)) {
        (true, _) => Grade::Opposite,
        (_, true) => Grade::OtherFactor,
        _ => Grade::Holds,
    }
}

#[cfg(test)]
mod tests {
    use super::{Grade::*, *};

    fn sure(grade: Grade, times: usize) -> Vec<Known> {
        vec![Some([grade; 2]); times]
    }

    fn outcome(parts: &[&[Vec<Known>]]) -> Outcome {
        decide(&Vec::from_iter(parts.iter().map(|part| part.concat())))
    }

    #[test]
    fn one_in_ten_may_fail_and_no_more() {
        let failing = |fails, of| outcome(&[&[sure(Opposite, fails), sure(Holds, of - fails)]]);
        assert_eq!(failing(3, 60), Outcome::Holds);
        assert_eq!(failing(6, 60), Outcome::Holds);
        assert_eq!(failing(7, 60), Outcome::DoesNotHold);
        assert_eq!(failing(1, 9), Outcome::DoesNotHold);
        assert_eq!(failing(1, 10), Outcome::Holds);
    }

    #[test]
    fn the_worst_part_decides() {
        let (most, few) = ([sure(Holds, 40)], [sure(OtherFactor, 1)]);
        assert_eq!(outcome(&[&most, &few]), Outcome::OtherFactor);
        let opposite = sure(Opposite, 2);
        let mixed = [opposite, sure(OtherFactor, 3), sure(Holds, 15)];
        assert_eq!(outcome(&[&mixed, &most]), Outcome::OtherFactor);
    }

    #[test]
    fn what_could_be_either_is_too_close() {
        let close = vec![Some([Holds, Opposite])];
        let with = |of: usize| outcome(&[&[close.clone(), sure(Holds, of - 1)]]);
        assert_eq!(with(5), Outcome::TooClose);
        assert_eq!(with(10), Outcome::Holds);
        // It fails, but who takes less is not known.
        let factor = vec![Some([OtherFactor, Opposite])];
        assert_eq!(outcome(&[&[factor]]), Outcome::TooClose);
        // That it fails elsewhere is known.
        let fails = sure(Opposite, 1);
        assert_eq!(outcome(&[&[close], &[fails]]), Outcome::DoesNotHold);
    }

    #[test]
    fn what_is_missing_matters_if_it_could_change_something() {
        let missing = vec![None];
        let with = |others: Vec<Known>| outcome(&[&[missing.clone(), others]]);
        assert_eq!(with(sure(Holds, 3)), Outcome::NotMeasured);
        assert_eq!(with(sure(Holds, 19)), Outcome::Holds);
        assert_eq!(with(sure(Opposite, 1)), Outcome::DoesNotHold);
        assert_eq!(decide(&[]), Outcome::NotMeasured);
    }
}

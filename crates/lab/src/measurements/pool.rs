//! Lines of a file, brought together by what they measured.

use psijoin_forecast::{Profile, Run};

use super::{Measured, Measurement, Session};
use crate::{quantity::distinct, scatter::quantile};

/// Returns lines by machine, version and commit, in the order in which these came first.
pub fn grouped(measurements: &[Measurement]) -> Vec<Measured> {
    by(measurements, Session::is_like)
}

/// Returns lines by machine, version, commit and campaign, in the order in which these came first.
pub fn by_campaign(measurements: &[Measurement]) -> Vec<Measured> {
    by(measurements, |one, other| {
        one.is_like(other) && one.campaign == other.campaign
    })
}

/// Returns what was measured where the last line comes from; none if there is no line.
pub fn latest(measurements: &[Measurement]) -> Option<Measured> {
    let session = &measurements.last()?.session;
    let mut groups = grouped(measurements).into_iter();
    groups.find(|group| group.is_of(session))
}

fn by(
    measurements: &[Measurement],
    is_alike: impl Fn(&Session, &Session) -> bool,
) -> Vec<Measured> {
    let mut groups: Vec<Vec<&Measurement>> = Vec::new();
    for measurement in measurements {
        let session = &measurement.session;
        let group = groups
            .iter_mut()
            .find(|group| is_alike(&group[0].session, session));
        match group {
            Some(group) => group.push(measurement),
            None => groups.push(vec![measurement]),
        }
    }
    groups.iter().map(|group| measured(group)).collect()
}

/// Pools the runs of a group; of several lines of the same run in a campaign, the last one counts.
fn measured(group: &[&Measurement]) -> Measured {
    let run = |one: &Measurement| (kind(one), one.run.items, one.session.campaign);
    let mut lines: Vec<&Measurement> = Vec::new();
    for line in group {
        lines.retain(|old| run(old) != run(line));
        lines.push(line);
    }
    let profile = |first: &&Measurement| {
        let own = lines.iter().filter(|line| kind(line) == kind(first));
        let own = Vec::from_iter(own.copied());
        let sizes = distinct(own.iter().map(|line| line.run.items), |items| *items);
        let runs = sizes.into_iter().map(|items| {
            let alike = own.iter().filter(|line| line.run.items == items);
            pooled(&Vec::from_iter(alike.map(|line| &line.run)))
        });
        Profile {
            protocol: first.protocol.clone(),
            output: first.output.clone(),
            threads: first.threads,
            runs: runs.collect(),
        }
    };
    let firsts = distinct(group.iter().copied(), |line| kind(line));
    Measured {
        session: group[group.len() - 1].session.clone(),
        campaigns: distinct(group.iter().map(|line| line.session.campaign), |one| *one),
        profiles: firsts.iter().map(profile).collect(),
    }
}

/// Returns whatever tells profiles apart.
fn kind(line: &Measurement) -> (String, String, usize) {
    (line.protocol.clone(), line.output.clone(), line.threads)
}

/// Returns a run that has the seconds of all these, of the same sizes, and takes the median of
/// them; and so do its phases.
fn pooled(runs: &[&Run]) -> Run {
    let seconds = [0, 1].map(|party| {
        let times = runs.iter().map(|run| run.times(party));
        Vec::from_iter(times.flatten())
    });
    let medians = seconds.each_ref().map(|times| quantile(times, 0.5));
    let phase = |number: usize| {
        let own = runs.iter().filter_map(|run| run.phases.as_ref());
        Vec::from_iter(own.map(|phases| &phases[number]))
    };
    let has_phases = !phase(0).is_empty();
    Run {
        seconds,
        phases: has_phases.then(|| Box::new([0, 1].map(|number| pooled(&phase(number))))),
        ..runs[runs.len() - 1].taking(medians)
    }
}

//! Predictions for a protocol at any size, from runs at some.

use psijoin_psi::{Plan, Role, Traffic};
use serde::{Deserialize, Serialize};

use crate::{
    Cores, Forecast, Mismatch, Network, Script, Timeline,
    curve::Curve,
    memory::ListedRun,
    script::Scale,
    simulate::{replay, simulate},
};

/// Runs of a protocol with the same output, each at other sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The protocol's name.
    pub protocol: String,
    /// The [kind](crate::kind) of output.
    pub output: String,
    /// Threads per party.
    pub threads: usize,
    /// The runs: with sets of equal size, and perhaps some of unequal size; or all of one item
    /// against a set, to predict others like them.
    pub runs: Vec<Run>,
}

/// The work of both parties at these sizes: the sender's, and the receiver's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Items.
    pub items: [u64; 2],
    /// Their computing and messages.
    pub scripts: [Script; 2],
    /// The most memory that they took beyond their input, in bytes, if it is known.
    pub memory_bytes: [Option<u64>; 2],
    /// Seconds that they computed with two threads instead of one, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_two_threads: Option<[f64; 2]>,
    /// Seconds that each party computed, one time after the other, if that was kept. The scripts
    /// are those of the fastest.
    #[serde(default, skip_serializing_if = "are_unknown")]
    pub seconds: [Vec<f64>; 2],
    /// The offline phase and the online one, each as a run, if they were kept. A run whose phases
    /// overlap has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Box<[Run; 2]>>,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the inputs are needed.
    Offline,
    /// From then on.
    Online,
}

impl Phase {
    fn traffic(self, plan: &Plan) -> Traffic {
        let cost = plan.cost();
        match self {
            Self::Offline => cost.offline,
            Self::Online => cost.online,
        }
    }
}

fn are_unknown(seconds: &[Vec<f64>; 2]) -> bool {
    seconds.iter().all(Vec::is_empty)
}

impl Run {
    /// Lets each party take its script from `other`, a run of the same sizes, if it computed for a
    /// shorter time there; and its time on two threads likewise.
    pub(crate) fn take_faster(&mut self, other: &Self) {
        for (script, other) in self.scripts.iter_mut().zip(&other.scripts) {
            if other.computing() < script.computing() {
                script.clone_from(other);
            }
        }
        if let (Some(times), Some(others)) = (&mut self.on_two_threads, other.on_two_threads) {
            *times = [0, 1].map(|party| times[party].min(others[party]));
        }
    }

    /// Returns the seconds that a party computed, one time after the other; of a run that did not
    /// keep them, those of its script.
    pub fn times(&self, party: usize) -> Vec<f64> {
        match &self.seconds[party] {
            kept if kept.is_empty() => vec![self.scripts[party].computing()],
            kept => kept.clone(),
        }
    }

    /// Returns a run in which the parties compute for this many seconds, and say what they said.
    #[must_use]
    pub fn taking(&self, seconds: [f64; 2]) -> Self {
        let script = |party: usize| {
            let script: &Script = &self.scripts[party];
            let computed = script.computing();
            let ratio = if computed > 0.0 {
                seconds[party] / computed
            } else {
                1.0
            };
            script.scaled(Scale {
                seconds: ratio,
                ..Scale::ONE
            })
        };
        Self {
            scripts: [0, 1].map(script),
            seconds: seconds.map(|seconds| vec![seconds]),
            ..self.clone()
        }
    }

    /// Returns what becomes of its phases.
    #[must_use]
    pub fn map_phases(&self, phase: impl Fn(&Self) -> Self) -> Option<Box<[Self; 2]>> {
        let phases = self.phases.as_ref()?;
        Some(Box::new(phases.each_ref().map(phase)))
    }

    /// Multiplies the time of computing by `ratio`.
    fn scaled(&self, ratio: f64) -> Self {
        let by = Scale {
            seconds: ratio,
            ..Scale::ONE
        };
        let scaled = |times: &Vec<f64>| times.iter().map(|one| one * ratio).collect();
        Self {
            items: self.items,
            scripts: self.scripts.each_ref().map(|script| script.scaled(by)),
            memory_bytes: self.memory_bytes,
            on_two_threads: self.on_two_threads.map(|both| both.map(|one| one * ratio)),
            seconds: self.seconds.each_ref().map(scaled),
            phases: self.map_phases(|phase| phase.scaled(ratio)),
        }
    }

    /// Returns whether both sets are as large.
    pub(crate) fn has_equal_sizes(&self) -> bool {
        self.items[0] == self.items[1]
    }

    /// Returns whether its numbers can be those of a run.
    pub(crate) fn is_possible(&self) -> bool {
        !self.items.contains(&0) && self.scripts.iter().all(Script::is_possible)
    }

    /// Returns the number of items of the larger set.
    pub fn larger(&self) -> u64 {
        self.items[0].max(self.items[1])
    }

    fn size(&self) -> f64 {
        self.larger() as f64
    }

    /// Returns the bytes that both parties send.
    fn bytes(&self) -> f64 {
        let sent = |script: &Script| script.traffic()[0];
        self.scripts.iter().map(sent).sum()
    }
}

/// The time of a run on one network, and its memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The work of the parties, in one or two versions, and the weight of each.
    versions: Vec<(f64, [Script; 2])>,
    /// The share of its computing that more threads make faster, for each party, if it is known.
    parallel: Option<[f64; 2]>,
    /// The most memory of the sender and of the receiver, beyond their input, in bytes, if it is
    /// known. It is not far above all measured sizes: many protocols work in bands of fixed size
    /// there, and take no more.
    pub memory_bytes: [Option<f64>; 2],
    /// `true` if the sizes are above all measured ones.
    pub is_extrapolated: bool,
}

impl Prediction {
    /// Simulates the run on this network.
    ///
    /// # Errors
    /// If the profile has runs whose parties do not fit each other.
    pub fn on(&self, network: &Network, cores: Cores) -> Result<Forecast, Mismatch> {
        let mut sum = Forecast::default();
        for (share, [sender, receiver]) in &self.versions {
            sum = sum.plus(&simulate(sender, receiver, network, cores)?, *share);
        }
        Ok(sum)
    }

    /// Returns the seconds that both parties compute.
    pub fn computing(&self) -> f64 {
        self.computing_of(0) + self.computing_of(1)
    }

    /// Returns the seconds that a party computes.
    pub(crate) fn computing_of(&self, party: usize) -> f64 {
        let of = |(share, scripts): &(f64, [Script; 2])| share * scripts[party].computing();
        self.versions.iter().map(of).sum()
    }

    /// Returns the work of both parties, as in the measured run that is nearest.
    pub(crate) fn nearest(&self) -> &[Script; 2] {
        let nearest = self
            .versions
            .iter()
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        &nearest.expect("a prediction is made of runs").1
    }

    /// Repeats the runs, `times` in all: threads can share them without loss.
    fn repeated(mut self, times: u32) -> Self {
        let by = f64::from(times);
        for (_, scripts) in &mut self.versions {
            for script in scripts {
                *script = script.scaled(Scale::all(by));
            }
        }
        Self {
            parallel: Some([1.0; 2]),
            ..self
        }
    }

    /// Predicts a run in parts over this many streams: as many parts are in memory.
    #[must_use]
    pub fn on_streams(self, streams: usize) -> Self {
        let bytes = self.memory_bytes;
        Self {
            memory_bytes: bytes.map(|bytes| bytes.map(|bytes| bytes * streams as f64)),
            ..self
        }
    }

    /// Predicts a run with this many threads per party instead of one, by Amdahl's law: what a
    /// second thread did not make faster, more do not either. If that was not measured, nothing
    /// changes.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        let Some(parallel) = self.parallel else {
            return self;
        };
        for (_, scripts) in &mut self.versions {
            for (script, parallel) in scripts.iter_mut().zip(parallel) {
                let seconds = 1.0 - parallel + parallel / threads as f64;
                *script = script.scaled(Scale {
                    seconds,
                    ..Scale::ONE
                });
            }
        }
        self
    }

    /// Returns when the bytes of this party move on this network.
    ///
    /// # Errors
    /// As [`on`](Self::on).
    pub fn timeline(
        &self,
        role: Role,
        network: &Network,
        cores: Cores,
    ) -> Result<Timeline, Mismatch> {
        let version = |(share, [sender, receiver]): &(f64, [Script; 2])| {
            let (_, [senders, receivers]) = replay(sender, receiver, network, cores)?;
            Ok(match role {
                Role::Sender => (*share, senders),
                Role::Receiver => (*share, receivers),
            })
        };
        let versions: Vec<_> = self
            .versions
            .iter()
            .map(version)
            .collect::<Result<_, _>>()?;
        Ok(Timeline::mean(&versions))
    }
}

impl Profile {
    /// Returns what a run of `plan` takes with one thread per party. Its bytes are those of the
    /// plan; what is computed is interpolated.
    ///
    /// It is made from the runs with the next larger and the next smaller size, scaled. A session
    /// in parts is taken to be one run that computes and sends as much as all of them: over several
    /// streams, nobody waits for one part alone.
    ///
    /// # Panics
    /// If there are no runs.
    pub fn predict(&self, plan: &Plan) -> Prediction {
        self.predict_all(plan, &|plan| plan.cost().total, None)
    }

    /// Returns what a run of `plan` takes that is larger than all measured ones: each party
    /// computes `times` as long as in the largest run of the [spine](Self::spine). This is for a caller
    /// that knows how the work grows, where [`predict`](Self::predict) continues a curve. Of a
    /// session in parts, it is a part that is so large.
    ///
    /// # Panics
    /// As [`predict`](Self::predict).
    pub fn predict_beyond(&self, plan: &Plan, times: f64) -> Prediction {
        self.predict_all(plan, &|plan| plan.cost().total, Some(times))
    }

    /// Returns what a run of `plan` takes whose output is of another kind: it is taken to compute
    /// as much more than the measured one as it sends more, and to need as much memory.
    ///
    /// # Panics
    /// As [`predict`](Self::predict).
    pub fn predict_by_bytes(&self, plan: &Plan) -> Prediction {
        let of_one_run = of_one_run(plan);
        let sizes = of_one_run.request().sizes;
        let items = [sizes.sender() as f64, sizes.receiver() as f64];
        let bytes = of_one_run.cost().total.total_bytes() as f64;
        let times = bytes / self.at(items, Run::bytes);
        Prediction {
            is_extrapolated: true,
            ..self.scaled(times).predict(plan)
        }
    }

    /// Returns what a phase of a run takes, as [`predict`](Self::predict), or as
    /// [`predict_beyond`](Self::predict_beyond) if it is said how many times as long it computes.
    /// Each part of a session has both phases, and the phase of all is that of each part. `None` if
    /// no run has phases.
    pub fn predict_phase(
        &self,
        plan: &Plan,
        phase: Phase,
        times: Option<f64>,
    ) -> Option<Prediction> {
        let own = self.of_phase(phase)?;
        Some(own.predict_all(plan, &|plan| phase.traffic(plan), times))
    }

    /// Returns the profile of a phase; `None` if no run has phases.
    pub fn of_phase(&self, phase: Phase) -> Option<Self> {
        let runs = self.runs.iter().filter_map(|run| run.phases.as_ref());
        let own = Self {
            runs: runs.map(|phases| phases[phase as usize].clone()).collect(),
            ..self.clone()
        };
        (!own.spine().is_empty()).then_some(own)
    }

    fn predict_all(
        &self,
        plan: &Plan,
        traffic: &dyn Fn(&Plan) -> Traffic,
        times: Option<f64>,
    ) -> Prediction {
        match plan.parts() {
            None => self.predict_run(plan, traffic(plan), times),
            Some(parts) => {
                let part = self.predict_run(&parts.plan, traffic(&parts.plan), times);
                part.repeated(parts.shape.parts)
            }
        }
    }

    fn predict_run(&self, plan: &Plan, traffic: Traffic, times: Option<f64>) -> Prediction {
        let sizes = plan.request().sizes;
        let items = [sizes.sender() as f64, sizes.receiver() as f64];
        let bytes = [traffic.sender_bytes as f64, traffic.receiver_bytes as f64];
        let largest = || *self.spine().last().expect("there are runs");
        let computing = [0, 1].map(|party| match times {
            None => self.at(items, |run| run.scripts[party].computing()),
            Some(times) => times * largest().scripts[party].computing(),
        });
        let versions = self
            .neighbours(items[0].max(items[1]))
            .into_iter()
            .map(|(share, run)| (share, scaled(&run.scripts, computing, bytes)));
        Prediction {
            versions: versions.collect(),
            parallel: self.parallel(items, computing),
            memory_bytes: [0, 1].map(|party| self.memory(&[], items, party)),
            is_extrapolated: self.beyond(items) > 1.0,
        }
    }

    /// Multiplies the time of computing by `ratio`.
    pub(crate) fn scaled(&self, ratio: f64) -> Self {
        Self {
            runs: self.runs.iter().map(|run| run.scaled(ratio)).collect(),
            ..self.clone()
        }
    }

    /// Returns how many times as large as the largest measured sets these are.
    fn beyond(&self, items: [f64; 2]) -> f64 {
        let largest = self.runs.iter().map(Run::size).fold(0.0, f64::max);
        items[0].max(items[1]) / largest
    }

    /// Returns the memory of a party per item of the larger set, beyond its input, in the largest
    /// runs that were measured, if it is known.
    pub fn bytes_per_item(&self, party: usize) -> Option<f64> {
        let largest =
            (self.runs.iter()).max_by_key(|run| (run.larger(), run.memory_bytes[party]))?;
        Some(largest.memory_bytes[party]? as f64 / largest.size())
    }

    /// Returns the memory of both parties in a run of `plan`, or in a part of it, if it is known:
    /// by the own runs, and by those that are listed.
    pub(crate) fn memory_with<'a>(
        &self,
        listed: impl Iterator<Item = &'a ListedRun>,
        plan: &Plan,
    ) -> [Option<f64>; 2] {
        let sizes = of_one_run(plan).request().sizes;
        let items = [sizes.sender() as f64, sizes.receiver() as f64];
        let listed: Vec<_> = listed.collect();
        [0, 1].map(|party| self.memory(&listed, items, party))
    }

    /// Returns the memory of a party, by the own runs and by those that are listed.
    fn memory(&self, listed: &[&ListedRun], items: [f64; 2], party: usize) -> Option<f64> {
        /// The factor up to which the memory of larger runs is believed to follow from that of
        /// smaller ones.
        const FAR: f64 = 16.0;
        let of_own = |run: &Run| Some((run.items, run.memory_bytes[party]? as f64));
        let mut runs: Vec<_> = self.runs.iter().map(of_own).collect::<Option<_>>()?;
        for run in listed {
            if runs.iter().all(|(items, _)| *items != run.items) {
                runs.push((run.items, run.memory_bytes[party] as f64));
            }
        }
        let larger = items[0].max(items[1]);
        let times = |items: [u64; 2]| larger / items[0].max(items[1]) as f64;
        // The nearest tells best whose items take the memory.
        runs.sort_by_key(|(items, _)| (times(*items).ln().abs() * 1e6) as u64);
        let is_near = runs.iter().any(|(items, _)| times(*items) <= FAR);
        is_near.then(|| Curve::at_sizes(&runs, items))
    }

    /// Returns the share of each party's computing that a second thread halves, given what it
    /// computes with one.
    fn parallel(&self, items: [f64; 2], with_one: [f64; 2]) -> Option<[f64; 2]> {
        let runs = self
            .spine()
            .into_iter()
            .filter(|run| run.on_two_threads.is_some());
        let known = Self {
            runs: runs.cloned().collect(),
            ..self.clone()
        };
        if known.runs.is_empty() {
            return None;
        }
        let with_two =
            |party: usize| known.at(items, |run| run.on_two_threads.unwrap_or_default()[party]);
        Some([0, 1].map(|party| {
            let saved = with_one[party] - with_two(party);
            if with_one[party] > 0.0 {
                (2.0 * saved / with_one[party]).clamp(0.0, 1.0)
            } else {
                0.0
            }
        }))
    }

    /// Returns the runs between which sizes are interpolated, from the smallest on: those with sets
    /// of equal size, or all, if there are none of these.
    pub fn spine(&self) -> Vec<&Run> {
        let is_of_equal_sizes = self.is_of_equal_sizes();
        let mut runs: Vec<_> = self
            .runs
            .iter()
            .filter(|run| run.has_equal_sizes() || !is_of_equal_sizes)
            .collect();
        runs.sort_by_key(|run| run.larger());
        runs
    }

    fn is_of_equal_sizes(&self) -> bool {
        self.runs.iter().any(Run::has_equal_sizes)
    }

    /// Returns the runs that are next to this size, and how near each is.
    fn neighbours(&self, size: f64) -> Vec<(f64, &Run)> {
        let runs = self.spine();
        let next = runs.partition_point(|run| run.size() < size);
        if next == 0 {
            return vec![(1.0, runs[0])];
        }
        let low = runs[next - 1];
        let Some(high) = runs.get(next) else {
            return vec![(1.0, low)];
        };
        let share = (size / low.size()).ln() / (high.size() / low.size()).ln();
        vec![(1.0 - share, low), (share, high)]
    }

    /// Returns a quantity [at these sizes](Curve::at_sizes).
    fn at(&self, items: [f64; 2], quantity: impl Fn(&Run) -> f64) -> f64 {
        let runs = self.runs.iter().map(|run| (run.items, quantity(run)));
        Curve::at_sizes(&runs.collect::<Vec<_>>(), items)
    }
}

/// Returns the plan of one of its parts, or itself if it is not in parts.
pub(crate) fn of_one_run(plan: &Plan) -> &Plan {
    plan.parts().map_or(plan, |parts| &parts.plan)
}

/// Returns scripts that compute this long and send this many bytes.
fn scaled(scripts: &[Script; 2], computing: [f64; 2], bytes: [f64; 2]) -> [Script; 2] {
    let ratio = |new: f64, old: f64| if old > 0.0 { new / old } else { 1.0 };
    let said = scripts.each_ref().map(|script| script.traffic()[0]);
    let says = [0, 1].map(|party| ratio(bytes[party], said[party]));
    [0, 1].map(|party| {
        scripts[party].scaled(Scale {
            seconds: ratio(computing[party], scripts[party].computing()),
            sent: says[party],
            received: says[1 - party],
        })
    })
}

#[cfg(test)]
mod tests {
    use psijoin_psi::Request;
    use psijoin_psi_pk::dh::DH;

    use super::*;
    use crate::script::{Messages, Stretch};

    /// Seconds that each party computes per item of the sender, and per item of the receiver.
    const PER_ITEM: [[f64; 2]; 2] = [[3e-5, 1e-5], [0.0, 2e-5]];

    /// Returns a run in which the receiver asks, the sender answers, and both compute before they
    /// do.
    fn run(items: [u64; 2]) -> Run {
        let computing = PER_ITEM.map(|per| per[0] * items[0] as f64 + per[1] * items[1] as f64);
        let message = |bytes: u64| Messages {
            messages: 1.0,
            bytes: bytes as f64,
            seconds: 0.0,
        };
        let [answer, question] = [message(32 * items[0]), message(32 * items[1])];
        let sender = [
            Stretch::Receive(question),
            Stretch::Work(computing[0]),
            Stretch::Send(answer),
        ];
        let receiver = [
            Stretch::Work(computing[1]),
            Stretch::Send(question),
            Stretch::Receive(answer),
        ];
        Run {
            items,
            scripts: [Script(sender.to_vec()), Script(receiver.to_vec())],
            memory_bytes: items.map(|items| Some(1000 + 10 * items)),
            on_two_threads: None,
            seconds: Default::default(),
            phases: None,
        }
    }

    fn profile(sizes: &[[u64; 2]]) -> Profile {
        Profile {
            protocol: "dh".into(),
            output: "rows".into(),
            threads: 1,
            runs: sizes.iter().copied().map(run).collect(),
        }
    }

    fn prediction(profile: &Profile, sender_items: u64, receiver_items: u64) -> Prediction {
        let request = Request::rows(sender_items, receiver_items).unwrap();
        profile.predict(&DH.plan(&request).unwrap())
    }

    fn seconds(prediction: &Prediction) -> f64 {
        prediction
            .on(&Network::INSTANT, Cores::Own)
            .unwrap()
            .seconds
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 1e-9,
            "{value} is not {expected}"
        );
    }

    const EQUAL: [[u64; 2]; 3] = [[256; 2], [1024; 2], [4096; 2]];

    #[test]
    fn sizes_between_and_beyond_are_predicted() {
        let profile = profile(&EQUAL);
        for items in [256, 500, 1024, 3000, 1 << 20] {
            assert_close(
                seconds(&prediction(&profile, items, items)),
                6e-5 * items as f64,
            );
        }
    }

    #[test]
    fn one_item_against_a_set_is_predicted_from_such_runs() {
        let profile = profile(&[[256, 1], [1024, 1], [4096, 1]]);
        for senders in [256, 500, 4096, 1 << 16] {
            let [sender, receiver] = PER_ITEM.map(|per| per[0] * senders as f64 + per[1]);
            let found = seconds(&prediction(&profile, senders, 1));
            assert!(
                (found / (sender + receiver) - 1.0).abs() < 1e-2,
                "{found} at {senders}"
            );
        }
        assert_eq!(profile.spine().last().unwrap().larger(), 4096);
    }

    #[test]
    fn the_bytes_are_those_of_the_plan() {
        let profile = profile(&EQUAL);
        for (senders, receivers) in [(700, 700), (10, 1 << 20), (1 << 20, 10)] {
            let plan = DH
                .plan(&Request::rows(senders, receivers).unwrap())
                .unwrap();
            let forecast = profile
                .predict(&plan)
                .on(&Network::INSTANT, Cores::Own)
                .unwrap();
            let cost = plan.cost().total;
            assert_close(forecast.lines[0].bytes, cost.sender_bytes as f64);
            assert_close(forecast.lines[1].bytes, cost.receiver_bytes as f64);
        }
    }

    #[test]
    fn runs_of_unequal_sizes_say_whose_items_take_the_time() {
        let unequal = [EQUAL.as_slice(), &[[256, 4096], [4096, 256]]].concat();
        let profile = profile(&unequal);
        for (senders, receivers) in [(1000, 64_000), (1 << 18, 1 << 13)] {
            let computing = PER_ITEM.map(|per| per[0] * senders as f64 + per[1] * receivers as f64);
            let expected = computing[0] + computing[1];
            assert_close(seconds(&prediction(&profile, senders, receivers)), expected);
        }
    }

    #[test]
    fn what_is_the_same_at_all_sizes_is_predicted_as_that() {
        let mut constant = profile(&[EQUAL.as_slice(), &[[256, 4096], [4096, 256]]].concat());
        for run in &mut constant.runs {
            run.memory_bytes = [Some(7); 2];
        }
        for (senders, receivers) in [(300, 300), (300, 1 << 16), (1 << 16, 300)] {
            let memory = prediction(&constant, senders, receivers).memory_bytes;
            for bytes in memory {
                assert_close(bytes.unwrap(), 7.0);
            }
        }
    }

    #[test]
    fn bytes_move_when_they_were_computed() {
        // The receiver asks after 2e-5 s per item, and is answered after 4e-5 s per item more.
        for items in [300, 1024, 1 << 20] {
            let prediction = prediction(&profile(&EQUAL), items, items);
            let timeline = |role| {
                let network = Network::INSTANT;
                prediction.timeline(role, &network, Cores::Own).unwrap()
            };
            let forecast = prediction.on(&Network::INSTANT, Cores::Own).unwrap();
            let all: f64 = forecast.lines.iter().map(|line| line.bytes).sum();
            for role in [Role::Sender, Role::Receiver] {
                let timeline = timeline(role);
                assert_close(timeline.bytes(), all);
                assert_close(timeline.seconds(), 6e-5 * items as f64);
                let first = timeline.moments()[0];
                assert_close(first.seconds, 2e-5 * items as f64);
                assert_close(first.bytes, forecast.lines[1].bytes);
            }
        }
    }

    #[test]
    fn memory_is_predicted_alike() {
        let memory = |items| prediction(&profile(&EQUAL), items, items).memory_bytes;
        for bytes in memory(1 << 16) {
            assert_close(bytes.unwrap(), (1000 + (10 << 16)) as f64);
        }
        // Too far from what was measured.
        assert_eq!(memory((1 << 16) + 1), [None; 2]);
    }

    /// Runs that are listed take ten times as much here.
    #[test]
    fn memory_follows_from_what_is_listed_where_nothing_was_measured() {
        let profile = profile(&EQUAL);
        let listed = [[4096; 2], [1 << 16; 2], [1 << 10, 1 << 16]].map(|items| ListedRun {
            protocol: "dh".into(),
            output: "rows".into(),
            items,
            memory_bytes: items.map(|items| 100 * items),
        });
        let memory = |senders, receivers| {
            let request = Request::rows(senders, receivers).unwrap();
            profile.memory_with(listed.iter(), &DH.plan(&request).unwrap())
        };
        for bytes in memory(4096, 4096) {
            assert_close(bytes.unwrap(), (1000 + 10 * 4096) as f64);
        }
        for (items, bytes) in
            [[1 << 16; 2], [1 << 10, 1 << 16]].map(|items| (items, items.map(|items| 100 * items)))
        {
            let found = memory(items[0], items[1]);
            for (found, bytes) in found.into_iter().zip(bytes) {
                assert_close(found.unwrap(), bytes as f64);
            }
        }
        assert!(memory(1 << 20, 1 << 20).iter().all(Option::is_some));
        assert_eq!(memory((1 << 20) + 1, 9), [None; 2]);
    }

    #[test]
    fn a_run_can_take_longer_and_say_what_it_said() {
        let fast = run([1024; 2]);
        assert_eq!(fast.times(0), [fast.scripts[0].computing()]);
        let slow = fast.taking([3.0, 0.5]);
        assert_close(slow.scripts[0].computing(), 3.0);
        assert_close(slow.scripts[1].computing(), 0.5);
        assert_eq!((slow.times(0), slow.times(1)), (vec![3.0], vec![0.5]));
        assert_eq!(slow.scripts[0].traffic(), fast.scripts[0].traffic());
    }

    /// The receiver's question is taken for the offline phase, the sender's answer for the other.
    #[test]
    fn phases_are_predicted_each_by_itself() {
        let mut profile = profile(&EQUAL);
        assert!(profile.of_phase(Phase::Online).is_none());
        for run in &mut profile.runs {
            let [sender, receiver] = run.scripts.clone().map(|script| script.0);
            let phase = |scripts: [&[Stretch]; 2]| Run {
                scripts: scripts.map(|stretches| Script(stretches.to_vec())),
                ..run.clone()
            };
            let asking = phase([&sender[..1], &receiver[..2]]);
            let answering = phase([&sender[1..], &receiver[2..]]);
            run.phases = Some(Box::new([asking, answering]));
        }
        let request = Request::rows(3000, 3000).unwrap();
        let plan = DH.plan(&request).unwrap();
        let seconds = |phase, times| {
            let prediction = profile.predict_phase(&plan, phase, times).unwrap();
            seconds(&prediction)
        };
        assert_close(seconds(Phase::Offline, None), 2e-5 * 3000.0);
        assert_close(seconds(Phase::Online, None), 4e-5 * 3000.0);
        assert_close(seconds(Phase::Online, Some(2.0)), 2.0 * 4e-5 * 4096.0);
        let slow = profile.scaled(3.0);
        let online = slow.of_phase(Phase::Online).unwrap();
        let computing = online.runs[0].scripts[0].computing();
        assert_close(computing, 3.0 * 4e-5 * 256.0);
    }

    /// The receiver computes 2e-5 s per item, and the sender 4e-5 s.
    #[test]
    fn beyond_the_largest_run_the_caller_says_how_the_work_grows() {
        let request = Request::rows(1 << 14, 1 << 14).unwrap();
        let plan = DH.plan(&request).unwrap();
        let prediction = profile(&EQUAL).predict_beyond(&plan, 5.0);
        assert_close(seconds(&prediction), 5.0 * 6e-5 * 4096.0);
        let forecast = prediction.on(&Network::INSTANT, Cores::Own).unwrap();
        let cost = plan.cost().total;
        assert_close(forecast.lines[0].bytes, cost.sender_bytes as f64);
    }

    #[test]
    fn what_is_above_all_measured_sizes_is_extrapolated() {
        let profile = profile(&EQUAL);
        assert!(!prediction(&profile, 4096, 10).is_extrapolated);
        assert!(prediction(&profile, 10, 4097).is_extrapolated);
    }

    /// Of what the sender computes, four fifths are done by all threads; of the receiver's,
    /// nothing.
    #[test]
    fn threads_make_faster_what_they_share() {
        let mut profile = profile(&EQUAL);
        let alone = |run: &Run| [0, 1].map(|party: usize| run.scripts[party].computing());
        for run in &mut profile.runs {
            let [sender, receiver] = alone(run);
            run.on_two_threads = Some([0.6 * sender, receiver]);
        }
        for items in [300, 1 << 14] {
            let one = prediction(&profile, items, items);
            let (sender, receiver) = (4e-5 * items as f64, 2e-5 * items as f64);
            for (threads, share) in [(1, 1.0), (2, 0.6), (8, 0.3)] {
                let expected = share * sender + receiver;
                assert_close(seconds(&one.clone().with_threads(threads)), expected);
            }
        }
        for run in &mut profile.runs {
            run.on_two_threads = None;
        }
        let unknown = prediction(&profile, 300, 300);
        assert_eq!(unknown.clone().with_threads(8), unknown);
    }

    /// Parts are runs one after the other, and threads share them.
    #[test]
    fn a_session_in_parts_takes_what_its_parts_take() {
        let profile = profile(&EQUAL);
        let request = Request::rows(4000, 4000).unwrap();
        let plan = psijoin_psi_parts::in_parts(&DH, &request, 5).unwrap();
        let capacity = plan.parts().unwrap().shape.capacities.sender();
        let part = prediction(&profile, capacity, capacity);
        let all = profile.predict(&plan);
        assert_close(seconds(&all), 5.0 * seconds(&part));
        assert_close(seconds(&all.clone().with_threads(2)), 2.5 * seconds(&part));
        assert_eq!(all.clone().memory_bytes, part.memory_bytes);
        let of_two = all.on_streams(2).memory_bytes[0].unwrap();
        assert_close(of_two, 2.0 * part.memory_bytes[0].unwrap());
    }
}

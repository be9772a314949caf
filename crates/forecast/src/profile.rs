//! What a protocol takes at any size, from runs at some.

use psijoin_psi::{Plan, Role};
use serde::{Deserialize, Serialize};

use crate::{
    Cores, Forecast, Mismatch, Network, Script, curve::Curve, script::Scale, simulate::simulate,
};

/// Runs of a protocol with the same output, each at other sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The protocol's name.
    pub protocol: String,
    /// What is learned: the [kind](crate::kind) of output.
    pub output: String,
    /// Threads per party.
    pub threads: usize,
    /// The runs.
    pub runs: Vec<Run>,
}

/// What the parties did at these sizes: the sender, and the receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Items.
    pub items: [u64; 2],
    /// What they computed and said.
    pub scripts: [Script; 2],
    /// The most memory that they took beyond their input, in bytes, if it is known.
    pub memory_bytes: [Option<u64>; 2],
}

impl Run {
    fn has_equal_sizes(&self) -> bool {
        self.items[0] == self.items[1]
    }

    fn size(&self) -> f64 {
        self.items[0].max(self.items[1]) as f64
    }
}

/// What a run takes on one network, and what it takes of memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// What the parties do, in one or two versions, and how much each of them counts.
    versions: Vec<(f64, [Script; 2])>,
    /// The most memory of the sender and of the receiver, beyond their input, in bytes, if it is known. Above
    /// all measured sizes it grows as if there were no end; that is too much where a protocol works in bands of
    /// fixed size.
    pub memory_bytes: [Option<f64>; 2],
}

impl Prediction {
    /// On this network.
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
}

impl Profile {
    /// What a run of `plan` takes. Its bytes are those of the plan; what is computed is interpolated.
    ///
    /// The runs with the next larger and the next smaller size stand for it, scaled.
    ///
    /// # Panics
    /// If no run has sets of equal size.
    pub fn predict(&self, plan: &Plan) -> Prediction {
        let sizes = plan.request().sizes;
        let items = [sizes.sender() as f64, sizes.receiver() as f64];
        let traffic = plan.cost().total;
        let bytes = [traffic.sender_bytes as f64, traffic.receiver_bytes as f64];
        let computing = [Role::Sender, Role::Receiver]
            .map(|role| self.at(items, |run| run.scripts[role as usize].computing()));
        let versions = self
            .neighbours(items[0].max(items[1]))
            .into_iter()
            .map(|(share, run)| (share, scaled(&run.scripts, computing, bytes)));
        Prediction {
            versions: versions.collect(),
            memory_bytes: [0, 1].map(|party| self.memory(items, party)),
        }
    }

    fn memory(&self, items: [f64; 2], party: usize) -> Option<f64> {
        let bytes = |run: &Run| run.memory_bytes[party];
        let is_known = self.runs.iter().all(|run| bytes(run).is_some());
        is_known.then(|| self.at(items, |run| bytes(run).unwrap_or_default() as f64))
    }

    /// Runs with sets of equal size, from the smallest on.
    fn equal(&self) -> Vec<&Run> {
        let mut runs: Vec<_> = self
            .runs
            .iter()
            .filter(|run| run.has_equal_sizes())
            .collect();
        runs.sort_by_key(|run| run.items[0]);
        runs
    }

    /// The runs that are next to this size, and how near each is.
    fn neighbours(&self, size: f64) -> Vec<(f64, &Run)> {
        let runs = self.equal();
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

    /// A quantity at these sizes.
    ///
    /// With sets of equal size it is a curve. If one party has more, then a share of what the curve has more
    /// at the larger size is due to that party: the share that it was in a run of unequal sizes, or a half.
    fn at(&self, items: [f64; 2], quantity: impl Fn(&Run) -> f64) -> f64 {
        let points = self.equal();
        let points = points.iter().map(|run| (run.size(), quantity(run)));
        let curve = Curve::new(points.collect());
        let [less, more] = [items[0].min(items[1]), items[0].max(items[1])];
        let (least, most) = (curve.at(less), curve.at(more));
        if least == most {
            return most;
        }
        let share = |run: &Run| {
            let items = run.items.map(|items| items as f64);
            let least = curve.at(items[0].min(items[1]));
            let most = curve.at(items[0].max(items[1]));
            let share = (quantity(run) - least) / (most - least);
            // Not a number, if there it makes no difference who has more.
            if share.is_nan() {
                0.5
            } else {
                share.clamp(0.0, 1.0)
            }
        };
        let alike = |run: &&Run| {
            !run.has_equal_sizes() && (run.items[0] > run.items[1]) == (items[0] > items[1])
        };
        let share = self.runs.iter().find(alike).map_or(0.5, share);
        least + share * (most - least)
    }
}

/// Scripts that compute this long and say so many bytes.
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

    /// The receiver asks, the sender answers, and both compute before they do.
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
        for (senders, receivers) in [(300, 300), (300, 1 << 20), (1 << 20, 300)] {
            let memory = prediction(&constant, senders, receivers).memory_bytes;
            for bytes in memory {
                assert_close(bytes.unwrap(), 7.0);
            }
        }
    }

    #[test]
    fn memory_is_predicted_alike() {
        let memory = prediction(&profile(&EQUAL), 1 << 20, 1 << 20).memory_bytes;
        for bytes in memory {
            assert_close(bytes.unwrap(), (1000 + (10 << 20)) as f64);
        }
    }
}

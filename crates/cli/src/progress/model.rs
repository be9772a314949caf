//! The progress of a run of a protocol, by the measurements of machines.

use std::time::Instant;

use psijoin::{Plan, Role};
use psijoin_forecast::{Calibration, Cores, Network, Progress};

use super::Position;
use crate::{calibration, console::Console};

/// The progress of a run of a protocol. Where no calibration has the protocol, only its bytes are
/// known.
pub struct Model<'a> {
    plan: &'a Plan,
    /// Whose bytes are counted.
    role: Role,
    threads: usize,
    network: Network,
    cores: Cores,
    console: &'a Console,
    /// Bytes that moved in earlier attempts.
    done_bytes: u64,
    started: Instant,
    /// Made when somebody asks: a run that is over in a second needs no simulation.
    progress: Option<Option<Progress>>,
}

impl<'a> Model<'a> {
    /// Returns a run of this plan that begins now.
    pub fn new(
        plan: &'a Plan,
        role: Role,
        threads: usize,
        network: Network,
        cores: Cores,
        console: &'a Console,
    ) -> Self {
        Self {
            plan,
            role,
            threads,
            network,
            cores,
            console,
            done_bytes: 0,
            started: Instant::now(),
            progress: None,
        }
    }

    /// Continues a run, with the bytes that moved in earlier attempts. Then only its bytes are
    /// known: the rest is not the end of a run as it was measured.
    pub(crate) fn going_on(self, done_bytes: u64) -> Self {
        Self {
            done_bytes,
            progress: Some(None),
            ..self
        }
    }

    /// Returns its position, with this many bytes sent and received in sum.
    pub fn position(&mut self, bytes: u64) -> Position {
        let elapsed = self.started.elapsed();
        if self.progress.is_none() {
            let calibration = calibration::best(self.console);
            self.progress = Some(self.simulated(calibration));
        }
        let progress = self.progress.as_mut().and_then(Option::as_mut);
        Position {
            bytes: self.done_bytes + bytes,
            total_bytes: self.plan.cost().total.total_bytes(),
            outlook: progress.map(|progress| progress.at(elapsed, bytes)),
        }
    }

    fn simulated(&self, calibration: &Calibration) -> Option<Progress> {
        let prediction = calibration.predict(self.plan, self.threads)?;
        let timeline = prediction.timeline(self.role, &self.network, self.cores);
        timeline.ok().map(Progress::new)
    }
}

#[cfg(test)]
mod tests {
    use psijoin::{Request, registry};

    use super::*;

    /// Runs of `dh` in which the receiver asks, and the sender computes a millisecond per item
    /// before it answers.
    fn calibration() -> Calibration {
        let run = |items: u64| {
            let (bytes, seconds) = (32 * items, 1e-3 * items as f64);
            serde_json::json!({
                "items": [items, items],
                "scripts": [
                    [{"receive": [1, bytes, 0]}, {"send": [1, bytes, seconds]}],
                    [{"send": [1, bytes, 0]}, {"receive": [1, bytes, 0]}],
                ],
                "memory_bytes": [null, null],
            })
        };
        let calibration = serde_json::json!({
            "processor": "a processor", "version": "0.1.0", "profiles": [
                {"protocol": "dh", "output": "rows", "threads": 1, "runs": [run(1000), run(4000)]},
            ],
        });
        Calibration::from_json(calibration.to_string().as_bytes()).unwrap()
    }

    fn model(plan: &Plan) -> Model<'_> {
        let network = Network::from(plan.request().path);
        Model::new(
            plan,
            Role::Receiver,
            1,
            network,
            Cores::Own,
            &Console::Silent,
        )
    }

    fn plan(protocol: &str) -> Plan {
        let request = Request::rows(10_000, 10_000).unwrap();
        registry::find(protocol).unwrap().plan(&request).unwrap()
    }

    #[test]
    fn what_was_measured_is_foreseen() {
        let plan = plan("dh");
        let mut model = model(&plan);
        model.progress = Some(model.simulated(&calibration()));
        // The question is out at once. The answer takes 10 s.
        let question = plan.cost().total.receiver_bytes;
        let position = model.position(question);
        assert_eq!(position.bytes, question);
        assert_eq!(position.total_bytes, plan.cost().total.total_bytes());
        let left = position.outlook.unwrap().left.as_secs_f64();
        assert!((9.0..11.0).contains(&left), "{left}");
    }

    #[test]
    fn of_what_was_not_measured_only_bytes_are_known() {
        let plan = plan("kkrt");
        let mut model = model(&plan);
        model.progress = Some(model.simulated(&calibration()));
        assert_eq!(model.position(5).outlook, None);
    }
}

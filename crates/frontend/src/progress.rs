//! The progress of a piece of work: of a run of a protocol, by the measurements of machines.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use psijoin::{Plan, Role};
use psijoin_forecast::{Calibration, Cores, Network, Outlook, Progress};
use psijoin_printable::humanize;

use crate::{Listener, calibration};

/// The position of a piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    /// Bytes done.
    pub bytes: u64,
    /// Bytes in all; 0 if unknown.
    pub total_bytes: u64,
    /// The forecast of the time.
    pub outlook: Option<Outlook>,
}

impl From<(u64, u64)> for Position {
    fn from((bytes, total_bytes): (u64, u64)) -> Self {
        Self {
            bytes,
            total_bytes,
            outlook: None,
        }
    }
}

impl Position {
    /// Returns it in words, where the end is known: `42 %, 130 MB of 310 MB, 12 s left`.
    pub fn in_words(self) -> Option<String> {
        if self.total_bytes == 0 {
            return None;
        }
        let bytes = format!(
            "{} of {}",
            humanize::bytes(self.bytes),
            humanize::bytes(self.total_bytes)
        );
        Some(match self.outlook {
            Some(Outlook { done, left }) => format!(
                "{} %, {bytes}, {} left",
                (done * 100.0).floor(),
                humanize::time_left(left)
            ),
            None => bytes,
        })
    }
}

/// Runs `work`, and `tell` in a thread beside it, which hears when it is finished.
pub fn beside<T>(tell: impl FnOnce(&Receiver<()>) + Send, work: impl FnOnce() -> T) -> T {
    let (finished, is_finished) = mpsc::channel();
    thread::scope(move |scope| {
        scope.spawn(move || tell(&is_finished));
        let result = work();
        drop(finished);
        result
    })
}

/// Waits so long, or until the work is finished; returns whether it is not.
pub fn goes_on(is_finished: &Receiver<()>, wait: Duration) -> bool {
    is_finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)
}

/// The progress of a run of a protocol. Where no calibration has the protocol, only its bytes are
/// known.
pub struct Model<'a> {
    plan: &'a Plan,
    /// The party whose bytes are counted.
    role: Role,
    threads: usize,
    network: Network,
    cores: Cores,
    listener: &'a dyn Listener,
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
        listener: &'a dyn Listener,
    ) -> Self {
        Self {
            plan,
            role,
            threads,
            network,
            cores,
            listener,
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
            let calibration = calibration::best(self.listener);
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

    fn position(bytes: u64, total_bytes: u64, outlook: Option<(f64, u64)>) -> Position {
        Position {
            bytes,
            total_bytes,
            outlook: outlook.map(|(done, seconds)| Outlook {
                done,
                left: Duration::from_secs(seconds),
            }),
        }
    }

    #[test]
    fn positions_in_words() {
        let words = |bytes, total_bytes, outlook| position(bytes, total_bytes, outlook).in_words();
        for (outlook, text) in [
            (None, "130 MB of 310 MB"),
            (Some((0.0, 200)), "0 %, 130 MB of 310 MB, 3 min 20 s left"),
            (Some((0.429, 12)), "42 %, 130 MB of 310 MB, 12 s left"),
            (Some((0.99, 1)), "99 %, 130 MB of 310 MB, 1 s left"),
        ] {
            assert_eq!(words(130_000_000, 310_000_000, outlook).unwrap(), text);
        }
        assert_eq!(words(130_000_000, 0, None), None);
    }

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
        Model::new(plan, Role::Receiver, 1, network, Cores::Own, &())
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

//! Lanes whose bytes flow.

use crate::{Duplex, LineUse, Network};

use super::Lanes;

/// Lanes that have run.
#[derive(Debug, Clone, PartialEq)]
pub struct LanesRun {
    /// The time at which each lane has ended, in seconds.
    pub ends: Vec<f64>,
    /// The use of the network from the sender to the receiver, and back.
    pub lines: [LineUse; 2],
}

impl LanesRun {
    /// Returns the time at which all lanes have ended, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ends.iter().copied().fold(0.0, f64::max)
    }
}

/// Runs all lanes over a network. `slowness` tells how many times as long a lane computes.
pub fn run(lanes: &Lanes, network: &Network, slowness: impl Fn(u32) -> f64) -> LanesRun {
    let steps = steps(lanes, network);
    let lane = |number| Lane {
        parts: lanes.parts_of(number),
        next: 0,
        left: Step::default(),
        slowness: slowness(number),
        end: 0.0,
    };
    let mut flow = Flow {
        now: 0.0,
        network,
        lanes: (0..lanes.lanes).map(lane).collect(),
        lines: [LineUse::default(); 2],
        steps,
    };
    flow.start();
    while let Some(wait) = flow.until_next_event() {
        flow.pass(wait);
    }
    LanesRun {
        ends: flow.lanes.iter().map(|lane| lane.end).collect(),
        lines: flow.lines,
    }
}

/// Computing, waiting and bytes at the same time. The next step follows when there is nothing left
/// of any.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Step {
    computing: f64,
    waiting: f64,
    bytes: [f64; 2],
}

impl Step {
    /// Seconds and bytes that are lost by rounding.
    const NO_SECONDS: f64 = 1e-9;
    const NO_BYTES: f64 = 1e-3;

    fn is_over(&self) -> bool {
        self.computing == 0.0 && self.waiting == 0.0 && self.bytes == [0.0; 2]
    }
}

/// Returns the steps of each part.
fn steps(lanes: &Lanes, network: &Network) -> Vec<Step> {
    let computing = |computing| Step {
        computing,
        ..Step::default()
    };
    let mut steps = vec![computing(lanes.beside)];
    for flight in &lanes.part.flights {
        // Where bytes take no time, there is nothing to wait for.
        let takes_time = |direction| network.seconds_per_byte(direction) > 0.0;
        let bytes = [0, 1].map(|direction| match takes_time(direction) {
            true => flight.bytes[direction],
            false => 0.0,
        });
        steps.push(Step {
            bytes,
            ..computing(flight.seconds)
        });
        steps.push(Step {
            waiting: network.round_trip / 2.0,
            ..Step::default()
        });
    }
    steps.push(computing(lanes.part.afterwards));
    steps
}

struct Lane {
    /// Parts that have not begun.
    parts: u32,
    /// The step of the part that is next.
    next: usize,
    /// The rest of the step that it takes.
    left: Step,
    slowness: f64,
    /// The time until which it has run.
    end: f64,
}

impl Lane {
    /// Goes on to the next step that takes time, if there is any.
    fn go_on(&mut self, steps: &[Step]) {
        while self.left.is_over() {
            if self.next == 0 {
                let Some(rest) = self.parts.checked_sub(1) else {
                    return;
                };
                self.parts = rest;
            }
            let step = steps[self.next];
            self.left = Step {
                computing: step.computing * self.slowness,
                ..step
            };
            self.next = (self.next + 1) % steps.len();
        }
    }
}

struct Flow<'a> {
    now: f64,
    network: &'a Network,
    steps: Vec<Step>,
    lanes: Vec<Lane>,
    lines: [LineUse; 2],
}

impl Flow<'_> {
    fn start(&mut self) {
        for lane in &mut self.lanes {
            lane.go_on(&self.steps);
        }
    }

    /// Returns the seconds that a byte takes in each direction, as it is shared now.
    fn seconds_per_byte(&self) -> [f64; 2] {
        let sending = |direction: usize| {
            let has_bytes = |lane: &&Lane| lane.left.bytes[direction] > 0.0;
            self.lanes.iter().filter(has_bytes).count() as f64
        };
        let [there, back] = [sending(0), sending(1)];
        let shared = match self.network.wire.duplex {
            Duplex::Full => [there, back],
            Duplex::Half => [there + back; 2],
        };
        [0, 1].map(|direction| self.network.seconds_per_byte(direction) * shared[direction])
    }

    /// Returns the seconds until somebody is done with something; none if all lanes have ended.
    fn until_next_event(&self) -> Option<f64> {
        let per_byte = self.seconds_per_byte();
        let events = self.lanes.iter().flat_map(|lane| {
            let Step {
                computing,
                waiting,
                bytes,
            } = lane.left;
            let [there, back] = [0, 1].map(|direction| bytes[direction] * per_byte[direction]);
            [computing, waiting, there, back]
        });
        let events = events.filter(|seconds| *seconds > 0.0);
        events.min_by(f64::total_cmp)
    }

    fn pass(&mut self, seconds: f64) {
        let per_byte = self.seconds_per_byte();
        self.now += seconds;
        for (line, per_byte) in self.lines.iter_mut().zip(per_byte) {
            line.busy += if per_byte > 0.0 { seconds } else { 0.0 };
        }
        for lane in &mut self.lanes {
            let left = &mut lane.left;
            if left.is_over() {
                continue;
            }
            for time in [&mut left.computing, &mut left.waiting] {
                *time = less(*time, seconds, Step::NO_SECONDS);
            }
            for direction in [0, 1] {
                let before = left.bytes[direction];
                if before > 0.0 {
                    let moved = seconds / per_byte[direction];
                    left.bytes[direction] = less(before, moved, Step::NO_BYTES);
                    self.lines[direction].bytes += before - left.bytes[direction];
                }
            }
            lane.end = self.now;
            lane.go_on(&self.steps);
        }
    }
}

/// Returns what is left, or nothing if that is lost by rounding.
fn less(before: f64, gone: f64, nothing: f64) -> f64 {
    let left = before - gone;
    if left > nothing { left } else { 0.0 }
}

//! A part of a session, flight by flight.

use crate::{Cores, Mismatch, Network, Prediction, Script, script::Stretch, simulate::replay};

/// What both parties do in a part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// In their order.
    pub flights: Vec<Flight>,
    /// Seconds of computing after the last flight.
    pub afterwards: f64,
}

/// Bytes that are sent without an answer in between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight {
    /// Bytes of the sender and of the receiver: both, where they speak at the same time.
    pub bytes: [f64; 2],
    /// Seconds from the end of the flight before where the network takes no time: for computing.
    pub seconds: f64,
}

impl Part {
    /// Returns the part whose run is predicted so.
    ///
    /// # Errors
    /// If the prediction is from runs whose parties do not fit each other.
    pub fn of(prediction: &Prediction) -> Result<Self, Mismatch> {
        let [sender, receiver] = prediction.nearest();
        let (forecast, [_, receivers]) = replay(sender, receiver, &Network::INSTANT, Cores::Own)?;
        let (mut moved, mut before) = (0.0, 0.0);
        let flight = |bytes: [f64; 2]| {
            moved += bytes[0] + bytes[1];
            let end = receivers.when(moved).max(before);
            let seconds = end - before;
            before = end;
            Flight { bytes, seconds }
        };
        let flights = flights(receiver).into_iter().map(flight).collect();
        Ok(Self {
            flights,
            afterwards: forecast.seconds - before,
        })
    }

    /// Returns the bytes of the sender and of the receiver.
    pub fn bytes(&self) -> [f64; 2] {
        [0, 1].map(|party| self.flights.iter().map(|flight| flight.bytes[party]).sum())
    }

    /// Returns the seconds that it takes where the network takes no time.
    pub fn seconds(&self) -> f64 {
        let flights = self.flights.iter().map(|flight| flight.seconds);
        flights.sum::<f64>() + self.afterwards
    }
}

/// Returns the flights that the receiver takes part in: bytes of the sender, and its own.
fn flights(receiver: &Script) -> Vec<[f64; 2]> {
    let mut flights: Vec<[f64; 2]> = Vec::new();
    for stretch in &receiver.0 {
        let bytes = match stretch {
            Stretch::Send(all) => [0.0, all.bytes],
            Stretch::Receive(all) => [all.bytes, 0.0],
            Stretch::Work(_) | Stretch::Take(_) => continue,
            Stretch::Exchange { sending, receiving } => {
                [receiving.traffic()[1], sending.traffic()[0]]
            }
        };
        match flights.last_mut() {
            Some(last) if is_continued(*last, bytes) => {
                last[0] += bytes[0];
                last[1] += bytes[1];
            }
            _ => flights.push(bytes),
        }
    }
    flights
}

/// Returns whether the party that spoke alone goes on, with no answer in between.
fn is_continued(before: [f64; 2], after: [f64; 2]) -> bool {
    let silent = |party: usize| before[party] == 0.0 && after[party] == 0.0;
    silent(0) || silent(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Script {
        text.parse().unwrap()
    }

    #[test]
    fn messages_of_one_party_are_one_flight() {
        let receiver = script("5s100 7s50 3r40 1r2*60 2s10 (4s30|6r20) 9r5");
        assert_eq!(
            flights(&receiver),
            [
                [0.0, 150.0],
                [100.0, 0.0],
                [0.0, 10.0],
                [20.0, 30.0],
                [5.0, 0.0]
            ]
        );
    }
}

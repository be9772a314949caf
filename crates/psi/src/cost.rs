use std::ops::Add;

/// What passes over the wire in one phase: exact, framing not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes that the sender sends.
    pub sender_bytes: u64,
    /// Bytes that the receiver sends.
    pub receiver_bytes: u64,
    /// Flights: each costs half a round trip. Both directions at once are one.
    pub rounds: u64,
}

impl Traffic {
    /// Bytes of both directions.
    pub fn total_bytes(&self) -> u64 {
        self.sender_bytes + self.receiver_bytes
    }
}

impl Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sender_bytes: self.sender_bytes + other.sender_bytes,
            receiver_bytes: self.receiver_bytes + other.receiver_bytes,
            rounds: self.rounds + other.rounds,
        }
    }
}

/// What a run costs on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Before the inputs are known.
    pub offline: Traffic,
    /// After.
    pub online: Traffic,
    /// Rounds less than the sum of both, if the phases run [at once](crate::Plan::at_once).
    pub saved_rounds: u64,
}

impl Cost {
    /// Both phases [at once](crate::Plan::at_once).
    pub fn total(&self) -> Traffic {
        let mut total = self.offline + self.online;
        total.rounds -= self.saved_rounds;
        total
    }
}

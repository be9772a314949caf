use crate::Conversation;

/// The bytes on the wire in one phase: exact, framing not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes that the sender sends.
    pub sender_bytes: u64,
    /// Bytes that the receiver sends.
    pub receiver_bytes: u64,
    /// Flights: each costs half a round trip. Both directions at once are one.
    pub flights: u64,
}

impl Traffic {
    /// Returns the number of bytes of both directions.
    pub fn total_bytes(&self) -> u64 {
        self.sender_bytes + self.receiver_bytes
    }
}

/// The cost of a run on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Cost {
    /// Before the inputs are known.
    pub offline: Traffic,
    /// After.
    pub online: Traffic,
    /// Both phases [at once](crate::run): the same bytes in fewer flights, if the online phase
    /// begins with the party that spoke last, or the phases overlap.
    pub total: Traffic,
}

/// The messages of a run, phase by phase.
#[derive(Debug, Clone, Default)]
pub struct Dialogue {
    offline: Conversation,
    online: Conversation,
    at_once: Conversation,
}

impl Dialogue {
    /// Makes a dialogue of phases that follow each other.
    pub fn new(offline: Conversation, online: Conversation) -> Self {
        Self {
            at_once: offline.clone().then(online.clone()),
            offline,
            online,
        }
    }

    /// Makes a dialogue of phases that overlap, given all messages of a run with both at once.
    ///
    /// # Panics
    /// If `at_once` is not as long as both phases together.
    pub fn overlapping(offline: Conversation, online: Conversation, at_once: Conversation) -> Self {
        let dialogue = Self {
            at_once,
            ..Self::new(offline, online)
        };
        let Cost {
            offline,
            online,
            total,
        } = dialogue.cost();
        assert_eq!(
            total.sender_bytes,
            offline.sender_bytes + online.sender_bytes
        );
        assert_eq!(
            total.receiver_bytes,
            offline.receiver_bytes + online.receiver_bytes
        );
        dialogue
    }

    /// Returns all messages if both phases run at once.
    pub fn at_once(&self) -> &Conversation {
        &self.at_once
    }

    /// Returns what that costs.
    pub fn cost(&self) -> Cost {
        Cost {
            offline: self.offline.traffic(),
            online: self.online.traffic(),
            total: self.at_once.traffic(),
        }
    }
}

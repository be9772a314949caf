//! Goldreich, Micali and Wigderson's protocol, as what several protocols here run a circuit on.

use psijoin_circuit::{
    Side,
    gmw::{
        self,
        triples::{self, Multiplication},
    },
    plain::Gates,
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{Context, Conversation, Error, Role, ots::Ots};

/// The way multiplication triples are made, and their use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gmw {
    /// The OTs that triples are made of.
    pub(crate) extension: Extension,
    /// The operands that a triple multiplies.
    pub(crate) multiplication: Multiplication,
}

impl Gmw {
    /// Makes triples for all gates.
    pub(crate) fn set_up(
        self,
        side: Side,
        gates: &Gates,
        context: &mut Context,
    ) -> Result<gmw::Setup, Error> {
        let rng = &mut context.rng;
        let mut setup = gmw::Setup::new(
            side,
            self.extension,
            self.multiplication,
            context.channel,
            rng,
        )?;
        context.phases.begin("multiplication triples");
        setup.triples().prepare(gates, context.channel)?;
        Ok(setup)
    }

    /// Returns what is said in [`set_up`](Self::set_up): OTs in either direction, those of the
    /// sender first.
    pub(crate) fn triples(self, gates: &Gates) -> Conversation {
        let [first, second] = [Role::Sender, Role::Receiver].map(|sender| Ots {
            extension: self.extension,
            sender,
        });
        let setup = Conversation::default()
            .both(gmw::SEED_BYTES, gmw::SEED_BYTES)
            .then(first.setup())
            .then(second.setup());
        triples::making(gates, self.multiplication).fold(setup, |talk, count| {
            talk.then(first.random(count)).then(second.random(count))
        })
    }

    /// Returns what is said to open the products of each layer.
    pub(crate) fn openings(self, layers: &[Gates]) -> Conversation {
        layers.iter().fold(Conversation::default(), |talk, layer| {
            let bytes = gmw::layer_bytes(layer, self.multiplication);
            talk.both(bytes, bytes)
        })
    }
}

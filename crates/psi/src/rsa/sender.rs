//! The party that signs.

use psijoin_channel::Channel;

use super::{
    NUMBER_BYTES, Params,
    key::PrivateKey,
    public::{encode, hash_key, masks},
};
use crate::{Context, Error, Input, Output, Role, protocol::Party, stream};

/// The sender after the offline phase.
pub(super) struct Sender {
    params: Params,
    key: PrivateKey,
}

impl Sender {
    /// Step 1: makes a key, and sends its public part with the proof.
    pub(super) fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("key");
        let key = PrivateKey::generate(&mut context.rng);
        let roots = key.sign(&key.public.challenges())?;
        let (outbound, _) = channel.halves();
        outbound.send(&key.public.encode(&roots))?;
        Ok(Self {
            params: params.clone(),
            key,
        })
    }
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, key } = *self;
        let (outbound, inbound) = channel.halves();

        // Step 3.
        context.phase("their items");
        let theirs = params.chunks(Role::Receiver);
        let mut blinded = vec![0; theirs.total * NUMBER_BYTES];
        for message in blinded.chunks_mut(theirs.per_message * NUMBER_BYTES) {
            inbound.recv(message)?;
        }

        // Step 4.
        stream::send(outbound, theirs, &|range, message| {
            let bytes = &blinded[range.start * NUMBER_BYTES..range.end * NUMBER_BYTES];
            let numbers = key.public.decode_numbers(bytes)?;
            for signature in key.sign(&numbers)? {
                encode(&signature, message);
            }
            Ok(())
        })?;
        context.phase("own items");
        let order = context.rng.permutation(input.items.len() as u32);
        let hash_key = hash_key(&input);
        let length = params.0.masks;
        stream::send(outbound, params.chunks(Role::Sender), &|range, message| {
            let rows = input.items.rows(order[range].iter().copied());
            let signatures = key.sign(&key.public.hash(&hash_key, &rows))?;
            let masks = masks(&input, length, &signatures);
            length.pack(masks.into_iter(), message);
            Ok(())
        })?;
        Ok(Output::Nothing)
    }
}

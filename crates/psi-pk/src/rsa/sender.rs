//! The party that signs.

use psijoin_psi::{Context, Error, Input, Output, Party, Result, Role, mask_params::MaskParams};

use super::{
    NUMBER_BYTES, chunks,
    key::PrivateKey,
    public::{encode, hash_key, masks},
};
use crate::compare;

/// The sender after the offline phase.
pub(super) struct Sender(PrivateKey);

impl Party for Sender {
    type Params = MaskParams;

    fn offline(_: &MaskParams, context: &mut Context) -> Result<Self, Error> {
        // Step 1.
        context.phases.begin("key");
        let key = PrivateKey::generate(&mut context.rng);
        let roots = key.sign(&key.public.challenges())?;
        context.channel.send(&key.public.encode(&roots))?;
        Ok(Self(key))
    }

    fn online(self, params: &MaskParams, input: &Input, context: &mut Context) -> Result<Output> {
        let Self(key) = self;
        let (outbound, inbound) = context.channel.halves();

        // Step 3.
        context.phases.begin("their items");
        let theirs = chunks(params, Role::Receiver);
        let mut blinded = vec![0; theirs.total * NUMBER_BYTES];
        for message in blinded.chunks_mut(theirs.per_message * NUMBER_BYTES) {
            inbound.recv(message)?;
        }

        // Step 4.
        compare::try_send(outbound, theirs, &|range, message| {
            let bytes = &blinded[range.start * NUMBER_BYTES..range.end * NUMBER_BYTES];
            let numbers = key.public.decode_numbers(bytes)?;
            encode(&key.sign(&numbers)?, message);
            Ok(())
        })?;
        context.phases.begin("own items");
        let order = context.rng.permutation(input.items.len() as u32);
        let hash_key = hash_key(input);
        let length = params.masks;
        let own = chunks(params, Role::Sender);
        compare::try_send(outbound, own, &|range, message| {
            let rows = input.items.rows(order[range].iter().copied());
            let signatures = key.sign(&key.public.hash(&hash_key, &rows))?;
            length.pack(masks(input, length, &signatures).into_iter(), message);
            Ok(())
        })?;
        Ok(Output::Nothing)
    }
}

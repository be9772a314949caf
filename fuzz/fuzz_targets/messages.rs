//! Every message of every protocol, from a peer that sends what it likes in messages of the
//! right length: a party must end with an error or a result, and not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_fuzz::scripted_channel;
use psijoin_psi::{Context, Input, Items, Request, Role, protocol, registry};

fuzz_target!(|script: (u8, bool, u8, u8, Vec<Vec<u8>>)| {
    let (protocol, is_sender, sender_items, receiver_items, messages) = script;
    let protocol = registry::PROTOCOLS[usize::from(protocol) % registry::PROTOCOLS.len()];
    let request = Request::rows(sender_items.into(), receiver_items.into()).expect("small sets");
    let plan = registry::plan(protocol, &request).expect("parameters for small sets");
    let (role, own) = if is_sender {
        (Role::Sender, sender_items)
    } else {
        (Role::Receiver, receiver_items)
    };
    let fingerprints: Vec<_> = (0..own).map(|i| [i; 32]).collect();
    let joint_seed = [1; 32];
    let items = Items::digest(&fingerprints, &joint_seed, plan.digest_bytes());
    let input = Input {
        items: &items,
        joint_seed: &joint_seed,
    };
    let mut channel = scripted_channel(messages);
    let _ = protocol::run(&*plan, role, input, &mut channel, &mut Context::new());
});

//! Every message of every protocol, from a peer that first sends what it should, and then what
//! it likes in messages of the right length: a party must end with an error or a result, and
//! not panic.
#![no_main]

use std::thread;

use libfuzzer_sys::fuzz_target;
use psijoin::{
    Context, Input, Items, JointSeed, OutputKind, Payloads, Plan, Request, Role, registry,
    run as run_party,
};
use psijoin_channel::{Channel, memory};
use psijoin_fuzz::{scripted_after, scripted_channel};

/// An honest start costs a base OT and more: few inputs get one, of up to this many messages.
const HONEST_UP_TO: u8 = 8;

/// The payloads of both parties, where a protocol carries them.
const PAYLOADS: OutputKind = OutputKind::Payloads(Payloads {
    from_sender: 5,
    back: Some(3),
});

fuzz_target!(|script: (u8, bool, bool, u8, u8, u8, Vec<Vec<u8>>)| {
    let (protocol, is_sender, gives, sender_items, receiver_items, honest, messages) = script;
    let protocol = registry::PROTOCOLS[usize::from(protocol) % registry::PROTOCOLS.len()];
    let request = Request::rows(sender_items.into(), receiver_items.into()).expect("small sets");
    let request = match gives && protocol.computes(&PAYLOADS) {
        true => request.output(PAYLOADS),
        false => request,
    };
    let plan = protocol.plan(&request).expect("parameters for small sets");
    let role = if is_sender {
        Role::Sender
    } else {
        Role::Receiver
    };
    if honest == 0 || honest > HONEST_UP_TO {
        run(&plan, role, scripted_channel(messages));
        return;
    }
    let (own, peers) = memory::pair();
    thread::scope(|scope| {
        scope.spawn(|| run(&plan, role.other(), peers));
        run(&plan, role, scripted_after(honest.into(), own, messages));
    });
});

fn run(plan: &Plan, role: Role, mut channel: Channel) {
    let own = role.items(plan.request().sizes) as u8;
    let fingerprints: Vec<_> = (0..own).map(|i| [i; 32]).collect();
    let joint_seed = JointSeed::insecure_fixed([1; 32]);
    let items = Items::digest(&fingerprints, &joint_seed, plan.digest_bytes());
    let input = Input {
        items: &items,
        columns: &[],
        payloads: &vec![7; items.len() * plan.request().output.payload_bytes(role)],
        joint_seed: &joint_seed,
    };
    let _ = run_party(plan, role, &input, &mut Context::new(&mut channel));
}

//! Any function of the shared items: each party gets shares of the intersection, and both evaluate
//! a circuit over them. `cargo run --example custom_circuit`.

#![allow(clippy::print_stdout)]

use std::{error::Error, thread};

use psijoin::{
    BaseOts, Channel, Columns, Context, Join, Output, OutputKind, Role,
    channel::memory,
    circuits::{self, Backend, Circuit, Places, arithmetic, compare},
};

/// The number of shared items whose number is at least 100. The numbers are the sender's.
struct Large;

impl Circuit for Large {
    fn outputs<B: Backend>(
        &self,
        backend: &mut B,
        places: &Places<B::Wires>,
    ) -> Result<Vec<B::Wires>, B::Error> {
        let (sign, number) = places.columns[0].split_last().expect("64 wires");
        let positive = backend.not(sign);
        let large = compare::at_least(backend, number, 100)?;
        let counted = backend.and(&positive, &large)?;
        arithmetic::count_ones(backend, &counted)
    }
}

/// Plays a party: the sender learns nothing, the receiver the count.
fn play(
    role: Role,
    channel: &mut Channel,
    items: &[&str],
    columns: &[Vec<i64>],
) -> Result<Option<u64>, Box<dyn Error + Send + Sync>> {
    let join = Join::default().output(OutputKind::Shares(Columns {
        sender: 1,
        receiver: 0,
    }));
    let output = match role {
        Role::Sender => join.send(channel, items, columns)?,
        Role::Receiver => join.receive(channel, items, columns)?,
    };
    let Output::Shares(shares) = output else {
        unreachable!("shares were asked for")
    };
    let bits = circuits::evaluate(
        &Large,
        role,
        BaseOts::default(),
        &shares,
        &mut Context::new(channel),
    )?;
    // A wire per bit of the count, the lowest first.
    let number = |bits: Vec<circuits::Bits>| {
        let bits = (0..).zip(&bits);
        bits.map(|(i, bit)| u64::from(bit.get(0)) << i).sum()
    };
    Ok(bits.map(number))
}

pub(crate) fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (mut alice, mut bob) = memory::pair();
    let count = thread::scope(|scope| {
        let columns = [vec![250, 99, 100]];
        let sent =
            scope.spawn(move || play(Role::Sender, &mut alice, &["ann", "bob", "eve"], &columns));
        let count = play(Role::Receiver, &mut bob, &["bob", "joe", "ann"], &[])?;
        assert_eq!(sent.join().expect("no panic")?, None);
        Ok::<_, Box<dyn Error + Send + Sync>>(count)
    })?;
    println!("{count:?} shared item has a number of at least 100");
    assert_eq!(count, Some(1));
    Ok(())
}

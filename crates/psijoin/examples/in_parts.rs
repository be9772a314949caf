//! Tables that give their items part by part, so that they need not fit into memory:
//! `cargo run --example in_parts`.
//!
//! Here a table is a folder with a file of fingerprints per part, written in one pass over the
//! items.

#![allow(clippy::print_stdout)]

use std::{
    error::Error,
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use psijoin::{
    Context, Fingerprint, JointSeed, Plan, Request, Role,
    channel::memory,
    parts::{self, Part, Table},
    registry,
};

/// A folder of parts. A file has a fingerprint and its item's number per item.
struct Folder {
    path: PathBuf,
    plan: Plan,
    joint_seed: JointSeed,
    found: Mutex<Vec<u32>>,
}

impl Folder {
    /// Sorts items into parts, a few at a time.
    fn write(
        path: &Path,
        plan: Plan,
        joint_seed: JointSeed,
        items: impl Iterator<Item = String>,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let count = plan.parts().ok_or("a plan in parts")?.shape.parts;
        fs::create_dir(path)?;
        let files = (0..count).map(|part| File::create(path.join(part.to_string())));
        let mut files: Vec<_> = files
            .map(|file| file.map(BufWriter::new))
            .collect::<Result<_, _>>()?;
        for (number, item) in (0_u32..).zip(items) {
            let fingerprint: Fingerprint = blake3::derive_key("an example", item.as_bytes());
            let part = plan.items(&[fingerprint], &joint_seed).parts()[0];
            let file = &mut files[usize::from(part)];
            file.write_all(&fingerprint)?;
            file.write_all(&number.to_le_bytes())?;
        }
        files.iter_mut().try_for_each(BufWriter::flush)?;
        Ok(Self {
            path: path.into(),
            plan,
            joint_seed,
            found: Mutex::default(),
        })
    }
}

impl Table for Folder {
    fn part(&self, part: u32) -> Result<Part, psijoin::Error> {
        let bytes = fs::read(self.path.join(part.to_string()))
            .map_err(|error| psijoin::Error::Table(Box::new(error)))?;
        let (records, _) = bytes.as_chunks::<36>();
        let (fingerprints, positions): (Vec<Fingerprint>, Vec<u32>) = records
            .iter()
            .map(|record| {
                let (fingerprint, number) = record.split_at(32);
                let number = number.try_into().expect("4 bytes");
                let fingerprint: Fingerprint = fingerprint.try_into().expect("32 bytes");
                (fingerprint, u32::from_le_bytes(number))
            })
            .unzip();
        Ok(Part {
            items: self.plan.items(&fingerprints, &self.joint_seed),
            positions,
            columns: Vec::new(),
            payloads: Vec::new(),
        })
    }

    fn found(&self, _part: u32, rows: &[u32], _payloads: &[u8]) -> Result<(), psijoin::Error> {
        self.found.lock().expect("no panic").extend(rows);
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    // Sets of more than two million items are planned in parts. These are small.
    let plan = || {
        let request = Request::rows(5000, 4000)?;
        parts::in_parts(registry::find("rr22").expect("it is there"), &request, 3)
    };
    let folder = std::env::temp_dir().join(format!("psijoin-parts-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let (mut alice, mut bob) = memory::pair();

    let path = folder.join("alice");
    let alice = thread::spawn(move || {
        let plan = plan()?;
        // Both sets are fixed; now the seed is drawn that assigns items to parts.
        let joint_seed = JointSeed::agree(&mut alice, true)?;
        let items = (0..5000).map(|number| format!("customer {number}"));
        let table = Folder::write(&path, plan, joint_seed, items)?;
        let context = &mut Context::new(&mut alice);
        parts::run(
            &table.plan,
            Role::Sender,
            &table,
            &table.joint_seed,
            context,
        )?;
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });
    let plan = plan()?;
    let joint_seed = JointSeed::agree(&mut bob, false)?;
    let items = (3000..7000).map(|number| format!("customer {number}"));
    let table = Folder::write(&folder.join("bob"), plan, joint_seed, items)?;
    let context = &mut Context::new(&mut bob);
    parts::run(
        &table.plan,
        Role::Receiver,
        &table,
        &table.joint_seed,
        context,
    )?;
    alice.join().expect("no panic")?;
    fs::remove_dir_all(&folder)?;

    let mut found = table.found.into_inner()?;
    found.sort_unstable();
    assert!(found.into_iter().eq(0..2000));
    println!("Bob's first 2000 customers are Alice's too.");
    Ok(())
}

//! Large sessions in parts of any size, to find which size is best: both parties in this process,
//! on random tables that are made part by part.
//!
//! ```text
//! cargo bench -p psijoin --bench parts -- rr22 2^24 --parts 8,16,32 --runs 3
//! cargo bench -p psijoin --bench parts -- rr22-circuit 2^21 --parts 4 --count --streams 2 --threads 2
//! ```
//!
//! With `--memory BYTES`, each party first sorts its table into parts, and holds no more of it in
//! memory than that; what is beyond is spilled to `--spill-dir`, or to the system's folder for
//! temporary files:
//!
//! ```text
//! cargo bench -p psijoin --bench parts -- rr22 1e8 --parts 70 --memory 1e8 --streams 3 --threads 2 --runs 1
//! ```
//!
//! With `--alone`, each party then runs alone, with the same randomness, against what the other one
//! said: what it takes if it has the processor to itself.
//!
//! A line per run: wall time, and what all threads of both parties computed, in all and per item of
//! one side; bits per item; and the most memory of the process so far.

#![allow(clippy::print_stdout)]

use std::{fs, thread, time::Instant};

use psijoin::{
    Channel, Context, Error, JointSeed, Output, OutputKind, Plan, Pool, Request, Role,
    channel::{
        memory,
        playback::playback,
        transcript::{Recorder, recorded},
    },
    parts::{
        self, Spilled, Table,
        synthetic::{Portion, Synthetic, SyntheticTable},
    },
    registry,
    spill::{Budget, Folder, Spill},
};
use psijoin_block::{Block, Prg};
use psijoin_runtime::parallel;

fn main() {
    // Cargo adds `--bench`.
    let args: Vec<String> = (std::env::args().skip(1).filter(|arg| arg != "--bench")).collect();
    let [protocol, items, options @ ..] = &args[..] else {
        println!("which protocol, of how many items? See the head of this file.");
        return;
    };
    let option = |name: &str| {
        let at = options.iter().position(|option| option == name);
        at.and_then(|at| options.get(at + 1))
    };
    let number = |name, otherwise| option(name).map_or(otherwise, |text| size(text) as usize);
    let output = match options.iter().any(|option| option == "--count") {
        true => OutputKind::Count,
        false => OutputKind::Rows,
    };
    let protocol = registry::find(protocol).expect("a protocol of the registry");
    let items = size(items);
    let request = Request::rows(items, items).expect("sizes that are supported");
    let request = request.output(output);
    let setting = Setting {
        streams: number("--streams", 1),
        threads: number("--threads", 1),
        alone: options.iter().any(|option| option == "--alone"),
        memory: option("--memory").map(|text| size(text)),
        folder: option("--spill-dir").map_or_else(Folder::temporary, Folder::new),
    };
    let all_parts = option("--parts").map_or("16", |text| text).split(',');
    for count in all_parts.map(|text| size(text) as u32) {
        let plan = parts::in_parts(protocol, &request, count).expect("a plan");
        for _ in 0..number("--runs", 3) {
            setting.measure(&plan);
        }
    }
}

/// Reads `65536`, `2^16` or `1e6`.
fn size(text: &str) -> u64 {
    let power = |exponent: &str| 1 << exponent.parse::<u32>().expect("an exponent");
    match text.strip_prefix("2^") {
        Some(exponent) => power(exponent),
        None => text.parse::<f64>().expect("a number") as u64,
    }
}

struct Setting {
    streams: usize,
    /// Of each party.
    threads: usize,
    /// `true` if each party runs alone, too.
    alone: bool,
    /// The bytes of its table that each party holds in memory, if it spills.
    memory: Option<u64>,
    /// The folder that it spills to.
    folder: Folder,
}

impl Setting {
    fn measure(&self, plan: &Plan) {
        let joint_seed = &JointSeed::insecure_fixed([7; 32]);
        let items = plan.request().sizes.sender();
        let sets = Synthetic::new(plan, items / 2, joint_seed);
        let [sender, receiver] = [Role::Sender, Role::Receiver].map(|role| sets.table(role));
        let spilled = self.memory.map(|memory| {
            let both = [(Role::Sender, &sender), (Role::Receiver, &receiver)];
            both.map(|(role, table)| self.spilled(plan, role, table, joint_seed, memory))
        });
        let [senders_table, receivers_table]: [&dyn Table; 2] = match &spilled {
            Some([sender, receiver]) => [sender, receiver],
            None => [&sender, &receiver],
        };
        let party = |role, table: &dyn Table, mut channels: Vec<Channel>| {
            let pool = Pool::new(self.threads).expect("threads");
            pool.run(|| {
                let (first, further) = channels.split_first_mut().expect("a stream");
                let randomness = Prg::from_seed(Block(role as u128));
                let context = Context::new(first).streams(further);
                parts::run(
                    plan,
                    role,
                    table,
                    joint_seed,
                    &mut context.randomness(randomness),
                )
            })
        };
        let pairs = memory::Builder::new().pairs(parts::channels(self.streams));
        let (senders, receivers): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let (senders, by_sender) = self.recorded(senders);
        let (receivers, by_receiver) = self.recorded(receivers);
        let (started, computed) = (Instant::now(), processor_seconds());
        let learned: Result<[Output; 2], Error> = thread::scope(|scope| {
            let sent = scope.spawn(|| party(Role::Sender, senders_table, senders));
            let received = party(Role::Receiver, receivers_table, receivers)?;
            Ok([sent.join().expect("no panic")?, received])
        });
        let seconds = started.elapsed().as_secs_f64();
        let computed = processor_seconds() - computed;
        let [sent, received] = learned.expect("both succeed");
        if let Some([_, mut spilled]) = spilled {
            receiver.check(&spilled.take_found().rows);
        }
        assert!(sets.is_met(&sent, &received, &receiver), "a wrong result");
        if self.alone {
            let by_peers = [(Role::Sender, by_receiver), (Role::Receiver, by_sender)];
            for (role, said) in by_peers {
                let again = said
                    .into_iter()
                    .map(|said| playback(said.messages()))
                    .collect();
                let table = sets.table(role);
                let started = Instant::now();
                party(role, &table, again).expect("it succeeds again");
                println!("{role} alone: {:.2} s", started.elapsed().as_secs_f64());
            }
        }
        let shape = plan.parts().expect("a plan in parts").shape;
        println!(
            "{} {items}: {} parts of {}, {} streams, {} threads: {seconds:.2} s; processor {computed:.2} s, {:.1} ns \
             per item; {:.1} bits per item; {} MB at most",
            plan.info().name,
            shape.parts,
            shape.capacities.sender(),
            self.streams,
            self.threads,
            computed * 1e9 / items as f64,
            plan.cost().total.total_bytes() as f64 * 8.0 / items as f64,
            peak_megabytes(),
        );
    }
}

impl Setting {
    /// Returns the same table, sorted into parts.
    fn spilled(
        &self,
        plan: &Plan,
        role: Role,
        table: &SyntheticTable<'_>,
        joint_seed: &JointSeed,
        memory: u64,
    ) -> Spilled {
        const AT_ONCE: usize = 1 << 16;
        let rows = role.items(plan.request().sizes) as u32;
        let spill = Spill::new(Budget::new(memory), self.folder.clone());
        let spilled = Spilled::new(plan, role, joint_seed, rows, &spill);
        let spilled = spilled.expect("room in the folder");
        let started = Instant::now();
        let add = |number| {
            let Portion {
                fingerprints,
                positions,
                columns,
            } = table.portion(number as u32);
            for start in (0..positions.len()).step_by(AT_ONCE) {
                let some = start..positions.len().min(start + AT_ONCE);
                let columns: Vec<_> = columns.iter().map(|column| &column[some.clone()]).collect();
                let added =
                    spilled.add(&fingerprints[some.clone()], &positions[some], &columns, &[]);
                added.expect("room in the folder");
            }
        };
        let pool = Pool::new(self.threads).expect("threads");
        pool.run(|| parallel::for_each(table.portions() as usize, &add));
        println!(
            "the {role} sorted its items in {:.2} s, and spilled {} MB; {} MB at most",
            started.elapsed().as_secs_f64(),
            spilled.spilled_bytes() / 1_000_000,
            peak_megabytes(),
        );
        spilled
    }

    /// Returns the channels, recorded if a party's messages are needed.
    fn recorded(&self, streams: Vec<Channel>) -> (Vec<Channel>, Vec<Recorder>) {
        match self.alone {
            true => streams.into_iter().map(recorded).unzip(),
            false => (streams, Vec::new()),
        }
    }
}

/// Returns the time that all threads of this process have computed, from the kernel's ticks of a
/// hundredth of a second: proc_pid_stat(5).
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks = ticks.filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    peak.and_then(|kibibytes| kibibytes.trim().parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes * 1024 / 1_000_000)
}

//! Large sessions in parts, both parties in this process, over streams in memory.
//!
//! ```text
//! cargo bench -p psijoin --bench parts -- rr22 2^24 --streams 2
//! ```
use std::{fs, thread, time::Instant};

use psijoin::{Context, JointSeed, OutputKind, Pool, Request, Role, channel::memory, registry};
use psijoin_psi_parts::{self as parts, synthetic::Synthetic};

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let size = |text: &str| match text.split_once('^') {
        Some((_, e)) => 1_u64 << e.parse::<u32>().unwrap(),
        None => text.parse::<f64>().unwrap() as u64,
    };
    let protocol = registry::find(&args[0]).unwrap();
    let items = size(&args[1]);
    let flag = |name: &str, default: u64| {
        let at = args.iter().position(|a| a == name);
        at.map_or(default, |i| size(&args[i + 1]))
    };
    let output = if args.iter().any(|a| a == "--count") {
        OutputKind::Count
    } else {
        OutputKind::Rows
    };
    let streams = flag("--streams", 1) as usize;
    let k = flag("--parts", items.div_ceil(1 << 20)) as u32;
    let request = Request::rows(items, items).unwrap().output(output.clone());
    let plan = parts::in_parts(protocol, &request, k.max(2)).unwrap();
    let shape = plan.parts().unwrap().shape;
    for _ in 0..flag("--runs", 3) {
        let seed = JointSeed::insecure_fixed([7; 32]);
        let sets = Synthetic::new(&plan, items / 2, &seed);
        let (sender, receiver) = (sets.table(Role::Sender), sets.table(Role::Receiver));
        let mut ends: Vec<_> = (0..streams).map(|_| memory::pair()).collect();
        let (mut a, mut b): (Vec<_>, Vec<_>) = ends.drain(..).unzip();
        let (started, cpu) = (Instant::now(), ticks());
        let workers = flag("--threads", 1) as usize;
        let run = |role, table: &dyn parts::Table, ends: &mut Vec<psijoin::Channel>| {
            let (main, more) = ends.split_first_mut().unwrap();
            Pool::new(workers).unwrap().run(|| {
                let mut context = Context::new(main).streams(more);
                parts::run(&plan, role, table, &seed, &mut context)
            })
        };
        let (sent, received) = thread::scope(|scope| {
            let sent = scope.spawn(|| run(Role::Sender, &sender, &mut a));
            (run(Role::Receiver, &receiver, &mut b), sent.join().unwrap())
        });
        let (seconds, cpu) = (
            started.elapsed().as_secs_f64(),
            (ticks() - cpu) as f64 / 100.0,
        );
        let (sent, received) = (sent.unwrap(), received.unwrap());
        if output == OutputKind::Rows {
            assert_eq!(receiver.found(), Some(sets.shared()));
        } else {
            assert!([&sent, &received].contains(&&psijoin::Output::Count(sets.shared())));
        }
        let bits = plan.cost().total.total_bytes() as f64 * 8.0 / items as f64;
        let hwm = fs::read_to_string("/proc/self/status").unwrap();
        let hwm = hwm
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
            .to_owned();
        println!(
            "{} {items} parts {} of {} streams {streams}: {seconds:.2} s, cpu {cpu:.2} s = {:.1} ns/item, {bits:.1} b/e, {hwm}",
            args[0],
            shape.parts,
            shape.capacities.sender(),
            cpu * 1e9 / items as f64
        );
    }
}

fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let f: Vec<&str> = fields.split_whitespace().collect();
    f[11].parse::<u64>().unwrap() + f[12].parse::<u64>().unwrap()
}

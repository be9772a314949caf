//! Counts of instructions by callgrind, compared with those of `benches/instructions.txt` of the
//! crate whose bench this is.

use std::{env, ffi::OsStr, fs, process::Command, process::ExitCode};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// Counts that differ by at most this share are equal: what waits for a message counts, too, and so
/// does the luck of whoever draws numbers.
const SCATTER: f64 = 0.01;

/// Returns a program's command under callgrind. Its standard error ends with the count.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program);
    command
}

/// Returns the count at the end of what a program printed on standard error under callgrind.
pub(crate) fn count(said: &str) -> u64 {
    let collected = said.lines().find_map(|line| line.split_once("Collected :"));
    let (_, count) = collected.expect("callgrind tells what it collected");
    count.trim().parse().expect("a number")
}

/// Prints these counts, a line each, and compares them with the file's. With `--update` on the
/// command line it writes them there instead. Those that are equal stay as they are in the file.
pub(crate) fn compare(counts: &[(String, u64)]) -> ExitCode {
    let before = fs::read_to_string(FILE).unwrap_or_default();
    let compiler = Command::new("rustc").arg("--version").output();
    let compiler = compiler.expect("rustc is there").stdout;
    let mut now = format!(
        "instructions, by callgrind; {}",
        String::from_utf8_lossy(&compiler)
    );
    print!("{now}");
    for (name, count) in counts {
        let known = before.lines().find_map(|line| figure_of(line, name));
        let change = known.map(|known| *count as f64 / known as f64 - 1.0);
        let figure = match (known, change) {
            (Some(known), Some(change)) if change.abs() <= SCATTER => known,
            _ => rounded(*count),
        };
        let line = format!("{figure:>14}  {name}\n");
        let change = change.map_or("new".into(), |change| format!("{:+.1} %", change * 100.0));
        print!("{change:>9}{line}");
        now += &line;
    }
    if env::args().any(|argument| argument == "--update") {
        fs::write(FILE, now).expect("the file can be written");
    } else if before != now {
        println!("\nbenches/instructions.txt has other figures: see why, and write it by --update");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Returns the figure of a line of the file, if the line is of this case.
fn figure_of(line: &str, name: &str) -> Option<u64> {
    let (figure, of) = line.trim_start().split_once("  ")?;
    (of == name).then(|| figure.parse().ok())?
}

/// To three digits.
fn rounded(count: u64) -> u64 {
    let unit = 10_u64.pow(count.max(1).ilog10().saturating_sub(2));
    (count + unit / 2) / unit * unit
}

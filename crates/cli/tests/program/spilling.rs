//! `--memory` and `--spill-dir`: tables that do not fit into the memory they are given.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    plan::{calibration, plan},
    support::{Folder, Joined, PATIENCE, Process, exists, join, lines, run, start_pair},
};

/// Writes both tables: the receiver has keys 0 to 1999, each in two rows, and the sender 500 to
/// 3499; some rows have no key.
fn tables(folder: &Folder) -> [String; 2] {
    let row = |key: u32, more: u32| match key % 97 {
        0 => format!(",{more}\n"),
        _ => format!("key {key},{}.{more}\n", key % 10),
    };
    let mine: String = (0..4000).map(|at| row(at * 7 % 2000, at / 2000)).collect();
    let theirs: String = (500..3500).map(|key| row(key, 5)).collect();
    [
        folder.file("mine.csv", format!("id,a\n{mine}")),
        folder.file("theirs.csv", format!("id,b\n{theirs}")),
    ]
}

/// Returns the rows of the receiver that are shared.
fn shared(folder: &Folder) -> Vec<String> {
    let is_shared = |row: &&str| {
        let key = row
            .split(',')
            .next()
            .and_then(|key| key.strip_prefix("key "));
        key.is_some_and(|key| key.parse::<u32>().unwrap() >= 500)
    };
    let mine = folder.read("mine.csv");
    mine.lines()
        .skip(1)
        .filter(is_shared)
        .map(str::to_owned)
        .collect()
}

/// Runs both with all of their tables on disk, in a folder of their own.
fn joined(folder: &Folder, more: &[&str], receivers: &[&str], senders: &[&str]) -> Joined {
    let [mine, theirs] = tables(folder);
    let spill = folder.path("spill");
    let _ = fs::create_dir(&spill);
    let common = [
        &["--insecure-plaintext", "--key", "id", "--parts", "3"][..],
        &["--table-memory", "0kB", "--spill-dir", &spill],
        more,
    ]
    .concat();
    let joined = join(
        &[&common[..], &["--input", &mine], receivers].concat(),
        &[&common[..], &["--input", &theirs], senders].concat(),
    );
    assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
    joined
}

fn spilled_bytes(folder: &Folder, report: &str) -> u64 {
    let report: Value = serde_json::from_str(&folder.read(report)).unwrap();
    report["spilled_bytes"].as_u64().unwrap()
}

#[test]
fn rows_are_the_same_as_in_memory() {
    for least in [&[][..], &["--min-intersection", "1000"]] {
        let folder = Folder::new();
        let [output, mine, theirs] =
            ["out.csv", "mine.json", "theirs.json"].map(|name| folder.path(name));
        let receivers = ["--output", &output, "--report", &mine];
        let joined = joined(&folder, least, &receivers, &["--report", &theirs]);
        let keys = (500..2000).filter(|key| key % 97 != 0).count();
        let said = format!("{},{:03} shared keys", keys / 1000, keys % 1000);
        joined.receiver.says(0, &[&said, "did not fit into memory"]);
        joined.sender.says(0, &["did not fit into memory"]);
        let rows = shared(&folder);
        assert_eq!(rows.len(), 2 * keys);
        assert_eq!(
            folder.read("out.csv"),
            format!("id,a\n{}\n", rows.join("\n"))
        );
        let [mine, theirs] = ["mine.json", "theirs.json"].map(|name| spilled_bytes(&folder, name));
        let keys = |all: std::ops::Range<u64>| all.filter(|key| key % 97 != 0).count() as u64;
        // Two rows of each key with its fingerprint, one of them as a repetition, and the key in
        // its part.
        assert_eq!(mine, keys(0..2000) * (2 * 36 + 8 + 20));
        assert_eq!(theirs, keys(500..3500) * (36 + 20));
    }
}

/// With the least memory, 14 MB of which are for the stores of a table.
#[test]
fn a_plan_says_how_much_is_spilled() {
    let folder = Folder::new();
    let (mine, theirs) = (2_200_000, 1000);
    let inputs = [("mine", mine), ("theirs", theirs)].map(|(name, keys)| {
        let words = folder.file(name, lines(0..keys));
        [words, folder.path(&format!("{name}.json"))]
    });
    let least = ["--memory", "330MB"];
    let common = ["--insecure-plaintext", "--protocol", "rr22"];
    let party = |of: usize| {
        let [input, report] = &inputs[of];
        [&["--input", input, "--report", report], &common[..], &least].concat()
    };
    let output = folder.path("shared");
    let joined = join(&[&party(0)[..], &["--output", &output]].concat(), &party(1));
    joined.sender.says(0, &[]);
    joined.receiver.says(0, &["did not fit into memory"]);

    let calibration = calibration(&folder, &["rr22"], &["rows"]);
    let items = format!("{theirs}:{mine}");
    let planned = plan(&calibration, &[&["--items", &items], &least[..]].concat());
    let [rr22] = &planned[..] else {
        panic!("{planned:?}");
    };
    let said = |role: &str| rr22[format!("{role}_spilled_bytes")].as_u64().unwrap();
    let spilled = ["mine.json", "theirs.json"].map(|report| spilled_bytes(&folder, report));
    assert_eq!((said("sender"), spilled[1]), (0, 0));
    let bounds = spilled[0]..spilled[0] * 3 / 2;
    assert!(bounds.contains(&said("receiver")), "{bounds:?}: {rr22}");
}

#[test]
fn what_is_computed_is_the_same_as_in_memory() {
    let folder = Folder::new();
    tables(&folder);
    let rows = shared(&folder);
    let tenths = |row: &String| {
        let (_, number) = row.split_once(',').unwrap();
        number.replace('.', "").parse::<u64>().unwrap()
    };
    let mine: u64 = rows.iter().map(tenths).sum();
    let theirs: u64 = (500..2000)
        .filter(|key| key % 97 != 0)
        .map(|key| key % 10 * 10 + 5)
        .sum();
    let sums = |sum: u64| format!("{}.{}", sum / 10, sum % 10).replace(".0", "");
    let sums = format!("a\t{}\nb\t{}\n", sums(mine), sums(theirs));
    let count = format!("{}\n", rows.len() / 2);
    for (kind, printed) in [
        ("count", &*count),
        ("threshold:1000", "reached\n"),
        ("threshold:2000", "not reached\n"),
        ("sum:a,b", &sums),
    ] {
        let kind = ["--output-kind", kind];
        let allowed = ["--allow-sums-that-reveal-keys"];
        let joined = joined(&folder, &kind, &[], &allowed);
        joined.sender.says(0, &[]);
        assert_eq!(joined.receiver.says(0, &[]).stdout, printed);
    }
    let joined = joined(&folder, &["--min-intersection", "1990"], &[], &[]);
    for ended in joined.both() {
        ended.says(6, &["fewer than 1,990 keys"]);
    }
}

/// A count by `dh` goes batch by batch. The excess is the affair of the side whose memory it
/// exceeds.
#[test]
fn a_count_by_dh_is_the_same_whoever_spills() {
    let folder = Folder::new();
    let [mine, theirs] = tables(&folder);
    let count = format!("{}\n", shared(&folder).len() / 2);
    let [spill, of_mine, of_theirs] =
        ["spill", "mine.json", "theirs.json"].map(|name| folder.path(name));
    fs::create_dir(&spill).unwrap();
    let common = ["--insecure-plaintext", "--key", "id", "--threads", "2"];
    let common = [&common[..], &["--protocol", "dh", "--output-kind", "count"]].concat();
    let small = ["--table-memory", "0kB", "--spill-dir", &spill];
    let party = |input, report, spills| {
        let small = if spills { &small[..] } else { &[] };
        [&common, &["--input", input, "--report", report][..], small].concat()
    };

    let keys = |all: std::ops::Range<u64>| all.filter(|key| key % 97 != 0).count() as u64;
    let (receivers, senders) = (keys(0..2000), keys(500..3500));
    // A mask has 40 + 1 bits, and one for each doubling of 6 million pairs.
    let (digest, element, mask) = (16, 32, 8);
    let of_all = [
        receivers * (2 * 36 + 8 + digest + mask) + senders * (element + mask),
        senders * (36 + digest) + receivers * element,
    ];
    for spills in [[true, true], [true, false], [false, true]] {
        let [mine, theirs] = [
            (&mine, &of_mine, spills[0]),
            (&theirs, &of_theirs, spills[1]),
        ]
        .map(|(input, report, spills)| party(input, report, spills));
        let joined = join(&mine, &theirs);
        joined.sender.says(0, &[]);
        assert_eq!(joined.receiver.says(0, &[]).stdout, count);
        let spilled = ["mine.json", "theirs.json"].map(|name| spilled_bytes(&folder, name));
        let expected = [0, 1].map(|party| if spills[party] { of_all[party] } else { 0 });
        assert_eq!(spilled, expected, "{spills:?}");
        assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
    }

    // A job keeps the table for another attempt.
    let [my_job, their_job] = ["my job", "their job"].map(|name| folder.path(name));
    let with_job = |input, report, job| {
        let job = ["--job", job];
        [&party(input, report, true)[..], &job].concat()
    };
    let joined = join(
        &with_job(&mine, &of_mine, &my_job),
        &with_job(&theirs, &of_theirs, &their_job),
    );
    joined.sender.says(0, &[]);
    assert_eq!(joined.receiver.says(0, &[]).stdout, count);
}

/// Shares know rows, not items.
#[test]
fn shares_name_the_rows_of_the_table() {
    let folder = Folder::new();
    let [mine, theirs] = ["mine.shares", "theirs.shares"].map(|name| folder.path(name));
    let kind = ["--output-kind", "shares"];
    let joined = joined(&folder, &kind, &["--output", &mine], &["--output", &theirs]);
    for ended in joined.both() {
        ended.says(0, &[]);
    }
    let rows = |path: &str| {
        let file = fs::File::open(path).unwrap();
        psijoin::share_file::File::read(std::io::BufReader::new(file))
            .unwrap()
            .rows
    };
    let mut rows: Vec<u64> = rows(&mine).unwrap().into_iter().flatten().collect();
    rows.sort_unstable();
    let first = (0..2000_u64).filter(|at| at * 7 % 2000 % 97 != 0);
    assert!(rows.into_iter().eq(first));
}

#[test]
fn a_folder_that_cannot_be_used_is_named_on_this_side() {
    let folder = Folder::new();
    let [mine, theirs] = tables(&folder);
    for there in ["missing", "mine.csv"] {
        let there = folder.path(there);
        let common = ["--insecure-plaintext", "--key", "id", "--parts", "3"];
        let small = ["--table-memory", "0kB", "--spill-dir", &there];
        let joined = join(
            &[&common[..], &["--input", &mine]].concat(),
            &[&common[..], &["--input", &theirs], &small].concat(),
        );
        joined.sender.says(3, &[&there, "--spill-dir"]);
        joined.receiver.says(7, &[]);
    }
}

/// While rows are read; and while items go to their parts, where all rows fit into memory and stay
/// to be aligned.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_runs_full_is_named_on_this_side() {
    for (memory, blocks, is_poured) in [("0kB", 100, false), ("110kB", 40, true)] {
        let folder = Folder::new();
        let words = folder.file("words", lines(0..3000));
        let [spill, output] = ["spill", "shared"].map(|name| folder.path(name));
        fs::create_dir(&spill).unwrap();
        let common = ["--insecure-plaintext", "--parts", "3", "--input", &words];
        let aligned: &[&str] = match is_poured {
            true => &["--learn", "both", "--align"],
            false => &[],
        };
        let common = [&common[..], aligned].concat();
        let (receiver, address) =
            Process::listen("receive", &[&common[..], &["--output", &output]].concat());
        let small = ["--table-memory", memory, "--spill-dir", &spill];
        let args = [&["send", "--connect", &address], &common[..], &small].concat();
        let sender = Process::start_with_small_files(blocks, &args).end();
        let full = format!("no more room in {spill} for what does not fit into memory");
        sender.says(3, &[&full, "free some", "--spill-dir", "--memory"]);
        assert_eq!(sender.stderr.contains("to move"), is_poured, "{sender:#?}");
        receiver.end().says(7, &[]);
        assert!(!exists(&output));
        assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
    }
}

/// While rows are read, and while parts run.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_both_and_leaves_nothing_on_disk() {
    for (rows, parts, is_agreed) in [(1_000_000, "2", false), (4000, "61", true)] {
        let folder = Folder::new();
        let words = folder.file("words", lines(0..rows));
        let few = folder.file("few", lines(0..4000));
        let [spill, output] = ["spill", "shared"].map(|name| folder.path(name));
        fs::create_dir(&spill).unwrap();
        let common = ["--insecure-plaintext", "--protocol", "dh", "--threads", "1"];
        let small = ["--table-memory", "0kB", "--spill-dir", &spill];
        let common = [&common[..], &small, &["--parts", parts]].concat();
        let (mut receiver, sender) = start_pair(
            &[&common[..], &["--input", &words, "--output", &output]].concat(),
            &[&common[..], &["--input", &few]].concat(),
        );
        if is_agreed {
            receiver.wait_for("to move");
        }
        receiver.wait_for_open_file(&spill);
        receiver.signal("INT");
        let interrupted = Instant::now();
        let receiver = receiver.end();
        receiver.says(1, &["interrupted"]);
        assert_eq!(
            receiver.stderr.contains("to move"),
            is_agreed,
            "{receiver:#?}"
        );
        sender.end().says(4, &["interrupted by its user"]);
        assert!(interrupted.elapsed() < PATIENCE);
        assert!(!exists(&output));
        assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
    }
}

#[test]
fn nothing_stays_on_disk_when_a_party_is_killed() {
    let folder = Folder::new();
    let [mine, theirs] = tables(&folder);
    let spill = folder.path("spill");
    fs::create_dir(&spill).unwrap();
    let common = ["--insecure-plaintext", "--key", "id", "--parts", "61"];
    let slow = ["--protocol", "dh", "--threads", "1", "--timeout", "5"];
    let small = ["--table-memory", "0kB", "--spill-dir", &spill];
    let common = [&common[..], &slow, &small].concat();
    let (mut receiver, sender) = start_pair(
        &[&common, &["--input", &mine][..]].concat(),
        &[&common, &["--input", &theirs][..]].concat(),
    );
    receiver.wait_for("to move");
    thread::sleep(Duration::from_millis(100));
    receiver.signal("KILL");
    assert_eq!(receiver.end().code, None);
    sender.end().says(4, &[]);
    assert_eq!(fs::read_dir(&spill).unwrap().count(), 0);
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_works() {
    let folder = Folder::new();
    let [mine, _] = tables(&folder);
    let args = ["receive", "--listen", "127.0.0.1:0", "--insecure-plaintext"];
    let args = [
        &args[..],
        &["--input", &mine, "--key", "id", "--memory", "300MB"],
    ]
    .concat();
    let said = [
        "300 MB of memory is too little: 330 MB is the least",
        "--memory",
    ];
    run(&args).says(2, &said);
}

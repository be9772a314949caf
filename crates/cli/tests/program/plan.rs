//! The predicted cost of a join.

use serde_json::Value;

use crate::support::{Folder, Process, all_exit, assert_said, join, lines, objects, run, trust};

/// Writes a calibration with runs of 100 bytes per item each way and a microsecond per item of each
/// party.
pub(crate) fn calibration(folder: &Folder, protocols: &[&str], outputs: &[&str]) -> String {
    let run = |items: u64| {
        let (bytes, seconds) = (100 * items, 1e-6 * items as f64);
        let send = serde_json::json!({"send": [1.0, bytes, seconds]});
        let receive = serde_json::json!({"receive": [1.0, bytes, 0.0]});
        serde_json::json!({
            "items": [items, items],
            "scripts": [[send, receive], [receive, send]],
            "memory_bytes": [5000 * items, 10_000 * items],
        })
    };
    let mut profiles = Vec::new();
    for protocol in protocols {
        for output in outputs {
            let runs = [run(256), run(4096)];
            profiles.push(serde_json::json!({
                "protocol": protocol, "output": output, "threads": 1, "runs": runs,
            }));
        }
    }
    let calibration = serde_json::json!({
        "processor": "a processor", "version": "0.1.0", "profiles": profiles,
    });
    folder.file("calibration.json", calibration.to_string())
}

/// Returns what is planned with it: the protocols that are a choice.
pub(crate) fn plan(calibration: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["plan", "--json", "--calibration", calibration], more].concat();
    let ended = run(&args);
    ended.says(0, &[]);
    estimates(&ended.stdout)
}

/// Returns the protocols that are a choice.
fn estimates(text: &str) -> Vec<Value> {
    let mut plans = objects(text);
    plans.retain(|plan| plan.get("obstacle").is_none());
    plans
}

#[test]
fn the_best_protocol_comes_first() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "kkrt", "rr22"], &["rows"]);
    let network = ["--items", "2^20", "--network", "wan:10mbps,80ms"];
    for (goal, fields) in [
        ("time", &["seconds"][..]),
        ("bytes", &["sender_bytes", "receiver_bytes"]),
    ] {
        let plans = plan(
            &calibration,
            &[&network[..], &["--optimise", goal]].concat(),
        );
        assert_eq!(plans.len(), 3);
        let key = |plan: &Value| -> f64 {
            fields
                .iter()
                .map(|field| plan[field].as_f64().unwrap())
                .sum()
        };
        assert!(
            plans.is_sorted_by(|one, other| key(one) <= key(other)),
            "{plans:?}"
        );
    }
}

#[test]
fn bytes_are_exact_and_the_rest_follows_from_the_calibration() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh"], &["rows"]);
    let items = 10_000.0;
    let plans = plan(
        &calibration,
        &["--items", "10000", "--network", "wan:1mbps,100ms"],
    );
    let [dh] = &plans[..] else {
        panic!("{plans:?}");
    };
    let listed = run(&["protocols", "--items", "10000", "--json"]);
    let listed = objects(&listed.stdout);
    let listed = listed.iter().find(|listed| listed["name"] == "dh").unwrap();
    for field in ["sender_bytes", "receiver_bytes", "flights"] {
        assert_eq!(dh[field], listed[field]);
    }
    assert_eq!(dh["sender_memory_bytes"], 5000.0 * items);
    assert_eq!(dh["receiver_memory_bytes"], 10_000.0 * items);
    // Both lines carry their bytes one after the other here; computing is a hundredth of a second
    // each.
    let bytes = dh["sender_bytes"].as_f64().unwrap() + dh["receiver_bytes"].as_f64().unwrap();
    let expected = 8.0 * bytes / 1e6 + 0.1 + 2e-6 * items;
    let seconds = dh["seconds"].as_f64().unwrap();
    assert!(
        (seconds / expected - 1.0).abs() < 0.01,
        "{seconds}, not {expected}"
    );
}

#[test]
fn a_sum_of_a_column_of_nobody_costs_what_it_does_of_the_senders() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["rr22-circuit"], &["sum"]);
    let planned = |kind: &str| {
        let plans = plan(&calibration, &["--items", "1000", "--output-kind", kind]);
        let [circuit] = &plans[..] else {
            panic!("{plans:?}");
        };
        ["sender_bytes", "receiver_bytes"].map(|field| circuit[field].as_u64().unwrap())
    };
    let [of_nobody, senders, receivers] =
        ["sum:amount", "sum:sender.amount", "sum:receiver.amount"].map(planned);
    assert_eq!(of_nobody, senders);
    assert!(senders.iter().sum::<u64>() > receivers.iter().sum());
}

#[test]
fn the_own_table_is_counted() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh"], &["rows"]);
    let table = folder.file("table.csv", "name,mail\nAnn,a@x\nEve,e@x\nAnn,A@X\nBob,\n");
    let key = [
        "--input",
        &table,
        "--key",
        "mail",
        "--normalize",
        "mail=email",
    ];
    for (role, sizes) in [("sender", "2:50"), ("receiver", "50:2")] {
        let mine = plan(
            &calibration,
            &[&["--items", "50", "--role", role][..], &key].concat(),
        );
        assert_eq!(mine, plan(&calibration, &["--items", sizes]));
    }
}

#[test]
fn the_network_to_a_peer_is_measured() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh"], &["rows"]);
    let trust = trust(&folder);
    let what = ["--items", "500", "--json", "--calibration", &calibration];
    let [one, other] = [&trust.sender, &trust.receiver]
        .map(|pins| [&what[..], &pins.each_ref().map(String::as_str)].concat());
    let (listening, address) = Process::listen("plan", &one);
    let connecting = [&["plan", "--connect", &address], &other[..]].concat();
    let both = [run(&connecting), listening.end()];
    for ended in &both {
        ended.says(0, &["the network: ", " there and back, ", "bit/s from it"]);
        let [dh] = &estimates(&ended.stdout)[..] else {
            panic!("{}", ended.stdout);
        };
        assert!(dh["seconds"].as_f64().unwrap() > 0.0);
    }
}

/// If a session measures nothing, the mark does not go by what was measured for the times, either.
#[test]
fn what_is_marked_after_meeting_is_what_a_session_takes() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "rr22-circuit"], &["count"]);
    let keys = 1500;
    let items = keys.to_string();
    let count = ["--insecure-plaintext", "--output-kind", "count"];
    let what = ["--items", &items, "--json", "--calibration", &calibration];
    let what = [&what[..], &count].concat();
    let (listening, address) = Process::listen("plan", &what);
    let connecting = run(&[&["plan", "--connect", &address], &what[..]].concat());
    let words = folder.file("words", lines(0..keys));
    let report = folder.path("report.json");
    let table = [&["--input", &words], &count[..]].concat();
    join(&[&table[..], &["--report", &report]].concat(), &table)
        .sender
        .says(0, &[]);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    for ended in [connecting, listening.end()] {
        let estimates = estimates(&ended.says(0, &[]).stdout);
        let marked: Vec<&Value> = (estimates.iter())
            .filter(|estimate| estimate["is_auto"] == true)
            .map(|estimate| &estimate["protocol"])
            .collect();
        assert_eq!(marked, [&report["protocol"]["name"]]);
    }
}

#[test]
fn a_peer_that_joins_instead_is_told_why_that_fails() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id\n1\n2\n");
    let (sender, address) = Process::listen("send", &["--input", &table, "--insecure-plaintext"]);
    let planner = run(&[
        "plan",
        "--items",
        "500",
        "--connect",
        &address,
        "--insecure-plaintext",
    ]);
    let said = "none: plan measures the network";
    planner.says(5, &["protocol", said]);
    sender.end().says(5, &["protocol", said]);
}

#[test]
fn money_is_counted_by_a_file_of_prices() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "rr22"], &["rows"]);
    let prices = folder.file(
        "prices.toml",
        "name = 'ours'\nsource = 'a list'\ndate = '2026'\nmachine = 'small'\ngb_bytes = 1000000000\n\
         public_address_usd_per_gb = 0.0\n[regions.here]\nmachine_usd_per_hour = 0.0\n\
         internet_usd_per_gb = 2.0\n",
    );
    let money = [
        "--prices",
        &prices,
        "--regions",
        "here",
        "--optimise",
        "money",
    ];
    let plans = plan(&calibration, &[&["--items", "1e6"][..], &money].concat());
    for plan in &plans {
        let expected = 2e-9 * plan["sender_bytes"].as_f64().unwrap();
        assert!(
            (plan["usd"].as_f64().unwrap() / expected - 1.0).abs() < 1e-9,
            "{plan}"
        );
    }
    assert_eq!(plans.len(), 2);
}

#[test]
fn the_table_says_why_others_are_no_choice() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "rr22-circuit"], &["count"]);
    let of = |items: &str, more: &[&str]| {
        let args = ["plan", "--threads", "1", "--calibration", &calibration];
        let count = ["--items", items, "--output-kind", "count"];
        run(&[&args[..], &count, more].concat())
    };
    let plans = [
        of("2^16", &[]),
        of("2^16", &["--min-intersection", "5"]),
        of("2^20", &["--memory", "330MB"]),
    ];
    all_exit(&plans, 0);
    assert_said!(plans);
}

/// Runs of groups are not measured: they take as long as sums that send as much.
#[test]
fn groups_take_as_much_as_they_send() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "rr22-circuit"], &["count", "sum"]);
    let items = 4096.0;
    let planned = |more: &[&str]| {
        let groups = ["--output-kind", "counts,sum:amount", "--items", "4096"];
        let network = ["--network", "wan:10gbps,100ms"];
        let plans = plan(&calibration, &[&groups[..], &network, more].concat());
        let [plan] = &plans[..] else {
            panic!("{plans:?}");
        };
        plan.clone()
    };
    let bytes = |plan: &Value| {
        plan["sender_bytes"].as_f64().unwrap() + plan["receiver_bytes"].as_f64().unwrap()
    };
    let sixteen = planned(&[]);
    // The calibration's runs compute a microsecond per item of each party, and send 100 bytes.
    let times = bytes(&sixteen) / (200.0 * items);
    assert!(times > 1.5, "{times}");
    // They compute while they send, which takes less here.
    let expected = 0.1 + 2e-6 * items * times;
    let seconds = sixteen["seconds"].as_f64().unwrap();
    assert!(
        (seconds / expected - 1.0).abs() < 0.01,
        "{seconds}, not {expected}"
    );
    assert_eq!(sixteen["is_extrapolated"], true);
    assert!(bytes(&planned(&["--labels", "16:16"])) > bytes(&sixteen));

    // Counts with noise have more bits, where they are compared.
    let noise = ["--noise", "laplace:epsilon=0.5,bound=amount:0..9"];
    let least = ["--min-group", "50"];
    let noisy = planned(&[noise, least].concat());
    assert!(bytes(&noisy) > bytes(&planned(&least)));
    assert_eq!(noisy["epsilon"], "1");
    assert_eq!(sixteen.get("epsilon"), None);
    let args = ["plan", "--items", "4096", "--calibration", &calibration];
    let counts = ["--output-kind", "counts,sum:amount"];
    let told = run(&[&args[..], &counts, &noise].concat());
    told.says(0, &[]);
    let heading = "to learn counts,sum:amount of 16 groups with noise, ε = 1 in all; the best";
    assert!(told.stdout.contains(heading), "{told:#?}");
    let unbounded = run(&[&args[..], &counts, &["--noise", "laplace:epsilon=1"]].concat());
    unbounded.says(2, &["the column `amount` needs bounds"]);
    let exact = run(&[&args[..], &noise].concat());
    exact.says(2, &["--noise is for counts and sums of groups"]);
}

/// And nothing of it where nothing is spilled.
#[test]
fn the_table_says_what_is_spilled() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["kkrt", "rr22"], &["rows"]);
    let of = |memory: &str| {
        let args = ["plan", "--threads", "1", "--calibration", &calibration];
        run(&[&args[..], &["--items", "1e6:1e7", "--memory", memory]].concat())
    };
    let plans = [of("400MB"), of("4GB"), of("300MB")];
    all_exit(&plans[..2], 0);
    plans[2].says(2, &[]);
    assert_said!(plans);
}

/// Counts by `dh` keep to any memory, whatever the sizes.
#[test]
fn counts_by_dh_spill_and_are_a_choice() {
    let folder = Folder::new();
    let calibration = calibration(&folder, &["dh", "rr22-circuit"], &["count"]);
    let of = |items: &str| {
        let args = ["plan", "--threads", "1", "--calibration", &calibration];
        let count = ["--output-kind", "count", "--memory", "330MB"];
        run(&[&args[..], &count, &["--items", items]].concat())
    };
    let plans = [of("2^26"), of("1e4")];
    all_exit(&plans, 0);
    assert_said!(plans);
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = Folder::new();
    let broken = folder.file("broken.json", "{}");
    let ended = [
        run(&["plan", "--items", "9", "--optimise", "money"]),
        run(&["plan", "--items", "9", "--prices", "cm20"]),
        run(&[
            "plan",
            "--items",
            "9",
            "--prices",
            "cm20",
            "--regions",
            "the-moon",
        ]),
        run(&["plan", "--items", "9", "--memory", "much"]),
        run(&[
            "plan",
            "--items",
            "9",
            "--output-kind",
            "shares",
            "--min-intersection",
            "3",
        ]),
        run(&["plan", "--items", "9", "--calibration", &broken]),
    ];
    all_exit(&ended, 2);
    assert_said!(ended);
}

/// But for those that need another party.
#[test]
fn the_commands_of_planning_md_run() {
    let page = include_str!("../../../../docs/planning.md");
    let folder = Folder::new();
    let table = folder.file("customers.csv", "email\na@x\nb@x\n");
    let protocols = ["dh", "rr22", "rr22-circuit"];
    let calibration = calibration(&folder, &protocols, &["rows", "count", "sum"]);
    let commands = page
        .lines()
        .filter(|line| line.starts_with("psijoin plan "));
    let commands = commands.filter(|line| !line.contains("--peer"));
    let mut number = 0;
    for line in commands {
        let (command, _) = line.split_once('#').unwrap_or((line, ""));
        let command = command.replace("customers.csv", &table);
        let args: Vec<_> = command.split_whitespace().skip(1).collect();
        let calibrated = [&args[..], &["--calibration", &calibration]].concat();
        run(&calibrated).says(0, &[]);
        number += 1;
    }
    assert!(number >= 7, "{number}");
}

#[test]
fn a_machine_is_measured_and_then_known() {
    let folder = Folder::new();
    let file = folder.path("machine.json");
    let args = [
        "calibrate",
        "--protocol",
        "dh,kkrt",
        "--seconds",
        "1",
        "--out",
        &file,
    ];
    run(&args).says(
        0,
        &["1 of 5: dh, rows", "5 of 5: kkrt, rows", "machine.json"],
    );
    let plans = plan(&file, &["--items", "1000"]);
    assert_eq!(plans.len(), 2);
    for plan in plans {
        assert!(plan["seconds"].as_f64().unwrap() > 0.0, "{plan}");
        assert!(
            plan["receiver_memory_bytes"].as_u64().unwrap() > 0,
            "{plan}"
        );
    }
}

use psijoin_psi::Output;
use tempfile::TempDir;

use super::*;

const PROGRAM: &str = "1.2.3";

fn seed() -> JointSeed {
    JointSeed::insecure_fixed([9; 32])
}

fn hashed(folder: &Folder, name: &str, value: &str) -> Term {
    folder.secret(name, |hasher| {
        hasher.update(value.as_bytes());
    })
}

fn terms(folder: &Folder, output: &str, key: &str) -> Vec<Term> {
    vec![
        Term::shown("the output", output),
        hashed(folder, "another key", key),
    ]
}

fn columns() -> Columns {
    Columns {
        numbers: vec!["amount".into()],
        given: [b"turnover".to_vec(), vec![]],
        labels: vec![vec![Some("gold".to_owned()), None]],
    }
}

fn begin(folder: &mut Folder) {
    let terms = terms(folder, "rows", "email");
    let begun = Begun {
        program: PROGRAM,
        terms,
        data: vec![hashed(folder, "a table", "its keys")],
        protocol: "rr22",
        plan: [4; 32],
        items: [10, 20],
        parts: 3,
        steps: 4,
        bytes: [100, 7],
        columns: columns(),
        joint_seed: &seed(),
        command: "psijoin receive --key email",
    };
    folder.begin(begun).unwrap();
}

fn open_as(path: &Path, program: &str) -> Result<Folder, Error> {
    let owner = Owner {
        program,
        secret: &[8; 32],
        marks: Some(&path.with_file_name("marks")),
    };
    Folder::open(path, &owner)
}

fn open(path: &Path) -> Result<Folder, Error> {
    open_as(path, PROGRAM)
}

/// Keeps that a step is done.
fn keep(results: &Results, step: u32, output: &Output) {
    results.begin(step, &[]).unwrap();
    results.keep(step, Some(output), [1; 32]).unwrap();
}

fn at(temporary: &TempDir) -> PathBuf {
    temporary.path().join("job")
}

#[test]
fn a_job_goes_on_in_another_process() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    assert!(folder.job().is_none());
    begin(&mut folder);
    let results = folder.results().unwrap();
    keep(results, 2, &Output::Rows(vec![5]));
    drop(folder);

    let folder = open(path).unwrap();
    assert_eq!(folder.joint_seed().unwrap(), seed());
    assert_eq!(folder.done(), 1);
    folder.check(&terms(&folder, "rows", "email")).unwrap();
    let changed = folder.check(&terms(&folder, "count", "email"));
    let said = changed.unwrap_err().to_string();
    assert!(
        said.contains("the output `rows`, but this command says `count`"),
        "{said}"
    );
    let changed = folder.check(&terms(&folder, "rows", "phone")).unwrap_err();
    assert!(matches!(changed, Error::ChangedSecret { .. }), "{changed}");
    assert_eq!(changed.kind(), crate::Kind::Usage);
    folder
        .check_data(&hashed(&folder, "a table", "its keys"))
        .unwrap();
    let changed = folder.check_data(&hashed(&folder, "a table", "others"));
    let said = changed.unwrap_err().to_string();
    assert!(
        said.contains("started with a table, but this is another"),
        "{said}"
    );
    assert_eq!(folder.columns().unwrap(), columns());

    // Also while somebody works there.
    let status = Folder::status(path).unwrap();
    assert_eq!(
        (status.done, status.parts_done, status.job.steps),
        (1, 1, 4)
    );
    assert_eq!(
        status.command.as_deref(),
        Some("psijoin receive --key email")
    );
}

/// If a key is guessed, only the folder's key shows that the guess is right.
#[test]
fn nothing_that_is_kept_tells_a_result_or_a_secret() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    let row = 0xabcd_1234_u32;
    let results = folder.results().unwrap();
    keep(results, 0, &Output::Rows(vec![row; 9]));
    let secrets = [
        &b"email"[..],
        b"turnover",
        b"amount",
        &[9; 8],
        &row.to_le_bytes(),
        hex(&[9; 8]).as_bytes(),
    ]
    .map(Vec::from);
    for name in [JOB, RESULTS, KEY, LOCK] {
        let bytes = fs::read(path.join(name)).unwrap();
        for secret in &secrets {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!is_there, "{secret:?} in {name}");
        }
    }
}

#[test]
fn an_ended_job_leaves_nothing_but_that() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    keep(folder.results().unwrap(), 0, &Output::Nothing);
    folder.end(Ended::TooFew).unwrap();
    drop(folder);
    let names = || {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["job", "lock"]);
    // As if it had been killed before they were removed.
    for name in [RESULTS, KEY] {
        fs::write(path.join(name), "left").unwrap();
    }
    let folder = open(path).unwrap();
    assert_eq!(folder.job().unwrap().ended, Some(Ended::TooFew));
    assert_eq!(names(), ["job", "lock"]);
    let status = Folder::status(path).unwrap();
    assert_eq!((status.done, status.command), (4, None));
    // It is still known what it was about.
    folder.check(&terms(&folder, "rows", "email")).unwrap();
    assert!(folder.check(&terms(&folder, "rows", "phone")).is_err());
    let table = |keys| folder.check_data(&hashed(&folder, "a table", keys));
    table("its keys").unwrap();
    assert!(matches!(table("others"), Err(Error::ChangedSecret { .. })));
    assert_eq!(folder.columns().unwrap(), columns());
    // Any version may look at it.
    drop(folder);
    open_as(path, "2.0.0").unwrap();
}

#[test]
fn a_folder_is_one_process_at_a_time_of_one_version() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    assert!(matches!(open(path), Err(Error::InUse(_))));
    begin(&mut folder);
    drop(folder);
    let error = open_as(path, "2.0.0").err().unwrap();
    assert!(matches!(error, Error::Version { .. }), "{error}");
}

/// Whatever that layout is, apart from how it begins.
#[test]
fn a_job_of_another_layout_is_not_taken_for_a_damaged_one() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    begin(&mut open(path).unwrap());
    fs::write(path.join(JOB), r#"{"psijoin job": 9, "program": "9.0.0"}"#).unwrap();
    for error in [open(path).err(), Folder::status(path).err()] {
        let error = error.unwrap();
        assert!(
            matches!(&error, Error::Layout { theirs, .. } if theirs == "9.0.0"),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path), 0o700);
    for name in [JOB, RESULTS, KEY, LOCK] {
        assert_eq!(mode(&path.join(name)), 0o600, "{name}");
    }
    drop(folder);
    for rights in [0o750, 0o701, 0o720] {
        fs::set_permissions(path, fs::Permissions::from_mode(rights)).unwrap();
        let error = open(path).err().unwrap();
        assert!(matches!(error, Error::Open(_)), "{error}");
        assert!(matches!(Folder::status(path), Err(Error::Open(_))));
    }
}

#[test]
fn what_is_not_a_jobs_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    folder::make(path).unwrap();
    assert!(matches!(Folder::status(path), Err(Error::Nothing(_))));
    // Not even if they have the same names.
    for name in ["holiday.jpg", KEY, LOCK, RESULTS, JOB] {
        fs::write(path.join(name), "mine").unwrap();
        assert!(matches!(open(path), Err(Error::NoJob(_))), "{name}");
        assert_eq!(fs::read(path.join(name)).unwrap(), b"mine");
        assert_eq!(fs::read_dir(path).unwrap().count(), 1);
        fs::remove_file(path.join(name)).unwrap();
    }
    fs::write(path.join(LOCK), "").unwrap();
    open(path).unwrap();
    let missing = temporary.path().join("none");
    assert!(matches!(Folder::status(&missing), Err(Error::Io { .. })));
    assert!(matches!(open(&missing.join("job")), Err(Error::Io { .. })));
}

#[test]
fn damage_is_named() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    for step in 0..2 {
        keep(folder.results().unwrap(), step, &Output::Nothing);
    }
    drop(folder);
    for name in [JOB, KEY, RESULTS] {
        let whole = fs::read(path.join(name)).unwrap();
        for damage in ["", "{}"] {
            if name == RESULTS && damage.is_empty() {
                continue;
            }
            let damage = [damage.as_bytes(), &whole[1..9]].concat();
            fs::write(path.join(name), damage).unwrap();
            let error = open(path).err().unwrap();
            assert!(matches!(error, Error::Damaged { .. }), "{name}: {error}");
        }
        fs::write(path.join(name), whole).unwrap();
        open(path).unwrap();
    }
    // A seed that was put in from elsewhere. It begins with a random byte, so one that differs is
    // picked.
    let text = fs::read_to_string(path.join(JOB)).unwrap();
    let seed = open(path).unwrap().job().unwrap().seed.clone().unwrap();
    let first = if seed.starts_with('0') { "1" } else { "0" };
    let other = format!("{first}{}", &seed[1..]);
    fs::write(path.join(JOB), text.replace(&seed, &other)).unwrap();
    assert!(open(path).unwrap().joint_seed().is_err());
}

/// Also where nothing else would show it.
#[test]
fn what_somebody_has_changed_is_noticed() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    begin(&mut open(path).unwrap());
    let whole = fs::read_to_string(path.join(JOB)).unwrap();
    let without = |list: &str| {
        let mut job: serde_json::Value = serde_json::from_str(&whole).unwrap();
        job[list].as_array_mut().unwrap().remove(0);
        job.to_string()
    };
    for changed in [
        without("terms"),
        without("data"),
        whole.replace("rr22", "kkrt"),
        whole.replace("\"confirmed\": false", "\"confirmed\": true"),
    ] {
        assert_ne!(changed, whole);
        fs::write(path.join(JOB), changed).unwrap();
        let folder = open(path).unwrap();
        let error = folder.check(&terms(&folder, "rows", "email")).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    fs::write(path.join(JOB), &whole).unwrap();
    let folder = open(path).unwrap();
    folder.check(&terms(&folder, "rows", "email")).unwrap();
    // A command that lacks a setting, or has one more.
    let all = terms(&folder, "rows", "email");
    assert!(folder.check(&all[..1]).is_err());
    let more = [&all[..], &[Term::shown("more", "of it")]].concat();
    assert!(folder.check(&more).is_err());
}

/// As from a backup: what it lacks would be said anew.
#[test]
fn an_old_copy_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let marks = temporary.path().join("marks");
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    let old = fs::read(path.join(RESULTS)).unwrap();
    keep(folder.results().unwrap(), 0, &Output::Nothing);
    drop(folder);
    let new = fs::read(path.join(RESULTS)).unwrap();
    fs::write(path.join(RESULTS), old).unwrap();
    let error = open(path).err().unwrap();
    assert!(matches!(error, Error::Lost(_)), "{error}");
    fs::write(path.join(RESULTS), new).unwrap();
    let mut folder = open(path).unwrap();
    assert_eq!(fs::read_dir(&marks).unwrap().count(), 1);
    folder.end(Ended::Done).unwrap();
    assert_eq!(fs::read_dir(&marks).unwrap().count(), 0);
}

#[test]
fn a_job_that_has_failed_is_refused() {
    use psijoin_channel::AbortCode::ProtocolViolation;

    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    let mut attempt = folder.results().unwrap().begin(0, &[]).unwrap();
    attempt.witness.gives_up(ProtocolViolation).unwrap();
    drop((attempt, folder));
    let error = open(path).err().unwrap();
    assert!(matches!(error, Error::Spoilt(_)), "{error}");
    assert!(Folder::status(path).unwrap().is_spoilt);
}

/// A full disk: what was kept before stays.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing_that_was_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    keep(folder.results().unwrap(), 0, &Output::Nothing);
    drop(folder);
    // Whatever is written there fails.
    let full = File::options()
        .read(true)
        .write(true)
        .open("/dev/full")
        .unwrap();
    let key = Key::new(Zeroizing::new([1; 32]));
    let results = Results::open(full, key, "job".into(), 4, true)
        .ok()
        .unwrap();
    let error = results.begin(1, &[]).err().unwrap();
    assert_eq!(error.kind(), psijoin_psi::ErrorKind::Ledger);
    let error = results
        .keep(1, Some(&Output::Nothing), [1; 32])
        .unwrap_err();
    assert_eq!(error.kind(), psijoin_psi::ErrorKind::Ledger);
    assert!(!results.has(1));
    assert_eq!(open(path).unwrap().done(), 1);
}

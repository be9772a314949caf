use psijoin_psi::Output;
use tempfile::TempDir;

use super::*;

const PROGRAM: &str = "1.2.3";

fn seed() -> JointSeed {
    JointSeed::insecure_fixed([9; 32])
}

fn terms(folder: &Folder, output: &str, key: &str) -> Vec<Term> {
    let key = |hasher: &mut blake3::Hasher| {
        hasher.update(key.as_bytes());
    };
    vec![
        Term::shown("the output", output),
        folder.secret("another key", key),
    ]
}

fn begin(folder: &mut Folder) {
    let terms = terms(folder, "rows", "email");
    let begun = Begun {
        program: PROGRAM,
        terms,
        protocol: "rr22",
        plan: [4; 32],
        items: [10, 20],
        parts: 3,
        steps: 4,
        bytes: [100, 7],
        columns: vec![],
        given: [vec![1, 2], vec![]],
        joint_seed: &seed(),
        command: "psijoin receive --key email",
    };
    folder.begin(begun).unwrap();
    folder.results().unwrap().attempt(&seed(), |_| true);
}

fn open(path: &Path) -> Result<Folder, Error> {
    Folder::open(path, PROGRAM)
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
    results.keep(2, &Output::Rows(vec![5])).unwrap();
    drop(folder);

    let folder = open(path).unwrap();
    assert_eq!(folder.joint_seed().unwrap(), seed());
    assert_eq!(folder.done(), 1);
    folder.check(&terms(&folder, "rows", "email")).unwrap();
    let changed = folder.check(&terms(&folder, "count", "email"));
    let said = changed.unwrap_err().to_string();
    assert!(
        said.contains("the output `rows`, and this is `count`"),
        "{said}"
    );
    let changed = folder.check(&terms(&folder, "rows", "phone")).unwrap_err();
    assert!(matches!(changed, Error::ChangedSecret { .. }), "{changed}");
    assert_eq!(changed.kind(), crate::Kind::Usage);

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
    results.keep(0, &Output::Rows(vec![row; 9])).unwrap();
    let secrets = [
        &b"email"[..],
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
    folder.results().unwrap().keep(0, &Output::Nothing).unwrap();
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
    // Any version may look at it.
    drop(folder);
    Folder::open(path, "2.0.0").unwrap();
}

#[test]
fn a_folder_is_one_process_at_a_time_of_one_version() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    assert!(matches!(open(path), Err(Error::InUse(_))));
    begin(&mut folder);
    drop(folder);
    let error = Folder::open(path, "2.0.0").err().unwrap();
    assert!(matches!(error, Error::Version { .. }), "{error}");
}

/// Whatever that layout is, apart from how it begins.
#[test]
fn a_job_of_another_layout_is_not_taken_for_a_damaged_one() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    begin(&mut open(path).unwrap());
    fs::write(path.join(JOB), r#"{"psijoin job": 3, "program": "9.0.0"}"#).unwrap();
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
    make(path).unwrap();
    assert!(matches!(Folder::status(path), Err(Error::Nothing(_))));
    // Not even if they have the same names.
    for name in ["holiday.jpg", KEY, LOCK, RESULTS, JOB, NEW_JOB] {
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
        folder
            .results()
            .unwrap()
            .keep(step, &Output::Nothing)
            .unwrap();
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
    // A seed that was put in from elsewhere.
    let text = fs::read_to_string(path.join(JOB)).unwrap();
    let seed = open(path).unwrap().job().unwrap().seed.clone().unwrap();
    let other = seed.replace(&seed[..2], "00");
    fs::write(path.join(JOB), text.replace(&seed, &other)).unwrap();
    assert!(open(path).unwrap().joint_seed().is_err());
}

/// A full disk: what was kept before stays.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing_that_was_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let path = &at(&temporary);
    let mut folder = open(path).unwrap();
    begin(&mut folder);
    folder.results().unwrap().keep(0, &Output::Nothing).unwrap();
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
    results.attempt(&seed(), |_| true);
    let error = results.keep(1, &Output::Nothing).unwrap_err();
    assert_eq!(error.kind(), psijoin_psi::ErrorKind::Ledger);
    assert!(!results.has(1));
    assert_eq!(open(path).unwrap().done(), 1);
}

//! Meeting in a folder.

use std::{
    collections::HashSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{Error as ChannelError, joint_seed::JointSeed};
use psijoin_transport::{
    Connection, Error, Identity, InFolder, Kind, Options, Timeouts, rendezvous::Side,
};
use tempfile::{TempDir, tempdir};

use crate::{
    LONG, Meeting, PATIENT, assert_soon,
    relays::{Several, greet, meet_each},
    tls,
};

const SLOW: Timeouts = Timeouts {
    keep_alive: Duration::from_secs(5),
    ..PATIENT
};

/// Two parties that meet in folders, which may be one.
#[derive(Clone)]
struct Parties {
    options: [Options; 2],
    at: [InFolder; 2],
}

impl Parties {
    fn in_folders(folders: [&Path; 2]) -> Self {
        let identities = [(); 2].map(|()| Identity::generate().unwrap());
        let [a, b] = &identities;
        let slow = |mut options: Options| {
            options.timeouts = SLOW;
            options
        };
        let [ours, theirs] = [a, b].map(Identity::fingerprint);
        Self {
            options: [slow(tls(a, b)), slow(tls(b, a))],
            at: [
                InFolder::first_meeting(folders[0], ours, theirs),
                InFolder::first_meeting(folders[1], theirs, ours),
            ],
        }
    }

    fn in_folder(folder: &TempDir) -> Self {
        Self::in_folders([folder.path(); 2])
    }

    /// Returns the same parties in another folder.
    fn moved_to(&self, folder: &Path) -> Self {
        let mut moved = self.clone();
        for at in &mut moved.at {
            folder.clone_into(&mut at.folder);
        }
        moved
    }

    fn party(&self, i: usize) -> Meeting {
        Connection::meet_in_folder(&self.at[i], &self.options[i], &|_| {})
    }

    /// Lets both meet, the second one this much later.
    fn meet(&self, later: Duration) -> [Meeting; 2] {
        thread::scope(|scope| {
            let [first, second] = [0, 1].map(|i| {
                scope.spawn(move || {
                    thread::sleep(later * i as u32);
                    self.party(i)
                })
            });
            [first, second].map(|meeting| meeting.join().unwrap())
        })
    }

    /// Returns the place of the party that is this side.
    fn place_of(&self, side: Side) -> usize {
        usize::from(self.at[1].appointments[0].side == side)
    }
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

fn wait_until_empty(folder: &TempDir) {
    let started = Instant::now();
    while !files(folder.path()).is_empty() {
        let left = files(folder.path());
        assert!(started.elapsed() < LONG, "{left:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_of_several_is_met_and_the_other_after_it() {
    let folder = tempdir().unwrap();
    let several = Several::new();
    meet_each(&several, |party| {
        let at = InFolder {
            folder: folder.path().to_owned(),
            appointments: several.appointments[party].clone(),
        };
        Connection::meet_in_folder(&at, &several.options[party], &|_| {})
    });
}

#[test]
fn parties_meet_in_any_order_and_leave_nothing() {
    for later in [Duration::ZERO, Duration::from_millis(500)] {
        for _ in 0..2 {
            let folder = tempdir().unwrap();
            greet(Parties::in_folder(&folder).meet(later));
            wait_until_empty(&folder);
        }
    }
}

#[test]
fn much_passes_both_ways_and_the_folder_stays_small() {
    let folder = tempdir().unwrap();
    let met = Parties::in_folder(&folder).meet(Duration::ZERO);
    let is_over = AtomicBool::new(false);
    let largest = thread::scope(|scope| {
        let watches = scope.spawn(|| {
            let mut largest = 0_u64;
            while !is_over.load(Relaxed) {
                let sizes = files(folder.path()).into_iter();
                let sizes = sizes.filter_map(|file| fs::metadata(file).ok());
                largest = largest.max(sizes.map(|file| file.len()).sum());
                thread::sleep(Duration::from_millis(10));
            }
            largest
        });
        let talks: Vec<_> = met
            .into_iter()
            .map(|meeting| {
                scope.spawn(move || {
                    let (connection, mut channel) = meeting.unwrap();
                    let said = channel.exchange(
                        |outbound| (0..100_u8).try_for_each(|i| outbound.send(&vec![i; 1 << 20])),
                        |inbound| {
                            let mut heard = vec![0; 1 << 20];
                            for i in 0..100 {
                                inbound.recv(&mut heard)?;
                                assert!(heard.iter().all(|byte| *byte == i));
                            }
                            Ok::<_, ChannelError>(())
                        },
                    );
                    said.unwrap();
                    connection.finish().unwrap();
                })
            })
            .collect();
        for talk in talks {
            talk.join().unwrap();
        }
        is_over.store(true, Relaxed);
        watches.join().unwrap()
    });
    assert!(largest < 300 << 20, "{largest}");
}

#[test]
fn streams_meet_there_too() {
    let folder = tempdir().unwrap();
    let seed = JointSeed::insecure_fixed([3; 32]);
    let met = Parties::in_folder(&folder).meet(Duration::ZERO);
    thread::scope(|scope| {
        for (i, meeting) in met.into_iter().enumerate() {
            scope.spawn(move || {
                let (mut connection, _) = meeting.unwrap();
                let mut streams = connection.open_streams(3, &seed).unwrap();
                match i {
                    0 => streams[2].send(b"hello").unwrap(),
                    _ => assert_eq!(&streams[2].recv_array().unwrap(), b"hello"),
                }
                connection.finish().unwrap();
            });
        }
    });
}

/// A program that keeps two folders alike, as badly as such programs may: files grow before the
/// eyes of their reader, and some of those that were removed come back once.
struct Synchroniser<'a> {
    folders: [&'a Path; 2],
    /// The files that are in both, below their folder.
    known: HashSet<PathBuf>,
    removed: usize,
}

impl<'a> Synchroniser<'a> {
    fn run(folders: [&'a Path; 2], is_over: &AtomicBool) {
        let mut program = Self {
            folders,
            known: HashSet::new(),
            removed: 0,
        };
        while !is_over.load(Relaxed) {
            program.look();
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn look(&mut self) {
        let [ours, theirs] = self.folders.map(|folder| {
            let below = |file: PathBuf| file.strip_prefix(folder).unwrap().to_owned();
            files(folder).into_iter().map(below).collect::<HashSet<_>>()
        });
        let gone: Vec<_> = self
            .known
            .iter()
            .filter(|name| !ours.contains(*name) || !theirs.contains(*name))
            .cloned()
            .collect();
        for name in gone {
            self.known.remove(&name);
            self.removed += 1;
            for (folder, files) in self.folders.iter().zip([&ours, &theirs]) {
                let path = folder.join(&name);
                let content = fs::read(&path);
                let _ = fs::remove_file(&path);
                if self.removed.is_multiple_of(5) && files.contains(&name) {
                    let _ = content.and_then(|content| fs::write(&path, content));
                }
            }
        }
        for (from, to) in [(0, 1), (1, 0)] {
            let here = [&ours, &theirs][from];
            for name in here {
                let is_part = name.to_string_lossy().contains(".part-");
                if !is_part && !self.known.contains(name) {
                    self.copy(name, self.folders[from], self.folders[to]);
                    self.known.insert(name.clone());
                }
            }
        }
    }

    fn copy(&self, name: &Path, from: &Path, to: &Path) {
        let Ok(content) = fs::read(from.join(name)) else {
            return;
        };
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::File::create(path).unwrap();
        for piece in content.chunks(content.len().div_ceil(3).max(1)) {
            file.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(3));
        }
    }
}

#[test]
fn a_folder_that_is_synchronised_badly_will_do() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let folders = [ours.path(), theirs.path()];
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| Synchroniser::run(folders, &is_over));
        let parties = Parties::in_folders(folders);
        // The second time, files of the first may come back.
        for _ in 0..2 {
            greet(parties.meet(Duration::ZERO));
        }
        is_over.store(true, Relaxed);
    });
}

/// Copies what is in a folder, as far as it stays there meanwhile.
fn copy_of(folder: &Path) -> TempDir {
    let copy = tempdir().unwrap();
    for file in files(folder) {
        let path = copy.path().join(file.strip_prefix(folder).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Ok(content) = fs::read(&file) {
            fs::write(path, content).unwrap();
        }
    }
    copy
}

/// Returns copies of a folder in which both parties meet, of all its states that were seen.
fn copies_of_a_meeting(parties: &Parties, folder: &TempDir) -> Vec<TempDir> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watches = scope.spawn(|| {
            let (mut before, mut copies) = (Vec::new(), Vec::new());
            while !is_over.load(Relaxed) {
                let now = files(folder.path());
                if now != before {
                    copies.push(copy_of(folder.path()));
                    before = now;
                }
                thread::sleep(Duration::from_millis(1));
            }
            copies
        });
        greet(parties.meet(Duration::from_millis(200)));
        is_over.store(true, Relaxed);
        watches.join().unwrap()
    })
}

/// What both find that were killed is the folder as it was then.
#[test]
fn after_a_kill_at_any_file_both_meet_again() {
    let folder = tempdir().unwrap();
    let parties = Parties::in_folder(&folder);
    let mut copies = Vec::new();
    // A busy machine sees few states of each meeting.
    while copies.len() <= 5 {
        copies.extend(copies_of_a_meeting(&parties, &folder));
    }
    thread::scope(|scope| {
        for copy in &copies {
            let parties = parties.moved_to(copy.path());
            scope.spawn(move || greet(parties.meet(Duration::ZERO)));
        }
    });
}

#[test]
fn a_party_that_has_begun_anew_ends_the_session_of_the_other() {
    for side in [Side::Server, Side::Client] {
        let folder = tempdir().unwrap();
        let parties = Parties::in_folder(&folder);
        let anew = parties.place_of(side);
        let [a, b] = parties.meet(Duration::ZERO).map(Result::unwrap);
        let (killed, stays) = if anew == 0 { (a, b) } else { (b, a) };
        // A process that is killed says nothing. Its threads go on here, and are not heard.
        std::mem::forget(killed);
        thread::scope(|scope| {
            let again = scope.spawn(|| parties.party(anew));
            let started = Instant::now();
            let (connection, mut channel) = stays;
            let error = channel.recv_array::<1>().unwrap_err();
            assert!(matches!(error, ChannelError::Cut), "{error}");
            assert_soon(started);
            drop(connection);
            let other = parties.party(1 - anew);
            greet([again.join().unwrap(), other]);
        });
    }
}

#[test]
fn a_party_alone_is_told_so_and_takes_its_words_back() {
    for side in [Side::Server, Side::Client] {
        let folder = tempdir().unwrap();
        let mut parties = Parties::in_folder(&folder);
        let place = parties.place_of(side);
        parties.options[place].timeouts.meet = Duration::from_millis(500);
        let error = parties.party(place).unwrap_err();
        assert!(matches!(error, Error::NobodyInFolder { .. }), "{error}");
        assert_eq!(error.kind(), Kind::Network);
        wait_until_empty(&folder);
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_at_once() {
    let folder = tempdir().unwrap();
    let none = folder.path().join("none");
    let parties = Parties::in_folders([&none; 2]);
    for place in [0, 1] {
        let error = parties.party(place).unwrap_err();
        assert!(matches!(error, Error::Folder { .. }), "{error}");
        assert!(error.to_string().contains("none"), "{error}");
        assert_eq!(error.kind(), Kind::LocalFile);
    }
}

#[test]
fn nothing_in_the_folder_shows_who_meets() {
    let folder = tempdir().unwrap();
    let parties = Parties::in_folder(&folder);
    let is_over = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let watches = scope.spawn(|| {
            let mut seen = Vec::new();
            while !is_over.load(Relaxed) {
                for file in files(folder.path()) {
                    seen.extend(file.to_string_lossy().bytes());
                    seen.extend(fs::read(file).unwrap_or_default());
                }
                thread::sleep(Duration::from_millis(1));
            }
            seen
        });
        let met = parties.meet(Duration::ZERO);
        for meeting in &met {
            meeting.as_ref().unwrap();
        }
        greet(met);
        is_over.store(true, Relaxed);
        watches.join().unwrap()
    });
    let token = parties.at[0].appointments[0].token.as_bytes();
    for secret in [&token[..], b"hello", b"psi1-"] {
        assert!(!seen.windows(secret.len()).any(|bytes| bytes == secret));
    }
}

//! The first session of two parties that one has invited, lost half-way: it goes on whoever is
//! started again, and both know each other alike.

use std::{
    fs,
    sync::{atomic::AtomicBool, mpsc},
    thread,
    time::Duration,
};

use crate::{
    carriers::synchronised::{Over, Synchronised},
    inviting::{Party, join, parties},
    support::{Folder, Process, lines},
    valve::Valve,
};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// The inviter, who receives, and its guest.
struct Pair {
    folder: Folder,
    parties: [Party; 2],
    /// Where each goes.
    places: [Vec<String>; 2],
}

impl Pair {
    /// Lets one invite the other to such a place. In a folder, each side names its own.
    fn new(folder: Folder, invited_to: [&str; 2], places: [[&str; 2]; 2]) -> Self {
        let [ann, bob] = parties(&folder, ["ann", "bob"]);
        let invite = [&["invite", "bob", "--as", "ann"], &invited_to[..]].concat();
        let link = ann.prints(&invite);
        let via = match places[1] {
            place @ ["--via", _] => place.to_vec(),
            _ => Vec::new(),
        };
        bob.prints(&[&["accept", &link], &via[..]].concat());
        folder.file("mine", lines(0..3000));
        folder.file("theirs", lines(1000..5000));
        Self {
            folder,
            parties: [ann, bob],
            places: places.map(|place| place.map(str::to_owned).to_vec()),
        }
    }

    fn start(&self, party: usize) -> Process {
        let [role, peer, input, job] = [
            ["receive", "bob", "mine", "ann-job"],
            ["send", "ann", "theirs", "bob-job"],
        ][party];
        let [input, job] = [input, job].map(|name| self.folder.path(name));
        let job = ["--input", &input, "--job", &job, "--parts", "3"];
        let place: Vec<_> = self.places[party].iter().map(String::as_str).collect();
        let args = [&[role, "--peer", peer, "--wait", "80"], &job[..], &place].concat();
        self.parties[party].start(&args)
    }

    /// Lets both join, up to `half_way`. Then one is killed and started again, if one is to be.
    #[track_caller]
    fn join(&self, killed: Option<usize>, half_way: impl FnOnce(), goes_on: impl FnOnce()) {
        let mut running = [0, 1].map(|party| Some(self.start(party)));
        half_way();
        if let Some(killed) = killed {
            let process = running[killed].take().unwrap();
            process.signal("KILL");
            process.end();
        }
        goes_on();
        if let Some(killed) = killed {
            running[killed] = Some(self.start(killed));
        }
        let [received, sent] = running.map(|process| process.unwrap().end());
        let codes = [&received, &sent].map(|ended| ended.code);
        assert_eq!(codes, [Some(0); 2], "{received:#?} {sent:#?}");
        assert_eq!(received.stdout, lines(1000..3000));
    }

    /// Lets both join anew, where they are known to meet.
    #[track_caller]
    fn join_again(&self) {
        let [ann, bob] = &self.parties;
        for ended in join([ann, bob], ["bob", "ann"], &self.folder.path("mine")) {
            ended.says(0, &[]);
            assert!(!ended.stderr.contains("from now on"), "{ended:#?}");
        }
    }
}

/// In the queue of the relay; in the handshake; in the greeting, which proves the invitation, and
/// in its answer; and in the session.
#[test]
fn at_a_relay_it_goes_on_whoever_is_started_again_and_when() {
    let (_relay, address) = Process::listen("relay", &[]);
    for killed in [None, Some(0), Some(1)] {
        for bytes in [60, 3_000, 10_000, 17_000, 60_000] {
            let valve = Valve::before(&address, bytes);
            let behind = killed.unwrap_or(1);
            let way = |party| match party == behind {
                true => ["--relay", valve.address()],
                false => ["--relay", &address],
            };
            let places = [way(0), way(1)];
            let pair = Pair::new(Folder::new(), ["--relay", &address], places);
            pair.join(killed, || valve.wait(), || valve.cut());
            pair.join_again();
        }
    }
}

/// After so many files have come to the other side.
#[test]
fn in_a_folder_it_goes_on_whoever_is_started_again_and_when() {
    for killed in [0, 1] {
        for files in [1, 3, 6] {
            let folder = Folder::new();
            let folders = ["here", "there"].map(|name| folder.path(name));
            for folder in &folders {
                fs::create_dir(folder).unwrap();
            }
            let [here, there] = folders.each_ref().map(|folder| ["--via", &**folder]);
            let pair = Pair::new(folder, here, [here, there]);
            let is_over = AtomicBool::new(false);
            let (stopped, is_stopped) = mpsc::channel();
            let (go_on, goes_on) = mpsc::channel();
            thread::scope(|scope| {
                let mut program = Synchronised::new(folders.clone());
                let is_over = &is_over;
                scope.spawn(move || {
                    program.run_for(files, is_over);
                    // Nobody waits for it any more if the test has failed.
                    let _ = stopped.send(());
                    let _ = goes_on.recv();
                    program.run(is_over)
                });
                let _over = Over(is_over);
                let half_way = || is_stopped.recv_timeout(PATIENCE).unwrap();
                pair.join(Some(killed), half_way, || go_on.send(()).unwrap());
                pair.join_again();
            });
        }
    }
}

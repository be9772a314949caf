//! Joins of neighbouring releases.

use std::{
    fs,
    num::NonZeroUsize,
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use psijoin::{Role, registry};
use psijoin_handshake::Versions;
use psijoin_session::{
    Event, JoinSpec, Joined, Meeting, Outcome, Received, Stop, TableSpec, Watcher,
};
use psijoin_table::KeySpec;
use psijoin_transport::{Endpoint, Identity, Security, endpoint::Address};

/// Returns a join in parts of more than one thread, the sender's first.
fn specs(folder: &Path, asked: &str, is_encrypted: bool) -> [JoinSpec; 2] {
    let identities = [(); 2].map(|()| Identity::generate().unwrap());
    let names = identities.each_ref().map(Identity::fingerprint);
    let security = |own: usize| match is_encrypted {
        true => Security::PinnedTls {
            identity: identities[own].clone(),
            peer: names[1 - own],
        },
        false => Security::InsecurePlaintext,
    };
    let nowhere = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
    let spec = |role, own: usize, first: u64| {
        let rows: String = (first..first + 2000)
            .map(|key| format!("{key}\n"))
            .collect();
        let file = folder.join(format!("{own}.csv"));
        fs::write(&file, format!("id\n{rows}")).unwrap();
        let meeting = Meeting::new(nowhere.clone(), security(own));
        let key = KeySpec::new(vec!["id".into()], vec![]).unwrap();
        let mut spec = JoinSpec::new(role, meeting, TableSpec::file(file), key);
        spec.question.asked = asked.parse().unwrap();
        let protocol = match asked {
            "rows" => "rr22",
            _ => "rr22-circuit",
        };
        spec.protocol = registry::find(protocol).unwrap();
        spec.written.output = (asked == "rows" && own == 1).then(|| folder.join("shared.csv"));
        spec.parts = Some(5);
        spec.resources.threads = NonZeroUsize::new(2);
        spec
    };
    [spec(Role::Sender, 0, 0), spec(Role::Receiver, 1, 500)]
}

/// Tells where a party listens.
struct Listens(Mutex<mpsc::Sender<Address>>);

impl Watcher for Listens {
    fn hear(&self, event: Event<'_>) {
        if let Event::Listening { address, .. } = event {
            self.0.lock().unwrap().send(address.clone()).unwrap();
        }
    }
}

fn joined(spec: JoinSpec, watcher: &dyn Watcher) -> Outcome {
    match spec.join(watcher, &Stop::default()).unwrap() {
        Joined::Done(outcome, _) => *outcome,
        _ => panic!("it joins"),
    }
}

/// Returns the number of shared keys that the receiver learns.
fn shared([sender, mut receiver]: [JoinSpec; 2]) -> u64 {
    let (tell, address) = mpsc::channel();
    let listens = Listens(Mutex::new(tell));
    thread::scope(|scope| {
        let sending = scope.spawn(|| joined(sender, &listens));
        receiver.meeting.endpoint = Endpoint::Connect(address.recv().unwrap());
        let received = joined(receiver, &()).received;
        sending.join().unwrap();
        match received {
            Some(Received::Rows { shared_keys, .. }) => shared_keys,
            Some(Received::Count(count)) => count,
            other => panic!("{other:?}"),
        }
    })
}

/// A release that knows no lanes runs parts over streams that end together.
#[test]
fn releases_with_lanes_and_without_them_join() {
    let folder = tempfile::tempdir().unwrap();
    let before = Versions {
        oldest: 4,
        newest: 4,
    };
    for is_encrypted in [true, false] {
        for older in [None, Some(0), Some(1)] {
            for asked in ["rows", "count"] {
                let mut specs = specs(folder.path(), asked, is_encrypted);
                if let Some(older) = older {
                    specs[older].versions = before;
                }
                assert_eq!(shared(specs), 1500, "{is_encrypted} {older:?} {asked}");
            }
        }
    }
}

#[test]
fn sides_of_many_threads_join_with_lanes_and_without_them() {
    let folder = tempfile::tempdir().unwrap();
    for newest in [4, 5] {
        let mut specs = specs(folder.path(), "rows", true);
        for spec in &mut specs {
            spec.versions = Versions { oldest: 4, newest };
            spec.parts = Some(24);
            spec.resources.threads = NonZeroUsize::new(20);
        }
        assert_eq!(shared(specs), 1500);
    }
}

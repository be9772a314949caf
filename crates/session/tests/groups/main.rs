//! Counts and sums of groups, by two whole parties.

use std::{
    fs,
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use psijoin::Role;
use psijoin_session::{
    Error, Event, GroupColumn, Grouped, JobFolder, JoinSpec, Joined, Meeting, Outcome,
    PublicLabels, Received, RequestedGroups, RequestedOutput, Stop, TableSpec, Watcher,
};
use psijoin_table::KeySpec;
use psijoin_transport::{Endpoint, Security, endpoint::Address};

mod lists;
mod noise;
mod random;
mod refusals;
mod results;

/// Lets a party keep its job in a folder here.
fn in_a_job(spec: &mut JoinSpec, here: &Path) {
    spec.job = Some(JobFolder {
        path: here.join(spec.role.to_string()),
        marks: None,
        command: "psijoin".to_owned(),
    });
}

/// Two tables, the sender's first, and what is asked of them.
struct Join {
    tables: [String; 2],
    groups: RequestedGroups,
}

impl Join {
    /// Asks for the counts and sums of these columns by these.
    fn new(tables: [&str; 2], sums: &[&str], by: &str) -> Self {
        let sums = sums.iter().map(|name| name.parse().unwrap());
        Self {
            tables: tables.map(str::to_owned),
            groups: RequestedGroups {
                sums: sums.collect(),
                by: GroupColumn::list(by).unwrap(),
                ..RequestedGroups::default()
            },
        }
    }

    /// Withholds groups of fewer keys.
    fn least(mut self, least: u64) -> Self {
        self.groups.least = least;
        self
    }

    /// Gives both parties a list of the labels of the column at this place.
    fn list(mut self, place: usize, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|&label| label.to_owned());
        self.groups.by[place].public = Some(PublicLabels::new(labels).unwrap());
        self
    }

    /// Runs both parties, the sender first, each as it is `adjusted`.
    fn run(&self, adjust: impl Fn(&mut JoinSpec)) -> [Result<Outcome, Error>; 2] {
        let folder = tempfile::tempdir().unwrap();
        let spec = |role: Role| {
            let file = folder.path().join(format!("{role}.csv"));
            fs::write(&file, &self.tables[role as usize]).unwrap();
            let endpoint = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
            let meeting = Meeting::new(endpoint, Security::InsecurePlaintext);
            let key = KeySpec::new(vec!["id".into()], vec![]).unwrap();
            let mut spec = JoinSpec::new(role, meeting, TableSpec::file(file), key);
            spec.question.asked = RequestedOutput::Groups(self.groups.clone());
            spec.consent.receiver_sums = true;
            adjust(&mut spec);
            spec
        };
        let [sender, mut receiver] = [Role::Sender, Role::Receiver].map(spec);
        let (tell, address) = mpsc::channel();
        let listens = Listens(Mutex::new(tell));
        thread::scope(|scope| {
            let sending = scope.spawn(|| outcome(sender, &listens));
            receiver.meeting.endpoint = Endpoint::Connect(address.recv().unwrap());
            let received = outcome(receiver, &());
            [sending.join().unwrap(), received]
        })
    }

    /// Runs both parties, and returns the groups that the receiver has learned.
    fn grouped(&self, adjust: impl Fn(&mut JoinSpec)) -> Grouped {
        let [sent, received] = self.run(adjust).map(Result::unwrap);
        assert_eq!(sent.received, None);
        assert_eq!(sent.groups, received.groups);
        match received.received {
            Some(Received::Groups(grouped)) => grouped,
            other => panic!("{other:?}"),
        }
    }
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

fn outcome(spec: JoinSpec, watcher: &dyn Watcher) -> Result<Outcome, Error> {
    match spec.join(watcher, &Stop::default())? {
        Joined::Done(outcome, _) => Ok(*outcome),
        _ => panic!("it joins"),
    }
}

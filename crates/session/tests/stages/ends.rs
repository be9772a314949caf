//! Joins that end before all lanes have run.

use std::thread;

use psijoin_session::{ElsewhereFault, Error, Stop};

use crate::{Keys, LANES, Listens, listening, specs, to};

#[test]
fn a_run_that_fails_elsewhere_is_told_to_the_other_side() {
    let folder = tempfile::tempdir().unwrap();
    let [sender, receiver] = specs(folder.path(), "count", 0);
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    thread::scope(|scope| {
        let (listens, address) = Listens::new();
        let sender = listening(sender);
        let sent = scope.spawn(move || sender.join(&listens, &Stop::default()).map(drop));
        let agreed = to(address, receiver)
            .agree(keys.facts, LANES, &(), &Stop::default())
            .unwrap();
        let failed = agreed.finish();
        let expected = ElsewhereFault::Lanes {
            missing: 3,
            lanes: 3,
        };
        assert!(matches!(failed, Err(Error::Elsewhere(fault)) if fault == expected));
        let error = sent.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("other party"), "{error}");
    });
}

//! What is refused before anybody is met.

use psijoin_session::{ElsewhereFault, Error, SpecFault, Stop, TableFacts};
use psijoin_transport::Security;

use crate::{LANES, by_groups, listening, specs};

#[test]
fn what_cannot_be_had_elsewhere_is_refused_before_anybody_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let [_, receiver] = specs(folder.path(), "rows", 0);
    let refused =
        listening(receiver).agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::NoWay))
    ));
    let [_, mut receiver] = specs(folder.path(), "rows", 0);
    receiver.aligned = Some(psijoin_table::share::RepeatedKeys::default());
    let refused = receiver.agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::JobOrOrder))
    ));
    let [_, receiver] = specs(folder.path(), "shares", 0);
    let refused = receiver.agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::Shares))
    ));
    let [_, mut receiver] = specs(folder.path(), "count", 0);
    receiver.record = Some(folder.path().join("record.json"));
    receiver.meeting.security = Security::InsecurePlaintext;
    let refused = receiver.agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    let expected = SpecFault::RecordWithoutIdentities;
    assert!(matches!(refused, Err(Error::Spec(fault)) if fault == expected));
    let [_, receiver] = specs(folder.path(), "sum:receiver.amount", 0);
    let refused = receiver.agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::Numbers(_)))
    ));
    let grouped = by_groups(specs(folder.path(), "counts", 0), "receiver.kind", 2, None);
    let [_, receiver] = grouped;
    let refused = receiver.agree(TableFacts::default(), (LANES, None), &(), &Stop::default());
    assert!(matches!(
        refused,
        Err(Error::Elsewhere(ElsewhereFault::Labels(_)))
    ));
}

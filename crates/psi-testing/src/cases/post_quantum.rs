//! Protocols whose base OTs are by ML-KEM keep the promises that they keep with others. The others
//! are refused.

use psijoin_psi::{BaseOts, Columns, Error, OutputKind};

use super::{cost, determinism, faults, results, secrets};
use crate::{Sets, Subject};

fn few() -> Sets {
    Sets::new(70, 100, 30)
}

/// Checks a case of a protocol that can be post-quantum, and else that it is refused.
fn check(subject: &Subject, case: impl Fn(&Subject)) {
    if subject.protocol.is_post_quantum() {
        return case(&subject.clone().post_quantum());
    }
    let request = Sets::new(3, 4, 2).request(OutputKind::Rows);
    let refused = subject.protocol.plan(&request.base_ots(BaseOts::MlKem));
    assert!(matches!(refused.err(), Some(Error::NotPostQuantum(_))));
}

/// To the byte, and to the flight.
pub fn runs_cost_what_is_planned(subject: &Subject) {
    check(subject, |subject| cost::check(subject, few()));
}

/// Of every output.
pub fn runs_find_the_same(subject: &Subject) {
    check(subject, |subject| results::check(subject, few()));
}

/// The other way of base OTs has another digest, so that parties notice.
pub fn plans_differ(subject: &Subject) {
    check(subject, |subject| {
        let request = Sets::new(3, 4, 2).request(OutputKind::Rows);
        let other = subject.protocol.plan(&request).expect("it can be planned");
        assert_ne!(subject.plan(&request).digest(), other.digest());
    });
}

/// Whatever the number of threads.
pub fn runs_say_the_same_bytes(subject: &Subject) {
    let sums = OutputKind::Sums(Columns {
        sender: 2,
        receiver: 1,
    });
    check(subject, |subject| {
        determinism::check_first_served(subject, &subject.sized(few()), sums.clone());
    });
}

/// Neither ML-KEM's seeds nor the random tags.
pub fn runs_tell_no_secret(subject: &Subject) {
    check(subject, secrets::no_item_and_no_randomness_is_sent);
}

/// After every message.
pub fn runs_wait_for_room(subject: &Subject) {
    check(subject, |subject| {
        results::check_with_room_for_one(subject, &subject.sized(few()));
    });
}

/// At every message.
pub fn runs_end_soon_at_any_fault(subject: &Subject) {
    check(subject, |subject| {
        faults::a_cut_connection(subject);
        faults::a_flipped_bit(subject);
        faults::a_short_message(subject);
        faults::a_stalled_peer(subject);
    });
}

//! Meeting in a folder: see [`mailbox`](crate::mailbox).

use super::{
    Established, Patience,
    accept::meet_at,
    connect::go,
    failures::Failures,
    gate::Gate,
    introduction::Purpose,
    relay::{no_name, once},
    route::Route,
};
use crate::{
    Error, Options, Sight,
    endpoint::{Appointment, InFolder},
    mailbox::Spot,
    rendezvous::Side,
};

/// Meets the peer in a folder.
pub(crate) fn meet_in_folder(
    at: &InFolder,
    options: &Options,
    sees: &dyn Fn(Sight),
) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let sees = &once(sees);
    let spot = |appointment: &Appointment| Spot {
        folder: at.folder.clone(),
        token: appointment.token.clone(),
    };
    let spots = match &*at.appointments {
        [] => return Err(no_name()),
        [only] if only.side == Side::Client => {
            let route = &Route::Folder(&spot(only), sees);
            return go(Purpose::to_connect(options), route, options, patience);
        }
        several => several.iter().map(|it| (spot(it), it.side)).collect(),
    };
    let mut failures = Failures::default();
    let gate = Gate::in_folders(spots, options, sees, &mut failures)?;
    let met = meet_at(gate, options, &patience)?;
    met.map_err(|strangers| Error::NobodyInFolder {
        folder: at.folder.clone(),
        waited: patience.limit,
        attempt: failures.into_most_telling(),
        strangers: strangers.map(Box::new),
        by_invitation: options.security.is_by_invitation(),
    })
}

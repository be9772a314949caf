//! Meeting in a folder: see [`mailbox`](crate::mailbox).

use super::{
    Established, Patience, accept::meet_at, connect::go, failures::Failures, gate::Gate,
    introduction::Purpose, route::Route,
};
use crate::{Error, Options, Sight, endpoint::InFolder, rendezvous::Side};

/// Meets the peer in a folder.
pub(crate) fn meet_in_folder(
    at: &InFolder,
    options: &Options,
    sees: &dyn Fn(Sight),
) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    match at.side {
        Side::Client => go(Purpose::Meet, &Route::Folder(at, sees), options, patience),
        Side::Server => {
            let mut failures = Failures::default();
            let gate = Gate::in_folders(vec![at.clone()], sees, &mut failures)?;
            let met = meet_at(gate, options, &patience)?;
            met.map_err(|strangers| Error::NobodyInFolder {
                folder: at.folder.clone(),
                waited: patience.limit,
                attempt: failures.into_most_telling(),
                strangers,
            })
        }
    }
}

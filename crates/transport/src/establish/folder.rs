//! Meeting in a folder: see [`mailbox`](crate::mailbox).

use super::{
    Established, Patience, accept::meet_at, connect::go, failures::Failures, gate::Gate,
    introduction::Purpose, relay::no_name, route::Route,
};
use crate::{
    Error, Options, Sight,
    endpoint::InFolder,
    mailbox::Spot,
    rendezvous::{Side, Token},
};

/// Meets the peer in a folder.
pub(crate) fn meet_in_folder(
    at: &InFolder,
    options: &Options,
    sees: &dyn Fn(Sight),
) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let spot = |token: &Token| Spot {
        folder: at.folder.clone(),
        token: token.clone(),
    };
    match at.side {
        Side::Client => {
            let spot = spot(at.tokens.first().ok_or_else(no_name)?);
            go(
                Purpose::to_connect(options),
                &Route::Folder(&spot, sees),
                options,
                patience,
            )
        }
        Side::Server => {
            let mut failures = Failures::default();
            let gate = Gate::in_folders(at.tokens.iter().map(spot).collect(), sees, &mut failures)?;
            let met = meet_at(gate, options, &patience)?;
            met.map_err(|strangers| Error::NobodyInFolder {
                folder: at.folder.clone(),
                waited: patience.limit,
                attempt: failures.into_most_telling(),
                strangers: strangers.map(Box::new),
            })
        }
    }
}

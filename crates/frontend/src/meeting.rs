//! The place where the parties meet, from what a user says of it.

use std::{env, path::Path};

use psijoin_files::private;
use psijoin_peers::Place;
use psijoin_transport::{
    Appointment, AtRelay, Endpoint, InFolder, Proxies, Proxy, rendezvous::AccessKey,
};

use crate::Failure;

/// Returns where this side goes to be at a place. `key` is the file of a relay's access key.
///
/// # Errors
/// If both sides go there, and there are no appointments; if the key cannot be read, or is not
/// asked for.
pub(crate) fn endpoint(
    place: &Place,
    appointments: &[Appointment],
    key: Option<&Path>,
) -> Result<Endpoint, Failure> {
    if key.is_some() && !matches!(place, Place::Relay(_)) {
        return Err(Failure::Usage(format!(
            "the key of a relay is given, and the other party is met {place}"
        )));
    }
    let appointments = || match appointments {
        [] => {
            let why = "where both sides go to meet, each has to know who the other one is";
            Err(Failure::Usage(why.to_owned()))
        }
        some => Ok(some.to_vec()),
    };
    Ok(match place {
        Place::Listen(address) => Endpoint::Listen(address.clone()),
        Place::Connect(address) => Endpoint::Connect(address.clone()),
        Place::Relay(relay) => Endpoint::Relay(AtRelay {
            relay: relay.clone(),
            appointments: appointments()?,
            access: key.map(relay_key).transpose()?,
        }),
        Place::Folder(folder) => Endpoint::Folder(InFolder {
            folder: folder.into(),
            appointments: appointments()?,
        }),
        place => {
            return Err(Failure::Usage(format!(
                "the other party is met {place}, and this release cannot do that"
            )));
        }
    })
}

/// Returns a folder as a place that is kept: where it is does not depend on where programs run.
///
/// # Errors
/// If its path is no text.
pub fn folder(path: &str) -> Result<Place, Failure> {
    let absolute = std::path::absolute(path).map_err(|error| {
        let shown = psijoin_printable::path(Path::new(path));
        Failure::Usage(format!("the folder {shown} cannot be meant: {error}"))
    })?;
    let text = absolute.into_os_string().into_string();
    let text = text.map_err(|path| {
        let shown = psijoin_printable::path(Path::new(&path));
        Failure::Usage(format!("the path of the folder {shown} is not a text"))
    })?;
    Ok(Place::Folder(text))
}

/// Reads the access key of a relay.
///
/// # Errors
/// If there is none in the file.
pub fn relay_key(path: &Path) -> Result<AccessKey, Failure> {
    let shown = psijoin_printable::path(path);
    let bytes = private::read(path).map_err(|error| {
        Failure::Usage(format!("the relay's key {shown} cannot be read: {error}"))
    })?;
    let text = str::from_utf8(&bytes).unwrap_or_default();
    text.trim().parse().map_err(|_| {
        Failure::Usage(format!(
            "{shown} is no access key of a relay: these are 64 hexadecimal digits"
        ))
    })
}

/// Returns the proxies on the way there: the one that is named, or else those of the environment.
/// A side that listens, or looks into a folder, needs none.
pub fn proxies(named: Option<&Proxy>, endpoint: &Endpoint) -> Proxies {
    match endpoint {
        Endpoint::Listen(_) | Endpoint::Folder(_) => Proxies::default(),
        _ => proxies_anywhere(named),
    }
}

/// Returns those of a process that connects wherever it is told to.
pub fn proxies_anywhere(named: Option<&Proxy>) -> Proxies {
    match named {
        Some(proxy) => Proxies::all(proxy.clone()),
        None => Proxies::from_environment(|name| env::var(name).ok()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use psijoin_transport::Fingerprint;

    use super::*;

    fn appointments() -> [Appointment; 1] {
        let [ours, theirs] = [b"ours", b"them"].map(|key| Fingerprint::of_public_key(key));
        [Appointment::of_strangers(ours, theirs)]
    }

    fn at_relay() -> Place {
        Place::Relay("relay.example.org:7767".parse().unwrap())
    }

    #[test]
    fn where_both_go_each_knows_the_other() {
        for place in [at_relay(), Place::Folder("shared".into())] {
            assert!(endpoint(&place, &appointments(), None).is_ok());
            let error = endpoint(&place, &[], None).unwrap_err();
            assert!(matches!(error, Failure::Usage(_)), "{error}");
        }
        let listen = Place::Listen("127.0.0.1:0".parse().unwrap());
        assert!(endpoint(&listen, &[], None).is_ok());
    }

    #[test]
    fn a_key_is_read_from_its_file_and_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("relay.key");
        let go = |place: &Place| endpoint(place, &appointments(), Some(&file));
        let error = go(&at_relay()).unwrap_err().to_string();
        assert!(error.contains("relay.key cannot be read"), "{error}");
        fs::write(&file, "secret").unwrap();
        let error = go(&at_relay()).unwrap_err().to_string();
        assert!(
            error.contains("is no access key") && !error.contains("secret"),
            "{error}"
        );
        fs::write(&file, "a5".repeat(32) + "\n").unwrap();
        let Endpoint::Relay(at) = go(&at_relay()).unwrap() else {
            panic!("it is a relay");
        };
        assert_eq!(at.access, Some(AccessKey::from_bytes([0xa5; 32])));
        let error = go(&Place::Folder("shared".into())).unwrap_err().to_string();
        assert!(error.contains("in the folder shared"), "{error}");
    }

    #[test]
    fn a_proxy_that_is_named_counts() {
        let connect = Endpoint::Connect("join.example.org:7000".parse().unwrap());
        let listen = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
        let proxy: Proxy = "http://p.example.org:3128".parse().unwrap();
        let all = proxies(Some(&proxy), &connect);
        assert_eq!(all, Proxies::all(proxy.clone()));
        assert_eq!(proxies(Some(&proxy), &listen), Proxies::default());
    }
}

//! The place where the parties meet, from what a user says of it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use psijoin_transport::{
    AtRelay, Endpoint, InFolder, Proxies, Proxy, RelayAddress, Security, endpoint::Address,
    rendezvous::AccessKey,
};

use crate::Failure;

/// A place where the parties meet.
#[derive(Debug, Clone)]
pub enum Place {
    /// This side listens.
    Listen(Address),
    /// This side connects.
    Connect(Address),
    /// Both go to a relay.
    Relay {
        /// Its address.
        relay: RelayAddress,
        /// The file of its access key, if it demands one.
        key: Option<PathBuf>,
    },
    /// Both leave files in a folder.
    Folder(PathBuf),
}

impl Place {
    /// Returns where this side goes.
    ///
    /// # Errors
    /// If both sides go somewhere, and this one does not know who the other is, or a relay's key
    /// cannot be read.
    pub fn endpoint(&self, security: &Security) -> Result<Endpoint, Failure> {
        let parties = || match security {
            Security::PinnedTls { identity, peer } => Ok((identity.fingerprint(), *peer)),
            _ => Err(Failure::Usage(
                "where both sides go to meet, each has to know who the other one is".to_owned(),
            )),
        };
        Ok(match self {
            Self::Listen(address) => Endpoint::Listen(address.clone()),
            Self::Connect(address) => Endpoint::Connect(address.clone()),
            Self::Relay { relay, key } => {
                let (ours, theirs) = parties()?;
                let mut at = AtRelay::first_meeting(relay.clone(), ours, theirs);
                at.access = key.as_deref().map(read_key).transpose()?;
                Endpoint::Relay(at)
            }
            Self::Folder(folder) => {
                let (ours, theirs) = parties()?;
                Endpoint::Folder(InFolder::first_meeting(folder, ours, theirs))
            }
        })
    }
}

/// Reads the access key of a relay.
fn read_key(path: &Path) -> Result<AccessKey, Failure> {
    let shown = psijoin_printable::path(path);
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::Usage(format!("the relay's key {shown} cannot be read: {error}"))
    })?;
    text.trim().parse().map_err(|_| {
        Failure::Usage(format!(
            "{shown} is no access key of a relay: these are 64 hexadecimal digits"
        ))
    })
}

/// Returns the proxies on the way there: the one that is named, or else those of the environment.
/// A side that listens, or looks into a folder, needs none.
///
/// # Errors
/// If the environment names what is no proxy.
pub fn proxies(named: Option<&Proxy>, endpoint: &Endpoint) -> Result<Proxies, Failure> {
    match (endpoint, named) {
        (Endpoint::Listen(_) | Endpoint::Folder(_), _) => Ok(Proxies::default()),
        (_, Some(proxy)) => Ok(Proxies::all(proxy.clone())),
        (_, None) => {
            let variable = |name: &str| env::var(name).ok();
            Proxies::from_environment(variable)
                .map_err(|error| Failure::Usage(format!("https_proxy in the environment: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use psijoin_transport::Identity;

    use super::*;

    fn pinned() -> Security {
        let [ours, theirs] = [(); 2].map(|()| Identity::generate().unwrap());
        Security::PinnedTls {
            identity: ours,
            peer: theirs.fingerprint(),
        }
    }

    fn at_relay(key: Option<PathBuf>) -> Place {
        let relay = "relay.example.org:7767".parse().unwrap();
        Place::Relay { relay, key }
    }

    #[test]
    fn where_both_go_each_knows_the_other() {
        for place in [at_relay(None), Place::Folder("shared".into())] {
            assert!(place.endpoint(&pinned()).is_ok());
            let error = place.endpoint(&Security::InsecurePlaintext).unwrap_err();
            assert!(matches!(error, Failure::Usage(_)), "{error}");
        }
        let listen = Place::Listen("127.0.0.1:0".parse().unwrap());
        assert!(listen.endpoint(&Security::InsecurePlaintext).is_ok());
    }

    #[test]
    fn a_key_is_read_from_its_file_and_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("relay.key");
        let place = at_relay(Some(file.clone()));
        let error = place.endpoint(&pinned()).unwrap_err().to_string();
        assert!(error.contains("relay.key cannot be read"), "{error}");
        fs::write(&file, "secret").unwrap();
        let error = place.endpoint(&pinned()).unwrap_err().to_string();
        assert!(
            error.contains("is no access key") && !error.contains("secret"),
            "{error}"
        );
        fs::write(&file, "a5".repeat(32) + "\n").unwrap();
        let Endpoint::Relay(at) = place.endpoint(&pinned()).unwrap() else {
            panic!("it is a relay");
        };
        assert_eq!(at.access, Some(AccessKey::from_bytes([0xa5; 32])));
    }

    #[test]
    fn a_proxy_that_is_named_counts() {
        let connect = Endpoint::Connect("join.example.org:7000".parse().unwrap());
        let listen = Endpoint::Listen("127.0.0.1:0".parse().unwrap());
        let proxy: Proxy = "http://p.example.org:3128".parse().unwrap();
        let all = proxies(Some(&proxy), &connect).unwrap();
        assert_eq!(all, Proxies::all(proxy.clone()));
        assert_eq!(proxies(Some(&proxy), &listen).unwrap(), Proxies::default());
    }
}

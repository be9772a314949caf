//! The keys of those who may use a relay.

use std::{collections::HashMap, io, path::Path};

use psijoin_files::private;
use psijoin_transport::rendezvous::{Access, AccessKey, Hello, Nonce};

use crate::Error;

/// The access keys of a relay, each under a name that stands in its log.
///
/// A file of them has a name and a key on each line; empty lines, and those that begin with `#`, do
/// not count. To withdraw a key, remove its line and start the relay again.
#[derive(Debug, Clone)]
pub struct AccessKeys(HashMap<[u8; 8], Named>);

#[derive(Debug, Clone)]
struct Named {
    name: String,
    key: AccessKey,
}

impl AccessKeys {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::AccessFile`], [`Error::AccessLine`], which tells nothing of a key, and
    /// [`Error::NoAccessKey`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::AccessFile {
            path: path.to_owned(),
            source,
        };
        let bytes = private::read(path).map_err(failed)?;
        let text = str::from_utf8(&bytes)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let mut keys = HashMap::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |reason| Error::AccessLine {
                path: path.to_owned(),
                line: i + 1,
                reason,
            };
            let named = Named::parse(line).map_err(fault)?;
            if keys.insert(named.key.id(), named).is_some() {
                return Err(fault("the key stands there twice"));
            }
        }
        match keys.is_empty() {
            true => Err(Error::NoAccessKey {
                path: path.to_owned(),
            }),
            false => Ok(Self(keys)),
        }
    }

    /// Returns the name of the key that somebody has proved to have.
    pub(crate) fn recognise(&self, access: &Access, nonce: &Nonce, hello: &Hello) -> Option<&str> {
        let named = self.0.get(&access.id)?;
        let is_genuine = named.key.verify(access, nonce, hello);
        is_genuine.then_some(&*named.name)
    }
}

impl Named {
    fn parse(line: &str) -> Result<Self, &'static str> {
        let (name, key) = line
            .split_once(char::is_whitespace)
            .ok_or("there is a name or a key, and not both")?;
        if !psijoin_printable::is_all_printable(name) {
            return Err("the name is not printable");
        }
        Ok(Self {
            name: name.to_owned(),
            key: key.trim().parse().map_err(|_| "the key is not one")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use psijoin_transport::rendezvous::{Side, Token};

    use super::*;

    fn read(text: &str) -> Result<AccessKeys, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access");
        fs::write(&path, text).unwrap();
        AccessKeys::read(&path)
    }

    #[test]
    fn a_key_is_recognised_by_its_name() {
        let [ann, bob, other] = [[1; 32], [2; 32], [3; 32]].map(AccessKey::from_bytes);
        let text = format!("# ours\nann {}\n\n bob\t{}\n", ann.to_text(), bob.to_text());
        let keys = read(&text).unwrap();
        let hello = Hello {
            side: Side::Client,
            token: Token::from_bytes([7; 32]),
            client: [0; 8],
            has_key: true,
        };
        let recognise = |key: &AccessKey, challenge: &Nonce| {
            let access = key.answer(&[5; 16], &hello);
            keys.recognise(&access, challenge, &hello)
                .map(str::to_owned)
        };
        assert_eq!(recognise(&ann, &[5; 16]).as_deref(), Some("ann"));
        assert_eq!(recognise(&bob, &[5; 16]).as_deref(), Some("bob"));
        assert_eq!(recognise(&other, &[5; 16]), None);
        assert_eq!(recognise(&bob, &[6; 16]), None);
    }

    #[test]
    fn a_wrong_line_is_named_and_its_key_is_not() {
        let key = "0f".repeat(32);
        for (text, said) in [
            (format!("ann {key}\nbob {key}\n"), "line 2 of "),
            (format!("ann {key}0\n"), "the key is not one"),
            (format!("{key}\n"), "and not both"),
            ("# nobody\n".to_owned(), "there is no access key"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("0f0f"), "{error}");
        }
    }
}

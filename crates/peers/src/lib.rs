//! The parties that a user knows by name, and the invitations by which they are introduced.
//!
//! A [`Book`] is a file beside the user's identity, `peers.toml`. It holds a [`Peer`] for each
//! [`Name`]. An inviter puts down whom it has [invited](Peers::invite), and sends the [`Link`]; the
//! guest [accepts](Peers::accept) that, and pins the inviter's key at once. Neither waits for the
//! other. In their first session, whenever it is, the guest proves the secret of the link, and the
//! inviter pins the guest's key: see [`psijoin_transport::invitation`].
//!
//! ```
//! use psijoin_peers::{Book, Link, Place, Wanted};
//! use psijoin_transport::Identity;
//!
//! # let folder = tempfile::tempdir()?;
//! # let (anns, bobs) = (folder.path().join("ann"), folder.path().join("bob"));
//! # [&anns, &bobs].map(|folder| std::fs::create_dir(folder).unwrap());
//! let ann = Identity::generate()?;
//! let place = Place::Relay("relay.example.org:7766".parse()?);
//! let link = Book::in_folder(&anns).change(|peers| {
//!     peers.invite("bob".parse()?, &ann, Wanted::until(2_000_000_000, place))
//! })?;
//!
//! // By mail, or any other way.
//! let link: Link = link.to_string().parse()?;
//! Book::in_folder(&bobs).change(|peers| peers.accept("ann".parse()?, &link))?;
//!
//! let bobs = Book::in_folder(&bobs).read()?;
//! assert_eq!(bobs.named(&"ann".parse()?)?.fingerprint(), Some(ann.fingerprint()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `name` | the names of peers |
//! | `place` | the places where they are met |
//! | `link` | invitations, as they are sent |
//! | `peer` | what is kept of one |
//! | `peers` | all of them, and the steps by which they get to know each other |
//! | `book`, `file` | the file that keeps them |
//!
//! # The file
//! It is for its owner alone (mode 0600), and replaced as a whole. A lock beside it lets processes
//! change it one after the other, so that an invitation is used up once. It holds secrets: whoever
//! reads it can find out, at a relay, when this party meets a peer, and can accept invitations that
//! are still open. It holds no private key of this party, so nobody can pass for it by this file.
//!
//! It is TOML, because users read it, and copy it from one machine to another. `toml` reads and
//! writes it through serde, and is here for price files anyway. `toml_edit` would keep comments and
//! the order of entries; but nobody is asked to write here, as each change has a command, and it
//! would be a second, larger model of the same file. Base 32 is `data-encoding`'s, with the
//! alphabet of fingerprints.

#![forbid(unsafe_code)]

mod book;
mod error;
mod file;
mod link;
mod name;
mod peer;
mod peers;
mod place;
mod time;

pub use book::{Book, Doorway};
pub use error::Error;
pub use link::{Link, LinkError, MAX_LINK_CHARACTERS};
pub use name::{Name, NameError};
pub use peer::{Confirmation, Invitation, Kept, Peer, Replaced, Side, Use};
pub use peers::{Met, News, Peers, Wanted};
pub use place::Place;
pub use time::{date, now};

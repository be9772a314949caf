//! A mailbox: files in a folder in the place of a connection, for parties that may exchange nothing
//! but files. The folder may be a network drive, or be synchronised by whatever program.
//!
//! The bytes are those of any session, in TLS between the parties. They are cut into files where
//! the writer pauses, so mostly one for each flight of messages.
//!
//! # Files
//! Both parties know the [token](crate::rendezvous::Token) of their meeting. All of it is in one
//! folder within the given one, whose name is a hash of the token: `psijoin-` and 16 digits. In the
//! names of files, runs of the parties are random numbers:
//!
//! | name | by | |
//! |---|---|---|
//! | `first-C` | client of TLS | the first file of its run C |
//! | `server-C-S-N` | server | file N, from 0 on, of its run S to the run C |
//! | `client-C-S-N` | client | file N, from 1 on, of its run C to the run S |
//! | `here-S` | server | empty, with a time: the run S is there |
//!
//! What is in a file has its length and a hash before it (`mailbox::letter`). It is written under
//! another name, which begins with `.part-`, and then renamed. Where renaming is not atomic, or a
//! file grows before the eyes of the reader, length and hash tell when it is whole. The reader
//! removes it: `first-C` once the client's next file shows that the answer to it has come, and
//! every other file at once.
//!
//! A writer goes no more than a few files ahead of the reader, so the folder never holds more than
//! some 100 MB of each side for each stream of the session.
//!
//! # A kill at any file
//! TLS cannot be resumed by another process. So a party that was killed begins anew, as another
//! run. It removes what belongs to its earlier ones, and takes part in no session of theirs. A
//! party whose peer has begun anew notices that, by `here-S` or by `first-C`, and its session ends
//! as by a lost connection. A client whom nobody has answered yet need not notice: what it has said
//! first is still there for the next run of the server, even if the one before has read it.
//!
//! # What the folder shows
//! Whoever can read it sees sizes and times. Whoever can write to it can end a session, and nothing
//! else. What is synchronised is often kept for long after it was removed, so a recording of the
//! whole session may be there. It stays unreadable for as long as the key exchange of TLS does,
//! which is post-quantum: every release that knows mailboxes has it.
//!
//! # Why it is built this way
//!
//! - *One run of each side is one connection*, and all else is as with sockets: whoever writes
//!   `first-C` is a candidate as whoever connects, and has to prove that it is the peer.
//! - *Names hold both runs*, so no file of an earlier session is taken for one of this, wherever it
//!   comes from: programs that synchronise bring files back.
//! - *Polling, and no notification*: what tells a program of changes in a folder does not tell it
//!   of changes that other machines make.

use std::{
    collections::HashMap,
    net::TcpStream,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use crate::{
    Error, Sight,
    bridge::{Bridge, Stop},
    dial::Failure,
    rendezvous::{Side, Token},
};

mod inbox;
mod letter;
mod names;
mod outbox;
mod room;

use inbox::Inbox;
use letter::Letter;
use names::{Name, Run};
use outbox::Outbox;
use room::Room;

/// A meeting in a folder, under one name.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub(crate) folder: PathBuf,
    pub(crate) token: Token,
}

/// The time between two looks into the folder: at first, and at most.
const LOOK: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// The longest first words: several times what a ClientHello takes. Anybody who can write to the
/// folder can make this side keep as much, many times.
const MAX_FIRST_BYTES: usize = 64 << 10;

/// Two runs that write to each other.
#[derive(Debug)]
struct Correspondence {
    room: Arc<Room>,
    /// The part of this one.
    side: Side,
    client: Run,
    /// Unknown to the client until the server has answered.
    server: OnceLock<Run>,
    /// When the client began, by its own clock, in milliseconds since 1970.
    client_began: u64,
    /// When this side began.
    began: u64,
    /// `true` once the first file of the client is of no use any more.
    first_is_done: Arc<AtomicBool>,
}

impl Correspondence {
    /// Returns the name of a file of one side; `None` if the other one's run is not known yet.
    fn name(&self, from: Side, number: u64) -> Option<Name> {
        if (from, number) == (Side::Client, 0) {
            return Some(Name::First(self.client));
        }
        let server = *self.server.get()?;
        Some(Name::Letter {
            from,
            client: self.client,
            server,
            number,
        })
    }

    /// Removes the first file of the client: it is of no use any more.
    fn be_done_with_first(&self) -> std::io::Result<()> {
        self.first_is_done.store(true, Ordering::Relaxed);
        self.room.remove(&Name::First(self.client))
    }

    /// Makes a bridge to the other run, which has written so many files that were read.
    fn bridge(self, next: u64, heard: Option<Letter>) -> std::io::Result<(TcpStream, Bridge)> {
        let shared = Arc::new(self);
        Bridge::start(|stop| {
            (
                Outbox::new(shared.clone(), stop.clone()),
                Inbox::new(shared, next, heard, stop.clone()),
            )
        })
    }
}

/// Nobody is to answer the client any more.
impl Drop for Correspondence {
    fn drop(&mut self) {
        let _ = self.be_done_with_first();
        self.room.leave();
    }
}

/// Goes to the folder as the client of TLS. This succeeds whoever is there.
pub(crate) fn dial(at: &Spot, sees: &dyn Fn(Sight)) -> Result<(TcpStream, Bridge), Failure> {
    let fault = |source| {
        let folder = at.folder.clone();
        Failure::Lasting(Error::Folder { folder, source })
    };
    let room = Arc::new(Room::open(&at.folder, &at.token).map_err(fault)?);
    let client = Run::fresh().ok_or(Failure::Lasting(Error::Randomness))?;
    room.clear(|name| name.client().is_some()).map_err(fault)?;
    sees(Sight::Waiting);
    let began = now();
    let correspondence = Correspondence {
        room,
        side: Side::Client,
        client,
        server: OnceLock::new(),
        client_began: began,
        began,
        first_is_done: Arc::default(),
    };
    correspondence
        .bridge(0, None)
        .map_err(|error| Failure::Lasting(error.into()))
}

/// Waits in the folder as the server of TLS, until it is stopped: `come` gets a bridge to each who
/// comes.
pub(crate) fn listen(
    at: &Spot,
    stop: &Stop,
    mut come: impl FnMut((TcpStream, Bridge)),
) -> Result<(), Error> {
    let fault = |source| Error::Folder {
        folder: at.folder.clone(),
        source,
    };
    let room = Arc::new(Room::open(&at.folder, &at.token).map_err(fault)?);
    let server = Run::fresh().ok_or(Error::Randomness)?;
    // What a client has said first may be for this run.
    room.clear(|name| !matches!(name, Name::First(_)))
        .map_err(fault)?;
    let presence = Arc::new(Presence {
        room: room.clone(),
        server,
    });
    let began = now();
    let here = Letter {
        time: began,
        ..Letter::default()
    };
    room.write(&Name::Here(server), &here).map_err(fault)?;
    let mut seen: HashMap<Run, Arc<AtomicBool>> = HashMap::new();
    let [mut pause, longest] = LOOK;
    while !stop.is_stopped() {
        for name in room.names().map_err(fault)? {
            let Name::First(client) = name else {
                continue;
            };
            if let Some(is_done) = seen.get(&client) {
                // It may have been brought back.
                if is_done.load(Ordering::Relaxed) {
                    room.remove(&name).map_err(fault)?;
                }
                continue;
            }
            let Some(letter) = room.read(&name).map_err(fault)? else {
                continue;
            };
            let first_is_done = Arc::new(AtomicBool::new(false));
            seen.insert(client, first_is_done.clone());
            if letter.content.len() > MAX_FIRST_BYTES {
                tracing::warn!("{name} in the folder is not what a party says first");
                first_is_done.store(true, Ordering::Relaxed);
                room.remove(&name).map_err(fault)?;
                continue;
            }
            [pause, _] = LOOK;
            let correspondence = Correspondence {
                room: room.clone(),
                side: Side::Server,
                client,
                server: OnceLock::from(server),
                client_began: letter.time,
                began,
                first_is_done,
            };
            let (socket, bridge) = correspondence.bridge(1, Some(letter))?;
            come((socket, bridge.keeping(presence.clone())));
        }
        thread::sleep(pause);
        pause = longest.min(pause.mul_f32(1.5));
    }
    Ok(())
}

/// The file that tells that a run of the server is there, for as long as it or a session of it is.
#[derive(Debug)]
struct Presence {
    room: Arc<Room>,
    server: Run,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = self.room.remove(&Name::Here(self.server));
        self.room.leave();
    }
}

/// Returns this machine's time, in milliseconds since 1970.
fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_millis() as u64)
}

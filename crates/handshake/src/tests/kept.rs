//! Releases of the past, as they spoke. `version_4.txt` was recorded by the last one before
//! versions were negotiated: its parties say here what they said then, to a party of today.

use super::*;

/// What one party of the recording sent.
struct Recorded {
    role: Role,
    opening: [u8; OPENING_BYTES],
    hello: Box<[u8; HELLO_BYTES]>,
    confirmation: [u8; CONFIRMATION_BYTES],
}

/// The recording: lines of a party, the name of a message, and its bytes in hexadecimal digits,
/// without the zeros at their end.
const RECORDING: &str = include_str!("version_4.txt");

/// What both parties had derived.
const DERIVED: &[u8] = b"derived";

fn bytes<const N: usize>(line: &str) -> Box<[u8; N]> {
    let found = RECORDING.lines().find_map(|it| it.strip_prefix(line));
    let digits = found.unwrap().trim();
    let mut bytes = Box::new([0; N]);
    for (byte, at) in bytes.iter_mut().zip((0..digits.len()).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    }
    bytes
}

impl Recorded {
    fn of(role: Role) -> Self {
        Self {
            role,
            opening: *bytes(&format!("{role} opening ")),
            hello: bytes(&format!("{role} hello ")),
            confirmation: *bytes(&format!("{role} confirmation ")),
        }
    }

    fn share(&self) -> &[u8] {
        &self.confirmation[DIGEST_BYTES..]
    }

    /// Says what it said, whatever it hears, and returns what that is.
    fn speak(&self, channel: &mut Channel) -> Recorded {
        channel.send(&self.opening).unwrap();
        channel.send(&*self.hello).unwrap();
        let opening = channel.recv_array().unwrap();
        let mut hello = Box::new([0; HELLO_BYTES]);
        channel.recv(&mut *hello).unwrap();
        channel.send(&self.confirmation).unwrap();
        Recorded {
            role: self.role.other(),
            opening,
            hello,
            confirmation: channel.recv_array().unwrap(),
        }
    }
}

/// The hello of either party of the recording.
fn hello_of(role: Role) -> Hello {
    let (size, scale) = match role {
        Role::Sender => (1000, 2),
        Role::Receiver => (50, 3),
    };
    Hello::new(role, size)
        .setting("protocol", "kkrt")
        .setting("security", "semi-honest, 2^-40")
        .setting("normalisation", "email")
        .fact("scale", scale)
}

/// Returns the seed that parties of version 4 drew.
fn seed_of([sender, receiver]: [&Recorded; 2]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin v1 handshake: joint seed");
    for part in [
        b"PSIJOIN\n\x04\0\0\0\0\0\0\0",
        &sender.hello[..],
        sender.share(),
        &receiver.hello[..],
        receiver.share(),
        &sender.confirmation[..DIGEST_BYTES],
    ] {
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[test]
fn version_4_was_as_it_is_understood_here() {
    let both = [Role::Sender, Role::Receiver].map(Recorded::of);
    assert_eq!(seed_of([&both[0], &both[1]]), *bytes("seed "));
    for recorded in both {
        // It would understand what is sent today.
        let (said, commitment) = Hello::decode(&recorded.hello).unwrap();
        assert_eq!(said.compare(&hello_of(recorded.role)).ok(), Some(()));
        let today = hello_of(recorded.role).encode(&commitment).unwrap();
        assert_eq!(today, recorded.hello);
        assert_eq!(Versions::OURS.to_opening()[..10], recorded.opening[..10]);
    }
}

#[test]
fn either_party_of_version_4_meets_one_of_today() {
    for role in Role::BOTH {
        let recorded = Recorded::of(role.other());
        let (mut a, mut b) = memory::pair();
        let (seed, heard) = thread::scope(|scope| {
            let heard = scope.spawn(|| recorded.speak(&mut b));
            let pending = begin(&mut a, hello_of(role)).unwrap();
            assert_eq!(pending.version(), 4);
            assert_eq!(
                pending.peer().told("scale"),
                hello_of(role.other()).told("scale")
            );
            let seed = pending.confirm(&mut a, &[DERIVED]).unwrap();
            (seed, heard.join().unwrap())
        });
        let both = match role {
            Role::Sender => [&heard, &recorded],
            Role::Receiver => [&recorded, &heard],
        };
        assert_eq!(seed.to_kept(), seed_of(both));
    }
}

#[test]
fn a_release_that_has_given_version_4_up_says_which_side_to_update() {
    let later = Versions {
        oldest: 5,
        newest: 6,
    };
    for role in Role::BOTH {
        let recorded = Recorded::of(role.other());
        let (mut a, mut b) = memory::pair();
        b.send(&recorded.opening).unwrap();
        b.send(&*recorded.hello).unwrap();
        let error = begin_speaking(later, &mut a, hello_of(role))
            .map(|_| ())
            .unwrap_err();
        assert!(
            matches!(error, Error::Version { ours: 6, theirs: 4 }),
            "{error}"
        );
        let error = error.to_string();
        assert!(
            error.ends_with("update psijoin on the other side"),
            "{error}"
        );
    }
}

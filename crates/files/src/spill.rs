//! Partitions of records that spill from memory to disk.
//!
//! ```
//! use psijoin_files::spill::{Budget, Folder, Spill, Store};
//!
//! let spill = Spill::new(Budget::new(100 << 20), Folder::temporary());
//! let store = Store::new(8, 4, &spill);
//! for number in 0_u32..1000 {
//!     store.append(number as usize % 8, &number.to_le_bytes())?;
//! }
//! assert_eq!(store.records(3), 125);
//! assert_eq!(store.read(3)?[..8], [3, 0, 0, 0, 11, 0, 0, 0]);
//! # Ok::<(), psijoin_files::spill::Error>(())
//! ```
//!
//! **Memory.** Each partition gathers its records in chunks of 256 KiB. The stores of a process
//! share a [`Budget`]. When they hold more than it allows, the partition that holds most writes its
//! full chunks to disk, or the one that it is filling if none is full. So chunks are as large as
//! the budget lets them be: about twice the budget per partition, and 256 KiB at most.
//! A chunk that may fill up lies in a slot of a huge page, which all stores of a budget share.
//!
//! **Disk.** A store has one temporary file in a [`Folder`], which has no name from the start, or
//! loses it as soon as it is created where a file system cannot do without. The system frees it
//! when the store is dropped or the process ends, however it ends. Its owner alone may open it.
//! Nothing is synced, since nobody reads it after a crash.
//!
//! **On disk nothing can be read or changed.** A chunk is sealed by AES-256-GCM under a key of the
//! store, which is drawn from the operating system, never leaves memory, and is wiped. A chunk's
//! nonce is its number among all chunks of the store, so none repeats; its partition and its place
//! there are authenticated with it. Tags stay in memory, where each chunk is on record. So a chunk
//! that is damaged, cut off, swapped for another one, or put back to what lay in its place before
//! is an error and never a wrong record. The number of bytes does show, as do the times at which
//! they are written and read, and the size of each chunk.
//!
//! *How much one key may seal*: with 2^n blocks of 16 bytes, the best known attack on counter mode
//! has an advantage of 2^(2n - 129), and a forged chunk passes with a probability of 2^-113, as a
//! chunk has up to 2^14 blocks (NIST SP 800-38D). A terabyte is 2^36 blocks, so 2^-57.
//!
//! *How it is wiped*: the bytes that the key is made of by `zeroize`; the round keys, which `ring`
//! has no way to wipe, by writing those of another key in their place.

mod budget;
mod chunk;
mod error;
mod file;
mod folder;
mod place;
mod seal;
mod store;

pub use budget::Budget;
pub use error::Error;
pub use folder::Folder;
pub use place::Spill;
pub use store::Store;

//! The limits on the other party's set, and on what it gives.
//!
//! Only the other party knows these sizes, and memory and time are planned by its claims.

use psijoin::{Columns, OutputKind, Plan, Role, auto, parts};
use psijoin_forecast::Calibration;
use psijoin_table::share::PayloadLayout;

use crate::{Error, allowance::PER_STREAM, event::Warning, fault::TooMuchGiven, memory};

/// Memory that a run takes for each key of the larger set, beyond [`SET_UP_BYTES`], by the
/// protocols that `auto` takes: measured were 93 to 140 bytes for rows, and 170 for counts
/// (docs/scale.md).
const BYTES_PER_KEY: u64 = 256;

/// And whatever the sizes are.
const SET_UP_BYTES: u64 = 128_000_000;

/// Of what the other party gives, what is in memory at once is there twice: as it arrives, and as
/// it is kept.
const COPIES: u64 = 2;

/// A receiver's set this many times as large as the sender's is worth a warning.
const CURIOUS: u64 = 20;

/// The most keys that the other party may have.
#[derive(Debug, Clone, Copy, Default)]
pub enum MaxPeerKeys {
    /// As the user said.
    Said(u64),
    /// As many as there is memory for.
    #[default]
    ByMemory,
}

impl MaxPeerKeys {
    /// Checks what the other party said, as soon as it has.
    ///
    /// # Errors
    /// [`Error::TooManyPeerKeys`].
    pub(crate) fn check(self, theirs: u64) -> Result<(), Error> {
        match self {
            Self::Said(most) if theirs > most => Err(Error::TooManyPeerKeys { theirs, most }),
            _ => Ok(()),
        }
    }

    /// Checks that a party in this role has memory for what follows from what the other one said. A
    /// set that is no larger than its own is never refused for its size. `allowed` is what the user
    /// has said, and else the machine is asked.
    ///
    /// # Errors
    /// [`Error::NoRoomForPeerKeys`].
    pub(crate) fn check_memory(
        self,
        role: Role,
        plan: &Plan,
        allowed: Option<u64>,
    ) -> Result<(), Error> {
        let sizes = plan.request().sizes;
        let (own, theirs) = (role.items(sizes), role.other().items(sizes));
        let runs = !plan.request().is_decided();
        if !runs || matches!(self, Self::Said(_)) || theirs <= own {
            return Ok(());
        }
        let Some(room) = allowed.or_else(memory::available_bytes) else {
            return Ok(());
        };
        // It takes some ten milliseconds: what was measured of all protocols has to be read.
        let needed = needed(role, plan);
        match needed > room {
            true => Err(Error::NoRoomForPeerKeys {
                theirs,
                needed,
                room,
            }),
            false => Ok(()),
        }
    }
}

/// Estimates the bytes that a party needs beyond its table and that grow with the other party's
/// set. In parts, a run takes the memory of its parts whatever the sizes are, but shares of all
/// items are kept until the end. Batch by batch, it takes that of a batch.
fn needed(role: Role, plan: &Plan) -> u64 {
    let request = plan.request();
    let shares = match request.output {
        OutputKind::Shares(columns) => plan.share_places() as u64 * share_bytes(columns),
        // Bits that may have to be withheld are shares until the end.
        OutputKind::Rows if request.min_intersection > 0 => {
            plan.share_places() as u64 * share_bytes(ONES)
        }
        _ => 0,
    };
    match plan.parts() {
        Some(_) => shares,
        None if plan.takes_batches() => 0,
        None => of_one_run(role, plan) + payloads_of_one_run(role, plan) + shares,
    }
}

/// The column by which parts count what they share.
const ONES: Columns = Columns {
    sender: 0,
    receiver: 1,
};

/// Returns what a place of shares takes: the item at it, a bit, and a number for each column.
fn share_bytes(columns: Columns) -> u64 {
    (size_of::<Option<u32>>() + 1 + columns.total() * size_of::<u64>()) as u64
}

/// Returns what the protocol takes, but for payloads.
fn of_one_run(role: Role, plan: &Plan) -> u64 {
    let items = plan.request().sizes.larger();
    let banded = SET_UP_BYTES.saturating_add(items.saturating_mul(BYTES_PER_KEY));
    let output = &plan.request().output;
    if let OutputKind::Groups(_) = output {
        return of_groups(role, plan).unwrap_or(banded);
    }
    let profile = Calibration::shipped().profile(plan.info().name, output);
    let measured = profile.and_then(|profile| profile.bytes_per_item(role as usize));
    let in_proportion = measured.map(|bytes| (bytes * items as f64) as u64);
    let takes_bands =
        auto::candidates(plan.request()).any(|protocol| protocol.info().name == plan.info().name);
    match takes_bands {
        true => in_proportion.unwrap_or(banded).min(banded),
        // Others take more in proportion, however large the sets are.
        false => in_proportion
            .unwrap_or(0)
            .max(items.saturating_mul(BYTES_PER_KEY)),
    }
}

/// Returns what groups are predicted to take, which grows with how many they are.
fn of_groups(role: Role, plan: &Plan) -> Option<u64> {
    let predicted = Calibration::shipped().predict(plan, 1)?;
    predicted.memory_bytes[role as usize].map(|bytes| bytes as u64)
}

/// Returns what payloads take: the party's own, and those that it gets.
fn payloads_of_one_run(role: Role, plan: &Plan) -> u64 {
    let (request, other) = (plan.request(), role.other());
    let bytes = |role, items: u64| items.saturating_mul(request.output.payload_bytes(role) as u64);
    let gets = bytes(other, request.sizes.smaller());
    bytes(role, role.items(request.sizes)).saturating_add(gets.saturating_mul(COPIES))
}

/// Checks that a party in this role, with this many rows, has room for the payloads of this layout
/// that are there at once: all in one run, those of a part, or those of the rows that are written
/// at once.
///
/// # Errors
/// [`Error::TooMuchGiven`].
pub(crate) fn check_given(
    role: Role,
    plan: &Plan,
    layout: &PayloadLayout,
    rows: u64,
) -> Result<(), Error> {
    let keys = match plan.parts() {
        None => plan.request().sizes.smaller(),
        Some(parts) => {
            let of_a_part = parts.shape.capacities.smaller();
            let range_rows = parts::given_range_rows(rows, layout.payload_bytes());
            of_a_part.max(range_rows.min(role.items(plan.request().sizes)))
        }
    };
    let bytes = keys.saturating_mul(layout.payload_bytes() as u64);
    let needed = bytes.saturating_mul(COPIES);
    match needed > PER_STREAM {
        true => Err(Error::TooMuchGiven(TooMuchGiven::Memory {
            rows: layout.most_rows(),
            row_bytes: layout.row_bytes(),
            payload_bytes: layout.payload_bytes(),
            needed,
            room: PER_STREAM,
        })),
        false => Ok(()),
    }
}

/// Returns what a party in this role should think about, given the sizes of both sets.
pub(crate) fn warning(role: Role, own: u64, theirs: u64) -> Option<Warning<'static>> {
    let is_curious = role == Role::Sender && own > 0 && theirs / own >= CURIOUS;
    is_curious.then_some(Warning::Curious { theirs, own })
}

#[cfg(test)]
mod tests {
    use psijoin::{Groups, Payloads, Request, Sizes, registry};

    use super::{MaxPeerKeys::ByMemory, *};
    use crate::ErrorKind;

    #[test]
    fn what_is_said_counts_and_else_the_memory() {
        let said = MaxPeerKeys::Said(100);
        assert!(said.check(100).is_ok());
        let refused = said.check(101).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Policy);
        assert!(MaxPeerKeys::ByMemory.check(u64::MAX).is_ok());
    }

    /// No machine has memory for the largest set at once.
    #[test]
    fn memory_is_for_what_grows_with_the_other_set() {
        let planned = |sizes: [u64; 2], output| {
            let request = Request::rows(sizes[0], sizes[1]).unwrap().output(output);
            psijoin::plan(registry::find("rr22-circuit").unwrap(), &request).unwrap()
        };
        let check =
            |limit: MaxPeerKeys, plan: &Plan| limit.check_memory(Role::Sender, plan, None).is_ok();
        let largest = [1, Sizes::MAX_ITEMS];
        assert!(check(ByMemory, &planned(largest, OutputKind::Count)));
        let shares = OutputKind::Shares(Columns::default());
        let of_all = planned(largest, shares.clone());
        assert!(check(MaxPeerKeys::Said(1), &of_all));
        assert_eq!(
            check(ByMemory, &of_all),
            memory::available_bytes().is_none()
        );
        assert!(check(ByMemory, &planned([Sizes::MAX_ITEMS; 2], shares)));
        assert!(check(ByMemory, &planned([10, 1000], OutputKind::Count)));
    }

    /// The user's limit covers everything that a plan takes: the protocol, the payloads, and
    /// shares.
    #[test]
    fn all_that_a_plan_takes_is_counted() {
        let taken = |protocol: &str, [senders, receivers]: [u64; 2], output: OutputKind| {
            let request = Request::rows(senders, receivers).unwrap().output(output);
            let protocol = registry::find(protocol).unwrap();
            needed(Role::Sender, &psijoin::plan(protocol, &request).unwrap())
        };
        let sizes = [1 << 18, 1 << 20];
        let counts = taken("rr22-circuit", sizes, OutputKind::Count);
        // One party's memory at 2^20: half of 558 MB.
        assert!((279_000_000..600_000_000).contains(&counts), "{counts}");
        let rows = taken("rr22", sizes, OutputKind::Rows);
        assert!((80_000_000..200_000_000).contains(&rows), "{rows}");
        // Protocols that take kilobytes per key.
        assert!(taken("psz-none", [1 << 10, 1 << 16], OutputKind::Rows) > 1_000_000_000);
        let groups = |count| Groups {
            columns: Columns::default(),
            labels: Columns {
                sender: count,
                receiver: 0,
            },
            least: 0,
            noisy: false,
        };
        let [few, many] = [4, 256].map(|count| {
            let groups = OutputKind::Groups(groups(count));
            taken("rr22-circuit", sizes, groups)
        });
        // Each place has an OT for each bit of its group's number.
        assert!(many > few + sizes[1] * (8 - 2) * 16, "{few}, {many}");
        assert!(few > 200_000_000, "{few}");
        let column = Columns {
            sender: 3,
            receiver: 0,
        };
        let shares = taken("rr22-circuit", sizes, OutputKind::Shares(column));
        assert!(shares > counts + sizes[1] * 3 * 8, "{shares}");
        let payloads = OutputKind::Payloads(Payloads {
            from_sender: 100,
            back: Some(40),
        });
        let given = taken("rr22", sizes, payloads);
        assert!(given >= rows + sizes[0] * (100 + 40), "{given}");

        let request = Request::rows(1 << 18, 1 << 20).unwrap();
        let request = request.output(OutputKind::Count);
        let plan = psijoin::plan(registry::find("rr22-circuit").unwrap(), &request).unwrap();
        let check = |allowed| ByMemory.check_memory(Role::Sender, &plan, Some(allowed));
        assert!(check(counts).is_ok());
        assert_eq!(check(counts - 1).unwrap_err().kind(), ErrorKind::Policy);
    }

    /// The longest payloads travel in parts of any number of keys but the largest, and ranges of
    /// rows of any table but the largest fit into memory.
    #[test]
    fn what_is_given_has_to_fit_part_by_part() {
        let numbers = [u16::MAX, 0].map(u16::to_le_bytes);
        let column = [1, 1, 0, 1, 0, b'a', 0, 0];
        let layout = [numbers.as_flattened(), &column].concat();
        let layout = PayloadLayout::from_bytes(&layout).unwrap();
        let check = |items: u64, rows: u64| {
            let payloads = Payloads {
                from_sender: u16::MAX.into(),
                back: None,
            };
            let request = Request::rows(items, items).unwrap();
            let request = request.output(OutputKind::Payloads(payloads));
            let plan = psijoin::plan(registry::find("rr22").unwrap(), &request).unwrap();
            check_given(Role::Receiver, &plan, &layout, rows)
        };
        assert!(check(1000, 1000).is_ok());
        assert!(check(20_000, 20_000).is_ok());
        assert!(check(1 << 20, 1 << 20).is_ok());
        for (items, rows) in [(1 << 27, 1 << 27), (20_000, u32::MAX.into())] {
            let refused = check(items, rows).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Policy);
            assert!(
                refused.to_string().contains("65.5 kB for each key"),
                "{refused}"
            );
        }
    }

    /// The least memory is enough for counts of any size, whoever has the larger set.
    #[test]
    fn counts_go_batch_by_batch_or_in_parts() {
        for protocol in ["dh", "dh-ffdhe3072", "rr22-circuit"] {
            let request = Request::rows(1000, 1 << 26).unwrap();
            let request = request.output(OutputKind::Count);
            let plan = psijoin::plan(registry::find(protocol).unwrap(), &request).unwrap();
            for role in [Role::Sender, Role::Receiver] {
                let checked = ByMemory.check_memory(role, &plan, Some(270_000_000));
                assert!(checked.is_ok(), "{protocol}: {checked:?}");
            }
        }
    }

    #[test]
    fn only_a_sender_with_far_fewer_keys_is_warned() {
        assert!(warning(Role::Sender, 10, 200).is_some());
        for (role, own, theirs) in [
            (Role::Sender, 10, 199),
            (Role::Sender, 0, 1000),
            (Role::Receiver, 10, 200),
        ] {
            assert!(warning(role, own, theirs).is_none());
        }
    }
}

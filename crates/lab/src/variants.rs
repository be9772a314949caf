//! Plans with other numbers than those that the registry derives: as papers have them.

use psijoin::{Plan, Request, Security, Sizes, registry};
use psijoin_psi_ot::cm20;

/// Returns the plan of a run on items that are numbers of this many bits. `None` if there are no
/// parameters.
pub(crate) fn short(protocol: &str, request: &Request, item_bits: u32) -> Option<Plan> {
    let request = request.clone().numbers(item_bits).ok()?;
    registry::find(protocol)?.plan(&request).ok()
}

/// Returns the length of items that a protocol takes as they are, if these are short enough for it.
/// It digests all others.
pub(crate) fn own_bits(protocol: &str, item_bits: Option<u32>) -> Option<u32> {
    const MOST: u32 = 64;
    let takes_numbers = ["psz-", "pssz", "circuit-"];
    let takes_numbers = takes_numbers
        .iter()
        .any(|start| protocol.starts_with(start));
    item_bits.filter(|bits| *bits <= MOST && takes_numbers)
}

/// Returns a request for rows, with sets of this size, at this level of statistical security.
pub(crate) fn request(items: [u64; 2], statistical_bits: Option<u32>) -> Option<Request> {
    let sizes = Sizes::new(items[0], items[1]).ok()?;
    let security = statistical_bits.map_or(Ok(Security::default()), Security::new);
    Some(Request::of(sizes, security.ok()?))
}

/// Returns the plan of `cm20` with this many rows of its matrix, or a few more.
pub(crate) fn cm20_with_rows(items: u64, rows: u64) -> Option<Plan> {
    let params = cm20::Params::semi_honest(&request([items; 2], None)?).ok()?;
    Some(params.with_rows(rows).ok()?.plan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_items_are_spelled_with_fewer_letters() {
        let bytes = |bits| {
            let request = request([1 << 16; 2], None).unwrap();
            short("pssz", &request, bits).map(|plan| plan.cost().total.total_bytes())
        };
        assert!(bytes(32) < bytes(64));
        assert_eq!(own_bits("pssz", Some(32)), Some(32));
        assert_eq!(own_bits("pssz", Some(128)), None);
        for protocol in registry::PROTOCOLS {
            let name = protocol.info().name;
            let plan = short(name, &request([100; 2], None).unwrap(), 32);
            let taken = plan.and_then(|plan| plan.number_bits());
            assert_eq!(own_bits(name, Some(32)), taken, "{name}");
        }
    }

    #[test]
    fn more_rows_are_fewer_columns() {
        let columns = |rows| {
            let plan = cm20_with_rows(1 << 16, rows).unwrap();
            let mut parameters = plan.parameters().iter();
            parameters.find(|one| one.name == "columns").unwrap().value
        };
        assert!(columns(1 << 16) > columns(1 << 17));
    }
}

//! Runs that are not the usual ones, and plans with other numbers than those that the registry
//! derives: as papers have them.

use psijoin::{Error, OutputKind, Plan, Request, Security, Sizes};
use psijoin_psi_ot::{
    cm20,
    psz::{self, BALANCED, CUCKOO, NONE, SIMPLE},
};

use crate::quantity::Quantity;

/// The traits in which runs of a protocol, for an output, differ from the usual ones: those of
/// digests, at the usual security, with sets of equal size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variant {
    /// Bits per item, if the protocol takes items as they are.
    pub item_bits: Option<u32>,
    /// Bits of statistical security, if they are not the usual ones.
    pub statistical_bits: Option<u32>,
    /// Whether the receiver has one item only, which is compared with a set.
    pub one_item: bool,
}

impl Variant {
    pub(crate) fn of(quantity: &Quantity) -> Self {
        let usual = Security::default().statistical_bits();
        let [senders, receivers] = quantity.items;
        Self {
            item_bits: own_bits(&quantity.protocol, quantity.item_bits),
            statistical_bits: quantity.statistical_bits.filter(|bits| *bits != usual),
            one_item: receivers == 1 && senders > 1,
        }
    }

    /// Returns the items of the sender and of the receiver, where the larger set has this many.
    pub(crate) fn sizes(self, items: u64) -> [u64; 2] {
        [items, if self.one_item { 1 } else { items }]
    }

    /// Returns the request for such a run.
    ///
    /// # Errors
    /// If there is no such run: sets are too large, or have more items than there are numbers.
    pub(crate) fn request(self, items: [u64; 2], output: &OutputKind) -> Result<Request, Error> {
        let request = request(items, self.statistical_bits)?.output(output.clone());
        match self.item_bits {
            None => Ok(request),
            Some(bits) => request.numbers(bits),
        }
    }

    /// Returns the output with these traits: what a line of the results file has as its output.
    pub(crate) fn described(self, output: &OutputKind) -> String {
        let items = self.item_bits.map(|bits| format!(", items of {bits} bits"));
        let security = self.statistical_bits.map(|bits| format!(", 2^-{bits}"));
        let one = self.one_item.then(|| ", one item against a set".to_owned());
        let traits = [items, security, one].map(Option::unwrap_or_default);
        format!("{output}{}", traits.concat())
    }
}

/// Returns the length of items that a protocol takes as they are, if these are short enough for it.
/// It digests all others.
fn own_bits(protocol: &str, item_bits: Option<u32>) -> Option<u32> {
    const MOST: u32 = 64;
    let takes_numbers = ["psz-", "pssz", "circuit-", "co18-psm", "kkrt-pssz"];
    let takes_numbers = takes_numbers
        .iter()
        .any(|start| protocol.starts_with(start));
    item_bits.filter(|bits| *bits <= MOST && takes_numbers)
}

/// Returns a request for rows, with sets of this size, at this level of statistical security.
///
/// # Errors
/// If there are no such sets, or there is no such level.
pub(crate) fn request(items: [u64; 2], statistical_bits: Option<u32>) -> Result<Request, Error> {
    let sizes = Sizes::new(items[0], items[1])?;
    let security = statistical_bits.map_or(Ok(Security::default()), Security::new);
    Ok(Request::of(sizes, security?))
}

/// Returns the plan of `cm20` with this many rows of its matrix, or a few more.
pub(crate) fn cm20_with_rows(items: u64, rows: u64) -> Option<Plan> {
    let params = cm20::Params::semi_honest(&request([items; 2], None).ok()?).ok()?;
    Some(params.with_rows(rows).ok()?.plan())
}

/// Returns the plan of a `psz-…` protocol with letters of fewer bits than eight.
pub(crate) fn psz_with_letter_bits(
    protocol: &str,
    request: &Request,
    letter_bits: u32,
) -> Option<Plan> {
    let mut schemes = [&NONE, &SIMPLE, &BALANCED, &CUCKOO].into_iter();
    let scheme = schemes.find(|scheme| scheme.info().name == protocol)?;
    let params = psz::Params::with_letter_bits(request, scheme, letter_bits);
    Some(params.ok()?.plan())
}

#[cfg(test)]
mod tests {
    use psijoin::registry;

    use super::*;

    fn of_bits(item_bits: u32) -> Variant {
        Variant {
            item_bits: Some(item_bits),
            ..Variant::default()
        }
    }

    #[test]
    fn short_items_are_spelled_with_fewer_letters() {
        let pssz = registry::find("pssz").unwrap();
        let bytes = |bits| {
            let request = of_bits(bits).request([1 << 16; 2], &OutputKind::Rows);
            pssz.plan(&request.unwrap()).unwrap().cost().total
        };
        assert!(bytes(32).total_bytes() < bytes(64).total_bytes());
        assert_eq!(own_bits("pssz", Some(32)), Some(32));
        assert_eq!(own_bits("pssz", Some(128)), None);
        for protocol in registry::PROTOCOLS {
            let name = protocol.info().name;
            let request = of_bits(32).request([100; 2], &OutputKind::Rows);
            let plan = protocol.plan(&request.unwrap()).unwrap();
            assert_eq!(own_bits(name, Some(32)), plan.number_bits(), "{name}");
        }
    }

    #[test]
    fn longer_letters_take_fewer_bytes() {
        let request = of_bits(32).request([1 << 12; 2], &OutputKind::Rows);
        let request = request.unwrap();
        let bytes = |protocol, letter_bits| {
            let plan = psz_with_letter_bits(protocol, &request, letter_bits);
            plan.map(|plan| plan.cost().total.total_bytes())
        };
        for protocol in ["psz-none", "psz-simple", "psz-balanced", "psz-cuckoo"] {
            for bits in 1..8 {
                assert!(
                    bytes(protocol, bits) > bytes(protocol, 8),
                    "{protocol}, {bits}"
                );
            }
            let usual = registry::find(protocol).unwrap().plan(&request).unwrap();
            assert_eq!(bytes(protocol, 8), Some(usual.cost().total.total_bytes()));
            assert_eq!(bytes(protocol, 9), None);
        }
        assert_eq!(bytes("kkrt", 1), None);
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

    #[test]
    fn unusual_runs_are_told_apart() {
        let unusual = Variant {
            statistical_bits: Some(60),
            one_item: true,
            ..of_bits(32)
        };
        assert_eq!(
            unusual.described(&OutputKind::Count),
            "count, items of 32 bits, 2^-60, one item against a set"
        );
        assert_eq!(unusual.sizes(256), [256, 1]);
        assert_eq!(Variant::default().described(&OutputKind::Rows), "rows");
        let mut quantity = Quantity::new("kk20", crate::published::Metric::Seconds, 256, None);
        quantity.statistical_bits = Some(40);
        assert_eq!(Variant::of(&quantity), Variant::default());
    }
}

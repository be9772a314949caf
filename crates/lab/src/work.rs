//! The work of a protocol, counted: how its computing grows beyond what was measured.

use psijoin::Plan;

/// Returns the number of the operations that most of a run's computing consists of, up to a
/// constant: exponentiations, multiplications in a field, or what is computed for each byte that is
/// sent (hashes of OT extension, gates, cells of a filter).
pub(crate) fn operations(plan: &Plan) -> f64 {
    let sizes = plan.request().sizes;
    let items = (sizes.sender() + sizes.receiver()) as f64;
    match plan.info().name {
        // Each party has one for each item of both.
        "dh" | "dh-ffdhe3072" | "rsa" => 2.0 * items,
        // A tree of products over all items: a transform of each of its levels.
        "spot-low" | "spot-low-malicious-sender" => items * items.log2().powi(2),
        _ => plan.cost().total.total_bytes() as f64,
    }
}

#[cfg(test)]
mod tests {
    use psijoin::{Request, registry};

    use super::*;

    #[test]
    fn work_grows_with_what_is_counted() {
        let growth = |protocol: &str| {
            let count = |items| {
                let request = Request::rows(items, items).unwrap();
                operations(&registry::find(protocol).unwrap().plan(&request).unwrap())
            };
            count(1 << 14) / count(1 << 12)
        };
        assert_eq!(growth("dh"), 4.0);
        let tree = 4.0 * (15.0_f64 / 13.0).powi(2);
        assert!((growth("spot-low") / tree - 1.0).abs() < 1e-9);
        assert!((15.0..17.0).contains(&growth("psz-none")));
        assert!((3.9..4.1).contains(&growth("kkrt")));
    }
}

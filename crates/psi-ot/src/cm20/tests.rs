use psijoin_params::Security;
use psijoin_psi::{Output, Plan, Request, Role};
use psijoin_psi_testing::{items, output, tampering::notices_of_tampering};

use super::*;

/// m = 0.9 n, n, 1.1 n and 2 n, in several bins, whose last columns fill no group.
#[test]
fn any_number_of_rows_gives_the_same_result() {
    let request = Request::rows(11_000, 12_000).unwrap();
    let default = Params::semi_honest(&request).unwrap();
    let default_digest = CM20.plan(&request).unwrap().digest();
    let mut widths = Vec::new();
    for rows in [10_800, 12_000, 13_200, 24_000] {
        let params = default.with_rows(rows).unwrap();
        assert!(params.oprf.shape.bins >= 2 && params.oprf.shape.rows() >= rows);
        widths.push(params.oprf.shape.columns);
        let plan = params.plan();
        assert_ne!(plan.digest(), default_digest);
        let found = output(
            &plan,
            &items(0..11_000, &plan),
            &items(5_000..17_000, &plan),
        );
        assert_eq!(found.unwrap(), Output::Rows((0..6_000).collect()));
    }
    assert!(widths.is_sorted_by(|a, b| a > b), "{widths:?}");
    assert!(default.with_rows(6_000).is_err());
}

/// More items of the sender in a bin than are evaluated at once.
#[test]
fn a_crowded_bin() {
    let params = Params::semi_honest(&Request::rows(20_000, 3).unwrap()).unwrap();
    assert_eq!(params.oprf.shape.bins, 1);
    let plan = params.plan();
    let receivers = items([19_999, 20_000, 9_000], &plan);
    let found = output(&plan, &items(0..20_000, &plan), &receivers);
    assert_eq!(found.unwrap(), Output::Rows(vec![0, 2]));
}

#[test]
fn the_variants_differ_in_digests_masks_and_names() {
    let request = Request::rows(1 << 20, 1 << 20).unwrap();
    let variants = [
        Params::semi_honest(&request).unwrap(),
        Params::malicious_sender(&request).unwrap(),
    ];
    // CM20, Table 1 has 80 and 124; the former with all of the failure budget.
    assert_eq!(
        variants.each_ref().map(|params| params.mask_range.ilog2()),
        [81, 124]
    );
    let more_rows = variants[1].with_rows(1 << 21).unwrap().plan();
    assert_eq!(more_rows.info().name, "cm20-malicious-sender");
    let plans = variants.map(Params::plan);
    assert_eq!(plans.each_ref().map(Plan::digest_bytes), [16, 32]);
    assert_ne!(plans[0].digest(), plans[1].digest());
}

/// CM20, Table 2: 87.6 MB, 701 bits per item.
#[test]
fn the_traffic_is_below_that_of_the_paper() {
    for (log_n, published_mib) in [
        (16, 5.34),
        (18, 21.7),
        (20, 87.6),
        (22, 358.0),
        (24, 1442.0),
    ] {
        let request = Request::rows(1 << log_n, 1 << log_n).unwrap();
        let plan = CM20.plan(&request).unwrap();
        let mib = plan.cost().total.total_bytes() as f64 / f64::from(1 << 20);
        assert!(mib < 1.01 * published_mib, "2^{log_n}: {mib} MiB");
    }
}

/// A change to what the receiver uses or ignores by a secret bit of the OTs is noticed half of the
/// time; a change to a base OT, to the answer to the check, or to the upper parts of masks, always.
#[test]
fn a_sender_that_tampers_is_caught_or_loses_items() {
    let plan = CM20_MALICIOUS_SENDER.plan(&Request::rows(300, 200).unwrap());
    let plan = plan.unwrap();
    let caught = notices_of_tampering(&plan, Role::Sender);
    assert!(caught >= 3, "{caught} caught");
}

/// The document's formula and table.
#[test]
fn the_cost_is_that_of_the_document() {
    const DOCUMENT: &str = include_str!("../../../../docs/protocols/ot.md");
    for log_n in [12, 16, 20, 24] {
        let n = 1_u64 << log_n;
        let request = Request::rows(n, n).unwrap();
        let plans = [
            (Params::semi_honest(&request).unwrap(), 0, 0),
            (Params::malicious_sender(&request).unwrap(), 2048 + 2064, 16),
        ];
        for (params, more_of_sender, more_of_receiver) in plans {
            let (w, m) = (
                u64::from(params.oprf.shape.columns),
                params.oprf.shape.rows(),
            );
            let masks = (1..128).map(|l| {
                let upper_bits = u128::from(n) + ((params.mask_range - 1) >> l);
                upper_bits.div_ceil(8) + (u128::from(n) * l).div_ceil(8)
            });
            let masks = masks.min().unwrap() as u64;
            let sender = 32 + 2048 * w.div_ceil(128) + masks + more_of_sender;
            let receiver = 8192 + 32 + m * w / 8 + more_of_receiver;
            let (bins, plan) = (params.oprf.shape.bins, params.plan());
            let cost = plan.cost().total;
            assert_eq!((cost.sender_bytes, cost.receiver_bytes), (sender, receiver));

            let bits = cost.total_bytes() as f64 * 8.0 / n as f64;
            let name = plan.info().name;
            let row = format!(
                "| `{name}` | 2^{log_n} | {bins} | {m} | {w} | {sender} | {receiver} | {bits:.1} |"
            );
            assert!(DOCUMENT.contains(&row), "{row}");
        }
    }
}

/// 128-bit inputs of AES are too short for the largest sets at the highest security.
#[test]
fn how_far_128_bits_reach() {
    let plan = |log_n: u32, sigma| {
        let sizes = Request::rows(1 << log_n, 1 << log_n).unwrap().sizes;
        let request = Request::of(sizes, Security::new(sigma).unwrap());
        [
            Params::semi_honest(&request),
            Params::malicious_sender(&request),
        ]
    };
    for (log_n, sigma) in [(19, 80), (26, 68)] {
        assert!(
            plan(log_n, sigma).iter().all(Result::is_ok),
            "2^{log_n}, {sigma}"
        );
    }
    for (log_n, sigma) in [(21, 80), (26, 70)] {
        assert!(
            plan(log_n, sigma).iter().all(Result::is_err),
            "2^{log_n}, {sigma}"
        );
    }
}

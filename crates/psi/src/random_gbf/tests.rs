use super::*;

fn plan<O: Variant>(n: u64) -> Params<O> {
    Params::new(&Request::rows(n, n).unwrap()).unwrap()
}

fn bits_an_item<O: Variant>(n: u64) -> f64 {
    plan::<O>(n).cost().total().total_bytes() as f64 * 8.0 / n as f64
}

/// PSZ14 Table 6: 1.44·n·κ² + n·(σ + 2·log2 n) bits.
fn paper(log_n: u32) -> f64 {
    1.44 * 128.0 * 128.0 + 40.0 + 2.0 * f64::from(log_n)
}

#[test]
fn sends_what_the_paper_says() {
    // The table has the MB of 2^10, 2^12, …, where an MB is 2^20 bytes.
    for (log_n, published) in [(10, 2.9), (12, 11.6), (14, 46.2), (16, 184.9), (18, 739.7)] {
        let megabytes = paper(log_n) * f64::from(1 << log_n) / 8.0 / f64::from(1 << 20);
        assert!((megabytes - published).abs() < 0.06, "{megabytes}");
        let ratio = bits_an_item::<Iknp>(1 << log_n) / paper(log_n);
        assert!((0.99..1.01).contains(&ratio), "{ratio} at 2^{log_n}");
    }
}

#[test]
fn silent_ot_takes_a_twentieth_of_it() {
    for log_n in [14, 16, 18, 20, 22, 24] {
        let ratio = bits_an_item::<Silent>(1 << log_n) / paper(log_n);
        assert!(ratio < 0.05, "{ratio} at 2^{log_n}");
    }
    let ratio = bits_an_item::<Silent>(1 << 20) / paper(20);
    assert!(ratio < 0.0125, "{ratio}");
}

/// Bands are whole pairs of slices as long as these fit, cover all cells, and are never longer than
/// what a party is to hold.
#[test]
fn bands_are_bounded() {
    for items in [1, 1000, 1 << 16, 1 << 20, 1 << 21, 1 << 26] {
        let plan = plan::<Iknp>(items);
        let mut end = 0;
        for band in plan.bands() {
            assert_eq!(band.start, end);
            assert!(!band.is_empty() && band.len() <= plan.longest_band());
            end = band.end;
        }
        assert_eq!(end as u64, plan.shape().cells());
        assert!(plan.longest_band() <= 1 << 22);
    }
}

/// The receiver's set alone says how large the filter is.
#[test]
fn a_large_sender_costs_no_cells() {
    let plan = |sender| Params::<Iknp>::new(&Request::rows(sender, 1000).unwrap()).unwrap();
    assert_eq!(plan(10).shape(), plan(1 << 20).shape());
}

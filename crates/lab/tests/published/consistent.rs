//! Rules that hold in every table.

use std::{collections::BTreeSet, fs, path::Path};

use psijoin::registry;
use psijoin_lab::published::{self, Metric, Row, Table};

use crate::printed;

fn rows() -> impl Iterator<Item = (&'static Table, &'static Row)> {
    let tables = published::tables().iter();
    tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)))
}

#[test]
fn every_file_is_a_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
    let files = fs::read_dir(folder).unwrap().filter_map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        Some(name.strip_suffix(".csv")?.to_owned())
    });
    let tables = published::tables()
        .iter()
        .map(|table| table.name.to_owned());
    let parameters = published::parameters().iter();
    let parameters = parameters.map(|table| table.name.to_owned());
    assert_eq!(
        tables.chain(parameters).collect::<BTreeSet<_>>(),
        files.collect()
    );
}

#[test]
fn names_say_the_paper() {
    let tables = published::tables()
        .iter()
        .map(|table| (table.name, table.paper));
    let parameters = published::parameters().iter();
    let parameters = parameters.map(|table| (table.name, table.paper));
    for (name, paper) in tables.chain(parameters) {
        assert!(
            name.starts_with(&paper.name().to_ascii_lowercase()),
            "{name}"
        );
        assert!(
            paper
                .citation()
                .ends_with(&format!("20{}", &paper.name()[paper.name().len() - 2..]))
        );
    }
}

#[test]
fn no_table_is_empty_and_rows_have_what_their_metric_needs() {
    assert!(
        published::parameters()
            .iter()
            .all(|table| !table.rows.is_empty())
    );
    assert!(
        published::tables()
            .iter()
            .all(|table| !table.rows.is_empty())
    );
    for (table, row) in rows() {
        let sent = matches!(
            row.metric,
            Metric::Bytes
                | Metric::SenderBytes
                | Metric::ReceiverBytes
                | Metric::BitsPerItem
                | Metric::OtBits
        );
        // KK20 copied the times of others, and did not say how they were measured.
        let copied = row.protocol.starts_with('[');
        let measured_on = row.network.is_some() && row.threads.is_some();
        assert_eq!(measured_on, !sent && !copied, "{}: {row:?}", table.name);
    }
}

#[test]
fn our_protocols_are_in_the_registry() {
    for (table, row) in rows() {
        if let Some(ours) = &row.ours {
            assert!(registry::find(ours).is_some(), "{}: {ours}", table.name);
        }
    }
    for table in published::parameters() {
        for ours in table.rows.iter().filter_map(|row| row.get("ours")) {
            assert!(registry::find(ours).is_some(), "{}: {ours}", table.name);
        }
    }
}

#[test]
fn values_are_what_was_printed() {
    for (table, row) in rows() {
        let printed = printed::read(&row.printed).value;
        assert!(row.value > 0.0, "{}: {row:?}", table.name);
        // Bytes are whole numbers.
        let tolerance = if row.printed.ends_with("MB") {
            0.5
        } else {
            1e-9
        };
        assert!(
            (row.value - printed).abs() <= tolerance,
            "{}: {row:?}",
            table.name
        );
    }
}

#[test]
fn what_both_parties_send_adds_up() {
    let mut sums = 0;
    for (table, both) in rows().filter(|(_, row)| row.metric == Metric::Bytes) {
        let sent = [Metric::SenderBytes, Metric::ReceiverBytes];
        if let [Some(sender), Some(receiver)] = sent.map(|metric| like(table, both, metric)) {
            assert!(
                adds_up(both, [sender, receiver]),
                "{}: {both:?}",
                table.name
            );
            sums += 1;
        }
    }
    // CM20's Table 2: four protocols at five sizes, without spot-low at 2^24.
    assert_eq!(sums, 19);
}

#[test]
fn kkrt_offline_and_online_add_up() {
    let [total, phases] =
        ["kkrt16-table-3", "kkrt16-table-4"].map(|name| published::find(name).unwrap());
    let totals = total
        .rows
        .iter()
        .filter(|row| row.ours.as_deref() == Some("kkrt"));
    for total in totals.clone() {
        let parts = [Metric::OfflineSeconds, Metric::OnlineSeconds];
        let parts = parts.map(|metric| like(phases, total, metric).unwrap());
        // Milliseconds were rounded before they were added.
        let [whole, offline, online] = [total, parts[0], parts[1]].map(|row| row.value);
        assert!((whole - offline - online).abs() < 1e-9, "{total:?}");
    }
    assert_eq!(totals.count(), 10);
}

/// Returns the row of this metric for the same run.
fn like(table: &'static Table, run: &Row, metric: Metric) -> Option<&'static Row> {
    let of = |row: &Row| (row.ours.clone(), row.sender_items, row.network);
    let mut rows = table.rows.iter().filter(|row| row.metric == metric);
    rows.find(|row| of(row) == of(run))
}

/// Returns whether the parts give the whole within the rounding of all three.
fn adds_up(whole: &Row, parts: [&Row; 2]) -> bool {
    let [whole, first, second] = [whole, parts[0], parts[1]].map(|row| printed::read(&row.printed));
    let rounding = whole.rounding + first.rounding + second.rounding;
    (whole.value - first.value - second.value).abs() <= rounding * 1.000_001
}

//! Cells of every table, read from the papers' texts.

use psijoin_lab::published::{self, Cells, Row};

/// Of each table a cell, away from its first row: table, the paper's name of the protocol, log2 of
/// the sender's items, network, threads, metric, what else tells the row, and what is printed.
const CELLS: &str = "
psz14-table-1       | Bloom Filter original [19] | 18 | 1gbps,0.4ms    | 1 | seconds           |                         | 154
psz14-table-1       | OT Sec. 5 + Sec. 6         | 18 |                |   | bytes             |                         | 78 MB
psz14-table-4       | Balanced Alloc.            | 18 |                |   | bytes             | ot=1-out-of-256         | 595 MB
psz14-table-5       | RSA-based [16]             | 18 | 1gbps,0.4ms    | 1 | seconds           |                         | 1,982.1
psz14-table-5-80bit | GMW [1]                    | 18 | 1gbps,0.4ms    | 1 | seconds           |                         | 806.5
psz14-table-6       | Yao [8, 31]                | 14 |                |   | bytes             |                         | 1,008.0 MB
psz14-table-6-80bit | Random GBF Sec. 4.3        | 16 |                |   | bytes             |                         | 72.6 MB
psz14-table-7       | Yao [8, 31]                | 16 | 3.6mbps,1s     | 1 | seconds           |                         | 11,658.6
psz14-table-7       | Vector-MT GMW Sec. 3.2     | 16 | 25mbps,20ms    | 1 | online_seconds    |                         | 27.5
psz14-table-8       | Vector-MT GMW Sec. 3.2     | 18 | 1gbps,0.4ms    | 4 | speedup           |                         | 1.90x
psz14-table-8-80bit | DH-based FFC [32]          | 18 | 1gbps,0.4ms    | 4 | seconds           |                         | 26.9
kkrt16-table-1      | PSSZ                       | 20 |                |   | ot_bits           | item_bits=64            | 1408
kkrt16-table-3      | PSSZ                       | 24 | 400mbps,96ms   | 1 | seconds           | item_bits=128           | 381,913 ms
kkrt16-table-4      | BaRK-OPRF                  | 20 | 400mbps,96ms   | 1 | online_seconds    |                         | 6,697 ms
kkrt16-table-5      | PSSZ                       | 20 |                |   | bytes             | item_bits=64            | 296.40 MB
spot19-table-1      | spot-fast                  | 24 |                |   | bits_per_item     |                         | 634n
spot19-table-2      | spot-low                   | 20 | 10mbps,80ms    | 4 | seconds           |                         | 206.67
cm20-table-2        | Ours                       | 20 |                |   | receiver_bytes    |                         | 77.6 MB
cm20-table-2        | spot-fast                  | 24 | 1mbps,80ms     | 1 | seconds           |                         | 11,231
cm20-table-3        | KKRT                       | 20 | 75.6mbps,167ms | 1 | usd_per_1000_runs | setting=internet        | 6.41
kk20-section-6      | [26]                       | 12 |                |   | bytes             |                         | 51 MB
kk20-table-1        | Our PSM                    | 16 | 100mbps,100ms  | 1 | seconds           | item_bits=64            | 196904 ms
kk20-table-2        | Our PSI protocol           | 12 | 1gbps,1ms      | 1 | seconds           | bloom_hash_functions=60 | 8586 ms
kk20-table-3        | Our PSI protocol           | 14 | 100mbps,100ms  | 1 | seconds           | item_bits=48            | 278412 ms
";

#[test]
fn a_cell_of_each_comparison() {
    for line in CELLS.trim().lines() {
        let cell = Vec::from_iter(line.split('|').map(str::trim));
        let [table, described @ .., printed] = &cell[..] else {
            panic!("{line}")
        };
        let rows = &published::find(table).expect(table).rows;
        let rows = Vec::from_iter(rows.iter().filter(|row| is(row, described)));
        assert_eq!(rows.len(), 1, "{line}: {rows:?}");
        assert_eq!(&rows[0].printed, printed, "{line}");
    }
    let tested = |name: &str| {
        CELLS
            .lines()
            .any(|line| line.split(' ').next() == Some(name))
    };
    assert!(published::tables().iter().all(|table| tested(table.name)));
}

fn is(row: &Row, described: &[&str]) -> bool {
    let &[protocol, log2, network, threads, metric, more] = described else {
        panic!("{described:?}")
    };
    let items = 1 << log2.parse::<u32>().unwrap();
    let network = (!network.is_empty()).then(|| format!("wan:{network}").parse().unwrap());
    let more = more.split_once('=');
    (row.protocol.as_str(), row.sender_items, row.network) == (protocol, items, network)
        && (row.threads, row.metric) == (threads.parse().ok(), metric.parse().unwrap())
        && more.is_none_or(|(column, text)| row.more.get(column) == Some(text))
}

#[test]
fn a_cell_of_each_table_of_parameters() {
    let cells = [
        "psz14-table-2 sym_kappa=128 ecc_phi=K-283",
        "psz14-table-3 calls_to_h=2*m bits_sent=2*m*lambda",
        "psz14-table-4-formulas ours=psz-simple total_ots=3.7*n*t",
        "psz14-table-9 eta=9 coefficient_of_n_kappa_sigma=0.44",
        "psz14-table-10 c=2 ots_per_nt=2.7",
        "kkrt16-table-2 n=4096 k=432",
        "spot19-fig-6 sender_items=1048576 field_bits=436",
        "spot19-fig-9 site_a=Mumbai gbps=0.050",
        "spot19-fig-12-setup configuration=4 gbps=0.031",
        "cm20-table-1 m_as_printed=0.9n w=717",
    ];
    assert_eq!(cells.len(), published::parameters().len());
    for cell in cells {
        let [name, key, known] = Vec::from_iter(cell.split(' '))[..] else {
            panic!("{cell}")
        };
        let [key, known] = [key, known].map(|cell| cell.split_once('=').unwrap());
        let has = |row: &Cells, (column, text)| row.get(column) == Some(text);
        let mut tables = published::parameters().iter();
        let table = tables.find(|table| table.name == name).expect(name);
        let row = table.rows.iter().find(|row| has(row, key)).expect(cell);
        assert!(has(row, known), "{row:?}");
    }
}

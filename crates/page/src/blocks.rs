//! The blocks of a section.

use std::fmt::Write as _;

use psijoin_chart::Medium;

use crate::{
    Block, Figure, Outcome, Table, Verdict,
    text::{plain, prose},
};

pub(crate) fn write(block: &Block, html: &mut String) {
    match block {
        Block::Paragraph(text) => *html += &format!("<p>{}</p>\n", prose(text)),
        Block::Verdicts(all) => verdicts(all, html),
        Block::Figures(all) => figures(all, html),
        Block::Table(one) if one.rows.len() > OPEN_ROWS => {
            let (caption, rows) = (prose(&one.caption), one.rows.len());
            let _ = write!(
                html,
                "<details>\n<summary>{caption}: a table of {rows} rows</summary>\n"
            );
            table(one, html);
            *html += "</details>\n";
        }
        Block::Table(one) => table(one, html),
    }
}

/// Longer tables are folded, so that a reader finds what comes after them.
const OPEN_ROWS: usize = 20;

fn verdicts(verdicts: &[Verdict], html: &mut String) {
    *html += "<ul class=\"verdicts\">\n";
    for verdict in verdicts {
        let (class, symbol, words) = match verdict.outcome {
            Outcome::Holds => ("holds", "✓", "Holds"),
            Outcome::OtherFactor => ("partly", "≈", "Other factor"),
            Outcome::DoesNotHold => ("fails", "✗", "Does not hold"),
            Outcome::TooClose => ("close", "±", "Too close to call"),
            Outcome::NotRun => ("open", "○", "Not run"),
            Outcome::NotTestable => ("open", "–", "Not testable"),
        };
        let claim = prose(&verdict.claim);
        let _ = write!(
            html,
            "<li class=\"{class}\"><strong><span aria-hidden=\"true\">{symbol}</span> {words}</strong><p>{claim}</p>"
        );
        if !verdict.reason.is_empty() {
            let _ = write!(html, "<p class=\"reason\">{}</p>", prose(&verdict.reason));
        }
        *html += "</li>\n";
    }
    *html += "</ul>\n";
}

fn figures(figures: &[Figure], html: &mut String) {
    *html += "<div class=\"figures\">\n";
    for figure in figures {
        let caption = prose(&figure.caption);
        let _ = write!(html, "<figure>\n<figcaption>{caption}</figcaption>\n");
        *html += &figure.chart.svg(Medium::Page);
        *html += "<details>\n<summary>The data of this figure</summary>\n";
        let data = figure.chart.data();
        let data = Table {
            caption: data.caption,
            columns: data.columns,
            rows: data.rows,
        };
        table(&data, html);
        *html += "</details>\n</figure>\n";
    }
    *html += "</div>\n";
}

/// Writes a table in a box that scrolls, also by keyboard.
fn table(table: &Table, html: &mut String) {
    for row in &table.rows {
        assert_eq!(row.len(), table.columns.len(), "there is a cell per column");
    }
    let (label, caption) = (plain(&table.caption), prose(&table.caption));
    let _ = write!(
        html,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table>\n<caption>{caption}</caption>\n<thead>\n<tr>"
    );
    let classes: Vec<&str> = (0..table.columns.len())
        .map(|column| {
            if has_numbers(table, column) {
                " class=\"number\""
            } else {
                ""
            }
        })
        .collect();
    for (name, class) in table.columns.iter().zip(&classes) {
        // An empty heading would be a heading of nothing.
        let _ = match name.is_empty() {
            true => write!(html, "<td></td>"),
            false => write!(html, "<th scope=\"col\"{class}>{}</th>", prose(name)),
        };
    }
    *html += "</tr>\n</thead>\n<tbody>\n";
    for row in &table.rows {
        *html += "<tr>";
        for (number, (cell, class)) in row.iter().zip(&classes).enumerate() {
            let cell = prose(cell);
            let _ = match number {
                0 => write!(html, "<th scope=\"row\"{class}>{cell}</th>"),
                _ => write!(html, "<td{class}>{cell}</td>"),
            };
        }
        *html += "</tr>\n";
    }
    *html += "</tbody>\n</table>\n</div>\n";
}

/// Returns whether all cells of a column begin as numbers do, or are empty.
fn has_numbers(table: &Table, column: usize) -> bool {
    let cells = || table.rows.iter().map(|row| &*row[column]);
    let begins = |cell: &str| {
        let digits = cell.trim_start_matches(['-', '−', '+', '$', '~', '<', '>', ' ']);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_nothing = |cell: &str| matches!(cell, "" | "-" | "–" | "—");
    cells().all(|cell| is_nothing(cell) || begins(cell)) && cells().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use psijoin_chart::{Axis, Bar, BarChart, Group, Origin, Scale};

    fn html(block: Block) -> String {
        let mut html = String::new();
        write(&block, &mut html);
        html
    }

    fn sample() -> Table {
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        Table {
            caption: "Seconds of `kkrt` & others".into(),
            columns: row(["protocol", "seconds", "by"]),
            rows: vec![row(["kkrt", "1.5", "<us>"]), row(["dh", "–", "them"])],
        }
    }

    #[test]
    fn verdicts_have_words_and_a_symbol() {
        let verdict = |outcome, claim: &str| Verdict {
            outcome,
            claim: claim.into(),
            reason: "for < reasons".into(),
        };
        let html = html(Block::Verdicts(vec![
            verdict(Outcome::Holds, "a"),
            verdict(Outcome::DoesNotHold, "b"),
            verdict(Outcome::NotRun, "c"),
            verdict(Outcome::OtherFactor, "d"),
            verdict(Outcome::NotTestable, "e"),
            verdict(Outcome::TooClose, "f"),
        ]));
        for text in [
            "✓</span> Holds<",
            "✗</span> Does not hold<",
            "○</span> Not run<",
            "≈</span> Other factor<",
            "–</span> Not testable<",
            "±</span> Too close to call<",
            "for &lt; reasons",
        ] {
            assert!(html.contains(text), "{text}");
        }
    }

    #[test]
    fn tables_have_captions_headings_and_aligned_numbers() {
        let html = html(Block::Table(sample()));
        for text in [
            "aria-label=\"Seconds of kkrt &amp; others\"",
            "<caption>Seconds of <code>kkrt</code> &amp; others</caption>",
            "<th scope=\"col\">protocol</th><th scope=\"col\" class=\"number\">seconds</th>",
            "<th scope=\"row\">kkrt</th><td class=\"number\">1.5</td><td>&lt;us&gt;</td>",
        ] {
            assert!(html.contains(text), "{text}\n{html}");
        }
    }

    #[test]
    fn long_tables_are_folded() {
        let mut table = sample();
        table.rows = vec![table.rows[0].clone(); OPEN_ROWS];
        assert!(!html(Block::Table(table.clone())).contains("<details>"));
        table.rows.push(table.rows[0].clone());
        let html = html(Block::Table(table));
        let summary =
            "<summary>Seconds of <code>kkrt</code> &amp; others: a table of 21 rows</summary>";
        assert!(html.contains(summary), "{html}");
    }

    #[test]
    #[should_panic = "there is a cell per column"]
    fn a_missing_cell_is_noticed() {
        let mut table = sample();
        table.columns.push("more".into());
        html(Block::Table(table));
    }

    #[test]
    fn a_figure_has_its_data_as_a_table() {
        let chart = BarChart {
            title: "Ratios".into(),
            description: "All are 2.".into(),
            axis: Axis {
                label: "ratio".into(),
                scale: Scale::Powers(10),
            },
            groups: vec![Group {
                name: "kkrt".into(),
                bars: vec![Bar {
                    label: "2×".into(),
                    style: 0,
                    value: 2.0,
                    range: None,
                    origin: Origin::Measured,
                }],
            }],
        };
        let figure = Figure {
            caption: "Twice".into(),
            chart: Box::new(chart),
        };
        let html = html(Block::Figures(vec![figure]));
        for text in [
            "<figcaption>Twice</figcaption>",
            "role=\"img\"",
            "<title>Ratios</title>",
            "<desc>All are 2.</desc>",
            "<details>",
            "<th scope=\"row\">kkrt</th><td class=\"number\">2×</td><td class=\"number\">2</td>",
        ] {
            assert!(html.contains(text), "{text}");
        }
        assert!(!html.contains("<style>"), "the page has the style once");
    }
}

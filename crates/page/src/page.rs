//! The frame of a page: head, contents, sections.

use std::fmt::Write as _;

use psijoin_chart::STYLE;

use crate::{
    Page, blocks,
    outline::{Entry, counted, outline},
    text::{plain, prose},
};

/// The style of everything but charts.
const PAGE_STYLE: &str = include_str!("page.css");

impl Page {
    /// Returns the page, as a file.
    ///
    /// # Panics
    /// If a chart has nothing to show, or a row of a table not as many cells as there are columns.
    pub fn html(&self) -> String {
        let mut taken = ["contents", "main"].map(String::from).into();
        let entries = outline(&self.sections, &mut taken);
        let mut html = self.head();
        let _ = write!(html, "<header>\n<h1>{}</h1>\n", prose(&self.title));
        for paragraph in &self.introduction {
            let _ = writeln!(html, "<p>{}</p>", prose(paragraph));
        }
        if let Some(count) = counted(&self.sections) {
            let _ = writeln!(html, r#"<p class="summary">{count}.</p>"#);
        }
        html +=
            "</header>\n<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n";
        contents(&entries, &mut html);
        html += "</nav>\n<main id=\"main\">\n";
        for entry in &entries {
            section(entry, 2, &mut html);
        }
        html += "</main>\n</body>\n</html>\n";
        html
    }

    /// Returns what comes before the header. The policy allows nothing to be loaded and no script
    /// to run.
    fn head(&self) -> String {
        format!(
            r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{}</title>
<style>
{STYLE}{PAGE_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
"##,
            plain(&self.title)
        )
    }
}

fn contents(entries: &[Entry], html: &mut String) {
    *html += "<ol>\n";
    for entry in entries {
        let heading = prose(&entry.section.heading);
        let _ = write!(html, "<li><a href=\"#{}\">{heading}</a>", entry.anchor);
        if !entry.entries.is_empty() {
            if let Some(count) = counted(std::slice::from_ref(entry.section)) {
                let _ = write!(html, "<small>{count}</small>");
            }
            *html += "\n";
            contents(&entry.entries, html);
        }
        *html += "</li>\n";
    }
    *html += "</ol>\n";
}

/// Writes a section and its parts, with headings of a level and below.
fn section(entry: &Entry, level: usize, html: &mut String) {
    let (anchor, heading) = (&entry.anchor, prose(&entry.section.heading));
    let _ = write!(
        html,
        "<section aria-labelledby=\"{anchor}\">\n<h{level} id=\"{anchor}\">{heading}</h{level}>\n"
    );
    for block in &entry.section.blocks {
        blocks::write(block, html);
    }
    for part in &entry.entries {
        section(part, (level + 1).min(6), html);
    }
    *html += "</section>\n";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str) -> Page {
        Page {
            title: title.into(),
            introduction: vec!["x < y".into()],
            sections: Vec::new(),
        }
    }

    #[test]
    fn texts_are_escaped() {
        let html = page("</title><script>alert(1)</script>").html();
        assert!(!html.contains("<script"));
        assert!(html.contains("<p>x &lt; y</p>"));
    }
}

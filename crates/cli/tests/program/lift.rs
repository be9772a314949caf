//! *The lift of a campaign*: its commands, run as they stand there, and what they print.

use crate::{
    support::{Folder, run},
    tutorial::follow,
};

const PAGE: &str = include_str!("../../../../docs/lift.md");

/// Returns the page's blocks of this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    let blocks = PAGE.split(&start).skip(1);
    blocks
        .map(|rest| rest.split_once("```").expect("a block ends").0)
        .collect()
}

#[test]
fn its_commands_do_what_it_says() {
    let folder = Folder::new();
    let [ann, bob] = follow(PAGE, &folder, &[]);
    let printed = ann.close(&["1 of the 3 groups have fewer than 2 shared keys"]);
    bob.close(&["The receiver chose which of its keys are in which group"]);
    let texts = blocks("text");
    assert_eq!(texts.len(), 3);
    for text in texts {
        assert!(printed.contains(text), "{text} in {printed}");
    }
    assert_eq!(blocks("csv"), [folder.read("groups.csv")]);
}

#[test]
fn the_page_has_a_chart_and_no_scripts() {
    let folder = Folder::new();
    let file = folder.path("lift.html");
    run(&["demo", "lift", "--page", &file]).says(0, &[]);
    let page = folder.read("lift.html");
    for shown in [
        "<title>People who bought something, by region</title>",
        "<desc>islands: exposed: 7 of 14; control: withheld, fewer than 5.",
        ">exposed: 32 of 80</text>",
        ">control: withheld, fewer than 5</text>",
        "+60 %",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    for foreign in ["<script", "http://", "https://"] {
        let apart = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!apart.contains(foreign), "{foreign}");
    }
    let missing = folder.path("no/lift.html");
    run(&["demo", "lift", "--page", &missing]).says(3, &["cannot write the page"]);
}

//! The visibility of everything: the contrast of colours, as WCAG 2 defines it.

use psijoin_page::Page;

const DARK: &str = "@media (prefers-color-scheme: dark) {";

/// Returns the page's own rules and those of charts, each without and with what a dark page
/// changes.
fn styles() -> [[String; 2]; 2] {
    let page = Page {
        title: String::new(),
        introduction: Vec::new(),
        sections: Vec::new(),
    };
    let html = page.html();
    let style = html.split("<style>").nth(1).unwrap();
    let (charts, page) = style.split_once(":root").unwrap();
    [charts, page].map(|style| {
        let (light, dark) = style.split_once(DARK).unwrap();
        [light.to_owned(), format!("{dark}{light}")]
    })
}

/// Returns the first colour after a text.
fn color(style: &str, after: &str) -> f64 {
    let (_, rest) = style.split_once(after).expect(after);
    let rest = rest.trim_start_matches([' ', ':']);
    luminance(rest.strip_prefix('#').expect("a color"))
}

fn luminance(hex: &str) -> f64 {
    let digits: Vec<char> = hex.chars().take_while(char::is_ascii_hexdigit).collect();
    let each = digits.len() / 3;
    let channel = |number: usize| {
        let digit = |i: usize| digits[number * each + i % each].to_digit(16).unwrap();
        let value = f64::from(16 * digit(0) + digit(1)) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2)
}

fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn known_contrasts() {
    assert!((contrast(luminance("fff"), luminance("000000")) - 21.0).abs() < 1e-9);
    assert!((contrast(luminance("777777"), luminance("ffffff")) - 4.48).abs() < 0.005);
}

#[test]
fn texts_have_the_contrast_of_level_aa() {
    let [charts, page] = styles();
    for style in page {
        for background in ["--page", "--raised"] {
            for text in [
                "--text", "--quiet", "--link", "--holds", "--partly", "--fails", "--open",
            ] {
                let contrast = contrast(color(&style, text), color(&style, background));
                assert!(contrast >= 4.5, "{text} on {background}: {contrast:.2}");
            }
        }
    }
    for style in charts {
        let background = color(&style, ".chart { background");
        let (_, rest) = style.split_once(".chart { background").unwrap();
        assert!(contrast(color(rest, "; color"), background) >= 4.5);
    }
}

#[test]
fn lines_and_marks_have_the_contrast_of_graphics() {
    let [charts, _] = styles();
    for style in charts {
        let background = color(&style, ".chart { background");
        // Number 4 is the colour of the text.
        for number in [0, 1, 2, 3, 5, 6, 7] {
            let contrast = contrast(color(&style, &format!(".c{number} {{ color")), background);
            assert!(contrast >= 3.0, "color {number}: {contrast:.2}");
        }
    }
}

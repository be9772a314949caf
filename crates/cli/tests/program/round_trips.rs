//! A table joined with itself comes back byte for byte, however it is written.

use std::{
    fs::{self, File},
    io::{Read, Write},
};

use flate2::{read::GzDecoder, write::GzEncoder};

use crate::support::{Folder, join};

/// The compression of a file, by its name's second ending.
const CONTAINERS: [&str; 3] = ["", ".gz", ".zst"];

fn packed(bytes: &[u8], container: &str) -> Vec<u8> {
    match container {
        ".gz" => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        ".zst" => zstd::encode_all(bytes, 0).unwrap(),
        _ => bytes.to_vec(),
    }
}

fn unpacked(path: &str, container: &str) -> Vec<u8> {
    let file = File::open(path).unwrap();
    let mut bytes = Vec::new();
    match container {
        ".gz" => GzDecoder::new(file).read_to_end(&mut bytes).unwrap(),
        ".zst" => zstd::Decoder::new(file)
            .unwrap()
            .read_to_end(&mut bytes)
            .unwrap(),
        _ => return fs::read(path).unwrap(),
    };
    bytes
}

/// Joins a table of these bytes with itself, with these words on both sides.
#[track_caller]
fn comes_back(ending: &str, container: &str, bytes: &[u8], words: &[&str]) {
    let folder = Folder::new();
    let input = folder.file(&format!("t{ending}{container}"), packed(bytes, container));
    let output = folder.path(&format!("shared{ending}{container}"));
    let common = [&["--insecure-plaintext", "--input", &input], words].concat();
    let both = join(&[&common[..], &["--output", &output]].concat(), &common);
    both.receiver.says(0, &[]);
    both.sender.says(0, &[]);
    assert!(
        unpacked(&output, container) == bytes,
        "{ending}{container} {words:?}: {}",
        both.receiver.stderr
    );
}

#[test]
fn in_every_dialect() {
    for (index, delimiter) in [",", ";", "\t", "|"].into_iter().enumerate() {
        for quote in ["\"", "'", "none"] {
            for has_header in [true, false] {
                let line_end = ["\n", "\r\n"][index % 2];
                let record =
                    |first: &str, second: &str| format!("{first}{delimiter}{second}{line_end}");
                let mut text = match has_header {
                    true => record("k", "v"),
                    false => String::new(),
                };
                text += &record("1", " 5\" wide ");
                text += &record("it's", "");
                if quote != "none" {
                    let within = format!("{quote}a{delimiter}{quote}{quote}\nb{quote}");
                    text += &record(&within, &within);
                }
                // The last line may have no ending.
                text += &format!("last{delimiter}é");
                let mut words = vec!["--delimiter", delimiter, "--quote", quote, "--key"];
                match has_header {
                    true => words.push("k"),
                    false => words.extend(["1", "--no-header"]),
                }
                let ending = [".csv", ".tsv"][index % 2];
                comes_back(ending, "", text.as_bytes(), &words);
            }
        }
    }
}

#[test]
fn in_every_encoding_and_container() {
    let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    };
    let text = "k,v\r\nZoë,€ 5\r\n\"a \"\"b\"\"\",\r\n";
    let marked = format!("\u{feff}{text}");
    for container in CONTAINERS {
        let back = |bytes: &[u8], words: &[&str]| {
            comes_back(".csv", container, bytes, &[&["--key", "k"], words].concat());
        };
        back(text.as_bytes(), &[]);
        back(marked.as_bytes(), &[]);
        back(&utf_16(&marked, u16::to_le_bytes), &[]);
        back(&utf_16(&marked, u16::to_be_bytes), &[]);
        back(&utf_16(text, u16::to_le_bytes), &["--encoding", "utf-16le"]);
        back(
            b"k,v\nZo\xeb,\x80\n\x81,\xff\n",
            &["--encoding", "windows-1252"],
        );
        back(b"k,v\nZo\xeb,\xa4\n", &["--encoding", "iso-8859-15"]);
        comes_back(".txt", container, "ä\r\nb\n".as_bytes(), &[]);
        comes_back(
            ".tsv",
            container,
            b"k\tv\n1\\t2\t\\N\n\\\\\ta\\nb\n",
            &["--key", "k", "--escapes"],
        );
    }
}

#[test]
fn in_several_files() {
    let folder = Folder::new();
    let first = folder.file("part-1.csv", "\u{feff}k,v\r\n1,\"a\nb\"\r\n2,");
    let second = folder.file("part-2.csv.gz", packed(b"k,v\n3,c\n4,d", ".gz"));
    let output = folder.path("shared.csv");
    let pattern = folder.path("part-*");
    let common = ["--insecure-plaintext", "--key", "k", "--input"];
    let both = join(
        &[&common[..], &[&second, &first, "--output", &output]].concat(),
        &[&common[..], &[&pattern]].concat(),
    );
    both.receiver.says(0, &["4 shared keys"]);
    assert_eq!(
        folder.read("shared.csv"),
        "\u{feff}k,v\r\n1,\"a\nb\"\r\n2,\r\n3,c\n4,d"
    );
}

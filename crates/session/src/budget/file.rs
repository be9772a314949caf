//! The file of a budget: a line of JSON for the limits, and one for each answer.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use psijoin_files::private;
use serde::{Deserialize, Serialize};

use super::{
    Answer, Budget, Disclosed, Limits, damaged,
    disclosed::{KeyGroup, of_numbers},
    sketch::Sketch,
};

/// The version of the format.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "psijoin budget")]
    format: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    least_change: Option<u32>,
}

/// The line of an answer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    partner: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<String>,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<String>,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    disclosed: Option<DisclosedLine>,
}

/// The groups of an answer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DisclosedLine {
    secret: String,
    groups: Vec<GroupLine>,
}

/// A group.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLine {
    keys: u64,
    sketch: String,
    columns: BTreeMap<String, String>,
}

/// Writes a new file.
pub(super) fn create(path: &Path, limits: Limits) -> io::Result<()> {
    let head = Head {
        format: FORMAT,
        epsilon: limits.epsilon.map(|epsilon| epsilon.to_string()),
        answers: limits.answers,
        least_change: limits.least_change,
    };
    private::write_new(path, &line(&head))
}

/// An open file, which this process has locked.
pub(super) struct BudgetFile {
    file: File,
    /// The bytes of whole lines, once they were read.
    whole: u64,
}

impl BudgetFile {
    /// Opens a file, and waits until no other process reads or writes it.
    ///
    /// # Errors
    /// As [`private::open_own`], and if the file system has no locks.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = private::open_own(path)?;
        file.lock()?;
        Ok(Self { file, whole: 0 })
    }

    /// Reads all whole lines.
    pub(super) fn read(&mut self) -> io::Result<Budget> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.whole = whole as u64;
        let mut lines = (1..).zip(text[..whole].lines());
        let (number, head) = lines.next().ok_or_else(|| damaged(1))?;
        let limits = limits(head).ok_or_else(|| damaged(number))?;
        let least = limits.least_change;
        let answers =
            lines.map(|(number, text)| answer(text, least).ok_or_else(|| damaged(number)));
        Ok(Budget {
            limits,
            answers: answers.collect::<io::Result<_>>()?,
        })
    }

    /// Adds an answer behind the whole lines. When this returns, it is on the disk.
    pub(super) fn append(&mut self, answer: &Answer) -> io::Result<()> {
        let written = Line {
            partner: answer.partner.to_string(),
            name: answer.name.clone(),
            epsilon: answer.epsilon.map(|epsilon| epsilon.to_string()),
            session: answer.session.clone(),
            draw: answer.draw.clone(),
            at: answer.at.clone(),
            disclosed: answer.disclosed.as_ref().map(DisclosedLine::new),
        };
        // What a process left that was killed while it wrote.
        self.file.set_len(self.whole)?;
        self.file.seek(SeekFrom::Start(self.whole))?;
        self.file.write_all(&line(&written))?;
        self.file.sync_all()
    }
}

fn line(of: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(of).expect("texts and numbers");
    line.push(b'\n');
    line
}

/// Reads the limits; `None` if they are none.
fn limits(text: &str) -> Option<Limits> {
    let head: Head = serde_json::from_str(text).ok()?;
    let epsilon = head.epsilon.map(|epsilon| epsilon.parse());
    let limits = Limits {
        epsilon: epsilon.transpose().ok()?,
        answers: head.answers,
        least_change: head.least_change,
    };
    let has_one = limits != Limits::default();
    (head.format == FORMAT && has_one).then_some(limits)
}

/// Reads an answer, whose groups have sketches for this least change; `None` if it is none.
fn answer(text: &str, least: Option<u32>) -> Option<Answer> {
    let line: Line = serde_json::from_str(text).ok()?;
    let epsilon = line.epsilon.map(|epsilon| epsilon.parse());
    Some(Answer {
        partner: line.partner.parse().ok()?,
        name: line.name,
        epsilon: epsilon.transpose().ok()?,
        session: line.session,
        draw: line.draw,
        at: line.at,
        disclosed: match (line.disclosed, least) {
            (Some(disclosed), Some(least)) => Some(disclosed.read(least)?),
            (None, None) => None,
            _ => return None,
        },
    })
}

impl DisclosedLine {
    fn new(disclosed: &Disclosed) -> Self {
        let group = |group: &KeyGroup| GroupLine {
            keys: group.keys,
            sketch: group.sketch.to_string(),
            columns: (group.columns.iter())
                .map(|(name, sketch)| (name.clone(), sketch.to_string()))
                .collect(),
        };
        Self {
            secret: disclosed.secret.clone(),
            groups: disclosed.groups.iter().map(group).collect(),
        }
    }

    fn read(self, least: u32) -> Option<Disclosed> {
        let sketch = |text: &str, least: u32| {
            let sketch: Sketch = text.parse().ok()?;
            (sketch.least() == least as usize).then_some(sketch)
        };
        let group = |group: GroupLine| {
            let columns = group.columns.into_iter();
            let columns =
                columns.map(|(name, text)| Some((name, sketch(&text, of_numbers(least))?)));
            Some(KeyGroup {
                keys: group.keys,
                sketch: sketch(&group.sketch, least)?,
                columns: columns.collect::<Option<_>>()?,
            })
        };
        Some(Disclosed {
            secret: self.secret,
            groups: self.groups.into_iter().map(group).collect::<Option<_>>()?,
        })
    }
}

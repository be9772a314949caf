//! Folders of files that are a table only by a log beside them, which lists the files and rows that
//! count.
//!
//! Files that the log has dropped stay in the folder, and rows that were deleted stay in files. So
//! who reads all files finds rows that are gone, and others twice.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The program that keeps such a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableLog {
    /// Delta Lake.
    Delta,
    /// Apache Hudi.
    Hudi,
    /// Apache Iceberg.
    Iceberg,
    /// Apache Paimon.
    Paimon,
    /// The file sink of Spark's structured streaming.
    SparkStreaming,
}

impl TableLog {
    const ALL: [Self; 5] = [
        Self::Delta,
        Self::Hudi,
        Self::Iceberg,
        Self::Paimon,
        Self::SparkStreaming,
    ];

    /// Returns what a table whose files are in this folder belongs to: the log is in the folder, or
    /// in one above it.
    pub(crate) fn above(folder: &Path) -> Option<(PathBuf, Self)> {
        let mut folders = folder.ancestors();
        folders.find_map(|folder| Some((folder.to_owned(), Self::of(folder)?)))
    }

    /// Returns the log that is in this folder.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|log| log.is_in(folder))
    }

    fn is_in(self, folder: &Path) -> bool {
        match self {
            Self::Delta => folder.join("_delta_log").is_dir(),
            Self::Hudi => folder.join(".hoodie").is_dir(),
            Self::Iceberg => is_iceberg_metadata(&folder.join("metadata")),
            Self::Paimon => ["snapshot", "schema", "manifest"]
                .iter()
                .all(|part| folder.join(part).is_dir()),
            Self::SparkStreaming => folder.join("_spark_metadata").is_dir(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Delta => "Delta Lake",
            Self::Hudi => "Hudi",
            Self::Iceberg => "Iceberg",
            Self::Paimon => "Paimon",
            Self::SparkStreaming => "Spark Structured Streaming",
        }
    }

    /// Returns where the log is.
    pub(crate) fn place(self) -> &'static str {
        match self {
            Self::Delta => "log (_delta_log)",
            Self::Hudi => "timeline (.hoodie)",
            Self::Iceberg => "metadata (metadata/)",
            Self::Paimon => "snapshots (snapshot/)",
            Self::SparkStreaming => "log (_spark_metadata)",
        }
    }

    /// Returns what reads the table.
    pub(crate) fn way_out(self) -> &'static str {
        match self {
            Self::Delta => "DuckDB (delta_scan) or `deltalake` in Python",
            Self::Hudi => "Spark or `hudi` in Python",
            Self::Iceberg => "DuckDB (iceberg_scan) or `pyiceberg` in Python",
            Self::Paimon => "Spark or `pypaimon` in Python",
            Self::SparkStreaming => "Spark",
        }
    }
}

/// Returns whether a folder of this name is Iceberg's: then it has a file that describes the table,
/// or one that names the newest version. It may be anybody's otherwise.
fn is_iceberg_metadata(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        name.ends_with(b".metadata.json")
            || name.ends_with(b".metadata.json.gz")
            || name == b"version-hint.text"
    })
}

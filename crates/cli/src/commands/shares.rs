//! `psijoin shares`: a file of shares, as CSV.

use std::{
    fs,
    io::{self, BufReader, BufWriter, ErrorKind, Write},
};

use psijoin::share_file::File;

use crate::{
    args,
    exit::{Failure, ProgramFault},
    output,
};

pub(super) fn run(args: &args::Shares) -> Result<(), Failure> {
    let file = fs::File::open(&args.file)
        .and_then(|file| File::read(BufReader::new(file)))
        .map_err(|source| ProgramFault::Shares {
            path: args.file.clone(),
            source,
        })?;
    let written = write(&file, BufWriter::new(output::stream()));
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(ProgramFault::Stdout(error).into())
        }
        _ => Ok(()),
    }
}

/// Returns a line for each place: its number, in the receiver's file the row that it is of, the
/// share of whether it is shared, and those of its numbers.
fn write(file: &File, output: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(output);
    let write_record = |csv: &mut csv::Writer<_>, record: &[String]| {
        csv.write_record(record)
            .map_err(|error| match error.into_kind() {
                // As it was, so that one can tell a reader that went away.
                csv::ErrorKind::Io(error) => error,
                kind => io::Error::other(format!("{kind:?}")),
            })
    };
    let mut record = vec!["place".to_owned()];
    record.extend(file.rows.is_some().then(|| "row".to_owned()));
    record.push("shared".to_owned());
    let columns = file.columns.iter();
    record.extend(columns.map(|column| format!("{}.{}", column.holder, column.name)));
    write_record(&mut csv, &record)?;
    for place in 0..file.shares.places() {
        record.clear();
        record.push(place.to_string());
        if let Some(rows) = &file.rows {
            record.push(rows[place].map_or(String::new(), |row| row.to_string()));
        }
        record.push(u8::from(file.shares.membership().get(place)).to_string());
        let columns = file.shares.columns().iter();
        record.extend(columns.map(|column| column[place].to_string()));
        write_record(&mut csv, &record)?;
    }
    csv.flush()
}

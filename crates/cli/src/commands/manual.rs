//! `manual`: pages for `man`.

use std::{fs, io, path::Path};

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use crate::{args, exit::Failure};

/// Writes the pages of a program and its commands.
///
/// # Errors
/// If they cannot be written.
pub fn run(args: &args::Manual, program: Command) -> Result<(), Failure> {
    let written = fs::create_dir_all(&args.folder).and_then(|()| {
        let mut command = program.disable_help_subcommand(true);
        // Pages then know the whole names of commands, and the options that all of them have.
        command.build();
        write(&command, &args.folder)
    });
    written.map_err(|error| {
        Failure::Usage(format!(
            "cannot write to {}: {error}",
            psijoin_printable::path(&args.folder)
        ))
    })
}

/// Writes the page of a command, and those of its own commands.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    // Pages have no date. An empty one would be left out, and the version be taken for it.
    let man = Man::new(command.clone())
        .date(" ")
        .source(concat!("psijoin ", env!("CARGO_PKG_VERSION")));
    fs::write(folder.join(man.get_filename()), page(command, &man)?)?;
    let mut shown = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    shown.try_for_each(|command| write(command, folder))
}

fn page(command: &Command, man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let after_help = command.get_after_long_help();
    if let Some(help) = after_help.or(command.get_after_help()) {
        write_after_help(&help.to_string(), &mut page)?;
    }
    Ok(page)
}

/// Writes the end of a help: paragraphs, each with a heading and lines that stay as they are.
fn write_after_help(help: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for paragraph in help.split("\n\n") {
        let (heading, lines) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let heading = match heading {
            "Exit codes:" => "EXIT STATUS",
            "Environment:" => "ENVIRONMENT",
            other => other,
        };
        let mut roff = Roff::default();
        roff.control("SH", [heading]).control("nf", []);
        for line in lines.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []).to_writer(page)?;
    }
    Ok(())
}

//! `psijoin manual`: pages for `man`.

use std::{fs, io, path::Path};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::{
    args::{self, Args},
    exit::Failure,
};

pub(super) fn run(args: &args::Manual) -> Result<(), Failure> {
    let written = fs::create_dir_all(&args.folder).and_then(|()| {
        let mut command = Args::command().disable_help_subcommand(true);
        // Pages then know the whole names of commands, and the options that all of them have.
        command.build();
        write(&command, &args.folder)
    });
    written.map_err(|error| {
        Failure::Usage(format!(
            "cannot write to {}: {error}",
            args.folder.display()
        ))
    })
}

/// Writes the page of a command, and those of its own commands.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    Man::new(command.clone()).generate_to(folder)?;
    let mut shown = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    shown.try_for_each(|command| write(command, folder))
}

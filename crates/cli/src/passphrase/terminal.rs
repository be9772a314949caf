//! Asking at the terminal of this process, wherever its streams go.

use psijoin_transport::Passphrase;

use crate::exit::Failure;

/// The reason that nobody is asked.
pub(super) const NOBODY: &str = match cfg!(unix) {
    true => "there is no terminal to ask at",
    false => "nobody is asked on this operating system",
};

/// Asks for a passphrase, which the terminal does not show. `None` without a terminal.
///
/// # Errors
/// If it is none, or Ctrl-C comes instead.
#[cfg(unix)]
pub(super) fn ask(prompt: &str) -> Result<Option<Passphrase>, Failure> {
    use std::{
        fs::OpenOptions,
        io::{ErrorKind, Read, Write},
        mem,
    };

    use zeroize::Zeroizing;

    use crate::exit::ProgramFault;

    /// A line of a terminal is shorter.
    const MOST: usize = 4096;

    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
    let Ok(terminal) = terminal else {
        return Ok(None);
    };
    let failed = |error| Failure::from(ProgramFault::Terminal(error));
    let mut line = Zeroizing::new(vec![0; MOST]);
    let read = {
        let _hidden = unix::Hidden::new(&terminal).map_err(failed)?;
        (&terminal).write_all(prompt.as_bytes()).map_err(failed)?;
        loop {
            match (&terminal).read(&mut line) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(failed)?,
            }
        }
    };
    line.truncate(read);
    match line.pop() {
        Some(unix::CTRL_C) => return Err(psijoin_transport::Error::Interrupted.into()),
        Some(b'\n') => {}
        // The end of the input, by Ctrl-D.
        Some(last) => line.push(last),
        None => {}
    }
    let passphrase = Passphrase::new(mem::take(&mut *line)).ok_or(ProgramFault::NoPassphrase)?;
    Ok(Some(passphrase))
}

/// There is no way to hide what is typed without unsafe code or another dependency.
#[cfg(not(unix))]
pub(super) fn ask(_prompt: &str) -> Result<Option<Passphrase>, Failure> {
    Ok(None)
}

/// Lets the terminal show again what is typed, if the process ends while it asks.
#[cfg(unix)]
pub(crate) use unix::restore;

#[cfg(not(unix))]
pub(crate) fn restore() {}

#[cfg(unix)]
mod unix {
    use std::{
        fs::File,
        io,
        sync::{Mutex, PoisonError, TryLockError},
    };

    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
    };

    /// The character that Ctrl-C types.
    pub(super) const CTRL_C: u8 = 3;

    /// The terminal that is hidden now, and how it was before.
    static HIDDEN: Mutex<Option<(File, Termios)>> = Mutex::new(None);

    /// A terminal that does not show what is typed, until this is dropped.
    ///
    /// Ctrl-C ends the line and does no more: a program that a signal ends leaves the terminal
    /// hidden, and one that handles the signal goes on to wait for the line.
    pub(super) struct Hidden;

    impl Hidden {
        pub(super) fn new(terminal: &File) -> io::Result<Self> {
            let before = tcgetattr(terminal)?;
            let mut hidden = before.clone();
            hidden
                .local_modes
                .remove(LocalModes::ECHO | LocalModes::ISIG);
            hidden
                .local_modes
                .insert(LocalModes::ECHONL | LocalModes::ICANON);
            hidden.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
            let kept = (terminal.try_clone()?, before);
            *HIDDEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
            let this = Self;
            // What was typed before the question is no answer.
            tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
            Ok(this)
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            restore();
        }
    }

    /// Lets the terminal show again what is typed, also if the process ends while it asks.
    pub(crate) fn restore() {
        // Whoever ends the process may have been interrupted anywhere.
        let mut hidden = match HIDDEN.try_lock() {
            Ok(hidden) => hidden,
            Err(TryLockError::Poisoned(hidden)) => hidden.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if let Some((terminal, before)) = hidden.take() {
            // Nobody can be told.
            let _ = tcsetattr(terminal, OptionalActions::Now, &before);
        }
    }
}

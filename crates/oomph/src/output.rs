//! The only printer. Standard output is the answer, standard error the talk; a reader that went away is no error.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use report::render::clean;
use report::render::terminal::{Bars, Look, Styles};

use crate::ExitStatus;
use crate::error::Error;

const FAILURE: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints the answer.
pub(crate) fn answer(text: &str) -> Result<(), Error> {
    written(&mut anstream::stdout().lock(), text)
}

fn written(out: &mut impl Write, text: &str) -> Result<(), Error> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Prints an answer that another program reads, byte by byte: nothing of it is taken for a colour.
pub(crate) fn verbatim(text: &str) -> Result<(), Error> {
    written(&mut io::stdout().lock(), text)
}

/// Says something beside the answer.
pub(crate) fn say(text: &str) {
    tell(&format!("{}\n", legible(text)));
}

/// Says why oomph failed, and what to do next.
pub(crate) fn failure(error: &Error) {
    if let Error::Program(failure) = error
        && !failure.output().is_empty()
    {
        tell(&format!("{}\n\n", failure.output().trim_end()));
    }
    tell(&format!("{FAILURE}error{FAILURE:#}: {}\n", legible(&error.to_string())));
    for hint in error.hints() {
        tell(&format!("{HINT}hint{HINT:#}: {}\n", legible(&hint)));
    }
}

/// Prints what clap has to say: help is an answer, a wrong argument a failure.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A reader that went away needs no help.
    let _ = error.print();
    if error.use_stderr() { ExitStatus::Failed.into() } else { ExitCode::SUCCESS }
}

/// Prints the help of a command where its arguments are missing.
pub(crate) fn help(command: &mut clap::Command) {
    tell(&format!("{}\n", command.render_long_help().ansi()));
}

/// `text` with what a terminal would act on, or hide, as an escape: names of files may hold anything. Its lines stay.
fn legible(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(clean).collect();
    lines.join("\n")
}

fn tell(text: &str) {
    let mut err = anstream::stderr().lock();
    // Standard error may be closed; there is nobody left to tell then.
    let _: io::Result<()> = err.write_all(text.as_bytes());
}

/// Colours and blocks at a terminal, plain text in a file. `anstream` drops the colours where they are not wanted.
pub(crate) fn look() -> Look {
    if io::IsTerminal::is_terminal(&io::stdout()) {
        Look { styles: Styles::colored(), bars: Bars::Unicode }
    } else {
        Look { styles: Styles::plain(), bars: Bars::Ascii }
    }
}

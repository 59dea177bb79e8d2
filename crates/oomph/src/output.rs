//! The only printer: the answer goes to standard output, messages to standard error. A closed pipe is no error.

use std::io::{self, ErrorKind, Write};

use anstyle::{AnsiColor, Style};
use base::interrupt;
use report::failure::clean_lines;
use report::render::terminal::{Bars, Detail, Look, Styles};
use report::render::{Format, Report, render};

use crate::audience;
use crate::error::Error;

const FAILURE: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints a report as the answer.
pub(crate) fn show(report: &dyn Report, format: Format, detail: Detail) -> Result<(), Error> {
    answer(&render(report, format, look(detail))?)
}

/// Prints a report as a message, behind the output of a program.
pub(crate) fn say_report(report: &dyn Report, detail: Detail) -> Result<(), Error> {
    let look = Look { prefix: "oomph: ", ..look_of(&io::stderr(), detail) };
    let shown = if audience::is_agent() { Format::Agent } else { Format::Terminal };
    tell(&render(report, shown, look)?);
    Ok(())
}

/// Prints the answer.
pub(crate) fn answer(text: &str) -> Result<(), Error> {
    written(&mut anstream::stdout().lock(), text)
}

fn written(out: &mut impl Write, text: &str) -> Result<(), Error> {
    interrupt::yield_to_end();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Prints an answer for another program, byte by byte, without a treatment of colours.
pub(crate) fn verbatim(text: &str) -> Result<(), Error> {
    written(&mut io::stdout().lock(), text)
}

/// Prints a message.
pub(crate) fn say(text: &str) {
    tell(&format!("{}\n", clean_lines(text)));
}

/// Prints an error and its hint. A coding agent reads both in the object on standard output.
pub(crate) fn failure(error: &Error) {
    if audience::is_agent() {
        return;
    }
    if let Some(output) = error.last_output() {
        tell(&format!("{output}\n\n"));
    }
    tell(&format!("{FAILURE}error{FAILURE:#}: {}\n", clean_lines(&error.to_string())));
    if let Some(hint) = error.hint() {
        tell(&format!("{HINT}hint{HINT:#}: {}\n", clean_lines(&hint)));
    }
}

/// Prints the help of a command without its arguments.
pub(crate) fn help(command: &mut clap::Command) {
    tell(&format!("{}\n", command.render_long_help().ansi()));
}

fn tell(text: &str) {
    interrupt::yield_to_end();
    let mut err = anstream::stderr().lock();
    // Standard error may be closed.
    let _: io::Result<()> = err.write_all(text.as_bytes());
}

/// Returns colours and blocks for a terminal, plain text for a file. `anstream` drops unwanted colours.
pub(crate) fn look(detail: Detail) -> Look {
    look_of(&io::stdout(), detail)
}

fn look_of(stream: &impl io::IsTerminal, detail: Detail) -> Look {
    if stream.is_terminal() {
        Look { styles: Styles::colored(), bars: Bars::Unicode, detail, ..Look::default() }
    } else {
        Look { styles: Styles::plain(), bars: Bars::Ascii, detail, ..Look::default() }
    }
}

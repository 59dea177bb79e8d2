//! `oomph top`: the GPUs of the machine and their processes, again and again.

mod details;
mod keys;
mod sampler;
mod screen;
mod terminal;
mod view;

use std::io::IsTerminal;
use std::path::Path;
use std::thread;
use std::time::Duration;

use diagnose::top;
use drive::machine::Monitor;
use report::render::terminal::{Detail, Look};
use report::render::{Format, render};
use report::top::TopReport;
use trace::Bytes;

pub(crate) use self::terminal::leave_screen;
use crate::args::Top;
use crate::effects::whole_file::{self, Expected};
use crate::environment::stated_columns;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// The time between the two looks of `--once`: processor time is known from the second on.
const PAUSE: Duration = Duration::from_millis(250);
/// A machine with 16 GPUs and a thousand processes has less than 1 MiB.
const SMI: Expected = Expected { words: "the output of `nvidia-smi -q -x`", most: Bytes::from_mib(64) };
/// The width of the text where no terminal states one.
const WIDTH: usize = 120;

/// Shows the machine.
pub(crate) fn run(arguments: &Top) -> Result<ExitStatus, Error> {
    let monitor = open(arguments.from.as_deref())?;
    let is_for_programs = arguments.format.chosen() != Format::Terminal;
    if arguments.once || is_for_programs || !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return show_once(monitor, arguments);
    }
    let commands = terminal::show(monitor, Duration::from_secs_f64(arguments.interval))?;
    output::answer(&commands)?;
    Ok(ExitStatus::Fits)
}

fn open(from: Option<&Path>) -> Result<Monitor, Error> {
    let Some(path) = from else { return Ok(Monitor::open()?) };
    let content = if path == Path::new("-") {
        whole_file::read_input(std::io::stdin().lock(), path, SMI)?
    } else {
        whole_file::read(path, SMI)?
    };
    Ok(Monitor::of_file(path, &content)?)
}

fn show_once(mut monitor: Monitor, arguments: &Top) -> Result<ExitStatus, Error> {
    let report = look_twice(&mut monitor, arguments.from.is_none())?;
    let look = Look { columns: Some(find_width()), ..output::look(Detail::Full) };
    output::answer(&render(&report, arguments.format.chosen(), look)?)?;
    Ok(ExitStatus::Fits)
}

fn look_twice(monitor: &mut Monitor, is_alive: bool) -> Result<TopReport, Error> {
    let mut top = top::Top::new(env!("CARGO_PKG_VERSION"));
    if is_alive {
        top.report(&monitor.read()?);
        thread::sleep(PAUSE);
    }
    Ok(top.report(&monitor.read()?))
}

fn find_width() -> usize {
    let is_terminal = std::io::stdout().is_terminal();
    let size = is_terminal.then(ratatui::crossterm::terminal::size).and_then(Result::ok);
    size.map_or_else(|| stated_columns().unwrap_or(WIDTH), |(columns, _)| usize::from(columns))
}

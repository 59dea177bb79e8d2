//! `oomph phantom`: any command on the phantom GPU, as it is: nothing is recorded, its output and status are its own.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::args::Phantom;
use crate::error::Error;
use crate::{ExitStatus, cache, card, environment as names, launch};

/// Becomes the command; returns only where it cannot be started.
pub(crate) fn run(arguments: &Phantom) -> Result<ExitStatus, Error> {
    let card = card::choose(&arguments.card)?;
    let unpacked = cache::unpack()?;
    let mut command = Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]);
    launch::set_phantom(&mut command, &unpacked, &card.profile.device_variable(), arguments.card.gpus);
    if let Some(others) = arguments.others {
        command.env(names::OTHERS, others.0.to_string());
    }
    let program = arguments.command[0].to_string_lossy().into_owned();
    Err(Error::NoProgram { program, source: command.exec() })
}

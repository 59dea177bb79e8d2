//! `oomph phantom`: runs any command on the phantom GPU, unchanged and unrecorded.

use std::os::unix::process::CommandExt;

use drive::process::{launch, table};
use drive::{start_error, unpack};
use run::environment::of_phantom;

use crate::args::Phantom;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::gpu_choice;

/// Becomes the command; returns only if the command cannot be started.
pub(crate) fn run(arguments: &Phantom) -> Result<ExitStatus, Error> {
    let gpu_choice = gpu_choice::choose(&arguments.gpu)?;
    let unpacked = unpack::unpack()?;
    let device = gpu_choice.profile.device_variable();
    let mut environment = of_phantom(&device, arguments.gpu.gpus, &unpacked.library_dir);
    environment.set_others(arguments.others.others.unwrap_or_default());
    if let Some(table) = table::create() {
        environment.set_table(&table);
    }
    let mut command = launch::command(&arguments.command)?;
    launch::set_environment(&mut command, &environment);
    Err(start_error::explain(&arguments.command[0], command.exec()).into())
}

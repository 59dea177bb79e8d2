//! `oomph record-into`: what a Python needs that is recorded by `OOMPH_RUN` alone (python/oomph/startup.py).

use drive::{run_folder, unpack};
use run::{Conditions, RunSpec};
use trace::Launch;

use crate::args::RecordInto;
use crate::environment::slurm_job;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// Unpacks the agent, writes `run.json` unless another process did, and prints the folder for Python's path.
pub(crate) fn run(arguments: &RecordInto) -> Result<ExitStatus, Error> {
    let spec = RunSpec::real(arguments.program.clone());
    let launched = Launch { slurm_job: slurm_job(), ..spec.launch(&Conditions::on_device(Vec::new())) };
    run_folder::join_lasting(&arguments.folder, &launched)?;
    let unpacked = unpack::unpack_for(&arguments.folder)?;
    output::verbatim(&format!("{}\n", unpacked.inject_dir.display()))?;
    Ok(ExitStatus::Fits)
}

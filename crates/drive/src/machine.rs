//! The GPUs of this machine and their processes, read again and again: NVML, proc(5), and the recordings of `oomph run`.

mod host;
mod nvml;
mod runs;

use std::collections::BTreeMap;
use std::path::Path;

use base::MachineError;
use diagnose::Meter;
use diagnose::top::MachineView;
use trace::machine::{HostProcess, MachineSample, read_smi};

use self::nvml::Driver;
use self::runs::FollowedRuns;

/// Reads this machine, or a file that another machine's driver wrote.
pub struct Monitor {
    source: MachineSource,
    runs: FollowedRuns,
}

enum MachineSource {
    Driver(Box<Driver>),
    File(MachineSample),
}

impl Monitor {
    /// Reads this machine.
    pub fn open() -> Result<Monitor, MachineError> {
        Ok(Monitor { source: MachineSource::Driver(Box::new(Driver::open()?)), runs: FollowedRuns::default() })
    }

    /// Shows the output of `nvidia-smi -q -x` in `content`, which was read from `path`.
    pub fn of_file(path: &Path, content: &[u8]) -> Result<Monitor, MachineError> {
        let sample = read_smi(content)
            .map_err(|problem| MachineError::File { path: path.to_owned(), problem: Box::new(problem) })?;
        Ok(Monitor { source: MachineSource::File(sample), runs: FollowedRuns::default() })
    }

    /// Reads the figures of now.
    pub fn read(&mut self) -> Result<MachineView, MachineError> {
        let gpus = match &mut self.source {
            MachineSource::Driver(driver) => driver.read()?,
            // The processes of another machine have nothing to do with the same numbers here.
            MachineSource::File(sample) => return Ok(MachineView { gpus: sample.clone(), ..MachineView::default() }),
        };
        let on_gpus = gpus.gpus.iter().flat_map(|gpu| &gpu.processes).map(|process| process.pid);
        let mut host: BTreeMap<u32, HostProcess> = on_gpus.filter_map(|pid| Some((pid, host::read(pid)?))).collect();
        let recorded = self.runs.refresh(&host);
        for pid in recorded.iter().map(Meter::pid) {
            if let Some(found) = host::read(pid) {
                host.entry(pid).or_insert(found);
            }
        }
        Ok(MachineView { is_live: true, gpus, host, recorded, monotonic_ns: host::read_clock() })
    }
}

//! A program and the device of its runs.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use trace::Bytes;
use trace::run::{Ended, Launch};

use crate::conditions::{Conditions, Limit};
use crate::options::RunOptions;

/// The facts that all runs of a command share.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The program, then the arguments.
    pub command: Vec<OsString>,
    /// True if the command line names a script, which oomph starts with a Python of its choice, or the entry point of an installed package.
    pub is_script: bool,
    /// The device that the program sees.
    pub device: Device,
    /// What the user asked of the runs.
    pub options: RunOptions,
    /// The longest time that a run may take.
    pub timeout: Duration,
    /// True to show the program's output.
    pub verbose: bool,
}

/// The device of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// A phantom GPU.
    Phantom(DeviceFacts),
    /// The GPUs of this machine.
    Real,
}

impl Device {
    /// The figures of a phantom; `None` for the machine's own GPUs, which the program's records describe.
    pub fn facts(&self) -> Option<&DeviceFacts> {
        match self {
            Device::Phantom(facts) => Some(facts),
            Device::Real => None,
        }
    }
}

/// The figures of a GPU model that a run needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceFacts {
    /// The product's name.
    pub name: String,
    /// The whole profile, as the phantom reads it.
    pub variable: String,
    /// The device's memory.
    pub total: Bytes,
    /// The memory that a CUDA context takes.
    pub context: Bytes,
    /// The memory of other processes.
    pub others: Bytes,
}

impl RunSpec {
    /// A real run of a command line, to its own end.
    pub fn real(command: Vec<OsString>) -> RunSpec {
        RunSpec {
            command,
            is_script: false,
            device: Device::Real,
            options: RunOptions::real(),
            timeout: Duration::MAX,
            verbose: false,
        }
    }

    /// True if a fork server can replace the program's start: a Python starts the program, in a single process.
    pub fn can_fork(&self) -> bool {
        self.options.job.is_none() && (self.is_script || starts_python(&self.command))
    }

    /// True if a run prints the program's output: the first run, for a user who asked.
    pub fn shows_output(&self, conditions: &Conditions) -> bool {
        self.verbose && conditions.limit == Limit::Device
    }

    /// Returns the content of `run.json` before the run. Of the machine's own GPUs nothing is known by then: no name, and zeros.
    pub fn launch(&self, conditions: &Conditions) -> Launch {
        fn of<T: Default>(device: &Device, fact: impl Fn(&DeviceFacts) -> T) -> T {
            device.facts().map(fact).unwrap_or_default()
        }
        Launch {
            format: Launch::FORMAT,
            oomph: env!("CARGO_PKG_VERSION").to_owned(),
            command: conditions.command(&self.command).iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            gpu_name: of(&self.device, |device| device.name.clone()),
            device_total_bytes: of(&self.device, |device| device.total.0),
            device_others_bytes: of(&self.device, |device| device.others.0),
            device_context_bytes: of(&self.device, |device| device.context.0),
            devices: self.options.devices(),
            unlimited: conditions.limit == Limit::Unlimited,
            steps: self.options.stop_at.number(),
            job: self.options.job.clone(),
            slurm_job: None,
            ended: None,
            host: None,
            effects: None,
        }
    }
}

/// True if a command line starts a Python.
pub(crate) fn starts_python(command: &[OsString]) -> bool {
    let name = command.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default();
    name.to_string_lossy().starts_with("python")
}

/// Returns the end of a job from the ends of all ranks: the first bad end, with the time of all.
pub fn merge_ends(ends: Vec<Ended>) -> Ended {
    let seconds = ends.iter().map(|ended| ended.seconds).sum();
    let worst = ends.into_iter().reduce(|worst, next| if is_good(&worst) { next } else { worst });
    Ended { seconds, ..worst.unwrap_or_default() }
}

fn is_good(ended: &Ended) -> bool {
    ended.exit_code == Some(0) && !ended.timed_out
}

#[cfg(test)]
mod tests {
    use trace::run::Job;

    use super::*;
    use crate::testing::spec;

    #[test]
    fn a_python_in_one_process_can_be_forked() {
        let command = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let job = Some(Job { world_size: 2, local_world_size: 2, ranks: vec![0] });
        let cases = [
            (RunSpec { is_script: true, ..spec() }, true),
            (RunSpec { is_script: false, command: command(&["/usr/bin/python3.12", "-m", "train"]), ..spec() }, true),
            (RunSpec { is_script: false, command: command(&["torchrun", "train.py"]), ..spec() }, false),
            (RunSpec { is_script: true, options: RunOptions { job, ..spec().options }, ..spec() }, false),
        ];
        for (spec, expected) in cases {
            assert_eq!(spec.can_fork(), expected, "{:?} {:?}", spec.command, spec.options.job);
        }
    }

    #[test]
    fn the_first_bad_end_is_the_jobs() {
        let ended =
            |exit_code, timed_out| Ended { exit_code: Some(exit_code), seconds: 2.0, timed_out, ..Ended::default() };
        let cases = [
            (vec![ended(0, false), ended(0, false)], ended(0, false)),
            (vec![ended(0, false), ended(3, false), ended(4, false)], ended(3, false)),
            (vec![ended(0, true), ended(1, false)], ended(0, true)),
        ];
        for (ends, expected) in cases {
            let seconds = 2.0 * ends.iter().map(|_| 1.0).sum::<f64>();
            assert_eq!(merge_ends(ends), Ended { seconds, ..expected });
        }
        assert_eq!(merge_ends(Vec::new()), Ended::default());
    }
}

//! A program and the device of its runs.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use trace::Bytes;
use trace::run::{Ended, Job, Launch};

use crate::conditions::{Conditions, Limit};

/// The facts that all runs of a command share.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The program, then the arguments.
    pub command: Vec<OsString>,
    /// True if the command line names a script, which oomph starts with a Python of its choice.
    pub is_script: bool,
    /// The device that the program sees.
    pub device: Device,
    /// The number of GPUs of the machine.
    pub devices: u32,
    /// The job of which single ranks run; `None` where every rank is a process.
    pub job: Option<Job>,
    /// The event that ends the program before its own end.
    pub stop_at: StopAt,
    /// The share of elements that value-dependent shapes are assumed to select.
    pub fraction: f64,
    /// True to make up well-known data sets that are not there.
    pub fakes_data: bool,
    /// The longest time that a run may take.
    pub timeout: Duration,
    /// True to show the program's output.
    pub verbose: bool,
}

/// The event that ends a program before its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAt {
    /// The end of this optimizer step.
    Step {
        /// The step, counted from 1.
        step: NonZeroU32,
        /// The most further steps, while there is more to see and a step takes little time (`python/oomph/agent/position/course.py`).
        most_more: u32,
    },
    /// None: the program runs to its end.
    End,
}

impl StopAt {
    /// An optimizer step; 0 stands for the end of the program.
    pub fn step(step: u32) -> StopAt {
        NonZeroU32::new(step).map_or(StopAt::End, |step| StopAt::Step { step, most_more: 0 })
    }

    /// The same with more steps, while there is more to see.
    #[must_use]
    pub fn with_more(self, most_more: u32) -> StopAt {
        match self {
            StopAt::Step { step, .. } => StopAt::Step { step, most_more },
            StopAt::End => StopAt::End,
        }
    }

    /// The number of the optimizer step; 0 for the end of the program.
    pub fn number(self) -> u32 {
        match self {
            StopAt::Step { step, .. } => step.get(),
            StopAt::End => 0,
        }
    }
}

/// The device of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
            devices: 0,
            job: None,
            stop_at: StopAt::End,
            fraction: 0.0,
            fakes_data: false,
            timeout: Duration::MAX,
            verbose: false,
        }
    }

    /// Returns the number of GPUs per process: all GPUs of one machine of the job.
    pub fn devices(&self) -> u32 {
        self.job.as_ref().map_or(self.devices, |job| job.local_world_size)
    }

    /// True if a fork server can replace the program's start: a Python starts the program, in a single process.
    pub fn can_fork(&self) -> bool {
        self.job.is_none() && (self.is_script || starts_python(&self.command))
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
            command: self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            gpu_name: of(&self.device, |device| device.name.clone()),
            device_total_bytes: of(&self.device, |device| device.total.0),
            device_others_bytes: of(&self.device, |device| device.others.0),
            device_context_bytes: of(&self.device, |device| device.context.0),
            devices: self.devices(),
            unlimited: conditions.limit == Limit::Unlimited,
            steps: self.stop_at.number(),
            job: self.job.clone(),
            ended: None,
            host: None,
            effects: None,
        }
    }
}

/// True if a command line starts a Python.
fn starts_python(command: &[OsString]) -> bool {
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
            (RunSpec { is_script: true, job, ..spec() }, false),
        ];
        for (spec, expected) in cases {
            assert_eq!(spec.can_fork(), expected, "{:?} {:?}", spec.command, spec.job);
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

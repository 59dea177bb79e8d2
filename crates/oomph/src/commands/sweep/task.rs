//! The tasks of a sweep, for this machine or others: `oomph sweep --worker` reads a task as JSON, and writes points as JSON lines.

use std::io::{Read as _, stdin};

use base::{Words, interrupt};
use diagnose::{LinePoint, SweepGpu};
use report::sweep::SweepPoint;
use serde::{Deserialize, Serialize};
use trace::Bytes;

use super::folder::SweepFolder;
use super::gpu_group::GpuGroup;
use super::plan::SweepPlan;
use super::{groups, local};
use crate::args::Sweep;
use crate::error::{Error, SweepError};
use crate::exit::ExitStatus;
use crate::output;

/// The most configurations of a task: the start of a worker costs a few dry runs.
const POINTS_OF_TASK: u64 = 40;
/// The number of tasks that an array of Slurm is planned for: `MaxArraySize` of slurm.conf is 1,001 where nobody has set it, and a task that is
/// not full makes another.
const TASKS_OF_ARRAY: u64 = 500;

/// Lines of configurations for a group of GPUs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SweepTask {
    /// The GPU of the dry runs.
    pub(super) run_for: String,
    /// The GPUs to judge: name, memory and context.
    pub(super) gpus: Vec<(String, Bytes, Bytes)>,
    pub(super) lines: Vec<Vec<LinePoint>>,
}

impl SweepTask {
    /// The number of configurations.
    pub(super) fn count(&self) -> u64 {
        self.lines.iter().map(|line| line.len() as u64).sum()
    }
}

/// The most configurations of a task, of `whole` in the sweep.
pub(super) fn most_points(is_array: bool, whole: u64) -> u64 {
    if is_array { whole.div_ceil(TASKS_OF_ARRAY).max(POINTS_OF_TASK) } else { POINTS_OF_TASK }
}

/// Cuts the missing configurations of a group into tasks of at most `most` configurations.
pub(super) fn cut(
    arguments: &Sweep,
    plan: &SweepPlan,
    group: &GpuGroup,
    folder: &SweepFolder,
    most: u64,
) -> Vec<SweepTask> {
    let is_missing = |number: u64| group.gpus.iter().any(|gpu| !folder.has(number, &gpu.name));
    let mut tasks: Vec<SweepTask> = Vec::new();
    for line in plan.lines(arguments.run_all, is_missing) {
        // Of a line that is known in part, only the missing points run.
        let left: Vec<LinePoint> = line.into_iter().filter(|point| is_missing(point.number)).collect();
        match tasks.last_mut().filter(|task| task.count() + left.len() as u64 <= most) {
            Some(task) => task.lines.push(left),
            None => tasks.push(SweepTask {
                run_for: group.profile.name.clone(),
                gpus: group.gpus.iter().map(|gpu| (gpu.name.clone(), gpu.capacity, gpu.context)).collect(),
                lines: vec![left],
            }),
        }
    }
    tasks
}

/// Reads a task on standard input, and writes a line for each configuration and GPU.
pub(super) fn work(arguments: &Sweep, words: &Words) -> Result<ExitStatus, Error> {
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(|error| SweepError::BadTask(error.to_string()))?;
    let task: SweepTask = serde_json::from_str(&text).map_err(|error| SweepError::BadTask(error.to_string()))?;
    let profile = gpus::find(&task.run_for)?.clone();
    let program = groups::prepare(arguments, &profile, words)?;
    let gpus = task.gpus.into_iter().map(|(name, capacity, context)| SweepGpu { name, capacity, context }).collect();
    let group = GpuGroup { profile, gpus };
    interrupt::begin_examination();
    local::run(&program, arguments, &group, task.lines, &mut |points| print(&points))?;
    if interrupt::has_come() { Err(base::Error::Interrupted.into()) } else { Ok(ExitStatus::Fits) }
}

fn print(points: &[SweepPoint]) -> Result<(), Error> {
    for point in points {
        output::verbatim(&(serde_json::to_string(point)? + "\n"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_has_no_more_tasks_than_slurm_takes() {
        let check = |is_array: bool, whole: u64, expected: u64| {
            assert_eq!(most_points(is_array, whole), expected, "{is_array} {whole}");
        };
        check(false, 1_000_000, 40);
        check(true, 1_000, 40);
        check(true, 20_000, 40);
        check(true, 1_000_000, 2_000);
    }
}

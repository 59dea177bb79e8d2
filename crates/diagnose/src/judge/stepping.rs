//! The peaks of a process's optimizer steps.

use trace::Process;
use trace::run::StepRecord;

/// Returns the allocated peak of all devices after each step.
pub(crate) fn step_peaks(process: &Process) -> Vec<u64> {
    let peak = |step: &StepRecord| step.devices.iter().map(|stats| stats.allocated_peak_bytes).sum();
    process.steps.iter().map(peak).collect()
}

/// Returns the allocated bytes of all devices after each step.
pub(crate) fn allocated_after_steps(process: &Process) -> Vec<u64> {
    let allocated = |step: &StepRecord| step.devices.iter().map(|stats| stats.allocated_bytes).sum();
    process.steps.iter().map(allocated).collect()
}

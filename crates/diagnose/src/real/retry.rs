//! The decisions before a program that ran out is run again with changes.
//!
//! # Note [Retries]
//! A retry starts the program from its beginning. The program has changed nothing by training only if no optimizer step was made; the user
//! alone knows of a program that resumes from its own checkpoint. A plan comes from the search of `fit`, on a phantom with the name, the
//! memory and the other processes of the device that was full. Plans that change results need the user's permission.

use std::fmt;

use remedies::{BATCH_SIZE, Exactness, setting};
use report::fit::{Cost, FitReport, FitVerdict, Plan, TimeSource};
use report::words::count;
use report::{Change, Usage};
use thiserror::Error;
use trace::{Bytes, Launch, Process, Run};

use super::{Real, find_gpu, with_gpu};

/// The device of a real run that ran out, for a search by dry runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullDevice {
    /// The product's name.
    pub name: String,
    /// The device's memory.
    pub total: Bytes,
    /// The memory of other processes at the error.
    pub others: Bytes,
    /// The number of devices that the program saw.
    pub devices: u32,
}

/// The reason why a program that ran out is not run again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoRetry {
    /// The program would repeat its steps.
    #[error(
        "{} had been made, and a program that starts again would repeat the training so far; --resumes says that it resumes from its own checkpoint",
        count(*.0, "step", "steps")
    )]
    Steps(u32),
    /// The search is for one process.
    #[error("{0} processes used a GPU, and a plan is searched for a program of one")]
    Processes(usize),
    /// Another signal ended the program.
    #[error("signal {0} ended the program")]
    Signal(i32),
    /// The recording names no GPU.
    #[error("the recording does not name the GPU that was full")]
    NoGpu,
    /// The dry runs did not run out.
    #[error("the dry runs of the search fit without a change, so no change is known to help")]
    Fits,
    /// The search found no plan.
    #[error("no change makes it fit")]
    NoPlan,
    /// A search needs the figures of the GPU.
    #[error("oomph does not know the GPU `{0}`, so there is no dry run on it")]
    UnknownGpu(String),
    /// The only plan changes results.
    #[error("no change that keeps the results makes it fit; {0} would, and --retry-changes-results allows it")]
    ChangesResults(String),
    /// All plans were tried.
    #[error("no further plan has a lower peak")]
    NoMorePlans,
}

impl fmt::Display for FullDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.name, self.total)?;
        if self.others > Bytes::ZERO { write!(f, ", {} of others", self.others) } else { Ok(()) }
    }
}

impl Real {
    /// Returns the full device of a run that ran out, if the run may be repeated. `resumes`: the program continues from its checkpoint.
    pub fn permit_retry(run: &Run, launch: &Launch, resumes: bool) -> Result<FullDevice, NoRetry> {
        let steps = run.processes.iter().map(Process::step_count).max().unwrap_or_default();
        if let Some(signal) = launch.ended.as_ref().and_then(|ended| ended.signal) {
            return Err(NoRetry::Signal(signal));
        }
        if run.processes.len() > 1 {
            return Err(NoRetry::Processes(run.processes.len()));
        }
        if steps > 0 && !resumes {
            return Err(NoRetry::Steps(steps));
        }
        find_device(run, launch).ok_or(NoRetry::NoGpu)
    }
}

fn find_device(run: &Run, launch: &Launch) -> Option<FullDevice> {
    let (gpu, ..) = find_gpu(run)?;
    let known = with_gpu(run, launch.clone());
    Some(FullDevice {
        name: gpu.name.clone(),
        total: Bytes(gpu.total_bytes),
        others: Bytes(known.device_others_bytes),
        devices: known.devices,
    })
}

/// Lists the plans of a search that a real run can follow, each with a lower peak than the one before.
pub fn list_real_plans(report: &FitReport) -> Vec<Plan> {
    let is_real = |change: &Change| remedies::works_in_real_run(&change.remedy);
    let found = report.plans.iter().filter(|plan| plan.fits && plan.changes.iter().all(is_real)).cloned();
    let mut plans: Vec<Plan> = Vec::new();
    for plan in found.chain(make_batch_plan(report)) {
        if plans.last().is_none_or(|last| plan.peak.device_bytes < last.peak.device_bytes) {
            plans.push(plan);
        }
    }
    if report.verdict == FitVerdict::Fits { Vec::new() } else { plans }
}

/// The plan of the largest batch that fits.
fn make_batch_plan(report: &FitReport) -> Option<Plan> {
    let (batch, most) = report.batch.as_ref().zip(report.max_batch.as_ref())?;
    if most.independent || most.size == 0 || most.size >= batch.size {
        return None;
    }
    let change = Change::new(BATCH_SIZE).with(setting::SIZE, most.size).with(setting::ARG, batch.name.as_str());
    Some(Plan {
        changes: vec![change],
        peak: most.peak.unwrap_or_default(),
        fits: true,
        retries: false,
        cost: Cost { exactness: Exactness::OtherModel, time_ratio: 1.0, time_source: TimeSource::Typical },
        places: Vec::new(),
        settings: Vec::new(),
        command: Vec::new(),
    })
}

/// The effect of a plan in words; `before` is the need of the unchanged program.
pub fn describe_plan(plan: &Plan, before: &Usage) -> String {
    let (peak, need) = (plan.peak.device_bytes, before.device_bytes);
    format!(
        "{}: {} less at the peak ({peak} in place of {need}), results {}",
        report::render::named(&plan.changes),
        need - peak.min(need),
        report::render::exactness(plan.cost.exactness)
    )
}

#[cfg(test)]
mod tests {
    use report::fit::{Batch, FitReport, MaxBatch};
    use trace::run::{DeviceStats, Ended, ErrorRecord, GpuRecord, OomRecord, StepRecord};

    use super::*;

    const GIB: u64 = 1 << 30;

    /// A process that filled a device of 16 GiB: 10 GiB by itself, 1 GiB of that outside PyTorch, 6 GiB by others.
    fn full(steps: u32) -> Process {
        let message = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 16.00 GiB of which 0 bytes is free. \
                       Process 7 has 6.00 GiB memory in use. Including non-PyTorch memory, this process has 10.00 GiB memory in use. Of the \
                       allocated memory 9.00 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.";
        let stats = DeviceStats { reserved_bytes: 9 * GIB, allocated_bytes: 9 * GIB, ..DeviceStats::default() };
        let gpu = GpuRecord { name: "NVIDIA T4".to_owned(), total_bytes: 16 * GIB, ..GpuRecord::default() };
        Process {
            gpus: vec![gpu],
            ooms: vec![OomRecord { stats, ..OomRecord::default() }],
            errors: vec![ErrorRecord { oom: true, message: message.to_owned(), ..ErrorRecord::default() }],
            steps: (1..=steps).map(|step| StepRecord { step, ..StepRecord::default() }).collect(),
            ..Process::default()
        }
    }

    /// What an H200 said of a program that was alone on it, and a neighbour of the least size.
    #[test]
    fn memory_of_the_driver_is_no_other_process() {
        const MIB: u64 = 1 << 20;
        let reserved = 148_958_609_408;
        for (used, others) in [("139.39 GiB", 0), ("139.25 GiB", 156)] {
            let message = format!(
                "CUDA out of memory. Tried to allocate 418.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 407.12 MiB is free. \
                 Including non-PyTorch memory, this process has {used} memory in use. Of the allocated memory 138.63 GiB is allocated by \
                 PyTorch, and 102.61 MiB is reserved by PyTorch but unallocated."
            );
            let stats = DeviceStats { reserved_bytes: reserved, ..DeviceStats::default() };
            let gpu =
                GpuRecord { name: "NVIDIA H200".to_owned(), total_bytes: 150_109_880_320, ..GpuRecord::default() };
            let oom = OomRecord { stats, free_bytes: 426_901_504, ..OomRecord::default() };
            let process = Process {
                gpus: vec![gpu],
                ooms: vec![oom],
                errors: vec![ErrorRecord { oom: true, message, ..ErrorRecord::default() }],
                ..full(0)
            };
            let found = Real::permit_retry(&Run { processes: vec![process] }, &crate::testing::launch(), false);
            assert_eq!(found.map(|device| device.others.0 / MIB), Ok(others), "{used}");
        }
    }

    #[test]
    fn a_program_runs_again_only_if_nothing_is_repeated() {
        let found =
            FullDevice { name: "NVIDIA T4".to_owned(), total: Bytes(16 * GIB), others: Bytes(6 * GIB), devices: 1 };
        let cases = [
            (vec![full(0)], None, false, Ok(found.clone())),
            (vec![full(2)], None, false, Err(NoRetry::Steps(2))),
            (vec![full(2)], None, true, Ok(found)),
            (vec![full(0), full(0)], None, true, Err(NoRetry::Processes(2))),
            (vec![full(0)], Some(9), true, Err(NoRetry::Signal(9))),
            (vec![Process { gpus: Vec::new(), ..full(0) }], None, false, Err(NoRetry::NoGpu)),
        ];
        for (processes, signal, resumes, expected) in cases {
            let ended = Some(Ended { signal, ..Ended::default() });
            let launch = Launch { ended, ..crate::testing::launch() };
            assert_eq!(Real::permit_retry(&Run { processes }, &launch, resumes), expected, "{signal:?} {resumes}");
        }
    }

    fn plan(remedy: &str, peak_gib: u64, fits: bool) -> Plan {
        let peak = Usage { device_bytes: Bytes(peak_gib * GIB), ..Usage::default() };
        let cost = Cost { exactness: Exactness::Identical, time_ratio: 1.0, time_source: TimeSource::Typical };
        let (places, settings, command) = (Vec::new(), Vec::new(), Vec::new());
        Plan { changes: vec![Change::new(remedy)], peak, fits, retries: false, cost, places, settings, command }
    }

    #[test]
    fn plans_of_a_real_run_fit_and_fall() {
        let plans = vec![
            plan("fully-shard", 3, true),
            plan("sdpa", 9, false),
            plan("optimizer-fused", 8, true),
            plan("set-to-none", 8, true),
            plan("activation-checkpointing", 5, true),
        ];
        let report = FitReport { plans, verdict: FitVerdict::FitsWithPlan, ..FitReport::default() };
        let names = |report: &FitReport| -> Vec<String> {
            list_real_plans(report).iter().map(|plan| report::render::named(&plan.changes)).collect()
        };
        assert_eq!(names(&report), ["optimizer-fused", "activation-checkpointing"]);
        assert_eq!(names(&FitReport { verdict: FitVerdict::Fits, ..report }), [""; 0]);
    }

    #[test]
    fn the_largest_batch_is_a_plan_if_it_is_smaller() {
        let report = |size, independent| FitReport {
            batch: Some(Batch {
                name: "BATCH".to_owned(),
                size: 64,
                source: String::new(),
                file: String::new(),
                line: 1,
            }),
            max_batch: Some(MaxBatch {
                size,
                runs: 1,
                tried: Vec::new(),
                peak: None,
                bytes_per_sample: None,
                independent,
                ..MaxBatch::default()
            }),
            ..FitReport::default()
        };
        let cases =
            [(48, false, Some("batch-size:arg=BATCH:size=48")), (0, false, None), (64, false, None), (48, true, None)];
        for (size, independent, expected) in cases {
            let plans = list_real_plans(&report(size, independent));
            assert_eq!(plans.first().map(|plan| plan.changes[0].to_string()).as_deref(), expected, "{size}");
        }
    }
}

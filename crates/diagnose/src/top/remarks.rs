//! Sentences about the machine: the most urgent first.

use report::metrics::LoaderMetrics;
use report::render::grouped;
use report::top::{TopGpu, TopProcess, TopRecorded};
use report::words::count;
use trace::Bytes;

use super::Known;

/// The share of a step from which waiting for data is named, and the utilization below which a GPU counts as hardly used.
const WAITS: f64 = 0.3;
const IDLE_PERCENT: u32 = 50;
/// A program has stopped making steps after this time, and after this many usual steps.
const STALL_SECONDS: f64 = 60.0;
const STALL_STEPS: f64 = 20.0;
/// The share of a GPU's memory from which others may want a program's cache, and the smallest such cache.
const NEARLY_FULL: f64 = 0.9;
const LARGE_CACHE: Bytes = Bytes::from_gib(1);

/// Lists the remarks. `recorded` has the processes under `oomph run`.
pub(super) fn list_remarks(gpus: &[TopGpu], processes: &[TopProcess], recorded: &[Known]) -> Vec<String> {
    let mut remarks: Vec<String> = gpus.iter().filter_map(name_problem).collect();
    let under_run = || processes.iter().filter_map(|process| Some((process, process.recorded.as_ref()?)));
    remarks.extend(under_run().filter_map(|(process, recorded)| foresee_error(process, recorded)));
    remarks.extend(under_run().filter_map(|(process, recorded)| name_stall(process, recorded)));
    remarks.extend(under_run().filter_map(|(process, _)| {
        let known = recorded.iter().find(|known| known.metrics.pid == process.pid)?;
        name_wait(process, gpus, known.metrics.loader?)
    }));
    remarks.extend(under_run().filter_map(|(process, recorded)| name_cache(process, recorded, gpus)));
    remarks
}

fn find<'a>(gpus: &'a [TopGpu], process: &TopProcess) -> Option<&'a TopGpu> {
    gpus.iter().find(|gpu| Some(gpu.index) == process.gpu)
}

fn name_problem(gpu: &TopGpu) -> Option<String> {
    let problem = gpu.problem.as_ref()?;
    Some(format!("GPU {}: {problem}; `dmesg | grep -i xid` has the kernel's words", gpu.index))
}

fn foresee_error(process: &TopProcess, recorded: &TopRecorded) -> Option<String> {
    let (growth, steps) = (recorded.growth_per_step_bytes?, recorded.steps_to_error?);
    let pid = process.pid;
    Some(format!(
        "pid {pid} grows by {growth} each step and runs out of memory in {}: `oomph explain --pid {pid}` names the line",
        count_steps(steps)
    ))
}

fn count_steps(steps: u64) -> String {
    if steps == 1 { "1 step".to_owned() } else { format!("{} steps", grouped(steps)) }
}

fn name_stall(process: &TopProcess, recorded: &TopRecorded) -> Option<String> {
    let (since, step) = (recorded.since_step_seconds?, recorded.step_seconds?);
    let has_stalled = since > STALL_SECONDS && since > STALL_STEPS * step;
    has_stalled.then(|| {
        format!("pid {} has made no optimizer step for {since:.0} s; a step took {step:.2} s before", process.pid)
    })
}

fn name_wait(process: &TopProcess, gpus: &[TopGpu], loader: LoaderMetrics) -> Option<String> {
    let gpu = find(gpus, process)?;
    // A phantom, and some drivers, state no utilization.
    let is_busy = gpu.utilization_percent.is_some_and(|percent| percent >= IDLE_PERCENT);
    if loader.wait_share < WAITS || is_busy {
        return None;
    }
    let busy = gpu.utilization_percent.map(|percent| format!("GPU {} is busy {percent} % of the time: ", gpu.index));
    let pinned = if loader.pins_memory { "" } else { ", and `pin_memory=True` makes the copies faster" };
    let advice = match loader.workers {
        0 => "its `DataLoader` has `num_workers=0`, so nothing is loaded during a step: try 4 workers".to_owned(),
        workers => format!("its `DataLoader` has `num_workers={workers}`: more may help"),
    };
    let share = loader.wait_share * 100.0;
    Some(format!(
        "{}pid {} waits for data {share:.0} % of the time; {advice}{pinned}",
        busy.unwrap_or_default(),
        process.pid
    ))
}

fn name_cache(process: &TopProcess, recorded: &TopRecorded, gpus: &[TopGpu]) -> Option<String> {
    let gpu = find(gpus, process)?;
    let is_full = gpu.used_bytes?.0 as f64 >= gpu.total_bytes?.0 as f64 * NEARLY_FULL;
    let cached = recorded.cached_bytes;
    (is_full && cached >= LARGE_CACHE && cached.0 * 3 >= recorded.reserved_bytes.0).then(|| {
        format!(
            "GPU {} is nearly full, and pid {} keeps {cached} free in its cache, where no other process can use it",
            gpu.index, process.pid
        )
    })
}

/// Counts the processes of which this machine knows nothing.
pub(super) fn count_hidden(processes: &[TopProcess]) -> Option<String> {
    let hidden = processes.iter().filter(|process| process.user.is_none() && process.command.is_none()).count();
    (hidden > 0).then(|| {
        format!(
            "{} not visible from here: in another container, or ended just now",
            count(hidden, "process is", "processes are")
        )
    })
}

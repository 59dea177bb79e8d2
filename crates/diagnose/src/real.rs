//! The end of a real run: the reason, and the use of memory.

pub(crate) mod retry;
mod silence;
mod stopped;
mod unapplied;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use report::real_run::{CaughtErrors, End, HostKill, RaisedError, RunReport, UsedMemory};
use report::{Change, CheckReport, DevicePicture, Location, RunPicture};
use trace::run::{DeviceStats, ErrorRecord, GpuRecord, HostRecord, OomRecord};
use trace::text::{Artifact, StatedBytes};
use trace::{Action, Bytes, DeviceIndex, History, Launch, Process, Run};

use self::silence::find_silence;
use self::stopped::find_stopped;
use self::unapplied::list_unapplied;
use crate::check::CheckCase;
use crate::judge::recorded::{RecordedRun, Runs};
use crate::judge::surroundings::Surroundings;
use crate::measure::own::is_own;
use crate::measure::picture::draw_device;
use crate::measure::view::View;

/// The context of another process is larger: 99 MiB is the least of 149 messages (docs/MEMORY_OUTSIDE_PYTORCH.md). The driver holds some memory that is
/// no process's, 5 to 14 MiB on an H200 with driver 580, and the message rounds.
const LEAST_CONTEXT: Bytes = Bytes(64 << 20);
/// A CUDA context of one process is smaller on every GPU.
const LARGEST_CONTEXT: Bytes = Bytes(3 << 29);

/// The end of a real run.
#[derive(Clone, Debug)]
pub struct Real {
    /// Whether a process ended for want of memory.
    ran_out: bool,
    /// The report without the part about an out-of-memory error.
    report: RunReport,
}

impl Real {
    /// Judges the records of an ended run. `changes`: the remedies that were asked for; `folder`: the reader's working directory.
    pub fn of(run: &Run, launch: &Launch, changes: &[Change], folder: &str) -> Real {
        let end = end_of(run, launch);
        let is_silent = matches!(end, End::Status { error: None, .. } | End::Signal { .. });
        let stopped_first = find_stopped(run).filter(|_| is_silent);
        let is_fatal = |process: &&Process| end != End::Good && is_fatal(process);
        let ran_out = run.processes.iter().any(|process| is_fatal(&process));
        let report = RunReport {
            version: launch.oomph.clone(),
            command: launch.command.clone(),
            steps: stopped_first.map_or_else(|| count_steps(run, &end), |stopped| stopped.steps),
            stopped_first,
            is_recorded: !run.processes.is_empty(),
            memory: find_fullest(run),
            host: launch.host.as_deref().and_then(kills_of),
            silence: find_silence(run, launch).filter(|_| is_silent || is_interrupted(&end)),
            caught: find_caught(run, is_fatal),
            unrecorded: run.processes.iter().filter_map(|it| Some(it.unrecorded.as_ref()?.reason.clone())).collect(),
            gaps: list_gaps(run),
            notes: Vec::new(),
            unapplied: list_unapplied(run, changes),
            out_of_memory: None,
            folder: folder.to_owned(),
            end,
        };
        Real { ran_out, report }
    }

    /// True if memory ended the program, so that an explanation follows.
    pub fn is_explained(&self) -> bool {
        self.ran_out
    }

    /// Returns the report; `out_of_memory` is that of [`Real::make_case`], for a run that memory ended.
    pub fn report(self, out_of_memory: Option<CheckReport>) -> RunReport {
        RunReport { out_of_memory, ..self.report }
    }

    /// The case for `check`: the recorded run on the GPU of the machine. `next`: the next command.
    pub fn make_case(run: Run, launch: &Launch, folder: &str, next: Option<Vec<String>>) -> CheckCase {
        let seconds = launch.ended.as_ref().map_or(0.0, |ended| ended.seconds);
        let launch = with_gpu(&run, launch.clone());
        CheckCase {
            runs: Runs::of(RecordedRun { launch, run }),
            gpu_assumed: false,
            assumptions: Vec::new(),
            hint: None,
            next,
            larger: None,
            folder: folder.to_owned(),
            surroundings: Surroundings::default(),
            seconds,
        }
    }

    /// Draws a run that memory did not end, the fullest device first.
    pub fn draw(run: &Run) -> RunPicture {
        let recorded = run.processes.iter().filter(|process| process.snapshot.is_some());
        let mut devices: Vec<DevicePicture> = recorded.flat_map(View::list).map(|view| draw_device(&view)).collect();
        devices.sort_by_key(|device| Reverse(device.peak.allocated_bytes));
        RunPicture { devices, ..RunPicture::default() }
    }

    /// The full GPU: name and memory.
    pub fn gpu(run: &Run) -> Option<(&str, Bytes)> {
        let (gpu, _, _) = find_gpu(run)?;
        Some((&gpu.name, Bytes(gpu.total_bytes)))
    }
}

/// The caught errors, and the line of the last request.
fn find_caught(run: &Run, is_fatal: impl Fn(&&Process) -> bool) -> Option<CaughtErrors> {
    let count = |process: &Process| process.ooms.len().saturating_sub(usize::from(is_fatal(&process)));
    let errors: usize = run.processes.iter().map(count).sum();
    let last = run.processes.iter().find_map(|process| process.ooms.last());
    (errors > 0).then(|| CaughtErrors { errors: errors as u64, location: last.and_then(line_of) })
}

/// The counters of the kernel, if it has them.
fn kills_of(host: &HostRecord) -> Option<HostKill> {
    Some(HostKill {
        processes: host.killed_processes?,
        is_of_group: host.is_of_group,
        limit_bytes: host.limit_bytes.filter(|_| host.is_of_group).map(Bytes),
        largest_process_bytes: Bytes(host.largest_process_bytes),
    })
}

/// The missing parts, each once with the number of its processes: a thousand workers may miss the same.
fn list_gaps(run: &Run) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for gap in run.processes.iter().flat_map(|process| &process.gaps) {
        *counts.entry(&gap.text).or_default() += 1;
    }
    let describe = |(text, times): (&str, usize)| {
        if times == 1 { text.to_owned() } else { format!("{text} (in {times} processes)") }
    };
    counts.into_iter().map(describe).collect()
}

/// The last record of a device.
fn gpu_of(process: &Process, device: u32) -> Option<&GpuRecord> {
    process.gpus.iter().rfind(|gpu| gpu.device == device)
}

/// The GPU of the first fatal error, with the process and the error. The parent of workers may raise an error of theirs again.
fn find_gpu(run: &Run) -> Option<(&GpuRecord, &Process, &OomRecord)> {
    run.processes.iter().filter(|process| is_fatal(process)).find_map(|process| {
        let oom = process.ooms.last()?;
        Some((gpu_of(process, oom.device)?, process, oom))
    })
}

/// Adds the figures of the GPU: total memory, memory of a context, memory of further processes at the error.
fn with_gpu(run: &Run, launch: Launch) -> Launch {
    let Some((gpu, process, oom)) = find_gpu(run) else { return launch };
    let reserved = oom.stats.reserved_bytes;
    let outside = gpu.total_bytes.saturating_sub(oom.free_bytes).saturating_sub(reserved);
    // The message states the memory of the process. Without the message, all memory outside PyTorch counts as the context.
    let own = process.errors.last().and_then(|error| own_bytes(&error.message));
    let stated = own.map_or(outside, |own| own.nearest.0.saturating_sub(reserved).min(outside));
    let context = if Bytes(outside - stated) < LEAST_CONTEXT { outside } else { stated };
    Launch {
        gpu_name: gpu.name.clone(),
        device_total_bytes: gpu.total_bytes,
        device_context_bytes: context,
        device_others_bytes: outside - context,
        devices: process.gpus.iter().map(|gpu| gpu.device + 1).max().unwrap_or_default(),
        ..launch
    }
}

/// The memory of the process by PyTorch's message.
fn own_bytes(message: &str) -> Option<StatedBytes> {
    let artifacts = trace::text::read(message.as_bytes());
    artifacts.iter().find_map(|artifact| match artifact {
        Artifact::Oom(oom) => oom.process_bytes,
        _ => None,
    })
}

fn end_of(run: &Run, launch: &Launch) -> End {
    let error = find_first_error(run);
    let Some(ended) = &launch.ended else {
        // Nobody waited for the program, which only its own records describe.
        let has_ended = !run.processes.is_empty() && run.processes.iter().all(|process| process.end.is_some());
        return if error.is_some() {
            End::Status { status: 1, error }
        } else if has_ended {
            End::Good
        } else {
            End::Open
        };
    };
    match (ended.exit_code, ended.signal) {
        (Some(0), _) => End::Good,
        (_, Some(signal)) => End::Signal { signal },
        (status, None) => End::Status { status: status.unwrap_or_default(), error },
    }
}

/// True for the errors of Ctrl-C and of a collective that timed out.
fn is_interrupted(end: &End) -> bool {
    let types = ["KeyboardInterrupt", "DistBackendError"];
    matches!(end, End::Status { error: Some(raised), .. } if types.iter().any(|name| raised.type_name.ends_with(name)))
}

/// The steps of the process that raised the error; without one the most of any process.
fn count_steps(run: &Run, end: &End) -> u32 {
    let rank = match end {
        End::Status { error: Some(raised), .. } => raised.rank,
        _ => None,
    };
    let of_rank = run.processes.iter().find(|process| Some(process.identity.rank) == rank);
    let most = || run.processes.iter().map(Process::step_count).max().unwrap_or_default();
    of_rank.map_or_else(most, Process::step_count)
}

/// The error of the process that ended first: further ranks often fail because one has failed.
fn find_first_error(run: &Run) -> Option<RaisedError> {
    let ended_at = |process: &&Process| process.end.as_ref().map_or(u64::MAX, |end| end.monotonic_ns);
    let process = run.processes.iter().filter(|process| !process.errors.is_empty()).min_by_key(ended_at)?;
    let error = process.errors.last()?;
    error_of_worker(error).or_else(|| {
        Some(RaisedError {
            rank: (run.processes.len() > 1).then_some(process.identity.rank),
            type_name: error.type_name.clone(),
            location: error.file.clone().zip(error.line).map(locate),
        })
    })
}

/// The error of a worker that `torch.multiprocessing.spawn` raises again in the parent, with the worker's traceback as its message
/// (torch/multiprocessing/spawn.py, 2.11).
fn error_of_worker(error: &ErrorRecord) -> Option<RaisedError> {
    let (_, traceback) = error.message.split_once("-- Process ")?;
    let (number, _) = traceback.split_once(" terminated with the following error")?;
    let (type_name, _) = traceback.trim_end().lines().next_back()?.split_once(": ")?;
    let mut places = traceback.lines().filter_map(|line| {
        let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((file.to_owned(), number.parse().ok()?))
    });
    Some(RaisedError {
        rank: number.trim().parse().ok(),
        type_name: type_name.to_owned(),
        location: places.by_ref().filter(|(file, _)| is_own(file, "")).last().map(locate),
    })
}

/// True if a process ended for want of memory: by the error itself, or without a step since the last one.
fn is_fatal(process: &Process) -> bool {
    process.errors.last().is_some_and(|error| error.oom) || ends_with_oom(process)
}

/// True if the history, cut at the dump, ends with the error.
fn ends_with_oom(process: &Process) -> bool {
    let traces = process.snapshot.iter().flat_map(|snapshot| &snapshot.traces);
    process.last_dump().is_some() && traces.filter_map(|trace| trace.last()).any(|event| event.action == Action::Oom)
}

fn line_of(oom: &OomRecord) -> Option<Location> {
    let (_, file, line) = oom.frames.iter().find(|(_, file, _)| is_own(file, ""))?;
    Some(locate((file.clone(), *line)))
}

fn locate((file, line): (String, u32)) -> Location {
    Location { file, line, column: None }
}

/// The largest use of the fullest device of any process.
fn find_fullest(run: &Run) -> Option<UsedMemory> {
    let is_job = run.processes.len() > 1;
    let rank = |process: &Process| is_job.then_some(process.identity.rank);
    let all = run.processes.iter().flat_map(|process| list_uses(process, rank(process)));
    all.max_by_key(|used| used.reserved_peak_bytes)
}

/// The largest use of each device of a process.
fn list_uses(process: &Process, rank: Option<u32>) -> Vec<UsedMemory> {
    let of = |device: DeviceIndex| {
        let gpu = gpu_of(process, device.0);
        let stated = |figure: fn(&DeviceStats) -> u64| process.stats_of(device).map(figure).max().unwrap_or_default();
        let history = process.snapshot.as_ref().map(|snapshot| History::of(snapshot, device));
        let walked = history.and_then(|history| Some(history.peaks().allocated?.bytes)).unwrap_or_default();
        let reserved_peak_bytes = Bytes(stated(|stats| stats.reserved_peak_bytes)).max(walked);
        let free_before_bytes = gpu.and_then(|gpu| gpu.free_bytes).map(Bytes);
        // The memory that neither PyTorch in this process used nor was free at first.
        let outside_bytes = gpu.and_then(|gpu| Some(Bytes(gpu.total_bytes) - Bytes(gpu.free_bytes?)));
        UsedMemory {
            rank,
            gpu: gpu.map(|gpu| gpu.name.clone()).unwrap_or_default(),
            total_bytes: gpu.map(|gpu| Bytes(gpu.total_bytes)),
            allocated_peak_bytes: Bytes(stated(|stats| stats.allocated_peak_bytes)).max(walked),
            reserved_peak_bytes,
            spare_bytes: free_before_bytes.map(|free| free - reserved_peak_bytes.min(free)),
            others_bytes: outside_bytes.filter(|outside| *outside >= LARGEST_CONTEXT),
        }
    };
    process.devices().into_iter().map(of).collect()
}

#[cfg(test)]
mod tests;

//! The end of a real run: the reason, and the lines for the user.

use report::words::{count, relative};
use trace::run::{DeviceStats, ErrorRecord, GpuRecord, OomRecord};
use trace::text::{Artifact, StatedBytes};
use trace::{Action, Bytes, DeviceIndex, History, Launch, Process, Run};

use crate::check::CheckCase;
use crate::judge::recorded::{RecordedRun, Runs};
use crate::measure::own::is_own;

/// The end of a real run.
#[derive(Clone, Debug)]
pub struct Real {
    end: End,
    /// Whether a process ended for want of memory.
    ran_out: bool,
    caught: Caught,
    use_of_memory: Option<UseOfMemory>,
    step: u32,
    is_recorded: bool,
    problems: Vec<String>,
}

#[derive(Clone, Debug)]
enum End {
    Good,
    Status(i32, Option<Raised>),
    Signal(i32),
}

#[derive(Clone, Debug)]
struct Raised {
    type_name: String,
    at: Option<(String, u32)>,
}

/// The caught errors, and the line of the last request.
#[derive(Clone, Debug, Default)]
struct Caught {
    times: usize,
    at: Option<(String, u32)>,
}

/// The largest use of the fullest device.
#[derive(Clone, Debug)]
struct UseOfMemory {
    rank: Option<u32>,
    name: String,
    free_before_bytes: Option<Bytes>,
    allocated_peak_bytes: Bytes,
    reserved_peak_bytes: Bytes,
}

impl Real {
    /// Judges the records of an ended run.
    pub fn of(run: &Run, launch: &Launch) -> Real {
        let end = end_of(run, launch);
        let fatal = |process: &&Process| !matches!(end, End::Good) && is_fatal(process);
        let is_job = run.processes.len() > 1;
        let rank = |process: &Process| is_job.then_some(process.identity.rank);
        let last_fatal = |process: &Process| usize::from(fatal(&process));
        let caught = run.processes.iter().map(|process| process.ooms.len().saturating_sub(last_fatal(process))).sum();
        let last = run.processes.iter().find_map(|process| process.ooms.last());
        Real {
            ran_out: run.processes.iter().any(|process| fatal(&process)),
            caught: Caught { times: caught, at: last.and_then(line_of) },
            use_of_memory: run.processes.iter().flat_map(|process| uses(process, rank(process))).max_by_key(fullness),
            step: run.processes.iter().map(Process::step_count).max().unwrap_or_default(),
            is_recorded: !run.processes.is_empty(),
            problems: run
                .processes
                .iter()
                .filter_map(|process| Some(process.unrecorded.as_ref()?.reason.clone()))
                .collect(),
            end,
        }
    }

    /// True if memory ended the program, so that an explanation follows.
    pub fn is_explained(&self) -> bool {
        self.ran_out
    }

    /// True if a process of the program used a GPU.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// True if the program ended well, and nobody will ask for the recording.
    pub fn is_good(&self) -> bool {
        matches!(self.end, End::Good) && self.caught.times == 0
    }

    /// The case for `check`: the recorded run on the GPU of the machine. `next`: the next command.
    pub fn make_case(run: Run, launch: &Launch, folder: &str, next: Option<String>) -> CheckCase {
        let seconds = launch.ended.as_ref().map_or(0.0, |ended| ended.seconds);
        let launch = with_gpu(&run, launch.clone());
        CheckCase {
            runs: Runs::of(RecordedRun { launch, run }),
            gpu_assumed: false,
            assumptions: Vec::new(),
            hint: None,
            next,
            folder: folder.to_owned(),
            seconds,
        }
    }

    /// The full GPU: name and memory.
    pub fn gpu(run: &Run) -> Option<(&str, Bytes)> {
        let (gpu, _, _) = find_gpu(run)?;
        Some((&gpu.name, Bytes(gpu.total_bytes)))
    }

    /// The lines behind the explanation, or in place of an explanation. `folder` shortens paths.
    pub fn describe(&self, folder: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.is_recorded {
            lines.push(format!("oomph: {}no process of the program used a GPU through PyTorch", self.how(folder)));
            return lines;
        }
        if !self.ran_out {
            let reason = if matches!(self.end, End::Good) { "" } else { "; no request for memory failed at the end" };
            lines.push(format!("oomph: {}{}{reason}", self.how(folder), self.use_of_memory_in_words()));
        }
        if self.caught.times > 0 {
            let times = count(self.caught.times, "out-of-memory error was", "out-of-memory errors were");
            lines.push(format!("oomph: {times} caught{}", at(self.caught.at.as_ref(), folder)));
        }
        lines.extend(self.problems.iter().map(|problem| format!("oomph: allocations were not recorded: {problem}")));
        lines
    }

    /// The end of a program that did not end well, in words.
    pub(crate) fn describe_failure(&self, folder: &str) -> Option<String> {
        let how = self.how(folder);
        (!matches!(self.end, End::Good)).then(|| how.trim_end_matches("; ").to_owned())
    }

    fn how(&self, folder: &str) -> String {
        let steps = if self.step > 0 { format!(" after step {}", self.step) } else { String::new() };
        match &self.end {
            End::Good if self.step > 0 => format!("{}; ", count(self.step, "step", "steps")),
            End::Good => String::new(),
            End::Signal(number) => format!("ended{steps} by {}; ", name_of_signal(*number)),
            End::Status(_, Some(raised)) => {
                format!("ended{steps} with {}{}; ", raised.type_name, at(raised.at.as_ref(), folder))
            }
            End::Status(status, None) => format!("ended{steps} with exit status {status}; "),
        }
    }

    fn use_of_memory_in_words(&self) -> String {
        let Some(known) = &self.use_of_memory else { return "no memory was allocated".to_owned() };
        let rank = known.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
        let peak = format!(
            "at most {} allocated, {} reserved ({rank}{})",
            known.allocated_peak_bytes, known.reserved_peak_bytes, known.name
        );
        let spare =
            known.free_before_bytes.map(|free| format!(", {} to spare", free - known.reserved_peak_bytes.min(free)));
        peak + &spare.unwrap_or_default()
    }
}

/// The last record of a device.
fn gpu_of(process: &Process, device: u32) -> Option<&GpuRecord> {
    process.gpus.iter().rfind(|gpu| gpu.device == device)
}

/// The GPU of the first fatal error, with the process and the error.
fn find_gpu(run: &Run) -> Option<(&GpuRecord, &Process, &OomRecord)> {
    let process = run.processes.iter().find(|process| is_fatal(process))?;
    let oom = process.ooms.last()?;
    let gpu = gpu_of(process, oom.device)?;
    Some((gpu, process, oom))
}

/// Adds the figures of the GPU: total memory, memory of a context, memory of further processes at the error.
fn with_gpu(run: &Run, launch: Launch) -> Launch {
    let Some((gpu, process, oom)) = find_gpu(run) else { return launch };
    let reserved = oom.stats.reserved_bytes;
    let outside = gpu.total_bytes.saturating_sub(oom.free_bytes).saturating_sub(reserved);
    // The message states the memory of the process. Without the message, all memory outside PyTorch counts as the context.
    let own = process.errors.last().and_then(|error| own_bytes(&error.message));
    let context = own.map_or(outside, |own| match reserved + outside {
        all if Bytes(all) >= own.lowest && Bytes(all) <= own.highest => outside,
        _ => own.nearest.0.saturating_sub(reserved).min(outside),
    });
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

/// The name of a signal (signal(7)), and the usual sender.
fn name_of_signal(number: i32) -> String {
    let (name, why) = match number {
        1 => ("SIGHUP", ": the terminal was closed"),
        2 => ("SIGINT", ": it was interrupted, as by Ctrl-C"),
        6 => ("SIGABRT", ": a library has given up"),
        7 => ("SIGBUS", ": a mapped file was cut, or shared memory is full"),
        9 => ("SIGKILL", ", as by the kernel for want of host memory, or by a scheduler"),
        11 => ("SIGSEGV", ": a library has read or written a wrong address"),
        15 => ("SIGTERM", ", as by a scheduler or a launcher"),
        _ => ("", ""),
    };
    if name.is_empty() { format!("signal {number}") } else { format!("{name} (signal {number}){why}") }
}

fn end_of(run: &Run, launch: &Launch) -> End {
    let ended = launch.ended.clone().unwrap_or_default();
    match (ended.exit_code, ended.signal) {
        (Some(0), _) => End::Good,
        (_, Some(signal)) => End::Signal(signal),
        (status, None) => {
            let error = run.processes.iter().find_map(|process| process.errors.last());
            End::Status(status.unwrap_or_default(), error.map(raised))
        }
    }
}

fn raised(error: &ErrorRecord) -> Raised {
    Raised { type_name: error.type_name.clone(), at: error.file.clone().zip(error.line) }
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

fn line_of(oom: &OomRecord) -> Option<(String, u32)> {
    let frame = oom.frames.iter().find(|(_, file, _)| is_own(file, ""))?;
    Some((frame.1.clone(), frame.2))
}

fn at(place: Option<&(String, u32)>, folder: &str) -> String {
    place.map_or_else(String::new, |(file, line)| format!(" ({}:{line})", relative(file, folder)))
}

/// The largest use of each device of a process.
fn uses(process: &Process, rank: Option<u32>) -> Vec<UseOfMemory> {
    let of = |device: DeviceIndex| {
        let gpu = gpu_of(process, device.0);
        let stated = |figure: fn(&DeviceStats) -> u64| process.stats_of(device).map(figure).max().unwrap_or_default();
        let history = process.snapshot.as_ref().map(|snapshot| History::of(snapshot, device));
        let walked = history.and_then(|history| Some(history.peaks().allocated?.bytes)).unwrap_or_default();
        UseOfMemory {
            rank,
            name: gpu.map(|gpu| gpu.name.clone()).unwrap_or_default(),
            free_before_bytes: gpu.and_then(|gpu| gpu.free_bytes).map(Bytes),
            allocated_peak_bytes: Bytes(stated(|stats| stats.allocated_peak_bytes)).max(walked),
            reserved_peak_bytes: Bytes(stated(|stats| stats.reserved_peak_bytes)).max(walked),
        }
    };
    process.devices().into_iter().map(of).collect()
}

fn fullness(known: &UseOfMemory) -> Bytes {
    known.reserved_peak_bytes
}

#[cfg(test)]
mod tests {
    use trace::run::{DeviceStats, EndRecord, Ended};

    use super::*;

    fn process() -> Process {
        let stats =
            DeviceStats { allocated_peak_bytes: 2 << 30, reserved_peak_bytes: 3 << 30, ..DeviceStats::default() };
        let gpu = GpuRecord {
            name: "NVIDIA T4".to_owned(),
            total_bytes: 15 << 30,
            free_bytes: Some(14 << 30),
            ..GpuRecord::default()
        };
        let end = EndRecord { steps: 4, devices: vec![stats], ..EndRecord::default() };
        Process { gpus: vec![gpu], end: Some(end), ..Process::default() }
    }

    fn with_error(type_name: &str, oom: bool) -> Process {
        let (file, line) = (Some("/work/train.py".to_owned()), Some(9));
        let error = ErrorRecord { type_name: type_name.to_owned(), oom, file, line, ..ErrorRecord::default() };
        Process { errors: vec![error], ..process() }
    }

    fn caught() -> Process {
        let oom = OomRecord {
            frames: vec![("f".to_owned(), "/work/train.py".to_owned(), 3)],
            step: 2,
            ..OomRecord::default()
        };
        Process { ooms: vec![oom], ..process() }
    }

    #[test]
    fn every_end_has_its_line() {
        let status = |code| Ended { exit_code: Some(code), ..Ended::default() };
        let signal = |number| Ended { signal: Some(number), ..Ended::default() };
        let memory = "at most 2.00 GiB allocated, 3.00 GiB reserved (NVIDIA T4), 11.00 GiB to spare";
        let none = "; no request for memory failed at the end";
        let cases = [
            (vec![process()], status(0), vec![format!("oomph: 4 steps; {memory}")], (false, true)),
            (
                vec![caught()],
                status(0),
                vec![
                    format!("oomph: 4 steps; {memory}"),
                    "oomph: 1 out-of-memory error was caught (train.py:3)".to_owned(),
                ],
                (false, false),
            ),
            (
                vec![with_error("ValueError", false)],
                status(1),
                vec![format!("oomph: ended after step 4 with ValueError (train.py:9); {memory}{none}")],
                (false, false),
            ),
            (vec![with_error("torch.OutOfMemoryError", true)], status(1), vec![], (true, false)),
            (
                vec![process()],
                signal(11),
                vec![format!(
                    "oomph: ended after step 4 by SIGSEGV (signal 11): a library has read or written a wrong address; {memory}{none}"
                )],
                (false, false),
            ),
            (
                vec![],
                status(5),
                vec![
                    "oomph: ended with exit status 5; no process of the program used a GPU through PyTorch".to_owned(),
                ],
                (false, false),
            ),
        ];
        for (processes, ended, lines, expected) in cases {
            let launch = Launch { ended: Some(ended.clone()), ..crate::testing::launch() };
            let end = Real::of(&Run { processes }, &launch);
            assert_eq!(end.describe("/work"), lines, "{ended:?}");
            assert_eq!((end.is_explained(), end.is_good()), expected, "{ended:?}");
        }
    }
}

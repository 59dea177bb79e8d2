//! The end of a program at oomph's request, with a record of the moment. See Note [Stop] in `crates/wire/src/signal.rs`.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use base::{Error, run_dir, signal_mask};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use trace::Process;
use trace::run::{self, Record, StopCause, StopRecord};
use wire::{file, signal};

use crate::cleanup::reap;
use crate::process::background;
use crate::process::sight::{self, Visible};

/// The time between two tests for the ends of the processes.
const TICK: Duration = Duration::from_millis(20);
/// The time for the agent's first answer: an interpreter in a C function runs no handler.
const TIME_TO_ANSWER: Duration = Duration::from_secs(5);
/// The time after which a request is repeated. See Note [Stop].
const BETWEEN_REQUESTS: Duration = Duration::from_millis(500);
/// The time for the stacks of all silent processes: one is written at once where a processor is free.
const TIME_FOR_STACKS: Duration = Duration::from_secs(2);
/// The time for all records of an answering program, while a person waits.
const GRACE_AT_SIGNAL: Duration = Duration::from_secs(10);
/// The same after a timeout: a loop of millions of allocations makes a large snapshot.
const GRACE_AT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time for a program without the agent's handler.
const GRACE_WITHOUT_AGENT: Duration = Duration::from_millis(500);
/// The time for a program without a GPU so far: nothing has to be written.
const GRACE_BEFORE_CUDA: Duration = Duration::from_millis(800);
/// The part of a record file to search for an answer, at its end.
const TAIL_BYTES: u64 = 1 << 20;

/// Ends all descendants of this process. Processes with the agent write their records first, within a time; the last position and the last stack
/// of the others are added to the records.
pub(crate) fn stop(folder: &Path, cause: StopCause) -> Result<(), Error> {
    let alive = sight::list_positioned();
    let processes = reap::list_descendants();
    if !processes.iter().any(|process| signal_mask::handles(*process, signal::STOP)) {
        // Before the import of PyTorch no agent answers.
        await_stacks(folder);
    }
    let asked = ask(&processes);
    // A stopped process takes the signals when it goes on.
    reap::signal_orphans(Signal::SIGCONT);
    await_ends(folder, &asked, cause);
    await_stacks(folder);
    reap::signal_orphans(Signal::SIGKILL);
    let own_pids: Vec<u32> = alive.iter().map(|process| process.own_pid).collect();
    complete_records(folder, &own_pids)
}

/// Asks processes to end; returns the processes with the agent, or without any, all others. A process below the agent's, such as a worker that
/// loads data, is killed later.
fn ask(processes: &[Pid]) -> Vec<Pid> {
    let (with_agent, others): (Vec<Pid>, Vec<Pid>) =
        processes.iter().partition(|process| signal_mask::handles(**process, signal::STOP));
    for process in &with_agent {
        sight::request(*process, signal::STOP);
    }
    let is_below = |process: &Pid| with_agent.iter().any(|above| reap::is_descendant(*process, *above));
    let alone: Vec<Pid> = others.into_iter().filter(|process| !is_below(process)).collect();
    for process in &alone {
        // The process may have ended already.
        let _: nix::Result<()> = kill(*process, Signal::SIGTERM);
    }
    if with_agent.is_empty() { alone } else { with_agent }
}

/// Waits for the ends of the processes, up to the limit of their kind.
fn await_ends(folder: &Path, asked: &[Pid], cause: StopCause) {
    let started = Instant::now();
    let is_on_gpu = background::has_journal(folder);
    let has_agent = asked.iter().any(|process| signal_mask::handles(*process, signal::STOP));
    let grace = if cause == StopCause::Timeout { GRACE_AT_TIMEOUT } else { GRACE_AT_SIGNAL };
    let mut again = started + BETWEEN_REQUESTS;
    let mut longest = match (is_on_gpu, has_agent) {
        (true, true) => TIME_TO_ANSWER,
        (true, false) => GRACE_WITHOUT_AGENT,
        (false, _) => GRACE_BEFORE_CUDA,
    };
    while started.elapsed() < longest && asked.iter().any(|process| !reap::has_ended(*process)) {
        thread::sleep(TICK);
        if longest != TIME_TO_ANSWER {
            continue;
        }
        if has_answer(folder) {
            longest = grace;
        } else if Instant::now() > again {
            asked.iter().filter(|process| signal_mask::handles(**process, signal::STOP)).for_each(|process| {
                sight::request(*process, signal::STOP);
            });
            again += BETWEEN_REQUESTS;
        }
    }
}

/// Asks the remaining processes for their stacks, and waits for each whole stack.
fn await_stacks(folder: &Path) {
    let deadline = Instant::now() + TIME_FOR_STACKS;
    let mut asked: Vec<StackRequest> =
        sight::list_askable(folder).into_iter().map(|visible| StackRequest::new(visible, folder)).collect();
    while Instant::now() < deadline && !asked.is_empty() {
        asked.retain_mut(|request| !request.is_over(folder));
        thread::sleep(TICK);
    }
}

/// A process whose stack is wanted.
struct StackRequest {
    visible: Visible,
    /// The length of all stacks before the request.
    length_before: u64,
    is_sent: bool,
}

impl StackRequest {
    fn new(visible: Visible, folder: &Path) -> StackRequest {
        StackRequest { visible, length_before: sight::measure_stacks(folder, visible.own_pid), is_sent: false }
    }

    /// Asks, if the main thread is free to answer; true if the stack is whole, or the process has ended.
    ///
    /// While a signal waits for the main thread, the kernel takes the next one to another thread (`complete_signal` of Linux' `kernel/signal.c`), which may
    /// have no Python stack: such a request is repeated.
    fn is_over(&mut self, folder: &Path) -> bool {
        let Visible { process, own_pid } = self.visible;
        let is_busy = |number| signal_mask::is_busy_with(process, number);
        if reap::has_ended(process) {
            return true;
        }
        if sight::measure_stacks(folder, own_pid) != self.length_before {
            return !is_busy(signal::STACK);
        }
        if !is_busy(signal::STOP) && (!self.is_sent || !is_busy(signal::STACK)) {
            self.is_sent = true;
            sight::request(process, signal::STACK);
        }
        false
    }
}

/// True if an agent has begun to write its last records.
fn has_answer(folder: &Path) -> bool {
    let files = run_dir::list_files(folder).unwrap_or_default();
    files.iter().filter(|path| is_marks(path)).any(|path| read_end(path).is_some_and(|end| end.contains(ANSWER)))
}

/// The start of a record of a stop.
const ANSWER: &str = "{\"kind\":\"stop\"";

fn is_marks(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(file::MARKS))
}

fn read_end(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds the record of the stop to the records of the processes in `alive` without an answer.
fn complete_records(folder: &Path, alive: &[u32]) -> Result<(), Error> {
    for path in run_dir::list_files(folder)?.iter().filter(|path| is_marks(path)) {
        let bytes = run_dir::slurp(path)?.unwrap_or_default();
        let process: Process = run::read_records(&bytes).0.into_iter().collect();
        let pid = process.identity.pid;
        if process.stop.is_some() || process.end.is_some() || !alive.contains(&pid) {
            continue;
        }
        let record = Record::Stop(describe(&process, folder));
        append(path, &record, bytes.ends_with(b"\n"))
            .map_err(|source| Error::RunFolder { folder: path.clone(), source })?;
    }
    Ok(())
}

/// The state of a killed process, seen from outside.
fn describe(process: &Process, folder: &Path) -> StopRecord {
    let pid = process.identity.pid;
    StopRecord { mark: sight::read_position(folder, pid), devices: Vec::new(), frames: sight::read_stack(folder, pid) }
}

/// Appends a record; the last line of a killed process may be cut.
fn append(path: &Path, record: &Record, is_whole: bool) -> std::io::Result<()> {
    let line = serde_json::to_string(record)?;
    let before = if is_whole { "" } else { "\n" };
    fs::OpenOptions::new().append(true).open(path)?.write_all(format!("{before}{line}\n").as_bytes())
}

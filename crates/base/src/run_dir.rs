//! Reads a run directory. The format is Note `[Run directory]` in `trace/src/run.rs`.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use trace::recording::Reserve;
use trace::run::{GapRecord, Launch, Ledger, ProcessRecord, StepRecord};
use trace::{Process, Recording, Run, Snapshot, run, snapshot};
use wire::file;

use crate::error::Error;

/// True if a folder has a recorded run.
pub fn is_run(folder: &Path) -> bool {
    folder.join(file::LAUNCH).is_file()
}

/// Reads `run.json`.
pub fn read_launch(folder: &Path) -> Result<Launch, Error> {
    let path = folder.join(file::LAUNCH);
    let bytes = slurp(&path)?.unwrap_or_default();
    trace::read_launch(&bytes).map_err(|error| Error::Damaged { path, problem: error.to_string() })
}

/// Reads the records of all processes of the program.
pub fn read(folder: &Path) -> Result<Run, Error> {
    let mut processes = Vec::new();
    for path in list_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(file::MARKS) {
            processes.push(read_process(folder, stem)?);
        }
    }
    Ok(Run { processes })
}

/// Adds the processes that used the phantom GPU without an agent: of a program that was stopped, their memory counts.
pub fn add_unrecorded(folder: &Path, run: &mut Run) -> Result<(), Error> {
    for path in list_files(folder)?.iter().filter(|path| is_phantoms(path)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let digits = name.trim_start_matches(file::JOURNAL_PREFIX).split('.').next().unwrap_or_default();
        let Ok(pid) = digits.parse() else { continue };
        let ledger = read_ledger(path)?;
        if ledger.fullest().is_some() && run.processes.iter().all(|process| process.identity.pid != pid) {
            let identity = ProcessRecord { pid, world_size: 1, ..ProcessRecord::default() };
            run.processes.push(Process { identity, ledger, ..Process::default() });
        }
    }
    Ok(())
}

fn read_process(folder: &Path, stem: &str) -> Result<Process, Error> {
    let path = folder.join(format!("{stem}{}", file::RECORDING));
    let recording = read_recording(&path)?;
    let reserve = recording.as_ref().map(Recording::reserve).cloned().unwrap_or_default();
    let mut recorded = read_records(&folder.join(format!("{stem}{}", file::MARKS)), &reserve)?;
    let ledger = read_ledger(&folder.join(file::journal(recorded.identity.pid)))?;
    let snapshot = read_snapshot(&folder.join(format!("{stem}{}", file::SNAPSHOT)))?;
    let snapshot = match recording {
        Some(recording) => Some(with_recording(recording, &mut recorded, snapshot)),
        None => snapshot,
    };
    Ok(Process { ledger, snapshot, ..recorded })
}

/// Reads the recording of a real run, if there is one.
fn read_recording(path: &Path) -> Result<Option<Recording>, Error> {
    let Some(bytes) = slurp(path)? else { return Ok(None) };
    let read = trace::read_recording(&bytes);
    read.map(Some).map_err(|error| Error::Damaged { path: path.to_owned(), problem: error.to_string() })
}

/// Joins the recording of a real run with PyTorch's dump, if there is one.
fn with_recording(recording: Recording, process: &mut Process, dump: Option<Snapshot>) -> Snapshot {
    if recording.steps_done() > process.step_count() {
        // The agent records a few steps a second, and a killed process none at its end.
        process.steps.push(StepRecord { step: recording.steps_done(), ..StepRecord::default() });
    }
    let at = process.last_dump().map(|dump| dump.events).filter(|at| recording.ends_with(*at));
    let dump = dump.zip(at);
    recording.into_snapshot(dump, &process.ooms)
}

/// Reads the agent's records, and those of the reserve. An unreadable line is the last line of a killed process; the lines before count.
fn read_records(path: &Path, reserve: &Reserve) -> Result<Process, Error> {
    let (records, problems) = run::read_records(&slurp(path)?.unwrap_or_default());
    warn(path, &problems);
    let (kept, problems) = run::read_records(&reserve.lines);
    warn(&path.with_extension("recording"), &problems);
    let mut process: Process = records.into_iter().chain(kept).collect();
    process.gaps.extend(describe_loss(reserve).map(|text| GapRecord { text }));
    Ok(process)
}

/// The records that found no room in the reserve; none if all did.
fn describe_loss(reserve: &Reserve) -> Option<String> {
    let why = describe_error(reserve.error.cast_signed());
    let what =
        if reserve.lost == 1 { "the last record".to_owned() } else { format!("the last {} records", reserve.lost) };
    (reserve.lost > 0).then(|| {
        format!("{what} of a process: their file was out of its reach ({why}), and what is kept in memory is full")
    })
}

/// The words for an error number of Linux, where the run was recorded.
fn describe_error(number: i32) -> String {
    if cfg!(target_os = "linux") {
        let words = io::Error::from_raw_os_error(number).to_string();
        words.split(" (os error").next().unwrap_or_default().to_owned()
    } else {
        format!("error {number} of Linux")
    }
}

fn read_ledger(path: &Path) -> Result<Ledger, Error> {
    let (records, problems) = run::read_phantom_records(&slurp(path)?.unwrap_or_default());
    warn(path, &problems);
    Ok(records.into_iter().collect())
}

fn warn(path: &Path, problems: &[run::Problem]) {
    for problem in problems {
        crate::events::remark(&format!("warning: {}: {problem}", path.display()));
    }
}

fn read_snapshot(path: &Path) -> Result<Option<Snapshot>, Error> {
    let opened = match fs::File::open(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Unreadable { path: path.to_owned(), source }),
    };
    let read = snapshot::read_snapshot(BufReader::new(opened));
    read.map(Some).map_err(|error| Error::Damaged { path: path.to_owned(), problem: error.to_string() })
}

/// Reads a file; `None` if it does not exist.
pub fn slurp(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// Lists the files of a folder by name: reports must not depend on the file system's order.
pub fn list_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

/// True if a process touched a phantom GPU, with or without an agent.
pub fn phantom_was_used(folder: &Path) -> Result<bool, Error> {
    Ok(list_files(folder)?.iter().any(|path| is_phantoms(path)))
}

fn is_phantoms(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(file::JOURNAL_PREFIX))
}

/// Lists the symbols that the program called and the phantom lacks.
pub fn missing_symbols(folder: &Path) -> Result<Vec<String>, Error> {
    let mut symbols = Vec::new();
    for path in list_files(folder)? {
        if is_phantoms(&path) {
            symbols.extend(read_ledger(&path)?.missing_symbols);
        }
    }
    symbols.sort();
    symbols.dedup();
    Ok(symbols)
}

/// Returns the lines of a text without the frames of the agent's wrappers in tracebacks.
fn without_agent(text: &str) -> Vec<&str> {
    let mut in_agent = false;
    let is_others = |line: &&str| {
        // A frame is a line with its file, and the indented lines below.
        in_agent = if line.starts_with("  File \"") {
            line.contains("/oomph/agent/")
        } else {
            in_agent && line.starts_with("    ")
        };
        !in_agent
    };
    text.lines().filter(is_others).collect()
}

/// Returns the program's output; empty where it was shown.
pub fn read_output(folder: &Path) -> String {
    let text = fs::read(folder.join(file::OUTPUT)).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the last lines of the program's output.
pub fn output_tail(folder: &Path) -> String {
    const LINES: usize = 25;
    let text = read_output(folder);
    let lines = without_agent(&text);
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_agent_are_left_out() {
        let text = "Traceback (most recent call last):\n  File \"train.py\", line 4, in <module>\n    model.cuda()\n  \
                    File \"/cache/0f/python/oomph/agent/modules.py\", line 179, in wrapper\n    return move(self)\n           \
                    ^^^^\nRuntimeError: no\n    and more\n";
        let expected = [
            "Traceback (most recent call last):",
            "  File \"train.py\", line 4, in <module>",
            "    model.cuda()",
            "RuntimeError: no",
            "    and more",
        ];
        assert_eq!(without_agent(text), expected);
    }
}

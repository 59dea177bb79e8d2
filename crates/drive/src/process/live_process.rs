//! The records of a process that still runs, and its position.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::events::Sight;
use trace::run::{FileRecord, Ledger, Tail};
use trace::source_file::is_user_file;
use trace::{Mark, Process};
use wire::{file, signal};

use crate::process::sight;

/// The time after which the program is asked for its line: short programs are not disturbed.
const FIRST_QUESTION: Duration = Duration::from_secs(8);
/// The time between two questions.
const BETWEEN_QUESTIONS: Duration = Duration::from_secs(5);

/// The records so far of the first process with a GPU. Files are read from the end of the last reading.
pub(crate) struct LiveProcess {
    folder: PathBuf,
    records: Growing<trace::Record>,
    journal: Option<Growing<trace::run::PhantomRecord>>,
    process: Process,
    ledger: Ledger,
    next_question: Instant,
    /// The last process asked for its stack, by its own process id.
    asked: Option<u32>,
}

impl LiveProcess {
    /// The process of a run directory, with or without its file.
    pub(crate) fn of(folder: &Path) -> LiveProcess {
        LiveProcess {
            folder: folder.to_owned(),
            records: Growing::of(folder.join(file::stem(0) + file::MARKS)),
            journal: None,
            process: Process::default(),
            ledger: Ledger::default(),
            next_question: Instant::now() + FIRST_QUESTION,
            asked: None,
        }
    }

    /// Reads the new records, and asks for the line now and then: the answer comes with a later call. The reader of the whole files states
    /// errors.
    pub(crate) fn update(&mut self) -> Sight {
        self.records.read().into_iter().for_each(|record| self.process.take(record));
        let pid = Some(self.process.identity.pid).filter(|pid| *pid > 0);
        if let Some(pid) = pid {
            let journal = self.journal.get_or_insert_with(|| Growing::of(self.folder.join(file::journal(pid))));
            journal.read().into_iter().for_each(|record| self.ledger.take(record));
        }
        if Instant::now() >= self.next_question {
            self.ask(pid);
            self.next_question = Instant::now() + BETWEEN_QUESTIONS;
        }
        self.describe(pid)
    }

    /// Asks the process `pid` for its stack, unless it waits for a signal; before the first use of a GPU, the first process with the agent.
    fn ask(&mut self, pid: Option<u32>) {
        let askable = sight::list_askable(&self.folder);
        let process = askable.iter().find(|process| Some(process.own_pid) == pid).or(askable.first());
        if let Some(process) = process {
            if !sight::waits_for_signal(process.process) {
                sight::request(process.process, signal::STACK);
            }
            self.asked = Some(process.own_pid);
        }
    }

    fn describe(&self, pid: Option<u32>) -> Sight {
        let position = pid.and_then(|pid| Mark::parse(&sight::read_position(&self.folder, pid)));
        let frames = self.asked.map(|pid| sight::read_stack(&self.folder, pid)).unwrap_or_default();
        let script_dir = &self.process.identity.script_dir;
        let line = frames.into_iter().find(|(_, file, _)| is_user_file(file, script_dir));
        Sight {
            position: position.map(|Mark { step, phase, .. }| (step, phase)),
            line: line.map(|(_, file, line)| (file, line)),
            memory: self.ledger.fullest(),
        }
    }
}

/// A file of records that grows.
struct Growing<R> {
    path: PathBuf,
    file: Option<File>,
    tail: Tail<R>,
}

impl<R: FileRecord> Growing<R> {
    fn of(path: PathBuf) -> Growing<R> {
        Growing { path, file: None, tail: Tail::default() }
    }

    /// The new complete records.
    fn read(&mut self) -> Vec<R> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            // Bytes before an error count.
            let _: io::Result<usize> = file.read_to_end(&mut bytes);
        }
        self.tail.feed(&bytes)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use trace::{Bytes, Phase};

    use super::*;

    #[test]
    fn records_are_there_once_their_line_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = Growing::<trace::Record>::of(folder.path().join("rank0.marks.jsonl"));
        assert_eq!(records.read(), []);
        let mut file = File::create(folder.path().join("rank0.marks.jsonl")).unwrap();
        let mut check = |written: &str, count: usize| {
            file.write_all(written.as_bytes()).unwrap();
            assert_eq!(records.read().len(), count, "after {written:?}");
        };
        check("{\"kind\":\"step\",\"step\":1,\"devices\":[]}\n{\"kind\":\"st", 1);
        check("ep\",\"step\":2", 0);
        check(",\"devices\":[]}\n", 1);
    }

    #[test]
    fn a_process_is_seen_by_its_position_and_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let mut live = LiveProcess::of(folder.path());
        assert_eq!(live.update(), Sight::default());
        let process = trace::Record::Process(trace::run::ProcessRecord { pid: 71, ..Default::default() });
        write("rank0.marks.jsonl", &(serde_json::to_string(&process).unwrap() + "\n"));
        write("position-71", "oomph step=2 phase=backward census=1 module=\n\n\n");
        let memory = |delta: i64, used: u64| {
            format!(
                "{{\"kind\":\"memory\",\"device\":0,\"owner\":\"pytorch\",\"delta\":{delta},\"used_bytes\":{used}}}\n"
            )
        };
        write("phantom-71.jsonl", &(memory(9, 9) + &memory(-4, 5)));
        let seen = live.update();
        assert_eq!(seen.position, Some((2, Phase::Backward)));
        assert_eq!(seen.memory, Some((Bytes(5), Bytes(9))));
    }
}

//! Follows the processes of a run by the news in their files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use diagnose::Meter;
use trace::PhaseReader;
use trace::recording::{read_changes, sum_blocks};
use trace::run::Tail;
use wire::file;

use super::capture::{read_blocks, read_events, read_head, read_texts};

/// The processes of a run.
pub(crate) struct Watch {
    folder: PathBuf,
    processes: BTreeMap<String, WatchedProcess>,
}

/// A process, with the places up to which its files were read.
struct WatchedProcess {
    records: File,
    tail: Tail,
    recording: Option<File>,
    next_event: u64,
    progress: PhaseReader,
    meter: Meter,
    /// True once the last figures were handed on.
    is_over: bool,
}

impl Watch {
    /// Watches a run in its folder.
    pub(crate) fn new(folder: &Path) -> Watch {
        Watch { folder: folder.to_owned(), processes: BTreeMap::new() }
    }

    /// Reads the news. Returns the running processes, and the newly ended ones. `is_last`: the program has ended.
    pub(crate) fn refresh(&mut self, is_last: bool) -> Vec<&Meter> {
        self.find_processes();
        let mut found = Vec::new();
        for (stem, process) in self.processes.iter_mut().filter(|(_, process)| !process.is_over) {
            // An unreadable file may be readable at the next refresh; until then the figures keep their values.
            let _: io::Result<()> = process.refresh(&self.folder.join(format!("{stem}{}", file::RECORDING)));
            if is_last || is_gone(process.meter.pid()) {
                process.meter.end();
            }
            process.is_over = process.meter.has_ended();
            found.push(&process.meter);
        }
        found
    }

    fn find_processes(&mut self) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(file::MARKS) else { continue };
            if !self.processes.contains_key(stem)
                && let Ok(records) = File::open(entry.path())
            {
                let meter = Meter::new(stem.contains('-'));
                let process = WatchedProcess {
                    records,
                    tail: Tail::default(),
                    recording: None,
                    next_event: 0,
                    progress: PhaseReader::default(),
                    meter,
                    is_over: false,
                };
                self.processes.insert(stem.to_owned(), process);
            }
        }
    }
}

impl WatchedProcess {
    fn refresh(&mut self, recording: &Path) -> io::Result<()> {
        let mut news = Vec::new();
        self.records.read_to_end(&mut news)?;
        self.tail.feed(&news).iter().for_each(|record| self.meter.note_record(record));
        if self.recording.is_none() {
            self.recording = Some(File::open(recording)?);
        }
        self.read_recording()
    }

    /// Reads the events since the last time, or the table of blocks if they are too many.
    fn read_recording(&mut self) -> io::Result<()> {
        let Some(file) = &self.recording else { return Ok(()) };
        let head = read_head(file)?;
        let is_near = head.events - self.next_event.min(head.events) <= head.ring_length() / 2;
        let news = if is_near { read_events(file, &head, self.next_event, head.events)? } else { None };
        self.next_event = if let Some(news) = news {
            read_changes(&news).for_each(|change| self.meter.note_change(&change));
            self.progress.feed_texts(&read_texts(file, &head, self.progress.read_text_bytes())?);
            self.progress.feed_events(&news);
            self.meter.set_phase(self.progress.phase());
            head.events
        } else {
            let (table, as_of, _) = read_blocks(file)?;
            for (device, bytes) in sum_blocks(&table) {
                self.meter.set_allocated(device.into(), bytes);
            }
            as_of.events
        };
        self.meter.set_steps(head.steps_done());
        Ok(())
    }
}

/// True if a process has ended, and its parent has waited for it.
fn is_gone(pid: u32) -> bool {
    pid > 0 && !Path::new("/proc").join(pid.to_string()).exists()
}

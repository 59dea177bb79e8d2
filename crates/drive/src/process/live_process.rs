//! The records of a process that still runs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use trace::Process;
use trace::run::Tail;
use wire::file;

/// The first process of a run, as far as it is recorded. The file is read from where the last reading ended.
pub(crate) struct LiveProcess {
    path: PathBuf,
    file: Option<File>,
    tail: Tail,
    process: Process,
}

impl LiveProcess {
    /// The process of a run directory; its file need not be there yet.
    pub(crate) fn of(folder: &Path) -> LiveProcess {
        let path = folder.join(file::stem(0) + file::MARKS);
        LiveProcess { path, file: None, tail: Tail::default(), process: Process::default() }
    }

    /// Reads what was written since. Errors are left to the reader of the whole file.
    pub(crate) fn update(&mut self) -> &Process {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            // Bytes that were read before an error count.
            let _: io::Result<usize> = file.read_to_end(&mut bytes);
        }
        self.tail.feed(&bytes).into_iter().for_each(|record| self.process.take(record));
        &self.process
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn records_are_there_once_their_line_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut live = LiveProcess::of(folder.path());
        assert_eq!(live.update().steps.len(), 0);
        let mut file = File::create(folder.path().join("rank0.marks.jsonl")).unwrap();
        let mut check = |written: &str, steps: usize| {
            file.write_all(written.as_bytes()).unwrap();
            assert_eq!(live.update().steps.len(), steps, "after {written:?}");
        };
        check("{\"kind\":\"step\",\"step\":1,\"devices\":[]}\n{\"kind\":\"st", 1);
        check("ep\",\"step\":2", 1);
        check(",\"devices\":[]}\n", 2);
    }
}

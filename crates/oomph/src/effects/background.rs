//! Programs that go on after their first process has ended: daemons, and what a shell script starts with `&`.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use nix::unistd::Pid;
use wire::file;

use super::reap;

/// The time in which a process that was just forked may still become the program.
const TIME_TO_START: Duration = Duration::from_secs(2);

/// The processes that carry a program on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// There are none.
    Ended,
    /// There are some that may use a GPU later.
    Starting,
    /// Some use a phantom GPU.
    Running,
}

/// Looks for processes that carry a program on whose first process ended `since`. There are none where the first process used a GPU itself:
/// the others are its helpers.
pub(crate) fn find(folder: &Path, first: Pid, since: Duration) -> io::Result<Background> {
    if uses_gpu(folder, first) {
        return Ok(Background::Ended);
    }
    let left = reap::list_orphans();
    if left.iter().any(|pid| uses_gpu(folder, *pid)) {
        return Ok(Background::Running);
    }
    let is_used = list_names(folder)?.iter().any(|name| name.starts_with(file::JOURNAL_PREFIX));
    let may_start = !is_used && left.iter().any(|pid| since < TIME_TO_START || is_python(*pid));
    Ok(if may_start { Background::Starting } else { Background::Ended })
}

/// Whether a process touched a phantom GPU: it then has a journal.
fn uses_gpu(folder: &Path, pid: Pid) -> bool {
    u32::try_from(pid.as_raw()).is_ok_and(|pid| folder.join(file::journal(pid)).exists())
}

fn list_names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn is_python(pid: Pid) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

//! Programs that continue after their first process: daemons, and commands that a shell script starts with `&`.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use nix::unistd::Pid;
use wire::file;

use crate::cleanup::reap;

/// The time in which a forked process may still become the program.
const TIME_TO_START: Duration = Duration::from_secs(2);

/// The processes that carry a program on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// There are none.
    Ended,
    /// Processes that may use a GPU later.
    Starting,
    /// Some use a phantom GPU.
    Running,
}

/// Searches for processes that continue a program after its first process ended `since`. Empty if the first process
/// used a GPU itself: the rest are its helpers.
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

/// True if a process of the run, living or not, has used a phantom GPU.
pub(crate) fn has_journal(folder: &Path) -> bool {
    let names = list_names(folder).unwrap_or_default();
    names.iter().any(|name| name.starts_with(file::JOURNAL_PREFIX))
}

/// True if a process touched a phantom GPU and so has a journal.
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

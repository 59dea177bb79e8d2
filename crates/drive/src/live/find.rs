//! Finds the folder of a run by one of its processes (proc(5)).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::{Error, run_dir};
use nix::unistd::Uid;
use wire::variable;

/// Finds the folder of the run of a process, or of an `oomph run`.
pub fn find_run(pid: u32) -> Result<PathBuf, Error> {
    let own = read_folder(pid).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::NoProcess(pid),
        ErrorKind::PermissionDenied => find_refusal(pid),
        _ => Error::Unreadable { path: of_process(pid, "environ"), source },
    })?;
    // An `oomph run` sets the variable for its children alone, and the children may have ended.
    let of_children = || list_children(pid).into_iter().find_map(|child| read_folder(child).ok().flatten());
    let folder = own.or_else(of_children).ok_or(Error::NotInRun(pid))?;
    if run_dir::is_run(&folder) { Ok(folder) } else { Err(Error::RunIsGone { pid, folder }) }
}

/// Finds out why the environment of a process may not be read (proc_pid_environ(5): as ptrace(2) decides).
fn find_refusal(pid: u32) -> Error {
    let own = Uid::effective();
    let is_others = fs::metadata(of_process(pid, "")).is_ok_and(|found| found.uid() != own.as_raw());
    if is_others && !own.is_root() { Error::ProcessOfOthers(pid) } else { Error::ProcessHidden(pid) }
}

fn of_process(pid: u32, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

/// Lists the running processes under `oomph run`, each with the folder of its run. Processes of other users are visible to root alone.
pub(crate) fn list_in_runs() -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    // A process may have ended since, or belong to another user.
    let in_runs = pids.filter_map(|pid| Some((pid, read_folder(pid).ok().flatten()?)));
    in_runs.filter(|(pid, folder)| is_on_same_machine(*pid) && run_dir::is_run(folder)).collect()
}

/// True if a process has the same GPUs as oomph: real GPUs, or the GPUs of one `oomph phantom`.
fn is_on_same_machine(pid: u32) -> bool {
    let own = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    [variable::DEVICE, variable::TABLE].iter().all(|name| read_variable(pid, name) == own(name))
}

/// A variable of the first environment of a process; `None` if the variable is unset or empty, or the environment unreadable.
pub(crate) fn read_variable(pid: u32, name: &str) -> Option<OsString> {
    find_variable(&fs::read(of_process(pid, "environ")).ok()?, name)
}

/// The folder of the run, by the environment that the process started with. A folder of the user's may be relative to the
/// first folder of the process. Most processes never leave their first folder.
fn read_folder(pid: u32) -> io::Result<Option<PathBuf>> {
    match find_variable(&fs::read(of_process(pid, "environ"))?, variable::RUN).map(PathBuf::from) {
        Some(folder) if folder.is_relative() => Ok(Some(fs::read_link(of_process(pid, "cwd"))?.join(folder))),
        found => Ok(found),
    }
}

fn find_variable(environment: &[u8], name: &str) -> Option<OsString> {
    let mut all = environment.split(|byte| *byte == 0);
    let value = all.find_map(|row| row.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    (!value.is_empty()).then(|| OsStr::from_bytes(value).to_owned())
}

fn list_children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(of_process(pid, "task")).into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    texts
        .flat_map(|text| text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_value_of_its_variable() {
        let cases: [(&[u8], Option<&str>); 5] = [
            (b"", None),
            (b"HOME=/root\0OOMPH_RUN=/tmp/run\0A=b\0", Some("/tmp/run")),
            (b"OOMPH_RUN_DIR=/tmp/other\0", None),
            (b"X=OOMPH_RUN=/tmp/x\0", None),
            (b"OOMPH_RUN=\0", None),
        ];
        for (environment, expected) in cases {
            assert_eq!(
                find_variable(environment, variable::RUN),
                expected.map(OsString::from),
                "{}",
                environment.escape_ascii()
            );
        }
    }
}

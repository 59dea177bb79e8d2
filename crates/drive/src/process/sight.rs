//! The two files that show a process from outside. See Note [Sight] in `python/oomph/agent/process/sight.py`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::run_dir;
use nix::libc::SYS_rt_sigsuspend;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use trace::run::read_last_stack;
use wire::file;

use crate::cleanup::reap;

/// A living process with the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visible {
    /// The process id in this namespace.
    pub(crate) process: Pid,
    /// The process id in its own namespace, part of the names of its files.
    pub(crate) own_pid: u32,
}

/// Lists the living descendants with a position: they have used CUDA.
pub(crate) fn list_positioned() -> Vec<Visible> {
    let visible = |process: Pid| Some(Visible { process, own_pid: find_position(process)? });
    reap::list_orphans().into_iter().filter_map(visible).collect()
}

/// The own process id of a process that maps its position.
fn find_position(process: Pid) -> Option<u32> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    maps.lines().find_map(|line| number_of(line.rsplit_once('/')?.1, file::POSITION_PREFIX))
}

fn number_of(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// Lists the living descendants that write their Python stack on request.
pub(crate) fn list_askable(folder: &Path) -> Vec<Visible> {
    let askable = |process: Pid| Some(Visible { process, own_pid: find_stack_file(process, folder)? });
    reap::list_orphans().into_iter().filter_map(askable).collect()
}

/// The length of all stacks of a process.
pub(crate) fn measure_stacks(folder: &Path, own_pid: u32) -> u64 {
    fs::metadata(folder.join(file::stack(own_pid))).map_or(0, |found| found.len())
}

/// The own process id of a process, if its file for stacks is open.
fn find_stack_file(process: Pid, folder: &Path) -> Option<u32> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    descriptors.flatten().find_map(|descriptor| {
        let target = fs::read_link(descriptor.path()).ok()?;
        let name = target.file_name()?.to_str()?;
        let own_pid = number_of(name, file::STACK_PREFIX)?;
        is_same_file(&descriptor.path(), &folder.join(name)).then_some(own_pid)
    })
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let inode = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    inode(one).is_some_and(|inode_of_one| Some(inode_of_one) == inode(other))
}

/// Sends a signal of [`wire::signal`]; false if the process has ended.
pub(crate) fn request(process: Pid, number: i32) -> bool {
    Signal::try_from(number).is_ok_and(|signal| kill(process, signal).is_ok())
}

/// True while the main thread waits for any signal with a handler (`pause`, `sigsuspend`): the program would go on after ours. Of other waits
/// Python asks the kernel again (PEP 475).
pub(crate) fn waits_for_signal(process: Pid) -> bool {
    // `pause` has no number of its own on aarch64: the C library waits by `ppoll` there.
    #[cfg(target_arch = "x86_64")]
    const WAITS: &[i64] = &[nix::libc::SYS_pause, SYS_rt_sigsuspend];
    #[cfg(not(target_arch = "x86_64"))]
    const WAITS: &[i64] = &[SYS_rt_sigsuspend];
    let call = fs::read_to_string(format!("/proc/{process}/syscall")).unwrap_or_default();
    call.split(' ').next().and_then(|number| number.parse().ok()).is_some_and(|number| WAITS.contains(&number))
}

/// The last position of a process, as a mark; empty without a position.
pub(crate) fn read_position(folder: &Path, own_pid: u32) -> String {
    read(folder.join(file::position(own_pid))).trim_end_matches('\n').to_owned()
}

/// The last Python stack of a process, innermost frame first; empty without a stack.
pub(crate) fn read_stack(folder: &Path, own_pid: u32) -> Vec<(String, String, u32)> {
    read_last_stack(&read(folder.join(file::stack(own_pid))))
}

/// The last stack of the first process with a stack, by the numbers of processes.
pub(crate) fn read_first_stack(folder: &Path) -> Vec<(String, String, u32)> {
    let files = run_dir::list_files(folder).unwrap_or_default();
    let own_pid = |path: &PathBuf| number_of(path.file_name()?.to_str()?, file::STACK_PREFIX);
    let mut own_pids: Vec<u32> = files.iter().filter_map(own_pid).collect();
    own_pids.sort_unstable();
    let mut stacks = own_pids.into_iter().map(|own_pid| read_stack(folder, own_pid));
    stacks.find(|frames| !frames.is_empty()).unwrap_or_default()
}

/// The text of a file; empty without the file.
fn read(path: PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

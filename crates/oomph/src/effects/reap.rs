//! Ends processes: the program, its workers, and daemons in sessions of their own.

use std::fs;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Makes orphans children of this process, which then finds them.
pub(crate) fn adopt_orphans() {
    // Old kernels lack this; orphans then end with their parent or by their own timeout.
    let _: nix::Result<()> = prctl::set_child_subreaper(true);
}

/// Sends a signal to every process below `root`, itself included.
pub(crate) fn signal_tree(root: Pid, signal: Signal) {
    for pid in descendants(root).into_iter().chain([root]) {
        // The process may have ended already.
        let _: nix::Result<()> = kill(pid, signal);
    }
}

/// Kills and collects all descendants of this process.
pub(crate) fn end_orphans() {
    loop {
        let left = descendants(Pid::this());
        for pid in &left {
            let _: nix::Result<()> = kill(*pid, Signal::SIGKILL);
        }
        match waitpid(None, if left.is_empty() { Some(WaitPidFlag::WNOHANG) } else { None }) {
            Err(Errno::EINTR) => {}
            Err(_) => return,
            Ok(_) if left.is_empty() => return,
            Ok(_) => {}
        }
    }
}

/// Lists the descendants of a process, children before grandchildren.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = children(root);
    let mut next = 0;
    while next < found.len() {
        found.extend(children(found[next]));
        next += 1;
    }
    found
}

fn children(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect::<Vec<_>>()
        })
        .collect()
}

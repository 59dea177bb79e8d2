//! Ends processes: the program, its workers, and daemons in separate sessions.

use std::fs;
use std::sync::atomic::{AtomicI32, Ordering};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// Makes orphans children of this process, for `list_orphans`.
pub(crate) fn adopt_orphans() {
    // Old kernels fail here; orphans then end with their parent or by their own timeout.
    let _: nix::Result<()> = prctl::set_child_subreaper(true);
}

/// Sends a signal to `root` and to every process below it.
pub(crate) fn signal_tree(root: Pid, signal: Signal) {
    for pid in descendants(root).into_iter().chain([root]) {
        // The process may have ended already.
        let _: nix::Result<()> = kill(pid, signal);
    }
}

/// True if a process lives below another one.
pub(crate) fn is_descendant(pid: Pid, root: Pid) -> bool {
    descendants(root).contains(&pid)
}

/// The watchdog, a child with an end of its own.
static SPARED: AtomicI32 = AtomicI32::new(0);

/// Leaves a child of this process out of [`end_orphans`].
pub(crate) fn spare(child: Pid) {
    SPARED.store(child.as_raw(), Ordering::SeqCst);
}

/// The child of the last call of [`spare`]; 0 before a call.
pub(crate) fn spared() -> i32 {
    SPARED.load(Ordering::SeqCst)
}

/// The child with a waiting thread.
static AWAITED: AtomicI32 = AtomicI32::new(0);

/// Leaves the status of a child to the waiting thread: [`list_orphans`] does not collect the child.
pub(crate) fn leave_to_waiter(child: Pid) {
    AWAITED.store(child.as_raw(), Ordering::SeqCst);
}

/// The most listings of the descendants, while some end.
const LISTINGS: usize = 4;

/// Lists the living descendants of this process, and collects the dead. A process that ends right after its listing, such as a daemon with two
/// forks, leaves its children to the next listing.
pub(crate) fn list_orphans() -> Vec<Pid> {
    let mut living = Vec::new();
    for _ in 0..LISTINGS {
        let (ended, others): (Vec<Pid>, Vec<Pid>) = list_descendants().into_iter().partition(|pid| has_ended(*pid));
        living = others;
        if ended.is_empty() {
            break;
        }
        let awaited = Pid::from_raw(AWAITED.load(Ordering::SeqCst));
        for pid in ended.into_iter().filter(|pid| *pid != awaited) {
            // A grandchild is collected by its parent.
            let _: nix::Result<_> = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }
    living
}

/// Sends a signal to all descendants of this process.
pub(crate) fn signal_orphans(signal: Signal) {
    for pid in list_descendants() {
        let _: nix::Result<()> = kill(pid, signal);
    }
}

/// Lists the descendants of this process, the dead included.
pub(crate) fn list_descendants() -> Vec<Pid> {
    let spared = Pid::from_raw(spared());
    descendants(Pid::this()).into_iter().filter(|pid| *pid != spared).collect()
}

/// True for a zombie (proc_pid_stat(5)), and for a process that is gone. The name in parentheses may hold any character.
pub(crate) fn has_ended(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Kills and collects all descendants of this process.
pub(crate) fn end_orphans() {
    loop {
        let left = list_descendants();
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

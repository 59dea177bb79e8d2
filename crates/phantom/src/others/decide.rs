//! Decides on calls that name a process.

use std::ffi::{c_int, c_long};

use super::lineage::{Relation, find_process, read_state, relate, visit_processes};
use super::{Act, Family, Reply, note};
use crate::system_call;

/// A signal to a process, to a group (negative), to the own group (0), or to everybody (-1), as kill(2) takes the number.
pub(super) fn signal(run: Family, pid: c_int, signal: c_int) -> Reply {
    match pid {
        0 => Reply::Pass,
        -1 => signal_all(run, signal),
        1.. => signal_process(run, pid, signal),
        _ => reach_group(run, Act::Signal, pid.saturating_neg()),
    }
}

/// A signal to a process or a thread.
pub(super) fn signal_process(run: Family, pid: c_int, signal: c_int) -> Reply {
    if signal != 0 {
        return reach(run, Act::Signal, pid);
    }
    match relate(run, pid) {
        Relation::Own => Reply::Pass,
        Relation::Owner => Reply::Done,
        Relation::Foreign => refuse(Act::Query, pid),
    }
}

/// A signal to all processes of the run but this one.
fn signal_all(run: Family, signal: c_int) -> Reply {
    // SAFETY: the function has no arguments, and cannot fail.
    let this = unsafe { libc::getpid() };
    let (mut is_sent, mut is_refused) = (false, false);
    visit_processes(|pid| {
        if pid == this {
        } else if relate(run, pid) == Relation::Own {
            // SAFETY: there are no addresses.
            is_sent |= unsafe { system_call::next()(libc::SYS_kill, pid, signal) } == 0;
        } else {
            is_refused = true;
        }
    });
    if is_refused && signal != 0 {
        note(Act::Signal, -1);
    }
    if is_sent { Reply::Done } else { Reply::Fail(libc::ESRCH) }
}

/// An effect on a process, or on a thread; 0 is the caller.
pub(super) fn reach(run: Family, act: Act, pid: c_int) -> Reply {
    if pid == 0 {
        return Reply::Pass;
    }
    match relate(run, pid) {
        Relation::Own => Reply::Pass,
        Relation::Owner => {
            note(act, pid);
            Reply::Fail(libc::EPERM)
        }
        Relation::Foreign => refuse(act, pid),
    }
}

/// An effect on all processes of a group, of which none may be another's; 0 is the caller's group.
pub(super) fn reach_group(run: Family, act: Act, group: c_int) -> Reply {
    let mut is_foreign = false;
    if group != 0 {
        visit_processes(|pid| {
            let is_member = read_state(pid).is_some_and(|state| state.group == group);
            is_foreign |= is_member && relate(run, pid) != Relation::Own;
        });
    }
    if is_foreign { refuse(act, group) } else { Reply::Pass }
}

/// An effect on the process of a descriptor from `pidfd_open`.
pub(super) fn reach_descriptor(run: Family, act: Act, descriptor: c_int) -> Reply {
    find_process(descriptor).map_or(Reply::Pass, |pid| reach(run, act, pid))
}

/// A descriptor of a process: oomph's may be waited for.
pub(super) fn open_process(run: Family, pid: c_int) -> Reply {
    if relate(run, pid) == Relation::Foreign { refuse(Act::Query, pid) } else { Reply::Pass }
}

/// A signal to the process of a descriptor.
pub(super) fn signal_descriptor(run: Family, descriptor: c_int, signal: c_int) -> Reply {
    find_process(descriptor).map_or(Reply::Pass, |pid| signal_process(run, pid, signal))
}

/// A priority, as setpriority(2) and ioprio_set(2) name processes; `kinds` are the numbers for a process, a group and a user.
pub(super) fn set_priority(run: Family, kinds: [c_int; 3], kind: c_int, who: c_int) -> Reply {
    let [process, group, user] = kinds;
    if kind == process {
        reach(run, Act::Settings, who)
    } else if kind == group {
        reach_group(run, Act::Settings, who)
    } else if kind == user {
        note(Act::Settings, "user");
        Reply::Fail(libc::EPERM)
    } else {
        Reply::Pass
    }
}

/// A request to the debugger's interface: a traced process is of the run.
pub(super) fn trace(run: Family, request: c_long, pid: c_int) -> Reply {
    let is_start = [c_long::from(libc::PTRACE_ATTACH), c_long::from(libc::PTRACE_SEIZE)].contains(&request);
    if is_start { reach(run, Act::Memory, pid) } else { Reply::Pass }
}

fn refuse(act: Act, pid: c_int) -> Reply {
    note(act, pid);
    Reply::Fail(libc::ESRCH)
}

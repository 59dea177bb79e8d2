//! Decisions on a program's system calls through `syscall`.

use std::ffi::{c_char, c_int, c_long};

use super::calls::PRIORITIES;
use super::objects::{self, Kind};
use super::{Act, Family, Reply, answer, decide, folders, machine};

/// `IOPRIO_WHO_PROCESS`, `IOPRIO_WHO_PGRP` and `IOPRIO_WHO_USER` (linux/ioprio.h).
const CLASSES: [c_int; 3] = [1, 2, 3];

/// Makes a system call, unless it reaches a process outside the run.
pub(crate) fn guard(number: c_long, words: [c_long; 4], call: impl FnOnce() -> c_long) -> c_long {
    let outcome = answer(|run| decide(run, number, words), call);
    machine::watch(number, outcome);
    outcome
}

fn decide(run: Family, number: c_long, [first, second, third, _]: [c_long; 4]) -> Reply {
    let (pid, signal) = (first as c_int, second as c_int);
    match number {
        libc::SYS_kill => decide::signal(run, pid, signal),
        libc::SYS_tkill | libc::SYS_rt_sigqueueinfo => decide::signal_process(run, pid, signal),
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => decide::signal_process(run, pid, third as c_int),
        libc::SYS_pidfd_open => decide::open_process(run, pid),
        libc::SYS_pidfd_send_signal => decide::signal_descriptor(run, pid, signal),
        libc::SYS_pidfd_getfd => decide::reach_descriptor(run, Act::Memory, pid),
        libc::SYS_setpriority => decide::set_priority(run, PRIORITIES, pid, signal),
        libc::SYS_ioprio_set => decide::set_priority(run, CLASSES, pid, signal),
        libc::SYS_sched_setaffinity
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_setparam
        | libc::SYS_sched_setattr
        | libc::SYS_migrate_pages
        | libc::SYS_move_pages => decide::reach(run, Act::Settings, pid),
        libc::SYS_prlimit64 if third != 0 => decide::reach(run, Act::Settings, pid),
        libc::SYS_process_madvise => decide::reach_descriptor(run, Act::Settings, pid),
        libc::SYS_process_vm_writev => decide::reach(run, Act::Memory, pid),
        libc::SYS_ptrace => decide::trace(run, first, signal),
        libc::SYS_shmget | libc::SYS_semget | libc::SYS_msgget | libc::SYS_mq_open | libc::SYS_mq_unlink => {
            objects::decide_key(pid)
        }
        libc::SYS_shmat => objects::decide_use(Kind::Memory, pid),
        libc::SYS_shmctl if signal != libc::IPC_STAT => objects::decide_use(Kind::Memory, pid),
        libc::SYS_semop | libc::SYS_semtimedop => objects::decide_use(Kind::Semaphores, pid),
        libc::SYS_semctl if third as c_int != libc::IPC_STAT => objects::decide_use(Kind::Semaphores, pid),
        libc::SYS_msgsnd | libc::SYS_msgrcv => objects::decide_use(Kind::Queue, pid),
        libc::SYS_msgctl if signal != libc::IPC_STAT => objects::decide_use(Kind::Queue, pid),
        libc::SYS_open => open(libc::AT_FDCWD, first, second),
        libc::SYS_openat => open(pid, second, third),
        _ => Reply::Pass,
    }
}

fn open(folder: c_int, path: c_long, flags: c_long) -> Reply {
    folders::refuse_open(folder, path as *const c_char, flags as c_int).map_or(Reply::Pass, Reply::Fail)
}

//! The signals that a process ignores, handles or blocks, by its status (proc_pid_status(5)). Other systems have no such status, and every answer is false.

use std::fmt::Display;
use std::fs;

/// True if a process ignores a signal. `process`: its number, or `self`.
pub fn ignores(process: impl Display, signal: i32) -> bool {
    is_in_mask(process, &["SigIgn:"], signal)
}

/// True if a process has a handler for a signal.
pub fn handles(process: impl Display, signal: i32) -> bool {
    is_in_mask(process, &["SigCgt:"], signal)
}

/// True while a signal waits for its handler, or its handler runs: the kernel blocks the signal meanwhile.
pub fn is_busy_with(process: impl Display, signal: i32) -> bool {
    is_in_mask(process, &["ShdPnd:", "SigBlk:"], signal)
}

/// True if one of the masks has a signal; the lowest bit is signal 1.
fn is_in_mask(process: impl Display, names: &[&str], signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let masks = status.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
    masks.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).any(|mask| mask >> (signal - 1) & 1 == 1)
}

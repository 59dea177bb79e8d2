//! Files of the kernel that act on processes and on the machine: `/proc/PID/oom_score_adj`, `/proc/sys`, `/sys`.

use std::ffi::{c_char, c_int};

use super::lineage::{Relation, parse_number, relate};
use super::{Act, Family, current, note};
use crate::notes::Path;
use crate::undo::kernel::{errno, set_errno};

/// Settings of the machine, without a slash at the end.
const SETTINGS: [&[u8]; 5] = [b"/sys", b"/proc/sys", b"/proc/sysrq-trigger", b"/proc/irq", b"/proc/bus"];

/// The error of a file that must not be opened for writing; `None` for all others.
pub(crate) fn refuse_open(folder: c_int, path: *const c_char, flags: c_int) -> Option<c_int> {
    let run = current().filter(|_| flags & (libc::O_ACCMODE | libc::O_TRUNC | libc::O_CREAT) != 0)?;
    let before = errno();
    let refusal = Path::of(folder, path).and_then(|path| refuse(run, path.bytes()));
    set_errno(before);
    refusal
}

fn refuse(run: Family, path: &[u8]) -> Option<c_int> {
    let is_below =
        |folder: &[u8]| path.strip_prefix(folder).is_some_and(|rest| rest.first().is_none_or(|it| *it == b'/'));
    if SETTINGS.iter().any(|folder| is_below(folder)) {
        note(Act::Machine, "settings");
        return Some(libc::EROFS);
    }
    let name = path.strip_prefix(b"/proc/")?.split(|byte| *byte == b'/').next()?;
    let pid = parse_number(name).filter(|pid| relate(run, *pid) != Relation::Own)?;
    note(Act::Settings, pid);
    Some(libc::EACCES)
}

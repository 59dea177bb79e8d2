//! The parents and groups of processes, from `/proc` (proc_pid_stat(5)).

use std::ffi::{CStr, c_int};
use std::fmt::Write as _;

use super::Family;
use crate::notes::Line;
use crate::undo::kernel::{self, Answer};

/// The longest chain of parents that is followed.
const MOST_GENERATIONS: usize = 1024;
/// The start of a file of `/proc` that is read.
const HEAD_BYTES: usize = 1024;
/// The bytes of a folder's entries that are read at once.
const ENTRIES_BYTES: usize = 4096;

/// A process's relation to the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// A process of the run, this one included.
    Own,
    /// The process that started the run.
    Owner,
    /// Any other process, or none.
    Foreign,
}

/// Relates a process, or a thread, to the run.
pub(super) fn relate(run: Family, pid: c_int) -> Relation {
    if pid == this_process() || is_below(run, pid) {
        Relation::Own
    } else if !is_visible(run) {
        // In a process namespace of the program's own the numbers are others, and the kernel hides the rest.
        Relation::Own
    } else if pid == run.owner {
        Relation::Owner
    } else {
        Relation::Foreign
    }
}

/// True if this process finds itself below the owner, by the numbers of `/proc`.
fn is_visible(run: Family) -> bool {
    let mut buffer = [0; 32];
    let shown = kernel::read_link(c"/proc/self", &mut buffer).ok().and_then(|length| parse_number(&buffer[..length]));
    shown == Some(this_process()) && is_below(run, this_process())
}

fn this_process() -> c_int {
    // SAFETY: the function has no arguments, and cannot fail.
    unsafe { libc::getpid() }
}

fn is_below(run: Family, pid: c_int) -> bool {
    let mut child = pid;
    for _ in 0..MOST_GENERATIONS {
        match read_state(child) {
            Some(state) if state.parent == run.owner => return child != run.spared,
            Some(state) if state.parent > 1 => child = state.parent,
            _ => return false,
        }
    }
    false
}

/// The fields of a process's state that are of use here.
pub(super) struct Lineage {
    parent: c_int,
    pub(super) group: c_int,
}

/// Reads the state of a process or a thread; `None` if there is none.
pub(super) fn read_state(pid: c_int) -> Option<Lineage> {
    let mut buffer = [0; HEAD_BYTES];
    let text = read_head(format_args!("/proc/{pid}/stat"), &mut buffer).ok()?;
    parse_state(text)
}

/// Parses the fields behind the name: state, parent, group. The name in parentheses may hold any character.
fn parse_state(text: &[u8]) -> Option<Lineage> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut fields = text.get(end + 2..)?.split(|byte| *byte == b' ').skip(1);
    Some(Lineage { parent: parse_number(fields.next()?)?, group: parse_number(fields.next()?)? })
}

/// The process of a descriptor from `pidfd_open`; `None` for another descriptor.
pub(super) fn find_process(descriptor: c_int) -> Option<c_int> {
    let mut buffer = [0; HEAD_BYTES];
    let text = read_head(format_args!("/proc/self/fdinfo/{descriptor}"), &mut buffer).ok()?;
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Pid:"))?;
    parse_number(line.trim_ascii())
}

/// Calls `visit` with each process.
pub(super) fn visit_processes(mut visit: impl FnMut(c_int)) {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    let Ok(folder) = kernel::open(libc::AT_FDCWD, c"/proc", flags, 0) else { return };
    let mut buffer = [0_u8; ENTRIES_BYTES];
    while let Ok(length @ 1..) = kernel::read_entries(&folder, &mut buffer) {
        let mut rest = buffer.get(..length).unwrap_or_default();
        while let Some((name, after)) = split_entry(rest) {
            parse_number(name).into_iter().for_each(&mut visit);
            rest = after;
        }
    }
}

/// Splits the first `struct linux_dirent64` off (getdents64(2)): its name, and the entries behind.
fn split_entry(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = usize::from(u16::from_ne_bytes([*entries.get(16)?, *entries.get(17)?]));
    let (entry, after) = entries.split_at_checked(length)?;
    let name = entry.get(19..)?.split(|byte| *byte == 0).next()?;
    Some((name, after))
}

/// Reads the start of a file.
fn read_head<'a>(path: std::fmt::Arguments, buffer: &'a mut [u8]) -> Answer<&'a [u8]> {
    let mut name = Line::default();
    // The names here are far shorter than a line.
    let _ = name.write_fmt(path);
    name.push(b"\0");
    let name = CStr::from_bytes_until_nul(name.bytes()).map_err(|_| libc::EINVAL)?;
    let file = kernel::open(libc::AT_FDCWD, name, libc::O_RDONLY, 0)?;
    let length = kernel::read(&file, buffer)?;
    Ok(&buffer[..length])
}

/// Parses a decimal number.
pub(super) fn parse_number(text: &[u8]) -> Option<c_int> {
    let digit = |number: c_int, byte: &u8| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        number.checked_mul(10)?.checked_add(c_int::from(digit))
    };
    if text.is_empty() { None } else { text.iter().try_fold(0, digit) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let state = parse_state(b"71 (a) R 1 2 (b) S 40 41 41 0 -1").unwrap();
        assert_eq!((state.parent, state.group), (40, 41));
        assert!(parse_state(b"71 (cut").is_none());
    }

    #[test]
    fn numbers_are_decimal_and_fit() {
        let cases = [(&b"71"[..], Some(71)), (b"", None), (b"7a", None), (b"-1", None), (b"99999999999", None)];
        for (text, expected) in cases {
            assert_eq!(parse_number(text), expected);
        }
    }

    #[test]
    fn children_are_below_and_strangers_are_not() {
        let this = this_process();
        let parent = read_state(this).unwrap().parent;
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as c_int;
        let run = Family { owner: parent, spared: 0 };
        let found = [this, pid, parent, 1].map(|pid| relate(run, pid));
        let spared = is_below(Family { owner: this, spared: pid }, pid);
        let mut seen = false;
        visit_processes(|other| seen |= other == pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [Relation::Own, Relation::Own, Relation::Owner, Relation::Foreign]);
        assert!(seen && !spared);
    }
}

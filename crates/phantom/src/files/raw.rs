//! System calls that a program makes without a function of their own, through `syscall`: some open files. The others pass.

use std::ffi::{CStr, c_char, c_int, c_long};

use super::{Use, cannot, note, note_connection, note_helper, taker, use_of};
use crate::others;
use crate::system_call;
use crate::undo::{guard, system_calls};

/// The numbers of `openat2`, `faccessat2` and `io_uring_setup` on x86-64 (`arch/x86/entry/syscalls/syscall_64.tbl`, Linux 6.12); `libc` names
/// them for other targets only in part.
const OPENAT2: c_long = 437;
const FACCESSAT2: c_long = 439;
const IO_URING_SETUP: c_long = 425;

/// `syscall`.
#[unsafe(no_mangle)]
pub extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    note_system_call(number, [first, second, third]);
    // SAFETY: the kernel checks the addresses, and the caller answers for them.
    let call = || unsafe { system_call::next()(number, first, second, third, fourth, fifth, sixth) };
    let call = || others::system_calls::guard(number, [first, second, third, fourth], call);
    if system_calls::may_change(number) {
        guard(|setup| system_calls::step(setup, number, [first, second, third, fourth, fifth]), call)
    } else {
        call()
    }
}

/// Notes the paths of system calls, as the functions of the C library with the same system call do.
fn note_system_call(number: c_long, [first, second, third]: [c_long; 3]) {
    match number {
        libc::SYS_open => note(libc::AT_FDCWD, text(first), use_of(second as c_int)),
        libc::SYS_openat => note(first as c_int, text(second), use_of(third as c_int)),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => note(libc::AT_FDCWD, text(first), Use::State),
        libc::SYS_newfstatat | libc::SYS_statx | libc::SYS_faccessat | FACCESSAT2 => {
            note(first as c_int, text(second), Use::State);
        }
        libc::SYS_execve => note_helper(text(first), third as *const *const c_char),
        libc::SYS_connect => note_connection(second as *const libc::sockaddr, third as libc::socklen_t),
        OPENAT2 | IO_URING_SETUP | libc::SYS_execveat => note_unseen(),
        _ => {}
    }
}

/// Notes that the program opens files in an unfollowed way.
fn note_unseen() {
    if let Some(taker) = taker() {
        cannot(taker, "it opens files with system calls of its own");
    }
}

fn text(word: c_long) -> *const c_char {
    word as *const c_char
}

/// The bytes of a program file that hold its program headers.
const HEAD_BYTES: usize = 2048;
/// The type of the program header that names the dynamic linker (`PT_INTERP`, elf(5)).
const INTERPRETER: u32 = 3;

/// True if a program is linked statically: no library is preloaded, so its reads are unseen.
pub(super) fn is_static(program: &CStr) -> bool {
    let mut head = [0_u8; HEAD_BYTES];
    // SAFETY: the name is a C string, and the kernel writes at most so many bytes into the buffer.
    let read = unsafe {
        let file = system_call::next()(libc::SYS_openat, libc::AT_FDCWD, program.as_ptr(), libc::O_RDONLY);
        let read = system_call::next()(libc::SYS_read, file, head.as_mut_ptr(), HEAD_BYTES);
        system_call::next()(libc::SYS_close, file);
        read
    };
    usize::try_from(read).ok().and_then(|read| names_no_interpreter(head.get(..read)?)).unwrap_or(false)
}

/// Reads the head of an ELF file (elf(5)); `None` for another file, and for headers beyond the head.
fn names_no_interpreter(head: &[u8]) -> Option<bool> {
    let number = |at: usize, bytes: usize| {
        let field = head.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    if head.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    // A child after `vfork` must not allocate.
    for index in 0..count {
        let at = index.checked_mul(size)?.checked_add(start)?;
        if number(usize::try_from(at).ok()?, 4)? == u64::from(INTERPRETER) {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one program header of a kind.
    fn elf(kind: u8) -> Vec<u8> {
        let mut file = vec![0; 120];
        file[..5].copy_from_slice(b"\x7fELF\x02");
        (file[32], file[54], file[56], file[64]) = (64, 56, 1, kind);
        file
    }

    #[test]
    fn a_program_without_an_interpreter_is_static() {
        let mut far = elf(1);
        far[33] = 0xff;
        let cases =
            [(elf(1), Some(true)), (elf(3), Some(false)), (b"#!/bin/sh\n".to_vec(), None), (vec![], None), (far, None)];
        for (head, expected) in cases {
            assert_eq!(names_no_interpreter(&head), expected, "{head:?}");
        }
    }
}

//! Journal entries of a program's system calls through `syscall`.

use std::ffi::{c_char, c_int, c_long, c_uint};

use super::kernel::Answer;
use super::setup::Setup;
use super::steps::{self, Removal};
use super::{Entry, helpers};

const HERE: c_int = libc::AT_FDCWD;
/// Numbers on x86-64 (`arch/x86/entry/syscalls/syscall_64.tbl`, Linux 6.12) without a name in `libc`.
const IO_URING_SETUP: c_long = 425;
const OPENAT2: c_long = 437;
const FCHMODAT2: c_long = 452;

/// True for a system call with possible changes of files: all further calls pass without a step.
pub(crate) fn may_change(number: c_long) -> bool {
    const CHANGING: &[c_long] = &[
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_creat,
        libc::SYS_truncate,
        libc::SYS_ftruncate,
        libc::SYS_rename,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_mkdir,
        libc::SYS_mkdirat,
        libc::SYS_rmdir,
        libc::SYS_link,
        libc::SYS_linkat,
        libc::SYS_unlink,
        libc::SYS_unlinkat,
        libc::SYS_symlink,
        libc::SYS_symlinkat,
        libc::SYS_mknod,
        libc::SYS_mknodat,
        libc::SYS_chmod,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_bind,
        OPENAT2,
        FCHMODAT2,
        IO_URING_SETUP,
    ];
    CHANGING.contains(&number)
}

fn text(word: c_long) -> *const c_char {
    word as *const c_char
}

/// The journal entry of a system call, like the entry of the C library's function.
pub(crate) fn step(setup: &Setup, number: c_long, words: [c_long; 5]) -> Answer<Entry> {
    let [first, second, third, fourth, fifth] = words;
    let (folder, flags) = (first as c_int, second as c_int);
    match number {
        libc::SYS_open => steps::open(setup, HERE, text(first), flags),
        libc::SYS_openat => steps::open(setup, folder, text(second), third as c_int),
        libc::SYS_creat => steps::open(setup, HERE, text(first), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC),
        OPENAT2 => steps::open(setup, folder, text(second), helpers::open_flags(third, fourth)),
        // The rings of `io_uring` open files unseen. Programs expect the refusal: containers refuse too.
        IO_URING_SETUP => Err(libc::EPERM),
        libc::SYS_truncate => steps::truncate(setup, text(first)),
        libc::SYS_ftruncate => steps::truncate_descriptor(setup, folder),
        libc::SYS_rename => steps::rename(setup, (HERE, text(first)), (HERE, text(second)), 0),
        libc::SYS_renameat => steps::rename(setup, (folder, text(second)), (third as c_int, text(fourth)), 0),
        libc::SYS_renameat2 => {
            steps::rename(setup, (folder, text(second)), (third as c_int, text(fourth)), fifth as c_uint)
        }
        libc::SYS_link => steps::link(setup, (HERE, text(first)), (HERE, text(second)), 0),
        libc::SYS_linkat => steps::link(setup, (folder, text(second)), (third as c_int, text(fourth)), fifth as c_int),
        libc::SYS_rmdir => steps::remove(setup, HERE, text(first), Removal::Folder),
        libc::SYS_unlink => steps::remove(setup, HERE, text(first), Removal::File),
        libc::SYS_unlinkat => steps::remove(setup, folder, text(second), Removal::of_flags(third as c_int)),
        libc::SYS_mkdir => steps::make_path(setup, HERE, text(first), true),
        libc::SYS_mkdirat => steps::make_path(setup, folder, text(second), true),
        libc::SYS_symlink => steps::make_path(setup, HERE, text(second), false),
        libc::SYS_symlinkat => steps::make_path(setup, flags, text(third), false),
        libc::SYS_mknod => steps::make_path(setup, HERE, text(first), false),
        libc::SYS_mknodat => steps::make_path(setup, folder, text(second), false),
        libc::SYS_bind => helpers::bind(setup, second as *const libc::sockaddr, third as libc::socklen_t),
        _ => attribute_step(setup, number, words),
    }
}

fn attribute_step(setup: &Setup, number: c_long, [first, second, third, fourth, fifth]: [c_long; 5]) -> Answer<Entry> {
    let follows = |flags: c_long| flags as c_int & libc::AT_SYMLINK_NOFOLLOW == 0;
    let folder = first as c_int;
    match number {
        libc::SYS_chmod | libc::SYS_chown => steps::attributes(setup, HERE, text(first), true),
        libc::SYS_utime | libc::SYS_utimes => steps::times(setup, HERE, text(first), true),
        libc::SYS_lchown => steps::attributes(setup, HERE, text(first), false),
        libc::SYS_fchmod | libc::SYS_fchown => steps::descriptor_attributes(setup, folder),
        libc::SYS_utimensat | libc::SYS_futimesat if second == 0 => steps::descriptor_times(setup, folder),
        libc::SYS_futimesat => steps::times(setup, folder, text(second), true),
        libc::SYS_utimensat => steps::times(setup, folder, text(second), follows(fourth)),
        libc::SYS_fchmodat => steps::attributes(setup, folder, text(second), true),
        FCHMODAT2 => steps::attributes(setup, folder, text(second), follows(fourth)),
        libc::SYS_fchownat => steps::attributes(setup, folder, text(second), follows(fifth)),
        libc::SYS_setxattr | libc::SYS_removexattr => steps::extended(setup, text(first), text(second), true),
        libc::SYS_lsetxattr | libc::SYS_lremovexattr => steps::extended(setup, text(first), text(second), false),
        libc::SYS_fsetxattr | libc::SYS_fremovexattr => steps::descriptor_extended(setup, folder, text(second)),
        _ => {
            let _ = third;
            Ok(Entry::Call)
        }
    }
}

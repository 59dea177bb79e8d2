//! The functions of the C library that change files without opening a file. Each function journals the change (Note
//! [Undo journal] in [`super`]), and then calls the original.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::mem::transmute;

use super::steps::{self, Removal};
use super::{Entry, guard, helpers, made_afterwards};
use crate::host::Behind;
use crate::system_call;

const HERE: c_int = libc::AT_FDCWD;
const MEMORY: &[u8] = b"/dev/shm/";
const SEMAPHORES: &[u8] = b"/dev/shm/sem.";
/// The flags of a new, written file.
const CREATED: c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;

fn finish<T>(outcome: T, after: impl FnOnce(T)) {
    after(outcome);
}

/// Exports functions of the C library: the journal entry, the call of the next definition, and the steps afterwards.
macro_rules! journaled {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty { $step:expr } $({ $after:expr })? )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, journaled.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $out {
            static NEXT: Behind = Behind::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            let outcome = guard($step, || {
                // SAFETY: the address is the next definition's of this name, with equal parameters and contract: a C
                // program called this function as declared there (Note [Exports] in `boundary`).
                unsafe {
                    let next: unsafe extern "C" fn($($ty),*) -> $out = transmute(NEXT.address());
                    next($($arg),*)
                }
            });
            $( finish(outcome, $after); )?
            outcome
        }
    )* };
}

journaled! {
    fn creat(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::open(setup, HERE, path, CREATED) }
    fn creat64(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::open(setup, HERE, path, CREATED) }
    fn freopen(path: *const c_char, mode: *const c_char, file: *mut c_void) -> *mut c_void {
        |setup| steps::open_stream(setup, path, mode)
    }
    fn freopen64(path: *const c_char, mode: *const c_char, file: *mut c_void) -> *mut c_void {
        |setup| steps::open_stream(setup, path, mode)
    }
    fn posix_spawn_file_actions_addopen(
        actions: *mut c_void, file: c_int, path: *const c_char, flags: c_int, mode: c_uint
    ) -> c_int {
        |setup| steps::open_later(setup, path, flags)
    }
    fn truncate(path: *const c_char, bytes: c_long) -> c_int { |setup| steps::truncate(setup, path) }
    fn truncate64(path: *const c_char, bytes: c_long) -> c_int { |setup| steps::truncate(setup, path) }
    fn ftruncate(file: c_int, bytes: c_long) -> c_int { |setup| steps::truncate_descriptor(setup, file) }
    fn ftruncate64(file: c_int, bytes: c_long) -> c_int { |setup| steps::truncate_descriptor(setup, file) }
    fn fallocate(file: c_int, mode: c_int, offset: c_long, bytes: c_long) -> c_int { |_| Ok(steps::content_of(file)) }
    fn fallocate64(file: c_int, mode: c_int, offset: c_long, bytes: c_long) -> c_int { |_| Ok(steps::content_of(file)) }
    fn posix_fallocate(file: c_int, offset: c_long, bytes: c_long) -> c_int { |_| Ok(steps::content_of(file)) }
    fn posix_fallocate64(file: c_int, offset: c_long, bytes: c_long) -> c_int { |_| Ok(steps::content_of(file)) }
    fn pwritev(file: c_int, parts: *const c_void, count: c_int, offset: c_long) -> c_long {
        |_| Ok(steps::content_of(file))
    }
    fn pwritev64(file: c_int, parts: *const c_void, count: c_int, offset: c_long) -> c_long {
        |_| Ok(steps::content_of(file))
    }
    fn pwritev2(file: c_int, parts: *const c_void, count: c_int, offset: c_long, flags: c_int) -> c_long {
        |_| Ok(steps::content_of(file))
    }
    fn unlink(path: *const c_char) -> c_int { |setup| steps::remove(setup, HERE, path, Removal::File) }
    fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
        |setup| steps::remove(setup, folder, path, Removal::of_flags(flags))
    }
    fn remove(path: *const c_char) -> c_int { |setup| steps::remove(setup, HERE, path, Removal::Any) }
    fn rmdir(path: *const c_char) -> c_int { |setup| steps::remove(setup, HERE, path, Removal::Folder) }
    fn rename(from: *const c_char, to: *const c_char) -> c_int {
        |setup| steps::rename(setup, (HERE, from), (HERE, to), 0)
    }
    fn renameat(folder: c_int, from: *const c_char, target: c_int, to: *const c_char) -> c_int {
        |setup| steps::rename(setup, (folder, from), (target, to), 0)
    }
    fn link(from: *const c_char, to: *const c_char) -> c_int { |setup| steps::link(setup, (HERE, from), (HERE, to), 0) }
    fn linkat(folder: c_int, from: *const c_char, target: c_int, to: *const c_char, flags: c_int) -> c_int {
        |setup| steps::link(setup, (folder, from), (target, to), flags)
    }
    fn symlink(text: *const c_char, path: *const c_char) -> c_int { |setup| steps::make_path(setup, HERE, path, false) }
    fn symlinkat(text: *const c_char, folder: c_int, path: *const c_char) -> c_int {
        |setup| steps::make_path(setup, folder, path, false)
    }
    fn mkdir(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::make_path(setup, HERE, path, true) }
    fn mkdirat(folder: c_int, path: *const c_char, mode: c_uint) -> c_int {
        |setup| steps::make_path(setup, folder, path, true)
    }
    fn mkfifo(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::make_path(setup, HERE, path, false) }
    fn mkfifoat(folder: c_int, path: *const c_char, mode: c_uint) -> c_int {
        |setup| steps::make_path(setup, folder, path, false)
    }
    fn bind(socket: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int {
        |setup| helpers::bind(setup, address, length)
    }
    fn chmod(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::attributes(setup, HERE, path, true) }
    fn lchmod(path: *const c_char, mode: c_uint) -> c_int { |setup| steps::attributes(setup, HERE, path, false) }
    fn fchmod(file: c_int, mode: c_uint) -> c_int { |setup| steps::descriptor_attributes(setup, file) }
    fn fchmodat(folder: c_int, path: *const c_char, mode: c_uint, flags: c_int) -> c_int {
        |setup| steps::attributes(setup, folder, path, flags & libc::AT_SYMLINK_NOFOLLOW == 0)
    }
    fn chown(path: *const c_char, owner: c_uint, group: c_uint) -> c_int {
        |setup| steps::attributes(setup, HERE, path, true)
    }
    fn lchown(path: *const c_char, owner: c_uint, group: c_uint) -> c_int {
        |setup| steps::attributes(setup, HERE, path, false)
    }
    fn fchown(file: c_int, owner: c_uint, group: c_uint) -> c_int { |setup| steps::descriptor_attributes(setup, file) }
    fn fchownat(folder: c_int, path: *const c_char, owner: c_uint, group: c_uint, flags: c_int) -> c_int {
        |setup| steps::attributes(setup, folder, path, flags & libc::AT_SYMLINK_NOFOLLOW == 0)
    }
    fn utime(path: *const c_char, times: *const c_void) -> c_int { |setup| steps::times(setup, HERE, path, true) }
    fn utimes(path: *const c_char, times: *const c_void) -> c_int { |setup| steps::times(setup, HERE, path, true) }
    fn lutimes(path: *const c_char, times: *const c_void) -> c_int {
        |setup| steps::times(setup, HERE, path, false)
    }
    fn futimes(file: c_int, times: *const c_void) -> c_int { |setup| steps::descriptor_times(setup, file) }
    fn futimens(file: c_int, times: *const c_void) -> c_int { |setup| steps::descriptor_times(setup, file) }
    fn futimesat(folder: c_int, path: *const c_char, times: *const c_void) -> c_int {
        |setup| steps::times(setup, folder, path, true)
    }
    fn utimensat(folder: c_int, path: *const c_char, times: *const c_void, flags: c_int) -> c_int {
        |setup| steps::times(setup, folder, path, flags & libc::AT_SYMLINK_NOFOLLOW == 0)
    }
    fn setxattr(path: *const c_char, name: *const c_char, value: *const c_void, bytes: usize, flags: c_int) -> c_int {
        |setup| steps::extended(setup, path, name, true)
    }
    fn lsetxattr(path: *const c_char, name: *const c_char, value: *const c_void, bytes: usize, flags: c_int) -> c_int {
        |setup| steps::extended(setup, path, name, false)
    }
    fn fsetxattr(file: c_int, name: *const c_char, value: *const c_void, bytes: usize, flags: c_int) -> c_int {
        |setup| steps::descriptor_extended(setup, file, name)
    }
    fn removexattr(path: *const c_char, name: *const c_char) -> c_int {
        |setup| steps::extended(setup, path, name, true)
    }
    fn lremovexattr(path: *const c_char, name: *const c_char) -> c_int {
        |setup| steps::extended(setup, path, name, false)
    }
    fn fremovexattr(file: c_int, name: *const c_char) -> c_int {
        |setup| steps::descriptor_extended(setup, file, name)
    }
    fn shm_open(name: *const c_char, flags: c_int, mode: c_uint) -> c_int {
        |setup| helpers::open_shared(setup, MEMORY, name, flags)
    }
    fn shm_unlink(name: *const c_char) -> c_int { |setup| helpers::remove_shared(setup, MEMORY, name) }
    fn sem_open(name: *const c_char, flags: c_int, mode: c_uint, value: c_uint) -> *mut c_void {
        |setup| helpers::open_shared(setup, SEMAPHORES, name, libc::O_RDWR | flags).map(Entry::without_descriptor)
    }
    fn sem_unlink(name: *const c_char) -> c_int { |setup| helpers::remove_shared(setup, SEMAPHORES, name) }

    fn mkstemp(name: *mut c_char) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkstemp64(name: *mut c_char) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkostemp(name: *mut c_char, flags: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkostemp64(name: *mut c_char, flags: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkstemps(name: *mut c_char, suffix: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkstemps64(name: *mut c_char, suffix: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkostemps(name: *mut c_char, suffix: c_int, flags: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkostemps64(name: *mut c_char, suffix: c_int, flags: c_int) -> c_int { |setup| steps::make_in_folder(setup, name) } { |file| found(file, name) }
    fn mkdtemp(name: *mut c_char) -> *mut c_void { |setup| steps::make_in_folder(setup, name) } {
        |made| found_folder(made, name)
    }
}

fn found(file: c_int, name: *mut c_char) {
    if file >= 0 {
        made_afterwards(name, false);
    }
}

fn found_folder(made: *mut c_void, name: *mut c_char) {
    if !made.is_null() {
        made_afterwards(name, true);
    }
}

/// Exports functions absent from some C libraries: the exports call the kernel.
macro_rules! asked {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) { $step:expr } $number:ident($($word:expr),*) )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, journaled.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> c_int {
            // SAFETY: the kernel checks the addresses, and the caller answers for the addresses.
            guard($step, || unsafe { system_call::next()(libc::$number, $($word),*) as c_int })
        }
    )* };
}

asked! {
    fn renameat2(folder: c_int, from: *const c_char, target: c_int, to: *const c_char, flags: c_uint) {
        |setup| steps::rename(setup, (folder, from), (target, to), flags)
    } SYS_renameat2(folder, from, target, to, flags)
    fn mknod(path: *const c_char, mode: c_uint, device: u64) {
        |setup| steps::make_path(setup, HERE, path, false)
    } SYS_mknodat(HERE, path, mode, device)
    fn mknodat(folder: c_int, path: *const c_char, mode: c_uint, device: u64) {
        |setup| steps::make_path(setup, folder, path, false)
    } SYS_mknodat(folder, path, mode, device)
    fn __xmknod(_version: c_int, path: *const c_char, mode: c_uint, device: *const u64) {
        |setup| steps::make_path(setup, HERE, path, false)
    } SYS_mknodat(HERE, path, mode, device.as_ref().copied().unwrap_or_default())
    fn __xmknodat(_version: c_int, folder: c_int, path: *const c_char, mode: c_uint, device: *const u64) {
        |setup| steps::make_path(setup, folder, path, false)
    } SYS_mknodat(folder, path, mode, device.as_ref().copied().unwrap_or_default())
}

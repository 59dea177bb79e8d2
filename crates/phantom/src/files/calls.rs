//! The functions of the C library that open files, ask for their state, or connect. Each notes its path (Note [Files
//! looked at] in [`super`]), and then calls the original.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;

use super::{Use, is_guarded, is_unseen, note, note_helper, note_unseen_helper, use_of, use_of_mode};
use crate::host::Behind;
use crate::others::refuse_open;
use crate::system_call;
use crate::undo::kernel::set_errno;
use crate::undo::{CallResult, guard, helpers, steps};

/// Exports functions of the C library that note their path first, then journal their change, and then call the next
/// definition.
macro_rules! noted {
    ($(
        $(#[$meta:meta])*
        fn $name:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty { $note:expr }
        $( unless $refusal:expr; )? $( after $step:expr; )?
    )*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $out {
            static NEXT: Behind = Behind::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            $note;
            $( if let Some(number) = $refusal {
                set_errno(number);
                return <$out as CallResult>::FAILED;
            } )?
            let call = || {
                // SAFETY: the address is the next definition's of this name, with equal parameters and contract: a C
                // program called this function as declared there (Note [Exports] in `boundary`).
                unsafe {
                    let next: unsafe extern "C" fn($($ty),*) -> $out = transmute(NEXT.address());
                    next($($arg),*)
                }
            };
            called!(call $(, $step)?)
        }
    )* };
}

/// The call, after its entry in the journal if it has one (Note [Undo journal] in `undo`).
macro_rules! called {
    ($call:expr) => {
        $call()
    };
    ($call:expr, $step:expr) => {
        guard($step, $call)
    };
}

noted! {
    /// `open`; the mode is only read if the call may create a file.
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { note(libc::AT_FDCWD, path, use_of(flags)) }
    unless refuse_open(libc::AT_FDCWD, path, flags);
    after |setup| steps::open(setup, libc::AT_FDCWD, path, flags);
    /// `open64`.
    fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int { note(libc::AT_FDCWD, path, use_of(flags)) }
    unless refuse_open(libc::AT_FDCWD, path, flags);
    after |setup| steps::open(setup, libc::AT_FDCWD, path, flags);
    /// `openat`.
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int { note(folder, path, use_of(flags)) }
    unless refuse_open(folder, path, flags);
    after |setup| steps::open(setup, folder, path, flags);
    /// `openat64`.
    fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int { note(folder, path, use_of(flags)) }
    unless refuse_open(folder, path, flags);
    after |setup| steps::open(setup, folder, path, flags);
    /// `open` of programs built with checks.
    fn __open_2(path: *const c_char, flags: c_int) -> c_int { note(libc::AT_FDCWD, path, use_of(flags)) }
    unless refuse_open(libc::AT_FDCWD, path, flags);
    after |setup| steps::open(setup, libc::AT_FDCWD, path, flags);
    /// `open64` of programs built with checks.
    fn __open64_2(path: *const c_char, flags: c_int) -> c_int { note(libc::AT_FDCWD, path, use_of(flags)) }
    unless refuse_open(libc::AT_FDCWD, path, flags);
    after |setup| steps::open(setup, libc::AT_FDCWD, path, flags);
    /// `openat` of programs built with checks.
    fn __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int { note(folder, path, use_of(flags)) }
    unless refuse_open(folder, path, flags);
    after |setup| steps::open(setup, folder, path, flags);
    /// `openat64` of programs built with checks.
    fn __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int { note(folder, path, use_of(flags)) }
    unless refuse_open(folder, path, flags);
    after |setup| steps::open(setup, folder, path, flags);
    /// `fopen`.
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void { note(libc::AT_FDCWD, path, use_of_mode(mode)) }
    unless refuse_open(libc::AT_FDCWD, path, steps::mode_flags(mode));
    after |setup| steps::open_stream(setup, path, mode);
    /// `fopen64`.
    fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void { note(libc::AT_FDCWD, path, use_of_mode(mode)) }
    unless refuse_open(libc::AT_FDCWD, path, steps::mode_flags(mode));
    after |setup| steps::open_stream(setup, path, mode);
    /// `faccessat`.
    fn faccessat(folder: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int { note(folder, path, Use::State) }
    /// `execv` keeps the environment.
    fn execv(program: *const c_char, words: *const c_void) -> c_int { note_unseen_helper(program) }
    after |setup| helpers::start(setup, program, !is_unseen(program));
    /// `execvp` keeps the environment.
    fn execvp(program: *const c_char, words: *const c_void) -> c_int { note_unseen_helper(program) }
    after |setup| helpers::start(setup, program, !is_unseen(program));
    /// `execve`.
    fn execve(program: *const c_char, words: *const c_void, environment: *const *const c_char) -> c_int {
        note_helper(program, environment)
    }
    after |setup| helpers::start(setup, program, is_guarded(program, environment));
    /// `execvpe`.
    fn execvpe(program: *const c_char, words: *const c_void, environment: *const *const c_char) -> c_int {
        note_helper(program, environment)
    }
    after |setup| helpers::start(setup, program, is_guarded(program, environment));
    /// `posix_spawn`.
    fn posix_spawn(
        pid: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: *const c_void,
        environment: *const *const c_char
    ) -> c_int {
        note_helper(program, environment)
    }
    after |setup| helpers::start(setup, program, is_guarded(program, environment));
    /// `posix_spawnp`.
    fn posix_spawnp(
        pid: *mut c_int,
        program: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        words: *const c_void,
        environment: *const *const c_char
    ) -> c_int {
        note_helper(program, environment)
    }
    after |setup| helpers::start(setup, program, is_guarded(program, environment));
}

/// Exports functions that ask the kernel for a path's state. Each C library has only some of them, so they call the
/// kernel themselves.
macro_rules! asked {
    ($( $(#[$meta:meta])* fn $name:ident ( $($arg:ident : $ty:ty),* ) { $folder:expr, $path:expr => $number:ident($($word:expr),*) } )*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> c_int {
            note($folder, $path, Use::State);
            // SAFETY: the kernel checks the addresses, and the caller answers for them.
            unsafe { system_call::next()(libc::$number, $($word),*) as c_int }
        }
    )* };
}

asked! {
    /// `stat`.
    fn stat(path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, 0 as c_int)
    }
    /// `stat64`.
    fn stat64(path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, 0 as c_int)
    }
    /// `lstat`.
    fn lstat(path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// `lstat64`.
    fn lstat64(path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// `fstatat`.
    fn fstatat(folder: c_int, path: *const c_char, out: *mut c_void, flags: c_int) {
        folder, path => SYS_newfstatat(folder, path, out, flags)
    }
    /// `fstatat64`.
    fn fstatat64(folder: c_int, path: *const c_char, out: *mut c_void, flags: c_int) {
        folder, path => SYS_newfstatat(folder, path, out, flags)
    }
    /// `stat` of programs built with glibc before 2.33.
    fn __xstat(_version: c_int, path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, 0 as c_int)
    }
    /// `stat64` of programs built with glibc before 2.33.
    fn __xstat64(_version: c_int, path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, 0 as c_int)
    }
    /// `lstat` of programs built with glibc before 2.33.
    fn __lxstat(_version: c_int, path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// `lstat64` of programs built with glibc before 2.33.
    fn __lxstat64(_version: c_int, path: *const c_char, out: *mut c_void) {
        libc::AT_FDCWD, path => SYS_newfstatat(libc::AT_FDCWD, path, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// `fstatat` of programs built with glibc before 2.33.
    fn __fxstatat(_version: c_int, folder: c_int, path: *const c_char, out: *mut c_void, flags: c_int) {
        folder, path => SYS_newfstatat(folder, path, out, flags)
    }
    /// `fstatat64` of programs built with glibc before 2.33.
    fn __fxstatat64(_version: c_int, folder: c_int, path: *const c_char, out: *mut c_void, flags: c_int) {
        folder, path => SYS_newfstatat(folder, path, out, flags)
    }
    /// `statx`.
    fn statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut c_void) {
        folder, path => SYS_statx(folder, path, flags, mask, out)
    }
    /// `access`.
    fn access(path: *const c_char, mode: c_int) { libc::AT_FDCWD, path => SYS_access(path, mode) }
}

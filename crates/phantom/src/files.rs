//! Records the files that a program reads, for a launcher that caches the result of the run.
//!
//! # Note [Files looked at]
//!
//! The result of a dry run is valid as long as every file that the program read is unchanged. Each path is noted before the program
//! opens it, or queries its state, for the first time, together with the state at that moment. The phantom does this, not Python,
//! because native code and helper processes open files too.
//!
//! `OOMPH_FILES` names the file for the notes; unset, nothing is noted. A note ends with a NUL, which no path contains:
//!
//! | note | meaning |
//! |---|---|
//! | `r STATE PATH` | opened to be read |
//! | `s STATE PATH` | queried for its state |
//! | `l DIGEST PATH` | a folder that was listed (from the agent, `oomph_note_listing`) |
//! | `i DIGEST PATH` | a folder that was searched for modules |
//! | `! TEXT` | an input that cannot be checked again |
//!
//! STATE is `-` for an absent file, else `SIZE,MODIFIED,CHANGED,INODE,MODE`, times in nanoseconds. DIGEST is `-`, or the FNV-1a
//! hash of the sorted names, each with a NUL after it. A path is absolute; links in a path stay as the program wrote
//! them.
//!
//! A file that the program writes is its own, and is not noted afterwards. A note is one `write(2)` in append mode, and
//! the table of noted paths has no lock: forked children, signal handlers and threads may note at the same time.

mod calls;
mod local;
mod network;
mod raw;

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use wire::digest::{FNV_EMPTY, extend_fnv, hash_names};

use crate::notes::{Line, Path};

/// `OOMPH_FILES=`, as an environment holds it.
const ASSIGNMENT: [u8; wire::variable::FILES.len() + 1] = with_last(wire::variable::FILES, b'=');
/// `OOMPH_FILES` as a C string.
const VARIABLE: [u8; wire::variable::FILES.len() + 1] = with_last(wire::variable::FILES, 0);
/// `OOMPH_UNDO=`, likewise.
const GUARD: [u8; wire::variable::UNDO.len() + 1] = with_last(wire::variable::UNDO, b'=');
/// Slots for noted paths.
const PLACES: usize = 1 << 16;
/// Slots tried for a path.
const PROBES: usize = 64;

/// Hashes of noted paths; 0 is a free slot.
static NOTED: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];
/// The file for the notes, never freed; [`NOBODY`] without such a file, null before the first query.
static TAKER: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());
/// Stands for the absence of a file, by address.
static NOBODY: c_char = 0;

/// Copies `text`, with `last` in the byte behind it.
pub(crate) const fn with_last<const N: usize>(text: &str, last: u8) -> [u8; N] {
    let mut bytes = [last; N];
    let (before, _) = bytes.split_at_mut(N - 1);
    before.copy_from_slice(text.as_bytes());
    bytes
}

/// The use of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read = b'r' as isize,
    State = b's' as isize,
    Written = b'w' as isize,
}

/// Sends further notes to another file: for the agent, in a process that starts another run.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_note_files(path: *const c_char) {
    // SAFETY: the agent passes a C string (Note [Exports] in `boundary`).
    let copy = unsafe { CStr::from_ptr(path) }.to_owned();
    TAKER.store(copy.into_raw(), Ordering::Release);
}

/// Notes that the program lists a folder, or imports from the folder: for the agent.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_note_listing(path: *const c_char, importable: c_int) {
    let Some(taker) = taker() else { return };
    let Some(path) = Path::of(libc::AT_FDCWD, path) else { return };
    let kind = if importable == 0 { b'l' } else { b'i' };
    if remember(path.hash(kind)) != Some(true) {
        return;
    }
    let digest =
        digest(path.bytes(), importable != 0).map_or_else(|| "-".to_owned(), |digest| format!("{digest:016x}"));
    let mut line = Line::default();
    // The line has room for every path that the kernel accepts.
    let _ = write!(line, "{} {digest} ", char::from(kind));
    line.push(path.bytes());
    line.end(taker);
}

/// Hashes the names in a folder; `None` if the folder cannot be read.
fn digest(folder: &[u8], importable: bool) -> Option<u64> {
    let entries = std::fs::read_dir(std::ffi::OsStr::from_bytes(folder)).ok()?;
    let names = entries.map(|entry| Some(entry.ok()?.file_name().into_vec()));
    Some(hash_names(names.collect::<Option<_>>()?, importable))
}

/// The file for the notes.
fn taker() -> Option<*const c_char> {
    let nobody = (&raw const NOBODY).cast_mut();
    let known = TAKER.load(Ordering::Acquire);
    if !known.is_null() {
        return (known != nobody).then_some(known.cast_const());
    }
    // SAFETY: the name ends with a NUL. A program that changes the environment in another thread races with any reader.
    let named = unsafe { libc::getenv(VARIABLE.as_ptr().cast()) };
    // SAFETY: what the environment holds are C strings.
    let copy = if named.is_null() { nobody } else { CString::into_raw(unsafe { CStr::from_ptr(named) }.to_owned()) };
    // If another thread was faster, its copy has the same text.
    let before = TAKER.compare_exchange(std::ptr::null_mut(), copy, Ordering::AcqRel, Ordering::Acquire);
    let taker = before.err().unwrap_or(copy);
    (taker != nobody).then_some(taker.cast_const())
}

/// Does work that is not the program's, with no notes. No other thread runs.
pub(crate) fn without_notes<T>(work: impl FnOnce() -> T) -> T {
    let taker = TAKER.swap((&raw const NOBODY).cast_mut(), Ordering::AcqRel);
    let result = work();
    TAKER.store(taker, Ordering::Release);
    result
}

/// Records a hash; true if the hash is new, `None` if the table is full there.
fn remember(hash: u64) -> Option<bool> {
    let start = hash as usize;
    for probe in 0..PROBES {
        let place = &NOTED[(start + probe) % PLACES];
        match place.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(true),
            Err(known) if known == hash => return Some(false),
            Err(_) => {}
        }
    }
    None
}

/// Notes the use of a path. The program's `errno` is preserved.
fn note(folder: c_int, path: *const c_char, what: Use) {
    if let Some(taker) = taker() {
        // SAFETY: `errno` is the thread's own.
        let errno = unsafe { *libc::__errno_location() };
        note_to(taker, folder, path, what);
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
    }
}

#[inline(never)]
fn note_to(taker: *const c_char, folder: c_int, path: *const c_char, what: Use) {
    let Some(path) = Path::of(folder, path) else { return };
    if what == Use::Written {
        // Marks both kinds as noted.
        remember(path.hash(Use::Read as u8));
        remember(path.hash(Use::State as u8));
        return;
    }
    match remember(path.hash(what as u8)) {
        Some(true) => write_state(taker, &path, what),
        Some(false) => {}
        None => cannot(taker, "it looks at more files than are kept track of"),
    }
}

fn write_state(taker: *const c_char, path: &Path, what: Use) {
    let mut line = Line::default();
    // A line is cut at its capacity.
    let _ = write!(line, "{} ", char::from(what as u8));
    let _ = match path.state() {
        None => write!(line, "- "),
        Some(state) => {
            let time = |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
            let modified = time(state.st_mtime, state.st_mtime_nsec);
            let changed = time(state.st_ctime, state.st_ctime_nsec);
            write!(line, "{},{modified},{changed},{},{} ", state.st_size, state.st_ino, state.st_mode)
        }
    };
    line.push(path.bytes());
    line.end(taker);
}

/// Notes, once, an input that cannot be checked again.
fn cannot(taker: *const c_char, text: &str) {
    if remember(extend_fnv(FNV_EMPTY, text.as_bytes())) != Some(false) {
        let mut line = Line::default();
        // A line is cut at its capacity.
        let _ = write!(line, "! {text}");
        line.end(taker);
    }
}

/// The use that open flags ask for. Truncating a file does not read the content.
fn use_of(flags: c_int) -> Use {
    let writes = flags & libc::O_ACCMODE == libc::O_WRONLY;
    let makes = flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL;
    if writes || makes || flags & libc::O_TRUNC != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE {
        Use::Written
    } else if flags & (libc::O_PATH | libc::O_DIRECTORY) != 0 {
        Use::State
    } else {
        Use::Read
    }
}

/// The same for `fopen`: `w`, `a` and `x` write, unless `a+` reads too.
fn use_of_mode(mode: *const c_char) -> Use {
    // SAFETY: `fopen` asks for a string.
    let mode = if mode.is_null() { &[] } else { unsafe { CStr::from_ptr(mode) }.to_bytes() };
    match mode.first() {
        Some(b'w') => Use::Written,
        Some(b'a') if !mode.contains(&b'+') => Use::Written,
        _ if mode.contains(&b'x') => Use::Written,
        _ => Use::Read,
    }
}

/// Notes a connection: the other side may answer differently the next time. Python's own helpers, and the helper that
/// the C library asks for names of users, are no sources of data.
fn note_connection(address: *const libc::sockaddr, length: libc::socklen_t) {
    let Some(taker) = taker() else { return };
    if address.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return;
    }
    // SAFETY: the address has at least its family.
    let family = c_int::from(unsafe { (*address).sa_family });
    // SAFETY: the caller's contract is that `length` bytes are readable.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length as usize) };
    let names = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let is_helper = family == libc::AF_UNIX && (names(b"/pymp-") || names(b"/nscd/") || bytes.get(2) == Some(&0));
    if !is_helper && [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6].contains(&family) {
        cannot(taker, "it talks to another process through a socket");
    }
}

/// Notes a helper that runs without the phantom, because its environment is another or it is linked statically: its
/// reads are unseen. Python's searches for libraries (`ctypes.util.find_library`) read nothing of the user's.
fn note_helper(program: *const c_char, environment: *const *const c_char) {
    const TOOLS: [&[u8]; 5] = [b"ldconfig", b"gcc", b"cc", b"objdump", b"ld"];
    let Some(taker) = taker() else { return };
    // SAFETY: the caller passes a program's name, or a null that the C library refuses.
    let program = if program.is_null() { c"" } else { unsafe { CStr::from_ptr(program) } };
    let is_tool = program.to_bytes().rsplit(|byte| *byte == b'/').next().is_some_and(|name| TOOLS.contains(&name));
    let has = |name: &[u8]| (0..).map_while(|index| variable(environment, index)).any(|entry| entry.starts_with(name));
    let is_seen = has(&ASSIGNMENT) && has(b"LD_PRELOAD=");
    if !is_tool && !is_seen {
        cannot(taker, "it starts a helper without its environment");
    } else if !is_tool {
        note_unseen_helper(program.as_ptr());
    }
}

/// Notes a statically linked helper: nothing is preloaded into it.
fn note_unseen_helper(program: *const c_char) {
    let Some(taker) = taker() else { return };
    if is_unseen(program) {
        cannot(taker, "it starts a helper that is linked statically");
    }
}

/// True for a statically linked helper.
fn is_unseen(program: *const c_char) -> bool {
    // SAFETY: the caller passes a program's name, or a null that the C library refuses.
    !program.is_null() && raw::is_static(unsafe { CStr::from_ptr(program) })
}

/// True if the changes of a helper are journaled: it has the phantom and the journal's folder.
fn is_guarded(program: *const c_char, environment: *const *const c_char) -> bool {
    let has = |name: &[u8]| (0..).map_while(|index| variable(environment, index)).any(|entry| entry.starts_with(name));
    has(&GUARD) && has(b"LD_PRELOAD=") && !is_unseen(program)
}

/// An entry of an environment; `None` behind the last.
fn variable<'a>(environment: *const *const c_char, index: usize) -> Option<&'a [u8]> {
    if environment.is_null() {
        return None;
    }
    // SAFETY: an environment is an array of C strings that ends with a null, and no entry before this one was null.
    unsafe {
        let entry = *environment.add(index);
        (!entry.is_null()).then(|| CStr::from_ptr(entry).to_bytes())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The notes on paths below `folder`: kind, presence, name.
    fn notes(taker: &std::path::Path, folder: &std::path::Path) -> Vec<String> {
        let text = std::fs::read(taker).unwrap();
        let below = format!("{}/", folder.display());
        let lines = text.split(|byte| *byte == 0).filter_map(|line| {
            let line = String::from_utf8_lossy(line).into_owned();
            let (note, name) = line.split_once(&below)?;
            let is_there = !note.ends_with("- ");
            Some(format!("{} {is_there} {name}", &note[..1]))
        });
        lines.collect()
    }

    /// A single test, since the notes of a process go to one file.
    #[test]
    fn what_is_read_is_noted_once_and_what_is_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let taker = tempfile::NamedTempFile::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["read", "asked", "a.py", "b.txt"] {
            std::fs::write(path(name), "x").unwrap();
        }
        let c_string = |path: &std::path::Path| CString::new(path.as_os_str().as_bytes()).unwrap();
        oomph_note_files(c_string(taker.path()).as_ptr());
        for _ in 0..2 {
            std::fs::read(path("read")).unwrap();
            assert!(std::fs::metadata(path("asked")).is_ok());
            assert!(std::fs::read(path("absent")).is_err());
            std::fs::write(path("written"), "x").unwrap();
            std::fs::read(path("written")).unwrap();
        }
        let name = c_string(&path("asked"));
        let mode = c"r".as_ptr();
        // SAFETY: they are C strings, and the file is closed once.
        unsafe { libc::fclose(libc::fopen(name.as_ptr(), mode)) };
        oomph_note_listing(c_string(folder.path()).as_ptr(), 1);
        let found = notes(taker.path(), folder.path());
        assert_eq!(found, ["r true read", "s true asked", "r false absent", "r true asked"]);
        let text = String::from_utf8_lossy(&std::fs::read(taker.path()).unwrap()).into_owned();
        let importable = digest(folder.path().as_os_str().as_bytes(), true).unwrap();
        assert!(text.contains(&format!("i {importable:016x} {}\0", folder.path().display())), "{text}");
        // An import depends only on importable names.
        std::fs::write(path("c.txt"), "x").unwrap();
        assert_eq!(digest(folder.path().as_os_str().as_bytes(), true), Some(importable));
        std::fs::write(path("c.py"), "x").unwrap();
        assert_ne!(digest(folder.path().as_os_str().as_bytes(), true), Some(importable));
    }

    #[test]
    fn flags_and_modes_are_told_apart() {
        use libc::{O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_RDONLY, O_RDWR, O_TMPFILE, O_TRUNC, O_WRONLY};
        let flags = [
            (O_RDONLY, 'r'),
            (O_RDWR | O_CREAT, 'r'),
            (O_WRONLY | O_CREAT | O_APPEND, 'w'),
            (O_RDWR | O_CREAT | O_TRUNC, 'w'),
            (O_RDWR | O_CREAT | O_EXCL, 'w'),
            (O_RDWR | O_TMPFILE, 'w'),
            (O_RDONLY | O_DIRECTORY, 's'),
        ];
        for (flags, expected) in flags {
            assert_eq!(char::from(use_of(flags) as u8), expected, "{flags:o}");
        }
        for (mode, expected) in [(c"r", 'r'), (c"r+b", 'r'), (c"wb", 'w'), (c"a", 'w'), (c"a+", 'r'), (c"wx", 'w')] {
            assert_eq!(char::from(use_of_mode(mode.as_ptr()) as u8), expected, "{mode:?}");
        }
    }
}

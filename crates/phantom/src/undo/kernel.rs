//! System calls that no hook sees, with the error number as a value.

use std::ffi::{CStr, c_int, c_long, c_void};
use std::mem::MaybeUninit;

use wire::account::Identity;

use crate::system_call;

/// A value, or the error number.
pub(crate) type Answer<T> = Result<T, c_int>;

/// The state of a file, from `statx`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stat {
    pub(super) device: u64,
    pub(super) mount: u64,
    pub(super) inode: u64,
    /// The time of birth in nanoseconds; 0 if the file system keeps none.
    pub(super) born: i64,
    pub(super) mode: u32,
    pub(super) links: u32,
    pub(super) owner: u32,
    pub(super) group: u32,
    pub(super) size: u64,
    /// Bytes on the disk.
    pub(super) stored: u64,
    /// Seconds and nanoseconds.
    pub(super) accessed: (i64, u32),
    pub(super) modified: (i64, u32),
}

impl Stat {
    pub(crate) fn is(&self, kind: u32) -> bool {
        self.mode & libc::S_IFMT == kind
    }

    pub(super) fn is_same(&self, other: &Stat) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(super) fn identity(&self) -> Identity {
        Identity { device: self.device, inode: self.inode, born: self.born as u64 }
    }

    /// The time of change in nanoseconds.
    pub(super) fn modified_ns(&self) -> u64 {
        (self.modified.0.wrapping_mul(1_000_000_000) as u64).wrapping_add(u64::from(self.modified.1))
    }
}

/// Calls the kernel.
///
/// # Safety
/// Addresses among `words` are valid for the kernel's use of them in this call.
unsafe fn call(number: c_long, words: [c_long; 6]) -> Answer<usize> {
    let [first, second, third, fourth, fifth, sixth] = words;
    // SAFETY: the caller answers for the addresses.
    let answer = unsafe { system_call::next()(number, first, second, third, fourth, fifth, sixth) };
    usize::try_from(answer).map_err(|_| errno())
}

pub(crate) fn errno() -> c_int {
    // SAFETY: `errno` is the thread's own.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(number: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = number };
}

fn word(text: &CStr) -> c_long {
    text.as_ptr() as c_long
}

const HERE: c_long = libc::AT_FDCWD as c_long;

/// A file number of ours, closed at the end.
pub(crate) struct Descriptor(pub(super) c_int);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the number came from `open` and has this owner alone.
        let _ = unsafe { call(libc::SYS_close, [c_long::from(self.0), 0, 0, 0, 0, 0]) };
    }
}

pub(crate) fn open(folder: c_int, path: &CStr, flags: c_int, mode: u32) -> Answer<Descriptor> {
    let words = [c_long::from(folder), word(path), c_long::from(flags | libc::O_CLOEXEC), c_long::from(mode), 0, 0];
    // SAFETY: the path is a C string.
    Ok(Descriptor(unsafe { call(libc::SYS_openat, words) }? as c_int))
}

/// Reads a link's target into `buffer`; returns the length.
pub(crate) fn read_link(path: &CStr, buffer: &mut [u8]) -> Answer<usize> {
    let words = [HERE, word(path), buffer.as_mut_ptr() as c_long, buffer.len() as c_long, 0, 0];
    // SAFETY: the path is a C string, and the kernel writes at most so many bytes into the buffer.
    unsafe { call(libc::SYS_readlinkat, words) }
}

/// Queries the state of a path, without following its last link.
pub(super) fn stat(path: &CStr) -> Answer<Stat> {
    stat_at(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW)
}

pub(crate) fn stat_descriptor(file: c_int) -> Answer<Stat> {
    stat_at(file, c"", libc::AT_EMPTY_PATH)
}

fn stat_at(folder: c_int, path: &CStr, flags: c_int) -> Answer<Stat> {
    let mut state = MaybeUninit::<libc::statx>::zeroed();
    let wanted = libc::STATX_BASIC_STATS | libc::STATX_BTIME | libc::STATX_MNT_ID;
    let out = state.as_mut_ptr() as c_long;
    let words = [c_long::from(folder), word(path), c_long::from(flags), c_long::from(wanted), out, 0];
    // SAFETY: the path is a C string, and the kernel fills the structure.
    unsafe { call(libc::SYS_statx, words) }?;
    // SAFETY: every field is a number, and all were zeroed.
    let state = unsafe { state.assume_init() };
    let time = |time: libc::statx_timestamp| (time.tv_sec, time.tv_nsec);
    let born = time(state.stx_btime);
    Ok(Stat {
        device: u64::from(state.stx_dev_major) << 32 | u64::from(state.stx_dev_minor),
        mount: state.stx_mnt_id,
        inode: state.stx_ino,
        born: born.0.wrapping_mul(1_000_000_000).wrapping_add(i64::from(born.1)),
        mode: u32::from(state.stx_mode),
        links: state.stx_nlink,
        owner: state.stx_uid,
        group: state.stx_gid,
        size: state.stx_size,
        stored: state.stx_blocks * 512,
        accessed: time(state.stx_atime),
        modified: time(state.stx_mtime),
    })
}

/// Renames to a path that must be absent.
pub(super) fn rename(from: &CStr, to: &CStr) -> Answer<()> {
    match rename_with(from, to, libc::RENAME_NOREPLACE) {
        // Some file systems know no flags. The target is a name that nobody else chooses.
        Err(libc::EINVAL) => rename_with(from, to, 0),
        answer => answer,
    }
}

/// Renames with flags; `EINVAL` if the file system does not know them.
pub(super) fn rename_with(from: &CStr, to: &CStr, flags: u32) -> Answer<()> {
    // SAFETY: both are C strings.
    unsafe { call(libc::SYS_renameat2, [HERE, word(from), HERE, word(to), c_long::from(flags), 0]) }.map(drop)
}

/// Makes a second name for a file, or for a link itself.
pub(super) fn link(from: &CStr, to: &CStr) -> Answer<()> {
    // SAFETY: both are C strings.
    unsafe { call(libc::SYS_linkat, [HERE, word(from), HERE, word(to), 0, 0]) }.map(drop)
}

pub(super) fn unlink(path: &CStr) -> Answer<()> {
    // SAFETY: the path is a C string.
    unsafe { call(libc::SYS_unlinkat, [HERE, word(path), 0, 0, 0, 0]) }.map(drop)
}

pub(super) fn make_folder(path: &CStr) -> Answer<()> {
    // SAFETY: the path is a C string.
    unsafe { call(libc::SYS_mkdirat, [HERE, word(path), 0o700, 0, 0, 0]) }.map(drop)
}

pub(super) fn is_writable(path: &CStr) -> bool {
    let mode = c_long::from(libc::W_OK | libc::X_OK);
    // SAFETY: the path is a C string.
    unsafe { call(libc::SYS_faccessat, [HERE, word(path), mode, 0, 0, 0]) }.is_ok()
}

pub(crate) fn read(file: &Descriptor, buffer: &mut [u8]) -> Answer<usize> {
    let words = [c_long::from(file.0), buffer.as_mut_ptr() as c_long, buffer.len() as c_long, 0, 0, 0];
    // SAFETY: the kernel writes at most so many bytes into the buffer.
    unsafe { call(libc::SYS_read, words) }
}

/// Reads entries of a folder (getdents64(2)).
pub(crate) fn read_entries(folder: &Descriptor, buffer: &mut [u8]) -> Answer<usize> {
    let words = [c_long::from(folder.0), buffer.as_mut_ptr() as c_long, buffer.len() as c_long, 0, 0, 0];
    // SAFETY: the kernel writes at most so many bytes into the buffer.
    unsafe { call(libc::SYS_getdents64, words) }
}

/// A number among the options of a socket.
pub(crate) fn socket_option(socket: c_int, name: c_int) -> Answer<c_int> {
    let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
    let (value_at, length_at) = ((&raw mut value) as c_long, (&raw mut length) as c_long);
    let words = [c_long::from(socket), c_long::from(libc::SOL_SOCKET), c_long::from(name), value_at, length_at, 0];
    // SAFETY: the kernel writes one number, and its length.
    unsafe { call(libc::SYS_getsockopt, words) }?;
    Ok(value)
}

/// The process at the other end of a local socket (`SO_PEERCRED`, unix(7)).
pub(crate) fn peer_process(socket: c_int) -> Answer<c_int> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    let (peer_at, length_at) = ((&raw mut peer) as c_long, (&raw mut length) as c_long);
    let (level, name) = (c_long::from(libc::SOL_SOCKET), c_long::from(libc::SO_PEERCRED));
    // SAFETY: the kernel writes one structure, and its length.
    unsafe { call(libc::SYS_getsockopt, [c_long::from(socket), level, name, peer_at, length_at, 0]) }?;
    Ok(peer.pid)
}

/// Closes a descriptor of the program, and makes a copy of `file` with the same number.
pub(crate) fn replace(number: c_int, file: &Descriptor) {
    let words = [c_long::from(file.0), c_long::from(number), 0, 0, 0, 0];
    // SAFETY: there are no addresses.
    let _ = unsafe { call(libc::SYS_dup3, words) };
}

/// True if the kernel answers a query of a System V object's state.
pub(crate) fn query_object(number: c_long, [first, second, third, fourth]: [c_long; 4]) -> bool {
    // SAFETY: the kernel writes a state, for which the caller has room.
    unsafe { call(number, [first, second, third, fourth, 0, 0]) }.is_ok()
}

/// True if this process has a capability (capget(2)).
pub(crate) fn has_capability(number: u32) -> bool {
    // `_LINUX_CAPABILITY_VERSION_3`, and this process; then effective, permitted and inheritable sets, the lower halves first.
    let mut header = [0x2008_0522_u32, 0];
    let mut sets = [0_u32; 6];
    let words = [(&raw mut header) as c_long, (&raw mut sets) as c_long, 0, 0, 0, 0];
    // SAFETY: the kernel reads the header, and writes six numbers.
    let is_read = unsafe { call(libc::SYS_capget, words) }.is_ok();
    let half = if number < u32::BITS { sets[0] } else { sets[3] };
    is_read && half >> (number % u32::BITS) & 1 == 1
}

pub(super) fn write(file: &Descriptor, bytes: &[u8]) -> Answer<usize> {
    let words = [c_long::from(file.0), bytes.as_ptr() as c_long, bytes.len() as c_long, 0, 0, 0];
    // SAFETY: the bytes are readable.
    unsafe { call(libc::SYS_write, words) }
}

/// Writes slices with one system call.
pub(super) fn write_all(file: &Descriptor, slices: &[std::io::IoSlice]) -> Answer<usize> {
    let words = [c_long::from(file.0), slices.as_ptr() as c_long, slices.len() as c_long, 0, 0, 0];
    // SAFETY: an `IoSlice` has the layout of an `iovec`, and its bytes are readable.
    unsafe { call(libc::SYS_writev, words) }
}

pub(super) fn seek(file: &Descriptor, offset: u64, whence: c_int) -> Answer<u64> {
    let words = [c_long::from(file.0), offset as c_long, c_long::from(whence), 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_lseek, words) }.map(|offset| offset as u64)
}

/// Shares the content of a file with an empty file.
pub(super) fn clone(from: &Descriptor, to: &Descriptor) -> Answer<()> {
    let words = [c_long::from(to.0), libc::FICLONE as c_long, c_long::from(from.0), 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_ioctl, words) }.map(drop)
}

/// Copies a range between files at their positions; returns the number of bytes.
pub(super) fn copy_range(from: &Descriptor, to: &Descriptor, bytes: u64) -> Answer<usize> {
    let words = [c_long::from(from.0), 0, c_long::from(to.0), 0, bytes as c_long, 0];
    // SAFETY: the two addresses are null.
    unsafe { call(libc::SYS_copy_file_range, words) }
}

pub(super) fn set_length(file: &Descriptor, bytes: u64) -> Answer<()> {
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_ftruncate, [c_long::from(file.0), bytes as c_long, 0, 0, 0, 0]) }.map(drop)
}

/// Reserves the blocks of a file from its start.
pub(super) fn reserve(file: &Descriptor, bytes: usize) -> Answer<()> {
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_fallocate, [c_long::from(file.0), 0, 0, bytes as c_long, 0, 0]) }.map(drop)
}

pub(super) fn set_mode(file: &Descriptor, mode: u32) -> Answer<()> {
    let words = [c_long::from(file.0), c_long::from(mode & 0o7777), 0, 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_fchmod, words) }.map(drop)
}

pub(super) fn set_owner(file: &Descriptor, owner: u32, group: u32) -> Answer<()> {
    let words = [c_long::from(file.0), c_long::from(owner), c_long::from(group), 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_fchown, words) }.map(drop)
}

/// Reads an extended attribute of a path, without following its last link.
pub(super) fn attribute(path: &CStr, name: &CStr, buffer: &mut [u8]) -> Answer<usize> {
    let words = [word(path), word(name), buffer.as_mut_ptr() as c_long, buffer.len() as c_long, 0, 0];
    // SAFETY: both are C strings, and the kernel writes at most so many bytes into the buffer.
    unsafe { call(libc::SYS_lgetxattr, words) }
}

/// The flags of an open file.
pub(crate) fn flags(file: c_int) -> Answer<c_int> {
    let words = [c_long::from(file), c_long::from(libc::F_GETFL), 0, 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_fcntl, words) }.map(|flags| flags as c_int)
}

/// The user that the kernel checks.
pub(super) fn user() -> u32 {
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_geteuid, [0; 6]) }.map_or(u32::MAX, |user| user as u32)
}

/// The time by the clock that stamps files, in seconds and nanoseconds.
pub(super) fn now() -> (i64, u32) {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let words = [c_long::from(libc::CLOCK_REALTIME_COARSE), (&raw mut time) as c_long, 0, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    let _ = unsafe { call(libc::SYS_clock_gettime, words) };
    (time.tv_sec, time.tv_nsec as u32)
}

/// Maps memory: of a file, shared with other processes, or fresh and private.
pub(super) fn map(file: Option<&Descriptor>, bytes: usize) -> Answer<*mut c_void> {
    let kind = if file.is_some() { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
    let access = c_long::from(libc::PROT_READ | libc::PROT_WRITE);
    let number = file.map_or(-1, |file| c_long::from(file.0));
    // SAFETY: the kernel chooses the address, so no memory of the program's is touched.
    unsafe { call(libc::SYS_mmap, [0, bytes as c_long, access, c_long::from(kind), number, 0]) }
        .map(|address| address as *mut c_void)
}

/// Maps a file of so many bytes, made if absent. Its blocks are reserved: a page without a block on a full disk would end the
/// program at its first use.
pub(super) fn map_reserved(path: &CStr, bytes: usize) -> Answer<*mut c_void> {
    let file = open(libc::AT_FDCWD, path, libc::O_RDWR | libc::O_CREAT, 0o600)?;
    match reserve(&file, bytes) {
        Err(libc::EOPNOTSUPP | libc::ENOSYS) => set_length(&file, bytes as u64)?,
        answer => answer?,
    }
    map(Some(&file), bytes)
}

/// The number of this thread.
pub(super) fn thread() -> u64 {
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_gettid, [0; 6]) }.map_or(u64::MAX, |thread| thread as u64)
}

/// The number of this process.
pub(super) fn process() -> u64 {
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_getpid, [0; 6]) }.map_or(u64::MAX, |process| process as u64)
}

/// True for a living thread.
pub(super) fn is_thread(number: u64) -> bool {
    // SAFETY: there are no addresses, and signal 0 is never sent.
    let answer = unsafe { call(libc::SYS_tkill, [number as c_long, 0, 0, 0, 0, 0]) };
    answer != Err(libc::ESRCH)
}

/// Sleeps for a tenth of a millisecond.
pub(super) fn pause() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 100_000 };
    // SAFETY: the structure is readable, and no rest is asked for.
    let _ = unsafe { call(libc::SYS_nanosleep, [(&raw const time) as c_long, 0, 0, 0, 0, 0]) };
}

/// The position of an open file.
pub(super) fn position(file: c_int) -> Answer<u64> {
    let words = [c_long::from(file), 0, c_long::from(libc::SEEK_CUR), 0, 0, 0];
    // SAFETY: there are no addresses.
    unsafe { call(libc::SYS_lseek, words) }.map(|offset| offset as u64)
}

/// Unmaps memory of [`map`].
///
/// # Safety
/// Nothing refers to the memory any more.
pub(super) unsafe fn unmap(address: *mut c_void, bytes: usize) {
    // SAFETY: the caller answers for the memory.
    let _ = unsafe { call(libc::SYS_munmap, [address as c_long, bytes as c_long, 0, 0, 0, 0]) };
}

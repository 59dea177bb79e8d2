//! Writes zeros as holes: a checkpoint of a dry run takes little room, and little time.
//!
//! # Note [Holes]
//!
//! The tensors of a dry run are zeros, and a program may save gigabytes of zeros at each step, to a layer or a folder of
//! the guard (`OOMPH_GUARD`). With a guard, the functions below write long runs of zeros as holes: the content and the
//! length of the file are as written, and the disk holds one block a run. A copy of a file keeps holes.
//!
//! - A hole past the end is made by a write of its last byte, not by `ftruncate`: the file of a second writer never
//!   shrinks. A hole in front of the end is punched.
//! - Unchanged are files in append mode, where Linux ignores the offset of `pwrite` (pwrite(2), BUGS), and everything
//!   but regular files.
//! - `fwrite` writes inside the C library, unseen from here: in full.
//!
//! Signal handlers and threads write, too: nothing here locks or allocates.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::mem::{MaybeUninit, transmute};

use crate::files::with_last;
use crate::host::Behind;
use crate::ranges::is_device;
use crate::undo::noted;

/// The unit of the search for zeros, and the shortest hole.
const PIECE_BYTES: usize = 64 << 10;
/// The unit of a comparison, small enough to be given up early.
const PAGE_BYTES: usize = 4096;
/// The most bytes of one call (`MAX_RW_COUNT`, linux/fs.h).
const MOST_BYTES: usize = 0x7fff_f000;
/// `OOMPH_GUARD` as a C string.
const VARIABLE: [u8; wire::variable::GUARD.len() + 1] = with_last(wire::variable::GUARD, 0);

static WRITE: Behind = Behind::new(c"write");
static PWRITE: Behind = Behind::new(c"pwrite64");
static WRITEV: Behind = Behind::new(c"writev");
static SENDFILE: Behind = Behind::new(c"sendfile64");
static COPY_FILE_RANGE: Behind = Behind::new(c"copy_file_range");

type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
type PositionedWrite = unsafe extern "C" fn(c_int, *const c_void, usize, i64) -> isize;
type VectorWrite = unsafe extern "C" fn(c_int, *const libc::iovec, c_int) -> isize;
type SendFile = unsafe extern "C" fn(c_int, c_int, *mut i64, usize) -> isize;
type CopyFileRange = unsafe extern "C" fn(c_int, *mut i64, c_int, *mut i64, usize, c_uint) -> isize;

/// `write`.
#[unsafe(no_mangle)]
pub extern "C" fn write(file: c_int, bytes: *const c_void, length: usize) -> isize {
    noted(file, length, || write_at(file, None, bytes, length))
}

/// `pwrite`.
#[unsafe(no_mangle)]
pub extern "C" fn pwrite(file: c_int, bytes: *const c_void, length: usize, offset: c_long) -> isize {
    noted(file, length, || write_at(file, Some(offset), bytes, length))
}

/// Writes at an offset, or at the position.
fn write_at(file: c_int, offset: Option<i64>, bytes: *const c_void, length: usize) -> isize {
    if offset.is_none_or(|offset| offset >= 0) && takes_holes(file, length) && is_readable(bytes) {
        // SAFETY: the caller of `write` or `pwrite` answers for so many readable bytes.
        return put(file, offset, unsafe { std::slice::from_raw_parts(bytes.cast(), length.min(MOST_BYTES)) });
    }
    write_plainly(file, offset, bytes, length)
}

/// `pwrite64`.
#[unsafe(no_mangle)]
pub extern "C" fn pwrite64(file: c_int, bytes: *const c_void, length: usize, offset: c_long) -> isize {
    pwrite(file, bytes, length, offset)
}

/// `writev`: `fstream` of the C++ library writes a large buffer with it, after the rest of a small one.
#[unsafe(no_mangle)]
pub extern "C" fn writev(file: c_int, parts: *const libc::iovec, count: c_int) -> isize {
    let length = usize::try_from(count).ok().filter(|length| *length <= libc::UIO_MAXIOV as usize && !parts.is_null());
    // SAFETY: the caller of `writev` answers for so many parts.
    let listed = length.map(|length| unsafe { std::slice::from_raw_parts(parts, length) }).unwrap_or_default();
    let total = listed.iter().fold(0_usize, |total, part| total.saturating_add(part.iov_len));
    if total <= MOST_BYTES && takes_holes(file, total) {
        return write_parts(file, listed);
    }
    noted(file, total, || {
        // SAFETY: the address is that of the C library's function, called with the caller's own arguments.
        unsafe { transmute::<*mut c_void, VectorWrite>(WRITEV.address())(file, parts, count) }
    })
}

/// `sendfile`: Python's `shutil` copies files with it.
#[unsafe(no_mangle)]
pub extern "C" fn sendfile(to: c_int, from: c_int, offset: *mut i64, length: usize) -> isize {
    noted(to, length, || send(to, from, offset, length))
}

fn send(to: c_int, from: c_int, offset: *mut i64, length: usize) -> isize {
    // SAFETY: the caller answers for the offset, which may be null.
    let mut source = CopySource { file: from, offset: unsafe { offset.as_mut() } };
    match source.find(to, length) {
        NextBytes::Hole(bytes) if make_hole(to, position(to), bytes) => {
            source.advance(bytes);
            seek(to, bytes as i64, libc::SEEK_CUR);
            bytes as isize
        }
        span => {
            // SAFETY: the address is that of the C library's function, called with the caller's own pointers.
            unsafe { transmute::<*mut c_void, SendFile>(SENDFILE.address())(to, from, offset, span.length(length)) }
        }
    }
}

/// `sendfile64`.
#[unsafe(no_mangle)]
pub extern "C" fn sendfile64(to: c_int, from: c_int, offset: *mut i64, length: usize) -> isize {
    sendfile(to, from, offset, length)
}

/// `copy_file_range`.
#[unsafe(no_mangle)]
pub extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut i64,
    to: c_int,
    to_offset: *mut i64,
    length: usize,
    flags: c_uint,
) -> isize {
    noted(to, length, || copy(from, from_offset, to, to_offset, length, flags))
}

fn copy(from: c_int, from_offset: *mut i64, to: c_int, to_offset: *mut i64, length: usize, flags: c_uint) -> isize {
    // SAFETY: the caller answers for the offsets, which may be null.
    let (mut source, place) = unsafe { (CopySource { file: from, offset: from_offset.as_mut() }, to_offset.as_mut()) };
    match source.find(to, length) {
        NextBytes::Hole(bytes)
            if make_hole(to, place.as_ref().map_or_else(|| position(to), |place| **place), bytes) =>
        {
            source.advance(bytes);
            CopySource { file: to, offset: place }.advance(bytes);
            bytes as isize
        }
        span => {
            let length = span.length(length);
            // SAFETY: the address is that of the C library's function, called with the caller's own pointers.
            unsafe {
                let next: CopyFileRange = transmute(COPY_FILE_RANGE.address());
                next(from, from_offset, to, to_offset, length, flags)
            }
        }
    }
}

/// The next bytes of a file to copy.
enum NextBytes {
    /// Only zeros, without a place on the disk.
    Hole(usize),
    /// So many bytes in front of the next hole.
    Data(usize),
    /// An unknown content: the whole copy is the C library's.
    Unknown,
}

impl NextBytes {
    /// The length of a plain copy.
    fn length(&self, wanted: usize) -> usize {
        match self {
            NextBytes::Hole(length) | NextBytes::Data(length) => *length,
            NextBytes::Unknown => wanted,
        }
    }
}

/// A file with a position, or with an offset of the caller's.
struct CopySource<'a> {
    file: c_int,
    offset: Option<&'a mut i64>,
}

impl CopySource<'_> {
    /// Finds the next bytes of a copy of `length` bytes to the file `to`.
    fn find(&self, to: c_int, length: usize) -> NextBytes {
        if !takes_holes(to, length) || !is_regular(self.file) {
            return NextBytes::Unknown;
        }
        let kept = position(self.file);
        let start = self.offset.as_ref().map_or(kept, |offset| **offset);
        let data = seek(self.file, start, libc::SEEK_DATA);
        // Past the last data, `ENXIO`.
        let data = if data < 0 { seek(self.file, 0, libc::SEEK_END) } else { data };
        let hole = seek(self.file, data, libc::SEEK_HOLE);
        seek(self.file, kept, libc::SEEK_SET);
        let bytes_to = |end: i64| usize::try_from(end - start).unwrap_or_default().min(length).min(MOST_BYTES);
        match (bytes_to(data), bytes_to(hole)) {
            (zeros, _) if zeros >= PIECE_BYTES => NextBytes::Hole(zeros),
            (_, data) if data > 0 => NextBytes::Data(data),
            _ => NextBytes::Unknown,
        }
    }

    fn advance(&mut self, bytes: usize) {
        match &mut self.offset {
            Some(offset) => **offset += bytes as i64,
            None => {
                seek(self.file, bytes as i64, libc::SEEK_CUR);
            }
        }
    }
}

/// Writes bytes at an offset, or at the position: zeros as holes. Returns the number of written bytes, -1 after an error.
fn put(file: c_int, offset: Option<i64>, bytes: &[u8]) -> isize {
    let mut written = 0;
    while written < bytes.len() {
        let (rest, offset) = (&bytes[written..], offset.map(|offset| offset + written as i64));
        let zeros = count_zeros(rest);
        if zeros > 0 && make_hole(file, offset.unwrap_or_else(|| position(file)), zeros) {
            if offset.is_none() {
                seek(file, zeros as i64, libc::SEEK_CUR);
            }
            written += zeros;
            continue;
        }
        let length = if zeros > 0 { rest.len() } else { count_data(rest) };
        match write_plainly(file, offset, rest.as_ptr().cast(), length) {
            failed if failed < 0 => return if written > 0 { written as isize } else { failed },
            count if (count as usize) < length => return (written + count as usize) as isize,
            count => written += count as usize,
        }
    }
    written as isize
}

/// Writes the parts of a `writev` one by one.
fn write_parts(file: c_int, parts: &[libc::iovec]) -> isize {
    let mut written = 0;
    for part in parts {
        match write(file, part.iov_base, part.iov_len) {
            failed if failed < 0 => return if written > 0 { written } else { failed },
            count if (count as usize) < part.iov_len => return written + count,
            count => written += count,
        }
    }
    written
}

/// The length of the zeros at the start, in whole pieces or up to the end.
fn count_zeros(bytes: &[u8]) -> usize {
    bytes.chunks(PIECE_BYTES).take_while(|piece| is_zero(piece)).map(<[u8]>::len).sum()
}

/// The length of the pieces in front of the first piece of zeros.
fn count_data(bytes: &[u8]) -> usize {
    bytes.chunks(PIECE_BYTES).take_while(|piece| !is_zero(piece)).map(<[u8]>::len).sum()
}

fn is_zero(piece: &[u8]) -> bool {
    // Without a branch for each byte, a page is compared in vectors.
    piece.chunks(PAGE_BYTES).all(|page| page.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Makes zeros of a range. Returns false where the file system knows no holes, or is full: a plain write reports that.
fn make_hole(file: c_int, offset: i64, bytes: usize) -> bool {
    let Some(size) = find_size(file).filter(|_| offset >= 0) else { return false };
    let Some(end) = offset.checked_add(bytes as i64) else { return false };
    let punch = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: there are no addresses.
    let is_punched = offset >= size || unsafe { libc::fallocate(file, punch, offset, end.min(size) - offset) } == 0;
    is_punched && (end <= size || write_plainly(file, Some(end - 1), [0_u8].as_ptr().cast(), 1) == 1)
}

/// Writes with the next definition of `write` or `pwrite64`.
fn write_plainly(file: c_int, offset: Option<i64>, bytes: *const c_void, length: usize) -> isize {
    // SAFETY: the addresses are those of the C library's functions; the kernel checks the bytes.
    unsafe {
        match offset {
            None => transmute::<*mut c_void, Write>(WRITE.address())(file, bytes, length),
            Some(offset) => transmute::<*mut c_void, PositionedWrite>(PWRITE.address())(file, bytes, length, offset),
        }
    }
}

/// True for a write that is worth a search, to a regular file under a guard.
fn takes_holes(file: c_int, length: usize) -> bool {
    length >= PIECE_BYTES && has_guard() && is_regular(file) && !is_appended(file)
}

/// True if the changes of the program are undone. Forked children of a server enter a world later.
fn has_guard() -> bool {
    // SAFETY: the name ends with a NUL. A program that changes the environment in another thread races with any reader.
    unsafe { !libc::getenv(VARIABLE.as_ptr().cast()).is_null() }
}

fn is_appended(file: c_int) -> bool {
    // SAFETY: there are no addresses.
    unsafe { libc::fcntl(file, libc::F_GETFL) & libc::O_APPEND != 0 }
}

/// True for memory of the host; the kernel refuses memory of a device.
fn is_readable(bytes: *const c_void) -> bool {
    !bytes.is_null() && !is_device(bytes as usize)
}

fn is_regular(file: c_int) -> bool {
    find_size(file).is_some()
}

/// The size of a regular file.
fn find_size(file: c_int) -> Option<i64> {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills the structure where it returns zero.
    let stat = unsafe { (libc::fstat(file, stat.as_mut_ptr()) == 0).then(|| stat.assume_init()) }?;
    (stat.st_mode & libc::S_IFMT == libc::S_IFREG).then_some(stat.st_size)
}

fn position(file: c_int) -> i64 {
    seek(file, 0, libc::SEEK_CUR)
}

/// Moves the position; returns the new position, -1 after an error.
fn seek(file: c_int, offset: i64, whence: c_int) -> i64 {
    // SAFETY: there are no addresses.
    unsafe { libc::lseek(file, offset, whence) }
}

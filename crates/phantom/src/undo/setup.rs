//! The folder of the journal, and the paths that are guarded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::account::WriteAccount;
use super::kernel::{self, Answer};
use super::place::{Place, is_below};
use super::table::Table;

/// `OOMPH_UNDO` as a C string.
const VARIABLE: &CStr = c"OOMPH_UNDO";
/// The start of the name of a stash outside the folder.
pub(super) const STASH_NAME: &[u8] = b".oomph-undo-";
/// Folders of the kernel, without files of the user's.
const KERNEL: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];
const SHARED_MEMORY: &[u8] = b"/dev/shm";
/// Names in the folder that are the guard's.
const OURS: [&[u8]; 8] = [b"/journal", b"/stash", b"/table", b"/account", b"/exempt", b"/only", b"/owner", b"/undone"];

/// The setup, mapped and never unmapped; [`NOBODY`] without a guard, null before the first query.
static SETUP: AtomicPtr<Setup> = AtomicPtr::new(std::ptr::null_mut());
/// Stands for the absence of a guard, by address.
static NOBODY: u8 = 0;

/// What a run guards, and where the originals go.
pub(crate) struct Setup {
    /// The folder that `OOMPH_UNDO` names.
    pub(super) folder: Place,
    pub(super) journal: Place,
    /// The folder for originals, and its mount.
    pub(super) stash: Place,
    pub(super) stash_mount: Option<(u64, u64)>,
    pub(super) table: &'static Table,
    pub(super) account: &'static WriteAccount,
    /// Prefixes, each with a NUL after it.
    exempt: &'static [u8],
    only: Option<&'static [u8]>,
}

/// The guard's view of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// Changes are journaled.
    Guarded,
    /// Changes pass.
    Free,
    /// The guard's own files: changes are refused.
    Ours,
}

/// The setup of this process; `None` without a guard. One atomic load after the first call.
pub(crate) fn current() -> Answer<Option<&'static Setup>> {
    let known = SETUP.load(Ordering::Acquire);
    if known == nobody() {
        return Ok(None);
    }
    if known.is_null() {
        return first();
    }
    // SAFETY: the pointer came from `Setup::open`, whose memory is never unmapped.
    Ok(Some(unsafe { &*known }))
}

fn nobody() -> *mut Setup {
    (&raw const NOBODY).cast_mut().cast()
}

#[cold]
fn first() -> Answer<Option<&'static Setup>> {
    // SAFETY: the name ends with a NUL. A program that changes the environment in another thread races with any reader.
    let named = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    // SAFETY: what the environment holds are C strings.
    let named = if named.is_null() { c"" } else { unsafe { CStr::from_ptr(named) } };
    if named.to_bytes().first() != Some(&b'/') {
        SETUP.store(nobody(), Ordering::Release);
        return Ok(None);
    }
    let setup = Setup::open(named.to_bytes())?;
    // If another thread was faster, the copies are equal.
    SETUP.store(std::ptr::from_ref(setup).cast_mut(), Ordering::Release);
    Ok(Some(setup))
}

/// Guards further changes in another folder, or (null) no longer: for the agent, in a process that starts another run.
/// Returns -1 if the folder cannot be used.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_guard_changes(folder: *const c_char) -> c_int {
    if folder.is_null() {
        SETUP.store(nobody(), Ordering::Release);
        return 0;
    }
    // SAFETY: the agent passes a C string (Note [Exports] in `boundary`).
    match Setup::open(unsafe { CStr::from_ptr(folder) }.to_bytes()) {
        Ok(setup) => {
            SETUP.store(std::ptr::from_ref(setup).cast_mut(), Ordering::Release);
            0
        }
        Err(_) => -1,
    }
}

impl Setup {
    fn open(named: &[u8]) -> Answer<&'static Setup> {
        let named = Place::join(&[named])?;
        let folder = {
            let file = kernel::open(libc::AT_FDCWD, named.text(), libc::O_PATH | libc::O_DIRECTORY, 0)?;
            Place::of_descriptor(file.0)?
        };
        let inside = |name: &[u8]| Place::join(&[folder.bytes(), name]);
        let stash = inside(b"/stash")?;
        match kernel::make_folder(stash.text()) {
            Ok(()) | Err(libc::EEXIST) => {}
            Err(number) => return Err(number),
        }
        let setup = Setup {
            journal: inside(b"/journal")?,
            stash_mount: stash.stat()?.map(|stat| (stat.device, stat.mount)),
            table: Table::map(&inside(b"/table")?)?,
            account: WriteAccount::map(&inside(b"/account")?)?,
            exempt: load(&inside(b"/exempt")?)?.unwrap_or_default(),
            only: load(&inside(b"/only")?)?,
            stash,
            folder,
        };
        let address = kernel::map(None, size_of::<Setup>())?.cast::<Setup>();
        // SAFETY: the fresh mapping is aligned to pages, is as large as a setup, and is never unmapped.
        unsafe {
            address.write(setup);
            Ok(&*address)
        }
    }

    pub(super) fn region(&self, path: &[u8]) -> Region {
        let below = path.strip_prefix(self.folder.bytes()).filter(|rest| rest.first().is_none_or(|byte| *byte == b'/'));
        let is_stash = |name: &[u8]| name.strip_prefix(STASH_NAME) == Some(self.name());
        if below.is_some_and(|rest| OURS.iter().any(|name| is_below(rest, name)))
            || path.split(|byte| *byte == b'/').any(is_stash)
        {
            return Region::Ours;
        }
        let is_kernel = KERNEL.iter().any(|folder| is_below(path, folder)) && !is_below(path, SHARED_MEMORY);
        let is_left_out = self.only.is_some_and(|only| !holds(only, path));
        if below.is_some() || is_kernel || is_left_out || holds(self.exempt, path) {
            Region::Free
        } else {
            Region::Guarded
        }
    }

    /// The last name of the folder.
    pub(super) fn name(&self) -> &[u8] {
        self.folder.bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }
}

/// True if a list has a prefix of the path.
fn holds(list: &[u8], path: &[u8]) -> bool {
    list.split(|byte| *byte == 0).any(|prefix| !prefix.is_empty() && is_below(path, prefix))
}

/// Reads a list into memory that is never unmapped; `None` for an absent file.
fn load(path: &Place) -> Answer<Option<&'static [u8]>> {
    let Some(stat) = path.stat()? else { return Ok(None) };
    if stat.size == 0 {
        return Ok(Some(&[]));
    }
    let length = stat.size as usize;
    let file = kernel::open(libc::AT_FDCWD, path.text(), libc::O_RDONLY, 0)?;
    let address = kernel::map(None, length)?;
    // SAFETY: the fresh mapping has so many bytes, all zero, and is never unmapped.
    let bytes = unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), length) };
    let mut filled = 0;
    while filled < length {
        match kernel::read(&file, &mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(Some(bytes))
}

/// Frees memory that was mapped for a copy.
pub(super) struct Buffer(*mut c_void);

impl Buffer {
    const BYTES: usize = 1 << 20;

    pub(super) fn new() -> Answer<Buffer> {
        kernel::map(None, Buffer::BYTES).map(Buffer)
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has so many bytes, and this is its only reference.
        unsafe { std::slice::from_raw_parts_mut(self.0.cast::<u8>(), Buffer::BYTES) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the references of `bytes` have ended.
        unsafe { kernel::unmap(self.0, Buffer::BYTES) };
    }
}

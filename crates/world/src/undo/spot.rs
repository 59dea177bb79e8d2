//! A path with folders opened name by name, without following a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags, Stat, StatxFlags, Timespec, Timestamps};
use rustix::io::Errno;

use wire::account::Identity;

use super::journal::{FileKey, FileState};

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The state of a file, with its birth.
pub(super) struct Found {
    stat: Stat,
    born: u64,
}

impl std::ops::Deref for Found {
    type Target = Stat;

    fn deref(&self) -> &Stat {
        &self.stat
    }
}

/// A name in an open folder.
pub(super) struct Spot {
    folder: OwnedFd,
    name: OsString,
}

impl Spot {
    /// `None` if a folder of the path is absent, or no longer a folder.
    pub(super) fn find(path: &Path) -> io::Result<Option<Spot>> {
        let mut folder = fs::open("/", FOLDER, Mode::empty())?;
        let mut names = path.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        let name = names.next_back().unwrap_or(OsStr::new(".")).to_owned();
        for name in names {
            folder = match fs::openat(&folder, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                answer => answer?,
            };
        }
        Ok(Some(Spot { folder, name }))
    }

    /// The state, without following a link; `None` for an absent file.
    pub(super) fn stat(&self) -> io::Result<Option<Found>> {
        let stat = match fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            answer => answer?,
        };
        Ok(self.identify()?.map(|file| Found { stat, born: file.born }))
    }

    /// The identity, with the birth; `None` for an absent file.
    pub(super) fn identify(&self) -> io::Result<Option<Identity>> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = match fs::statx(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW, wanted) {
            Err(Errno::NOENT) => return Ok(None),
            answer => answer?,
        };
        let device = u64::from(found.stx_dev_major) << 32 | u64::from(found.stx_dev_minor);
        let born = nanoseconds(found.stx_btime.tv_sec, i64::from(found.stx_btime.tv_nsec));
        Ok(Some(Identity { device, inode: found.stx_ino, born }))
    }

    pub(super) fn open(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.folder, &self.name, flags, Mode::empty())?))
    }

    pub(super) fn remove(&self, is_folder: bool) -> io::Result<()> {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(fs::unlinkat(&self.folder, &self.name, flags)?)
    }

    pub(super) fn make_folder(&self) -> io::Result<()> {
        Ok(fs::mkdirat(&self.folder, &self.name, Mode::from_raw_mode(0o700))?)
    }

    /// Renames to an absent path.
    pub(super) fn rename(&self, to: &Spot) -> io::Result<()> {
        match self.rename_with(to, RenameFlags::NOREPLACE) {
            // The file system knows no flags.
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => match to.stat()? {
                None => self.rename_with(to, RenameFlags::empty()),
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            },
            answer => answer,
        }
    }

    pub(super) fn exchange(&self, other: &Spot) -> io::Result<()> {
        self.rename_with(other, RenameFlags::EXCHANGE)
    }

    fn rename_with(&self, to: &Spot, flags: RenameFlags) -> io::Result<()> {
        Ok(fs::renameat_with(&self.folder, &self.name, &to.folder, &to.name, flags)?)
    }

    /// The times; of a link, the times of the link.
    pub(super) fn set_times(&self, state: &FileState) -> io::Result<()> {
        let time = |(seconds, nanoseconds): (i64, i64)| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        let times = Timestamps { last_access: time(state.accessed), last_modification: time(state.modified) };
        Ok(fs::utimensat(&self.folder, &self.name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Mode, owner and times; only what differs, since a file of another user has only times to set.
    pub(super) fn set_attributes(&self, state: &FileState) -> io::Result<()> {
        self.set_owner_and_mode(state)?;
        let Some(stat) = self.stat()? else { return Ok(()) };
        if times(&stat) == (state.accessed, state.modified) { Ok(()) } else { self.set_times(state) }
    }

    /// Mode and owner.
    pub(super) fn set_owner_and_mode(&self, state: &FileState) -> io::Result<()> {
        let Some(stat) = self.stat()? else { return Ok(()) };
        if (stat.st_uid, stat.st_gid) != (state.owner, state.group) {
            let (owner, group) = (fs::Uid::from_raw(state.owner), fs::Gid::from_raw(state.group));
            fs::chownat(&self.folder, &self.name, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        // A change of the owner clears bits of the mode.
        let mode = self.stat()?.map_or(state.mode, |stat| stat.st_mode);
        if mode != state.mode && !is_link(mode) {
            self.set_mode(state.mode)?;
        }
        Ok(())
    }

    /// Sets the mode; fails for a link.
    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fs::chmod(self.reached(&self.open(OFlags::PATH)?), Mode::from_raw_mode(mode & 0o7777))?)
    }

    /// Sets or removes an extended attribute.
    pub(super) fn set_attribute(&self, name: &Path, value: Option<&[u8]>) -> io::Result<()> {
        let file = self.open(OFlags::PATH)?;
        let path = self.reached(&file);
        match value {
            Some(value) => Ok(fs::setxattr(path, name, value, fs::XattrFlags::empty())?),
            None => match fs::removexattr(path, name) {
                Err(Errno::NODATA) => Ok(()),
                answer => Ok(answer?),
            },
        }
    }

    /// A path to the open file itself: no name on the way can change.
    #[expect(clippy::unused_self, reason = "the file is this spot's")]
    fn reached(&self, file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

pub(super) fn is_link(mode: u32) -> bool {
    kind(mode) == 0o120_000
}

pub(super) fn is_folder(mode: u32) -> bool {
    kind(mode) == 0o040_000
}

/// The kind of file (`S_IFMT`, inode(7)).
pub(super) fn kind(mode: u32) -> u32 {
    mode & 0o170_000
}

/// Device, inode and birth, as the journal has them.
pub(super) fn identity(found: &Found) -> FileKey {
    let device = u64::from(fs::major(found.st_dev)) << 32 | u64::from(fs::minor(found.st_dev));
    (device, found.st_ino, found.born)
}

#[expect(clippy::cast_possible_wrap, reason = "nanoseconds are fewer than a billion")]
pub(super) fn times(stat: &Stat) -> ((i64, i64), (i64, i64)) {
    ((stat.st_atime, stat.st_atime_nsec as i64), (stat.st_mtime, stat.st_mtime_nsec as i64))
}

/// The time of change in nanoseconds, as the account counts it.
#[expect(clippy::cast_possible_wrap, reason = "nanoseconds are fewer than a billion")]
pub(super) fn modified_ns(stat: &Stat) -> u64 {
    nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64)
}

#[expect(clippy::cast_sign_loss, reason = "a time is compared as a word")]
fn nanoseconds(seconds: i64, rest: i64) -> u64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest) as u64
}

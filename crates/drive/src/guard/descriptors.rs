//! Inherited descriptors: `oomph check train.py 3>>log` has an open file that no guard of paths sees. The program keeps its standard
//! streams and the descriptors of which reading is all that it can do.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, OnceLock, PoisonError};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{O_ACCMODE, O_PATH, O_RDONLY};
use nix::unistd::close;
use wire::variable;
use world::Input;

use crate::environment;

/// The number of standard error: the last of the standard streams.
const LAST_STREAM: i32 = 2;

static INHERITED: OnceLock<Inherited> = OnceLock::new();

/// The descriptors at the start of the command, the standard streams left out.
#[derive(Debug, Default)]
struct Inherited {
    inputs: Vec<Input>,
    closed: Vec<i32>,
}

/// An open descriptor.
struct Descriptor {
    number: i32,
    flags: i32,
    offset: u64,
    metadata: Metadata,
}

/// Closes the inherited descriptors with a reach beyond the guards: writable ones, folders, sockets, devices. Called once, before this
/// process opens its own.
pub fn close_inherited() {
    let results = environment::get(variable::RESULTS).and_then(|number| number.to_str()?.parse().ok());
    INHERITED.get_or_init(|| {
        let mut inherited = Inherited::default();
        for descriptor in list_open().unwrap_or_default() {
            if descriptor.number <= LAST_STREAM {
                descriptor.replace_if_folder();
            } else if Some(descriptor.number) == results {
                // The pytest plugin reads the results of a test from there.
            } else if descriptor.is_safe() {
                inherited.inputs.extend(descriptor.to_input());
            } else if close(descriptor.number).is_ok() && descriptor.has_a_use() {
                inherited.closed.push(descriptor.number);
            }
        }
        inherited
    });
}

/// The descriptors that a real run passes on, until they are closed here.
static PASSED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Notes the inherited descriptors of a real run. Called once, before this process opens its own.
pub fn note_passed() {
    let open = list_open().unwrap_or_default().into_iter().map(|descriptor| descriptor.number);
    *PASSED.lock().unwrap_or_else(PoisonError::into_inner) = open.filter(|number| *number > LAST_STREAM).collect();
}

/// Closes the noted descriptors here, after the program has its own: a reader of a pipe waits until the last writer is gone.
pub fn close_passed() {
    for number in std::mem::take(&mut *PASSED.lock().unwrap_or_else(PoisonError::into_inner)) {
        // An error leaves nothing to do.
        let _: nix::Result<()> = close(number);
    }
}

/// The numbers of the closed files, folders and pipes.
pub(super) fn list_closed() -> Vec<u32> {
    let closed = INHERITED.get().map(|inherited| inherited.closed.as_slice()).unwrap_or_default();
    closed.iter().filter_map(|number| u32::try_from(*number).ok()).collect()
}

/// The regular files that the program inherits.
pub(super) fn list_inputs() -> Vec<Input> {
    let kept = INHERITED.get().map(|inherited| inherited.inputs.clone()).unwrap_or_default();
    Descriptor::read(0).as_ref().and_then(Descriptor::to_input).into_iter().chain(kept).collect()
}

/// Opens standard input again without the right to write; `None` where there is no such right, and for a socket.
pub(crate) fn open_input() -> Option<Stdio> {
    let input = Descriptor::read(0)?;
    if input.is_read_only() || input.metadata.file_type().is_socket() {
        return None;
    }
    Some(input.open_to_read().map_or_else(|_| Stdio::null(), Stdio::from))
}

fn list_open() -> io::Result<Vec<Descriptor>> {
    let names: Vec<_> = fs::read_dir("/proc/self/fd")?.flatten().map(|entry| entry.file_name()).collect();
    let numbers = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    // The descriptor of the listing itself is closed by now.
    Ok(numbers.filter_map(Descriptor::read).collect())
}

impl Descriptor {
    /// Reads the state of a descriptor (proc_pid_fdinfo(5)); `None` for a closed one.
    fn read(number: i32) -> Option<Descriptor> {
        let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}")).ok()?;
        let field = |name: &str| text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim()));
        let flags = i32::from_str_radix(field("flags:")?, 8).ok()?;
        let metadata = fs::metadata(format!("/proc/self/fd/{number}")).ok()?;
        Some(Descriptor { number, flags, offset: field("pos:")?.parse().ok()?, metadata })
    }

    fn is_read_only(&self) -> bool {
        self.flags & O_ACCMODE == O_RDONLY && self.flags & O_PATH == 0
    }

    /// True for a pipe or a file that can only be read.
    fn is_safe(&self) -> bool {
        self.is_read_only() && (self.metadata.file_type().is_fifo() || self.metadata.is_file())
    }

    /// True for a file, a folder or a pipe. Terminals and editors leave sockets and devices open, which no program looks for.
    fn has_a_use(&self) -> bool {
        self.metadata.is_file() || self.metadata.is_dir() || self.metadata.file_type().is_fifo()
    }

    /// Returns a regular file with a name, to be opened again inside the guard: by `/proc/self/fd` a program could write to it.
    fn to_input(&self) -> Option<Input> {
        let is_named = self.metadata.is_file() && self.metadata.nlink() > 0;
        let path = fs::read_link(self.path()).ok().filter(|_| is_named)?;
        Some(Input { number: self.number, offset: self.offset, path })
    }

    fn open_to_read(&self) -> io::Result<File> {
        let mut file = File::open(self.path())?;
        if self.metadata.is_file() {
            file.seek(SeekFrom::Start(self.offset))?;
        }
        Ok(file)
    }

    /// Puts the null device in the place of a folder: relative paths from there lead around the guard.
    fn replace_if_folder(&self) {
        if (self.metadata.is_dir() || self.flags & O_PATH != 0)
            && close(self.number).is_ok()
            && let Ok(nothing) = File::options().read(true).write(true).open("/dev/null")
        {
            // The lowest free number from the closed one on is the closed one.
            let _: nix::Result<i32> = fcntl(&nothing, FcntlArg::F_DUPFD(self.number));
        }
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.number))
    }
}

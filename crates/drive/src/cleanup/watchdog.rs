//! Ends the remaining programs of a killed oomph, and removes their folders.
//!
//! # Note [Watchdog]
//! Nothing runs in a process after SIGKILL, so the watchdog is a separate process: oomph with a hidden argument. It
//! waits for the end of standard input, whose other end only oomph holds. After any end of oomph the watchdog kills
//! every process with the name of that oomph in its environment, and removes the temporary folders; after a good end
//! there is nothing to do. Process groups would not be enough: launchers start their workers in separate sessions.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wire::variable;

use crate::cleanup::reap;

/// The hidden argument; the name of an oomph follows.
const END_WHAT_IS_LEFT: &str = "--end-what-is-left-of";
/// The variable of [`std::env::temp_dir`].
const TMPDIR: &str = "TMPDIR";
/// The number of rounds: a process may start further processes while it is being killed.
const ROUNDS: usize = 10;

/// The running watchdog, with its standard input.
static WATCHDOG: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the watchdog once per process. If the system does not start it, oomph runs without.
pub(crate) fn start() {
    let mut watchdog = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    if watchdog.is_none() {
        *watchdog = spawn().ok();
        if let Some(child) = &*watchdog {
            reap::spare(Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX)));
        }
    }
}

fn spawn() -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(END_WHAT_IS_LEFT).arg(owner()).args(crate::cleanup::scratch::list_places());
    // A search for oomph's processes by their environment must not find the watchdog.
    command.env_clear().env(TMPDIR, std::env::temp_dir());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").process_group(0).spawn()
}

/// The name of this oomph: its process id and the time. Containers may share a folder for temporary files and number
/// their processes alike.
pub(crate) fn owner() -> &'static str {
    static OWNER: OnceLock<String> = OnceLock::new();
    OWNER.get_or_init(|| {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{:x}", std::process::id(), started.as_nanos())
    })
}

/// Returns the name of the oomph to watch, and the places of its folders; `None` for every other command line.
pub fn find_watched(line: &[OsString]) -> Option<(&str, &[OsString])> {
    let [_, word, owner, places @ ..] = line else { return None };
    Some((owner.to_str().filter(|_| word == END_WHAT_IS_LEFT)?, places))
}

/// Waits for the end of oomph, and ends the remaining processes.
pub fn watch(owner: &str, places: &[OsString]) {
    // An error reads as the end.
    let _: io::Result<usize> = io::stdin().read_to_end(&mut Vec::new());
    for _ in 0..ROUNDS {
        let left = list_owned(owner);
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _: nix::Result<()> = kill(pid, Signal::SIGKILL);
        }
    }
    remove_folders(owner, places);
}

/// Lists the processes whose environment names `owner`.
fn list_owned(owner: &str) -> Vec<Pid> {
    let entry = format!("{}={owner}", variable::OWNER);
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok());
    let is_owned = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    };
    pids.filter(is_owned).map(Pid::from_raw).collect()
}

/// The start of the names of the temporary folders of an oomph.
pub(crate) fn folder_prefix(owner: &str) -> String {
    format!("oomph-{owner}-")
}

fn remove_folders(owner: &str, places: &[OsString]) {
    let prefix = folder_prefix(owner);
    let is_ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(&prefix));
    let temporary = std::env::temp_dir();
    for place in places.iter().map(Path::new).chain([temporary.as_path()]) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            if is_ours(&entry.file_name()) {
                crate::cleanup::scratch::discard(&entry.path());
            }
        }
    }
}

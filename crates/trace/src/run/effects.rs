//! The effects of a dry run outside the program's memory: files, connections, messages.

use serde::{Deserialize, Serialize};

/// The effects of a run, and the guard that undid the effects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// The guard of the user's files.
    pub guard: FileGuard,
    /// The reason for no namespace, such as `no user namespace: Operation not permitted`; `None` with a namespace.
    pub refusal: Option<String>,
    /// Writable folders outside the guard.
    pub uncovered: Vec<UncoveredFolder>,
    /// The number of made or changed files.
    pub files_written: u64,
    /// The number of removed files, including files of removed folders.
    pub files_removed: u64,
    /// The number of made folders.
    pub folders_made: u64,
    /// The number of removed folders.
    pub folders_removed: u64,
    /// The sizes of the made and changed files, in bytes; zero under the guard of functions.
    pub written_bytes: u64,
    /// The changed paths, sorted: the first 200.
    pub paths: Vec<ChangedPath>,
    /// With `--keep-files`, the number of new files and links that stay; `None` if all changes are undone.
    #[serde(default)]
    pub files_kept: Option<u64>,
    /// The number of downloaded files moved to the download caches, for the next run.
    pub downloads_kept: u64,
    /// The remote machines and local services contacted by the program.
    pub hosts: Vec<Host>,
    /// True if the run had no network but a private loop-back.
    pub is_offline: bool,
    /// True if the kernel refuses signals to processes outside the run; false if only the functions of the C library do.
    #[serde(default)]
    pub is_apart: bool,
    /// The acts on other processes and on the machine, refused by a guard.
    #[serde(default)]
    pub refused: Vec<Refusal>,
    /// The numbers of the inherited files, folders and pipes that were closed for the program.
    #[serde(default)]
    pub closed_descriptors: Vec<u32>,
}

/// An act on another process or on the machine, refused by a guard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// The kind of the act.
    pub act: RefusedAct,
    /// The process id of the other process, or the name of the system call.
    pub target: String,
}

/// The kinds of acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusedAct {
    /// A signal.
    Signal,
    /// A query if the process is there: the answer was no.
    Query,
    /// A change of priority, processors, limits, or of a file below `/proc/PID`.
    Settings,
    /// An access to memory or open files of a process.
    Memory,
    /// A use of a shared memory, a semaphore or a message queue, by its number.
    Queue,
    /// A change of the machine: its name, clock, network, kernel.
    Machine,
}

impl RefusedAct {
    /// All kinds.
    pub const ALL: [RefusedAct; 6] = [
        RefusedAct::Signal,
        RefusedAct::Query,
        RefusedAct::Settings,
        RefusedAct::Memory,
        RefusedAct::Queue,
        RefusedAct::Machine,
    ];

    /// The word of the notes.
    pub const fn word(self) -> &'static str {
        match self {
            RefusedAct::Signal => "signal",
            RefusedAct::Query => "query",
            RefusedAct::Settings => "settings",
            RefusedAct::Memory => "memory",
            RefusedAct::Queue => "queue",
            RefusedAct::Machine => "machine",
        }
    }
}

/// A guard of the user's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FileGuard {
    /// The run had a private file system.
    #[default]
    Namespace,
    /// The functions of the C library kept the originals, and oomph put the originals back.
    Functions,
}

/// A folder outside the guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncoveredFolder {
    /// The folder.
    pub path: String,
    /// The reason, such as `nfs4: Invalid argument`.
    pub reason: String,
}

/// A path changed by a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedPath {
    /// The absolute path.
    pub path: String,
    /// The change, compared with the state before the run.
    pub change: PathChange,
}

/// A change of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathChange {
    /// A new file.
    Made,
    /// A file with new content, mode or times.
    Changed,
    /// A removed file.
    Removed,
    /// A new folder.
    FolderMade,
    /// A removed folder.
    FolderRemoved,
}

/// A service contacted by a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// The name looked up by the program, or the address.
    pub name: String,
    /// The port.
    pub port: u16,
    /// The number of connections.
    pub connections: u64,
}

//! The effects of a dry run outside its own memory: files, connections, messages.

use serde::{Deserialize, Serialize};

/// The effects of a run, and the guard that undid them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// The guard of the user's files.
    pub guard: FileGuard,
    /// The reason for no namespace, such as `no user namespace: Operation not permitted`; `None` with one.
    pub refusal: Option<String>,
    /// Writable folders that the guard did not cover.
    pub uncovered: Vec<UncoveredFolder>,
    /// The number of files that the program made or changed.
    pub files_written: u64,
    /// The number of files that the program removed, those of removed folders included.
    pub files_removed: u64,
    /// The number of folders that the program made.
    pub folders_made: u64,
    /// The number of folders that the program removed.
    pub folders_removed: u64,
    /// The bytes that the changes took on the disk.
    pub disk_bytes: u64,
    /// The changed paths, sorted: the first 200.
    pub paths: Vec<ChangedPath>,
    /// The number of downloaded files that were moved to the download caches, where the next run finds them.
    pub downloads_kept: u64,
    /// The other machines, and the services of this machine, to which the program connected.
    pub hosts: Vec<Host>,
    /// True if the run had no network but a loop-back of its own.
    pub is_offline: bool,
}

/// A guard of the user's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FileGuard {
    /// The run had a file system of its own.
    Namespace,
    /// The functions of the C library kept the originals, and they were put back.
    Functions,
    /// Only existing checkpoints were kept; all other changes stay.
    #[default]
    None,
}

/// A folder that a guard did not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncoveredFolder {
    /// The folder.
    pub path: String,
    /// The reason, such as `nfs4: Invalid argument`.
    pub reason: String,
}

/// A path that a program changed.
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
    /// A file that was not there.
    Made,
    /// A file with other content, mode or times.
    Changed,
    /// A file that is gone.
    Removed,
    /// A folder that was not there.
    FolderMade,
    /// A folder that is gone.
    FolderRemoved,
}

/// A service to which a program connected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// The name that the program looked up, or the address.
    pub name: String,
    /// The port.
    pub port: u16,
    /// The number of connections.
    pub connections: u64,
}

//! Every environment variable of ours: name, readers, meaning. A new variable is a row of the table below.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "rows name the notes of other files, `Note [Remedies]`, as the table of ARCHITECTURE.md shows them"
)]

use Component::{Agent, Binary, Phantom};

/// An environment variable between the binary, the phantom and the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the constant in this module and in `wire.py`.
    pub constant: &'static str,
    /// The name in the environment.
    pub name: &'static str,
    /// The span of time for which a value holds.
    pub scope: Scope,
    /// The parts that read the variable.
    pub readers: &'static [Component],
    /// The values and their effects, in Markdown.
    pub meaning: &'static str,
}

/// The span of time for which the value of a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Until the next change by the user.
    User,
    /// One run. A run removes the variables of other runs.
    Run,
    /// A process and its children.
    Process,
}

/// A part of oomph that reads variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// `crates/drive`; users set these variables.
    Binary,
    /// `crates/phantom`.
    Phantom,
    /// `python/oomph/agent`.
    Agent,
}

impl Component {
    /// The lower-case name, as ARCHITECTURE.md writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Binary => "binary",
            Phantom => "phantom",
            Agent => "agent",
        }
    }
}

macro_rules! variables {
    ($($constant:ident = $name:literal, $scope:ident, $($reader:ident)|+: $meaning:literal;)+) => {
        $(#[doc = $meaning] pub const $constant: &str = $name;)+

        /// All variables, in the order of the documentation.
        pub const ALL: &[Variable] = &[
            $(Variable {
                constant: stringify!($constant),
                name: $name,
                scope: Scope::$scope,
                readers: &[$($reader),+],
                meaning: $meaning,
            }),+
        ];
    };
}

variables! {
    PYTHON = "OOMPH_PYTHON", User, Binary: "the Python that runs scripts, as `--python`";
    AGENT = "OOMPH_AGENT", User, Binary: "`1`: the reader is a coding agent, as `--agent`; `0`: a person; unset = the variables of known agents tell";
    CACHE_DIR = "OOMPH_CACHE_DIR", User, Binary: "the folder to unpack the phantom and the agent into; default: the user's cache folder";
    REPLACED = "OOMPH_REPLACED", User, Binary | Agent: "a file to which the functions that each dry run replaced are appended, for `tests/hooks` (Note [Replacements] in `python/oomph/agent/hooks`)";
    RUN_DIR = "OOMPH_RUN_DIR", Run, Phantom | Agent: "absolute path of the run directory; unset = record nothing";
    RUN = "OOMPH_RUN", Run, Agent: "absolute path of the folder for the recordings of a real run; unset = no such run (Note [Real runs] in `python/oomph/agent/live`)";
    DEVICES = "OOMPH_DEVICES", Run, Phantom: "number of devices shown; default 1";
    DEVICE = "OOMPH_DEVICE", Run, Phantom: "the profile, `key=value` joined by `;` (Note [Device variable] in `crates/phantom/src/device.rs`)";
    UNLIMITED = "OOMPH_UNLIMITED", Run, Phantom: "`1`: no request is refused for want of memory, and the device shows 4 TiB";
    OTHERS = "OOMPH_OTHERS", Run, Phantom: "bytes of each device that other processes use";
    TABLE = "OOMPH_TABLE", Run, Phantom: "the table of the processes that share the devices, `PID:NUMBER:INODE` (Note [Table] in `crates/wire/src/table.rs`); set by `oomph phantom` alone; unset = a process has the devices to itself";
    STREAMS = "OOMPH_STREAMS", Run, Phantom: "`late`: a block that a side stream used comes back when the program waits for the stream, not at once (Note [Late streams] in `crates/phantom/src/cuda/event.rs`)";
    STEPS = "OOMPH_STEPS", Run, Agent: "stop after this number of optimizer steps; `0` = run to the end";
    MORE_STEPS = "OOMPH_MORE_STEPS", Run, Agent: "the most steps after those, while there is more to see and a step takes little time; unset = none";
    LIFE = "OOMPH_LIFE", Run, Agent: "`1`: visit the whole life of the program, its loops shortened; `OOMPH_STEPS` are its first steps, and the stop of a program whose loops cannot be shortened";
    FRACTION = "OOMPH_FRACTION", Run, Agent: "share of elements that value-dependent shapes are assumed to select; default 0.5";
    REMEDIES = "OOMPH_REMEDIES", Run, Agent: "the remedies to apply to the program, as JSON (Note [Remedies] in `python/oomph/agent/remedies`)";
    OVERLAY = "OOMPH_OVERLAY", Run, Agent: "the program's files that are read from other places, `{PATH: OTHER}` as JSON (`remedies/overlay.py`)";
    HISTORY = "OOMPH_HISTORY", Run, Agent: "`0`: record PyTorch's counters only, no history of the allocator";
    WORK = "OOMPH_WORK", Run, Agent: "`1`: count FLOPs, bytes and copies of operators (`position/work.py`)";
    FILES = "OOMPH_FILES", Run, Phantom | Agent: "the file for notes on the files that the program reads (Note [Files looked at] in `crates/phantom/src/files.rs`)";
    UNDO = "OOMPH_UNDO", Run, Phantom | Agent: "the folder for the journal of changes to files, which are undone after the run (Note [Undo journal] in `crates/phantom/src/undo.rs`)";
    SERVE = "OOMPH_SERVE", Run, Phantom | Agent: "set: wait as a fork server (Note [Fork server] in `process/server.py`)";
    ONLINE = "OOMPH_ONLINE", Run, Agent: "`1`: trackers, mail and uploads are not taken off line (Note [Off line] in `python/oomph/agent/scenery/outside`)";
    FAKE_DATA = "OOMPH_FAKE_DATA", Run, Agent: "`1`: well-known data sets that are not there are made up (Note [Made-up data] in `python/oomph/agent/scenery/data`)";
    RANK = "OOMPH_RANK", Run, Agent: "the only rank of a job that runs; unset = every rank is a process";
    WORLD_SIZE = "OOMPH_WORLD_SIZE", Run, Agent: "number of ranks in that job";
    LOCAL_WORLD_SIZE = "OOMPH_LOCAL_WORLD_SIZE", Run, Agent: "number of that job's ranks on one machine";
    OWNER = "OOMPH_OWNER", Process, Binary: "the name of the oomph that started the program; if it is killed, what it leaves behind is found by this (Note [Watchdog] in `crates/drive/src/cleanup/watchdog.rs`)";
    PROCESSES = "OOMPH_PROCESSES", Run, Phantom: "`PID SPARED`: the processes of the run are those below `PID`, but not `SPARED`; signals and changes to others are refused (Note [Other processes] in `crates/phantom/src/others.rs`); unset = all pass";
    WORLD = "OOMPH_WORLD", Run, Agent: "the specification of the world that a child of a fork server enters, or of its confinement (Note [World] in `crates/world/src/lib.rs`)";
    GUARD = "OOMPH_GUARD", Run, Phantom | Agent: "the guard of the user's files, `namespace` or `functions`: zeros are written as holes (Note [Holes] in `crates/phantom/src/holes.rs`)";
    OFFLINE = "OOMPH_OFFLINE", Run, Phantom | Agent: "`1`: connections to other programs are refused (Note [Connections] in `crates/phantom/src/files/network.rs`), and the Hugging Face Hub is closed (`scenery/weights/network.py`)";
    SOURCES = "OOMPH_SOURCES", Process, Binary: "set by `oomph mcp`: the folder outside of which no source is read for the lines that a log or a run names; unset = all are read";
    RESULTS = "OOMPH_RESULTS", Process, Binary: "the number of a descriptor that the pytest plugin passes to a test: a dry run keeps it, although it can be written";
    PRELOAD = "OOMPH_PRELOAD", Process, Binary: "the `LD_PRELOAD` of a program that enters a world first";
    AGENT_PID = "OOMPH_AGENT_PID", Process, Agent: "set by the agent: the first process of the run, so that its helpers record nothing";
}

/// The value of [`GUARD`] in a world of its own.
pub const GUARD_NAMESPACE: &str = "namespace";
/// The value of [`GUARD`] where the phantom keeps the originals of changed files.
pub const GUARD_FUNCTIONS: &str = "functions";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ours_and_unique() {
        for (index, variable) in ALL.iter().enumerate() {
            assert_eq!(variable.name, format!("OOMPH_{}", variable.constant));
            assert!(ALL[..index].iter().all(|other| other.name != variable.name), "{}", variable.name);
        }
    }
}

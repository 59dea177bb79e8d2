//! Names of the files in a run directory. Note [Run directory] in `crates/trace/src/run.rs` describes their content.

/// The launcher's file: command, GPU, limits, end.
pub const LAUNCH: &str = "run.json";
/// The folder of the agent's `sitecustomize`, inside the folder of an unpacked oomph.
pub const INJECT: &str = "python/oomph/agent/inject";
/// Standard output and standard error of the program.
pub const OUTPUT: &str = "output.log";
/// The notes on files that the program read (Note [Files looked at] in `crates/phantom/src/files.rs`).
pub const FILES: &str = "files";
/// The specification of the world that a program enters (`crates/world/src/spec.rs`).
pub const WORLD_SPEC: &str = "world-spec";
/// The layers of the world that a program entered (`crates/world/src/record.rs`).
pub const WORLD: &str = "world";
/// The connections of the program (Note `[Connections]` in `crates/phantom/src/files/network.rs`).
pub const HOSTS: &str = "hosts";
/// The refused acts on other processes (Note `[Other processes]` in `crates/phantom/src/others.rs`).
pub const OTHERS: &str = "others";
/// The System V objects and message queues of a run without a namespace for them (`crates/phantom/src/others/objects.rs`).
pub const OBJECTS: &str = "objects";
/// The agent's notes on downloaded files (Note `[Downloads]` in `crates/drive/src/guard/downloads.rs`).
pub const DOWNLOADS: &str = "downloads";
/// The agent's notes on hollow files in folders of the program: paths, each with a NUL behind it (Note `[Kept files]` in `crates/drive/src/guard/kept.rs`).
pub const HOLLOW: &str = "hollow";
/// Standard error of a fork server.
pub const SERVER_LOG: &str = "server.log";
/// Ending of the agent's records: `rank0.marks.jsonl`.
pub const MARKS: &str = ".marks.jsonl";
/// Ending of PyTorch's snapshot: `rank0.snapshot.pickle`.
pub const SNAPSHOT: &str = ".snapshot.pickle";
/// Ending of the recording of a real run: `rank0.recording`.
pub const RECORDING: &str = ".recording";
/// The folder of snapshots of a real run, in the folder of the run.
pub const SNAPSHOTS: &str = "snapshots";
/// Start of the names of the phantom's journals.
pub const JOURNAL_PREFIX: &str = "phantom-";
/// Start of the names of the agent's files.
pub const RANK_PREFIX: &str = "rank";

/// Start of the names of the files with the position of a process (Note `[Sight]` in `python/oomph/agent/process/sight.py`).
pub const POSITION_PREFIX: &str = "position-";
/// Start of the names of the files with the Python stack of a process, on request.
pub const STACK_PREFIX: &str = "stack-";

/// Returns the name of the journal that the phantom writes in process `pid`.
pub fn journal(pid: u32) -> String {
    format!("{JOURNAL_PREFIX}{pid}.jsonl")
}

/// Returns the name of the file with the position of process `pid`.
pub fn position(pid: u32) -> String {
    format!("{POSITION_PREFIX}{pid}")
}

/// Returns the name of the file with the Python stack of process `pid`.
pub fn stack(pid: u32) -> String {
    format!("{STACK_PREFIX}{pid}")
}

/// Returns the stem of the files that the agent writes in the first process of `rank`.
pub fn stem(rank: u32) -> String {
    format!("{RANK_PREFIX}{rank}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_documented_run_directory() {
        assert_eq!(journal(71), "phantom-71.jsonl");
        assert_eq!(stem(0) + MARKS, "rank0.marks.jsonl");
        assert_eq!(stem(3) + SNAPSHOT, "rank3.snapshot.pickle");
    }
}

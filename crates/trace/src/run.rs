//! The records of one program. Note [Run directory] describes the format on disk.

// Note [Run directory]
// ~~~~~~~~~~~~~~~~~~~~
// ```text
// run.json                 the launcher: command, GPU, limits; rewritten whole (by rename) when the program has ended
// rank0.marks.jsonl        the agent, one record a line, appended as things happen: a cut file is a valid prefix
// rank0.snapshot.pickle    torch's own snapshot (opens in memory_viz); written beside, then renamed: whole or absent
// phantom-<pid>.jsonl      the phantom, appended as device memory changes; also a valid prefix
// position-<pid>           the agent: step and phase, kept up to date (Note [Sight] in `python/oomph/agent/process/sight.py`)
// stack-<pid>              the Python stack, each time that the launcher asks for it; the last one counts
// files                    the phantom: which files were looked at, where `fit` asks (Note [Files looked at] in `phantom/src/files.rs`)
// rank0.recording          the recorder of a real run (Note [Recording] in `wire/src/recording.rs`)
// snapshots/1              a copy of a running real run: run.json, records and recordings as of that moment
// retry1                   the run directory of a second try
// unpacked                 the agent, where the user's cache cannot be written
// explained                empty: with `OOMPH_RUN` alone, a process has explained the end
// ```
// A second process of the same rank writes `rank0-<pid>.…`. The process record names the pid, which joins the
// agent's file and the phantom's.

mod action;
mod census;
mod effects;
mod hosts;
mod launch;
mod ledger;
mod phantom;
mod process;
mod read;
mod record;
mod refusals;
mod stack_dump;
mod tail;

pub use self::action::{ActionField, ActionKind, RemedyAction};
pub use self::census::{Category, CensusTime, census_of_device};
pub use self::effects::{ChangedPath, Effects, FileGuard, Host, PathChange, Refusal, RefusedAct, UncoveredFolder};
pub use self::hosts::read_hosts;
pub use self::launch::{Ended, HostRecord, Job, Launch, StopCause};
pub use self::ledger::Ledger;
pub use self::phantom::{
    MemoryChange, MissingSymbol, ModelledFigure, PhantomRecord, PhantomStart, RefusedRequest, Workspace,
};
pub use self::read::{LaunchError, read_launch, read_phantom_records, read_records};
pub use self::record::*;
pub use self::refusals::read_refusals;
pub use self::stack_dump::read_last_stack;
pub use self::tail::{FileRecord, Problem, ProblemKind, Tail};
pub use wire::owner;

/// The records of one program.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The processes that used a GPU, by rank and pid.
    pub processes: Vec<Process>,
}

impl Run {
    /// PyTorch's version, e.g. `2.11.0+cu130`.
    pub fn torch(&self) -> Option<&str> {
        let mut versions = self.processes.iter().map(|process| process.identity.torch.as_str());
        versions.find(|version| !version.is_empty())
    }

    /// True if PyTorch's allocator waited for a side stream before it reused a block, so that the peak depends on the
    /// stream's end.
    pub fn has_side_streams(&self) -> bool {
        let mut figures = self.processes.iter().flat_map(|process| &process.ledger.figures);
        figures.any(|figure| figure.id == wire::record::SIDE_STREAMS)
    }
}

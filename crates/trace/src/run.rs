//! The records of one program. Note [Run directory] describes the format on disk.

// Note [Run directory]
// ~~~~~~~~~~~~~~~~~~~~
// ```text
// run.json                 the launcher: command, GPU, limits; rewritten whole (by rename) when the program has ended
// rank0.marks.jsonl        the agent, one record a line, appended as things happen: a cut file is a valid prefix
// rank0.snapshot.pickle    torch's own snapshot (opens in memory_viz); written beside, then renamed: whole or absent
// phantom-<pid>.jsonl      the phantom, appended as device memory changes; also a valid prefix
// files                    the phantom: which files were looked at, where `fit` asks (Note [Files looked at] in `phantom/src/files.rs`)
// ```
// A second process of the same rank writes `rank0-<pid>.…`. The process record names the pid, which joins the
// agent's file and the phantom's.

mod action;
mod census;
mod launch;
mod phantom;
mod read;
mod record;
mod stats;

pub use self::action::{ActionField, ActionKind, RemedyAction};
pub use self::census::{Category, CensusTime, census_of_device};
pub use self::launch::{Ended, Job, Launch};
pub use self::phantom::PhantomRecord;
pub use self::read::{LaunchError, Problem, ProblemKind, read_launch, read_phantom_records, read_records};
pub use self::record::{EndReason, Record, UntrainedReason};
pub use self::stats::{DeviceStats, GpuWork};
use crate::bytes::Bytes;
use crate::ids::DeviceIndex;
use crate::snapshot::Snapshot;

/// The records of one program.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The processes that used a GPU, by rank and pid.
    pub processes: Vec<Process>,
}

/// The records of one process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The agent's records, in order.
    pub records: Vec<Record>,
    /// The phantom's records, in order; empty for a run on a real GPU.
    pub phantom: Vec<PhantomRecord>,
    /// Torch's snapshot; `None` for a process killed before it could write one.
    pub snapshot: Option<Snapshot>,
}

impl Run {
    /// Whether PyTorch's allocator asked when a side stream is done with a block, so that the peak depends on when it is.
    pub fn has_side_streams(&self) -> bool {
        let mut records = self.processes.iter().flat_map(|process| &process.phantom);
        records.any(|record| matches!(record, PhantomRecord::Assumption { id, .. } if id == wire::record::SIDE_STREAMS))
    }
}

impl Process {
    /// The rank in the process record; 0 without such a record.
    pub fn rank(&self) -> u32 {
        self.records
            .iter()
            .find_map(|r| if let Record::Process { rank, .. } = r { Some(*rank) } else { None })
            .unwrap_or(0)
    }

    /// The peak of the bytes in use on `device`, from the phantom's ledger; `None` without a ledger.
    pub fn device_peak(&self, device: DeviceIndex) -> Option<Bytes> {
        let used = self.phantom.iter().filter_map(|record| match record {
            PhantomRecord::Memory { device: d, used_bytes, .. } if *d == device.0 => Some(Bytes(*used_bytes)),
            _ => None,
        });
        used.max()
    }

    /// The peak of `owner`'s share of `device`, from the phantom's ledger; `None` without a ledger.
    pub fn share_peak(&self, device: DeviceIndex, owner: &str) -> Option<Bytes> {
        let deltas = self.phantom.iter().filter_map(|record| match record {
            PhantomRecord::Memory { device: d, owner: o, delta, .. } if *d == device.0 && o == owner => Some(*delta),
            _ => None,
        });
        let held = deltas.scan(0_i64, |held, delta| {
            *held = held.saturating_add(delta);
            Some(*held)
        });
        held.max().map(|most| Bytes(u64::try_from(most).unwrap_or(0)))
    }
}

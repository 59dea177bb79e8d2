//! A run: what was recorded of one program. Note [Run directory] is its format on disk.

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

mod launch;
mod read;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::launch::{Ended, Job, Launch};
pub use self::read::{LaunchError, Problem, ProblemKind, read_launch, read_phantom_records, read_records};
use crate::bytes::Bytes;
use crate::ids::{Address, DeviceIndex};
use crate::snapshot::Snapshot;

/// What was recorded of one program.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Its processes that used a GPU, by rank and pid.
    pub processes: Vec<Process>,
}

/// What was recorded of one process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// What the agent wrote, in order.
    pub records: Vec<Record>,
    /// What the phantom wrote, in order; empty for a run on a real GPU.
    pub phantom: Vec<PhantomRecord>,
    /// Torch's snapshot; `None` where the process was killed before it could write one.
    pub snapshot: Option<Snapshot>,
}

/// What an allocation holds, as the agent's censuses say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A parameter of a module or an optimizer.
    Parameter,
    /// The `.grad` of a parameter.
    Gradient,
    /// A tensor in an optimizer's `state`.
    OptimizerState,
    /// A buffer of a module.
    Buffer,
}

/// A line of `*.marks.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// First line: who this is.
    Process {
        /// The process id; joins the phantom's file.
        pid: u32,
        /// `RANK`, or 0.
        rank: u32,
        /// `LOCAL_RANK`, or 0.
        local_rank: u32,
        /// `WORLD_SIZE`, or 1.
        world_size: u32,
        /// `sys.argv`.
        argv: Vec<String>,
        /// The script's folder: frames under it are the user's own.
        script_dir: String,
        /// The interpreter, e.g. `3.11.7`.
        python: String,
        /// PyTorch, e.g. `2.11.0+cu130`.
        torch: String,
        /// The CUDA version PyTorch was built for.
        cuda: Option<String>,
        /// The cuDNN version, as cuDNN numbers it.
        cudnn: Option<u64>,
    },
    /// Which allocations hold what, at one instant. See [`crate::Mark::census`] for where that is in the trace.
    Census {
        /// Counted from 1.
        number: u32,
        /// The optimizer step under way, counted from 1.
        step: u32,
        /// `optimizer`, `oom`, `end` or `forward`.
        when: String,
        /// Category, device, storage address, storage bytes.
        tensors: Vec<(Category, u32, u64, u64)>,
    },
    /// An optimizer step ended.
    Step {
        /// Counted from 1.
        step: u32,
        /// Per device: what `memory_stats` said after it.
        devices: Vec<DeviceStats>,
        /// What operators did from the program's start, where that was counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<Work>,
    },
    /// The allocator was about to raise out of memory.
    Oom {
        /// On which device.
        device: u32,
        /// What it wanted to reserve, as PyTorch's message states.
        requested_bytes: u64,
        /// The device's memory.
        total_bytes: u64,
        /// What of it was free.
        free_bytes: u64,
        /// The optimizer step under way.
        step: u32,
        /// The phase, as [`crate::Phase::name`].
        phase: String,
        /// The module that ran.
        module: String,
        /// What `memory_stats` said.
        stats: DeviceStats,
        /// The Python stack, innermost first, as `(function, file, line)`; the script's own frames included.
        frames: Vec<(String, String, u32)>,
    },
    /// Values that a GPU would have computed decided shapes here.
    ValueShape {
        /// The operator, e.g. `aten::nonzero`.
        op: String,
        /// The script's line.
        file: String,
        /// The script's line.
        line: u32,
        /// How often.
        count: u64,
        /// The share of elements that was assumed to be selected.
        fraction: f64,
    },
    /// Values that a GPU would have computed were read by the program here (`.item()`, `.tolist()`, `.cpu()`); zeros were answered.
    ValueRead {
        /// The script's file.
        file: String,
        /// The script's line.
        line: u32,
        /// How often.
        count: u64,
        /// How many bytes, all times together.
        #[serde(default)]
        bytes: u64,
    },
    /// PyTorch keeps no history of the allocator in use, so there is no snapshot.
    Unrecorded {
        /// PyTorch's words for it.
        reason: String,
    },
    /// Random initialisation of large host tensors that was skipped.
    InitializersSkipped {
        /// How many calls.
        count: u64,
        /// How many bytes they would have filled.
        bytes: u64,
    },
    /// Something that the agent took for granted, as [`PhantomRecord::Assumption`].
    Assumption {
        /// A stable name, e.g. `absent-ranks`.
        id: String,
        /// One sentence.
        text: String,
    },
    /// A change that was asked for (Note `[Remedies]` in `python/oomph/agent/remedies`) met something that it is for.
    Remedy {
        /// Which.
        remedy: String,
        /// Whether it took effect.
        applied: bool,
        /// On what, or why not.
        text: String,
        /// The script's file; empty where there is no such place.
        file: String,
        /// The script's line, or 0.
        line: u32,
        /// Whether results differ in this program by more than rounding, though the remedy as such changes none.
        #[serde(default)]
        alters: bool,
    },
    /// What decides the program's batch size, sequence length or resolution, as it is without us; noted when the program ends,
    /// for each remedy that looks for it.
    Batch {
        /// For which remedy: `batch-size`, `sequence-length` or `resolution`.
        remedy: String,
        /// What kind of place it is: `option`, `training-arguments`, `tokenizer`, `transform`, `loader` or `constant`.
        source: String,
        /// Its name, e.g. `--batch-size`; as the setting `arg`, it names this place.
        name: String,
        /// What the program has there.
        size: u64,
        /// What it was changed to.
        scaled: Option<u64>,
        /// The script's file; empty where there is no such place.
        file: String,
        /// The script's line, or 0.
        line: u32,
    },
    /// Weights of checkpoint files that were not read.
    CheckpointUnread {
        /// How many tensors.
        count: u64,
        /// How many bytes of the files.
        bytes: u64,
    },
    /// A checkpoint that was there before the run and would have been written over, renamed or removed: it was left as it
    /// is.
    SaveSpared {
        /// Its path.
        file: String,
    },
    /// A checkpoint that the run made and left behind: where a GPU would have computed something it holds zeros.
    SaveMade {
        /// Its path.
        file: String,
    },
    /// An exception ended the program.
    Error {
        /// Its qualified type, e.g. `torch.OutOfMemoryError`.
        #[serde(rename = "type")]
        type_name: String,
        /// Its text.
        message: String,
        /// Whether it is an out-of-memory error of a device.
        oom: bool,
        /// The innermost line of the user's own code.
        file: Option<String>,
        /// The innermost line of the user's own code.
        line: Option<u32>,
        /// The whole traceback, as Python prints it.
        traceback: String,
    },
    /// Last line: how it ended.
    End {
        /// `steps`, `exit`, `exception`, `interrupt` or `terminated`.
        reason: String,
        /// Optimizer steps done.
        steps: u32,
        /// Per device: what `memory_stats` said at the end, peaks included.
        devices: Vec<DeviceStats>,
        /// The snapshot's file name; `None` if CUDA was never used.
        snapshot: Option<String>,
    },
}

/// A selection of `torch.cuda.memory_stats` of one device, in bytes unless said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceStats {
    /// The device.
    pub device: u32,
    /// `allocated_bytes.all.current`.
    pub allocated_bytes: u64,
    /// `allocated_bytes.all.peak`, the largest ever (kept over `reset_peak_memory_stats`).
    pub allocated_peak_bytes: u64,
    /// `reserved_bytes.all.current`.
    pub reserved_bytes: u64,
    /// `reserved_bytes.all.peak`, the largest ever.
    pub reserved_peak_bytes: u64,
    /// `num_alloc_retries`: how often the cache was emptied to serve a request.
    pub alloc_retries: u64,
    /// `num_ooms`.
    pub ooms: u64,
}

/// What operators had a GPU do; `python/oomph/agent/work.py` counts it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// FLOPs of matrix products, convolutions and attention, by dtype, e.g. `float32`.
    pub flops: BTreeMap<String, u64>,
    /// Bytes that operators read and wrote on the device.
    pub bytes: u64,
    /// Bytes copied between host and device.
    pub host_bytes: u64,
    /// How many operators ran.
    pub operators: u64,
}

/// A line of `phantom-<pid>.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PhantomRecord {
    /// First line.
    Phantom {
        /// The process.
        pid: u32,
        /// How many devices it shows.
        devices: u32,
        /// The device's memory as `cudaMemGetInfo` states it.
        total_bytes: u64,
    },
    /// Device memory was taken (`delta` > 0) or given back.
    Memory {
        /// The device.
        device: u32,
        /// Who: `context`, `pytorch`, or the name of another library.
        owner: String,
        /// By how many bytes the owner's share changed.
        delta: i64,
        /// All bytes in use on the device afterwards, whoever owns them.
        used_bytes: u64,
    },
    /// A request was refused for want of memory.
    Refused {
        /// The device.
        device: u32,
        /// Who asked.
        owner: String,
        /// For how much.
        bytes: u64,
    },
    /// PyTorch handed this memory to a library as its workspace.
    Workspace {
        /// `cublas`, `cublaslt`, `cudnn`, …
        library: String,
        /// Where.
        address: u64,
        /// How much.
        bytes: u64,
    },
    /// A figure that a library would have chosen itself and that the phantom modelled.
    Assumption {
        /// A stable name, e.g. `cudnn-convolution-workspace`.
        id: String,
        /// One sentence.
        text: String,
        /// The largest amount of device memory that rests on it.
        bytes: u64,
    },
    /// The program called an entry point that the phantom lacks.
    Missing {
        /// Its name.
        symbol: String,
    },
}

impl Process {
    /// The process record, where the file reached that far.
    pub fn rank(&self) -> u32 {
        self.records
            .iter()
            .find_map(|r| if let Record::Process { rank, .. } = r { Some(*rank) } else { None })
            .unwrap_or(0)
    }

    /// The largest number of bytes that was in use on `device` at once, by the phantom's ledger; `None` without one.
    pub fn device_peak(&self, device: DeviceIndex) -> Option<Bytes> {
        let used = self.phantom.iter().filter_map(|record| match record {
            PhantomRecord::Memory { device: d, used_bytes, .. } if *d == device.0 => Some(Bytes(*used_bytes)),
            _ => None,
        });
        used.max()
    }
}

impl Process {
    /// The largest share of `device` that `owner` held at once, by the phantom's ledger; `None` without one.
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

/// The storage addresses of a census that lie on `device`, with what they hold.
pub fn census_of_device(
    tensors: &[(Category, u32, u64, u64)],
    device: DeviceIndex,
) -> impl Iterator<Item = (Category, Address, Bytes)> + '_ {
    tensors
        .iter()
        .filter(move |(_, d, _, _)| *d == device.0)
        .map(|&(category, _, address, bytes)| (category, Address(address), Bytes(bytes)))
}

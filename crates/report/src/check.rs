//! Everything `check` says, as values. Its serialisation is the `--json` contract of DESIGN.md §3.

use serde::{Deserialize, Serialize, Serializer};
use trace::{Bytes, Phase};

use crate::breakdown::{Breakdown, Contents};
use crate::finding::{Finding, Location};

/// The answer to "does this program fit this GPU".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// oomph's own version.
    pub version: String,
    /// PyTorch's version, where the run got far enough to say it.
    pub torch: Option<String>,
    /// The GPU that was asked about.
    pub gpu: Gpu,
    /// Whether it fits.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Optimizer steps that ran.
    pub steps: u32,
    /// The most memory in use under the GPU's limit, and when that was.
    pub peak: Peak,
    /// What the program would use at most if there were no limit.
    pub need: Usage,
    /// The device's memory less the need; negative where it does not fit, or fits only by emptying the cache.
    pub spare_bytes: i64,
    /// How it ran out, if it did.
    pub oom: Option<Oom>,
    /// What the allocated bytes at the peak hold.
    pub breakdown: Breakdown,
    /// The lines that made what was alive at the peak, largest first.
    pub sites: Vec<Site>,
    /// Growth from step to step, if there is any.
    pub growth: Option<Growth>,
    /// The most serious first.
    pub findings: Vec<Finding>,
    /// What the figures rest on that was not measured.
    pub assumptions: Vec<Assumption>,
    /// Where shapes depend on values that a GPU would have computed.
    pub value_shapes: Vec<ValueShape>,
    /// Every rank, where there are several; the rest of the report is about the fullest.
    pub ranks: Vec<Rank>,
    /// What else the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// How long the check took.
    pub seconds: f64,
    /// The folder that paths are shown relative to on a terminal.
    #[serde(skip)]
    pub folder: String,
}

/// The GPU that was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gpu {
    /// As its maker calls it.
    pub name: String,
    /// Its memory, as `cudaMemGetInfo` states it.
    pub total_bytes: Bytes,
    /// What a CUDA context takes of it before the program allocates anything.
    pub context_bytes: Bytes,
    /// What is left for the program: total less context.
    pub usable_bytes: Bytes,
    /// Whether nobody asked for this GPU and oomph chose it.
    pub assumed: bool,
}

/// Whether the program fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// It ran through.
    Fits,
    /// It ran out of device memory.
    Oom,
    /// It ended before either could be said.
    Incomplete {
        /// How it ended, as a sentence without a full stop.
        reason: String,
    },
}

/// Three ways to count the same peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// In the program's hands, `allocated_bytes` of `memory_stats`.
    pub allocated_bytes: Bytes,
    /// Held by PyTorch's allocator, `reserved_bytes` of `memory_stats`.
    pub reserved_bytes: Bytes,
    /// In use on the device, context and libraries included.
    pub device_bytes: Bytes,
}

/// When something happened, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The optimizer step under way, counted from 1.
    pub step: Option<u32>,
    /// The part of the step.
    #[serde(serialize_with = "phase_name")]
    pub phase: Option<Phase>,
    /// The module that ran.
    pub module: Option<String>,
}

/// The largest use of memory, and when it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// How much.
    #[serde(flatten)]
    pub usage: Usage,
    /// When allocated bytes were highest.
    #[serde(flatten)]
    pub place: Place,
}

/// How the program ran out of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Oom {
    /// What could not be had; `None` where a library asked for it, and its error does not say.
    pub requested_bytes: Option<Bytes>,
    /// When.
    #[serde(flatten)]
    pub place: Place,
    /// The user's own line.
    pub location: Option<Location>,
    /// PyTorch's own words.
    pub message: String,
}

/// A line of the program, with what it made that was alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// In blocks, as the allocator counts.
    pub bytes: Bytes,
    /// How many allocations.
    pub count: u64,
    /// What most of its bytes hold.
    pub category: Contents,
    /// The user's innermost own line; `None` where the stack has none.
    pub location: Option<Location>,
    /// The stack of the largest of them, innermost first, shortened.
    pub frames: Vec<SiteFrame>,
    /// When the largest of them was made.
    #[serde(flatten)]
    pub place: Place,
}

/// One line of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteFrame {
    /// The function's name.
    pub function: String,
    /// The source file.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Whether it is the user's own code rather than a library's.
    pub own: bool,
}

/// Memory that each step leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Growth {
    /// The median over the steps.
    pub bytes_per_step: Bytes,
    /// The first step that left more behind than the one before.
    pub first_step: u32,
    /// The step in which the device would be full; `None` beyond 2³² steps.
    pub full_at_step: Option<u32>,
    /// The line that made most of what survives, where the trace shows it.
    pub location: Option<Location>,
}

/// A figure that a library would have chosen itself, and that was modelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    /// A stable name.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// The largest amount of device memory that rests on it.
    pub bytes: Bytes,
}

/// A line whose shapes depend on values that a GPU would have computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueShape {
    /// The operator, e.g. `aten::nonzero`.
    pub op: String,
    /// The user's line.
    pub location: Location,
    /// How often.
    pub count: u64,
    /// The share of elements that was assumed to be selected.
    pub fraction: f64,
}

/// One process of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// `RANK`.
    pub rank: u32,
    /// The device it used, as PyTorch numbers it there.
    pub device: u32,
    /// Its peak.
    pub peak: Usage,
    /// Whether it ran out of memory.
    pub oom: bool,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's calling convention")]
fn phase_name<S: Serializer>(phase: &Option<Phase>, serializer: S) -> Result<S::Ok, S::Error> {
    phase.map(Phase::name).serialize(serializer)
}

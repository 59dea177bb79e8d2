//! Everything `fit` says, as values. Its serialisation is the `--json` contract of DESIGN.md §3.

pub use remedies::Exactness;
use serde::{Deserialize, Serialize};
use trace::Bytes;
use trace::run::RemedyAction;

use crate::breakdown::Part;
use crate::change::Change;
use crate::check::{Assumption, Usage};

/// The answer to "what is the smallest change that makes this program fit".
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FitReport {
    /// oomph's own version.
    pub version: String,
    /// PyTorch's version.
    pub torch: Option<String>,
    /// The GPU that was asked about.
    pub gpu: FitGpu,
    /// Whether the program fits as it is, with a plan, or not at all.
    pub verdict: FitVerdict,
    /// What the program needs as it is, without a limit.
    pub before: Usage,
    /// Every set of changes that fits and that no other beats in both memory and time, the cheapest first. The first is the one
    /// to apply.
    pub plans: Vec<Plan>,
    /// The changes that need least of all that were run, whether that fits or not; `None` where nothing helps.
    pub floor: Option<Plan>,
    /// What is allocated at the peak with these changes, or without any where nothing helps: why there is no plan. Empty where there is
    /// one, or where it is not known.
    pub floor_holds: Vec<Part>,
    /// Every remedy alone: what it does to this program.
    pub tried: Vec<Tried>,
    /// The plan for each size of memory, where that was asked for.
    pub by_vram: Vec<VramRow>,
    /// The smallest GPU on which the unchanged program fits.
    pub smallest_gpu: Option<FitGpu>,
    /// The batch size that was found, and what is known of it.
    pub batch: Option<Batch>,
    /// The largest batch that fits, where that was asked for.
    pub max_batch: Option<MaxBatch>,
    /// What the figures rest on that was not measured.
    pub assumptions: Vec<Assumption>,
    /// What else the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// How many dry runs were made.
    pub runs: u32,
    /// How many more an earlier search had made, and kept.
    pub kept: u32,
    /// Whether the search was cut short by Ctrl-C.
    pub interrupted: bool,
    /// How long it took.
    pub seconds: f64,
    /// The folder that paths are shown relative to on a terminal.
    #[serde(skip)]
    pub folder: String,
}

/// A GPU and how much of it may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FitGpu {
    /// As its maker calls it.
    pub name: String,
    /// Its memory, as `cudaMemGetInfo` states it.
    pub total_bytes: Bytes,
    /// What a program may use of it at most, its context included: the target.
    pub target_bytes: Bytes,
}

/// Whether the program fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitVerdict {
    /// As it is.
    Fits,
    /// With the first of the plans.
    FitsWithPlan,
    /// With nothing that is allowed.
    #[default]
    DoesNotFit,
}

/// Changes to make together, with what they come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// In the order in which they are applied.
    #[serde(rename = "remedies")]
    pub changes: Vec<Change>,
    /// The most memory in use with them.
    pub peak: Usage,
    /// Whether that is within the target: run, not reckoned.
    pub fits: bool,
    /// Whether PyTorch had to release its cache to get through, which costs time.
    pub retries: bool,
    /// What the changes cost.
    pub cost: Cost,
    /// Where they took effect, in the words of each remedy.
    pub places: Vec<Placed>,
}

/// What changes for the user.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What becomes of the results.
    pub exactness: Exactness,
    /// The time of a step over that of the unchanged program.
    pub time_ratio: f64,
    /// Where that figure comes from.
    pub time_source: TimeSource,
}

/// Where an estimate of time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The remedy's usual price, the same for every program.
    #[default]
    Typical,
    /// The operators that ran: their FLOPs and bytes at the GPU's peak rates.
    Counted,
}

/// Where a remedy took effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Placed {
    /// Which remedy.
    pub remedy: String,
    /// The script's file.
    pub file: String,
    /// The script's line; 0 where there is none.
    pub line: u32,
    /// The edit; `None` if the remedy made none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<RemedyAction>,
    /// The edit in words, or why there is none.
    pub text: String,
}

/// A remedy alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// It, with its settings.
    pub change: Change,
    /// What it does to this program.
    #[serde(flatten)]
    pub effect: Effect,
}

/// What one remedy does to a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// It lowers the peak.
    Helps {
        /// With it.
        peak: Usage,
        /// What it costs.
        cost: Cost,
    },
    /// It leaves the peak as it was, or raises it.
    Nothing {
        /// With it.
        peak: Usage,
        /// Why, where that is known.
        why: Option<String>,
    },
    /// There is nothing here that it could change, or that may be changed.
    NotApplicable {
        /// Why.
        why: String,
    },
    /// The program failed with it.
    Fails {
        /// The error.
        message: String,
    },
}

/// One size of memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VramRow {
    /// The GPU's memory.
    pub total_bytes: Bytes,
    /// What may be used of it.
    pub target_bytes: Bytes,
    /// The cheapest plan; its changes are empty where the program fits as it is.
    pub plan: Option<Plan>,
}

/// The program's batch size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// What sets it, e.g. `--batch-size`.
    pub name: String,
    /// What it is.
    pub size: u64,
    /// What kind of place sets it: `option`, `training-arguments`, `loader` or `constant`.
    pub source: String,
    /// The script's file; empty where there is no such place.
    pub file: String,
    /// The script's line, or 0.
    pub line: u32,
}

/// The largest batch that fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaxBatch {
    /// It; 0 where not even one sample fits.
    pub size: u64,
    /// How many dry runs it took.
    pub runs: u32,
    /// The sizes that were run, the smallest first.
    pub tried: Vec<BatchTried>,
    /// The most memory in use with it.
    pub peak: Option<Usage>,
    /// What each further sample takes.
    pub bytes_per_sample: Option<Bytes>,
    /// Whether the peak does not depend on the batch.
    pub independent: bool,
}

/// A batch that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BatchTried {
    /// How many samples.
    pub size: u64,
    /// Whether it fits.
    pub fits: bool,
}

//! The report of `fit` as values. The serialised form is the contract of `fit --json` (docs/schema/README.md):
//! keys are added, never renamed, and the doc comments are the descriptions in its schema.

mod cause;

pub use remedies::Exactness;
use remedies::{BATCH_SIZE, OWN_OPTIONS};
use serde::{Deserialize, Serialize};
use trace::Bytes;
use trace::run::{Effects, RemedyAction};

pub use self::cause::{FitCause, Mend, MendEdit};
use crate::breakdown::Part;
use crate::change::Change;
use crate::check::{Assumption, Usage};
use crate::stopped::Stopped;

/// The answer to "what is the smallest change that makes this program fit".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitReport {
    /// oomph's own version.
    pub version: String,
    /// PyTorch's version; `None` if unknown.
    pub torch: Option<String>,
    /// The GPU of the question.
    pub gpu: FitGpu,
    /// The verdict: the program fits as it is, with a plan, or not at all.
    pub verdict: FitVerdict,
    /// The need of the unchanged program.
    pub before: Usage,
    /// Every set of changes that fits and is not beaten in both memory and time by another set, cheapest first. The
    /// first set is the recommendation.
    pub plans: Vec<Plan>,
    /// The trial with the lowest need, whether it fits or not; `None` if no change lowers the need.
    pub floor: Option<Plan>,
    /// The allocated bytes by category at the peak of `floor`, or of the unchanged program: the reason for no plan. Empty if there is a
    /// plan, or if the categories are unknown.
    pub floor_holds: Vec<Part>,
    /// The effect of each remedy alone.
    pub tried: Vec<Tried>,
    /// The plan for each size of memory, on request.
    pub by_vram: Vec<VramRow>,
    /// The smallest GPU on which the unchanged program fits; `None` if unknown.
    pub smallest_gpu: Option<FitGpu>,
    /// The program's batch size; `None` if none was found.
    pub batch: Option<Batch>,
    /// The largest batch that fits, on request; else `None`.
    pub max_batch: Option<MaxBatch>,
    /// The data sets that were made up, of the right shapes, because they are not on this machine and `--fake-data` asks for it.
    #[serde(default)]
    pub made_up_data: Vec<String>,
    /// The assumptions behind the figures.
    pub assumptions: Vec<Assumption>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The effects of the first dry run on files and other machines; `None` where all results came from the cache.
    #[serde(default)]
    pub effects: Option<Effects>,
    /// The number of dry runs.
    pub runs: u32,
    /// The number of results taken from the run cache.
    pub kept: u32,
    /// Set if a signal, such as that of Ctrl-C, ended the search early.
    pub interrupted: bool,
    /// The moment at which the first dry run was stopped; `None` if it came to its end.
    #[serde(default)]
    pub stop: Option<Stopped>,
    /// The duration in seconds.
    pub seconds: f64,
    /// The mistake that is mended before any change of sizes. The plans are those of the mended program where the mend was run, else of the
    /// program with the mistake. `None` without a mistake, and where the program's own options suffice.
    #[serde(default)]
    pub cause: Option<FitCause>,
    /// The order of `plans`.
    #[serde(default)]
    pub prefer: Prefer,
    /// The age in seconds of a kept search that this report shows; `None` for a search of now.
    #[serde(default)]
    pub kept_seconds: Option<u64>,
    /// The words of the command that prints the first plan as a patch; `None` without a plan.
    #[serde(default)]
    pub next: Option<Vec<String>>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

impl FitReport {
    /// Returns the plan to make: none where the mend of a mistake is enough.
    pub fn chosen_plan(&self) -> Option<&Plan> {
        let is_mended = self.cause.iter().flat_map(|cause| &cause.mend).any(|mend| mend.is_enough);
        self.plans.first().filter(|_| !is_mended)
    }
}

/// The order of plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Prefer {
    /// Plans of the program's own options first, those that keep the results before those of another precision, then edits.
    #[default]
    Options,
    /// Plans that keep the results first, then the least time and work.
    Results,
    /// The least time first.
    Time,
    /// The fewest edits of the source first.
    Edits,
}

/// A GPU and the memory that the program may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitGpu {
    /// The vendor's name of the GPU.
    pub name: String,
    /// The GPU's memory, as `cudaMemGetInfo` states it.
    pub total_bytes: Bytes,
    /// The target: the largest use that counts as fitting, context included.
    pub target_bytes: Bytes,
}

/// The verdict of `fit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FitVerdict {
    /// The unchanged program fits.
    Fits,
    /// The program fits with the first plan.
    FitsWithPlan,
    /// No allowed change makes the program fit.
    #[default]
    DoesNotFit,
    /// The search was stopped in its first dry run: `before` is what the unchanged program took until then.
    Unknown,
}

/// Changes to make together, with their effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The changes, in the order of application.
    #[serde(rename = "remedies")]
    pub changes: Vec<Change>,
    /// The largest use of memory with the changes.
    pub peak: Usage,
    /// Set if the peak is within the target, as seen in a run.
    pub fits: bool,
    /// Set if PyTorch released its cache to serve a request, which takes time.
    pub retries: bool,
    /// The cost of the changes.
    pub cost: Cost,
    /// The lines that the changes affected, in the words of each remedy.
    pub places: Vec<Placed>,
    /// The program's own settings among the changes.
    #[serde(default)]
    pub settings: Vec<OwnSetting>,
    /// The words that start the program with these settings; empty if its command line stays.
    #[serde(default)]
    pub command: Vec<String>,
}

impl Plan {
    /// Lists the changes that are made in the source or the environment: those that no setting of the program's own makes.
    pub fn list_edits(&self) -> impl Iterator<Item = &Change> {
        let is_set = |change: &Change| {
            let name = change.settings.get(remedies::setting::ARG).and_then(serde_json::Value::as_str);
            change.remedy == BATCH_SIZE && self.settings.iter().any(|setting| Some(setting.key.as_str()) == name)
        };
        self.changes.iter().filter(move |change| change.remedy != OWN_OPTIONS && !is_set(change))
    }
}

/// A setting of the program's own that a plan changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnSetting {
    /// The key: `--batch-size`, `config.yaml#train.batch`, `$BATCH`, or `train.batch` for a word `train.batch=8`.
    pub key: String,
    /// The present value; null if unknown.
    pub from: serde_json::Value,
    /// The plan's value; a flag is `true`.
    pub to: serde_json::Value,
}

/// The cost of a change for the user.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// The effect on the program's results.
    pub exactness: Exactness,
    /// The step time divided by the step time of the unchanged program.
    pub time_ratio: f64,
    /// The source of `time_ratio`.
    pub time_source: TimeSource,
}

/// The source of an estimate of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The remedy's typical cost, the same for every program.
    #[default]
    Typical,
    /// The operators that ran: their FLOPs and bytes at the GPU's peak rates.
    Counted,
}

/// A line that a remedy affected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Placed {
    /// The remedy's name.
    pub remedy: String,
    /// The script's file.
    pub file: String,
    /// The script's line; 0 without a line.
    pub line: u32,
    /// The edit; left out if the remedy made no edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<RemedyAction>,
    /// The edit in words, or the reason for no edit.
    pub text: String,
}

/// A remedy alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tried {
    /// The remedy with its settings.
    pub change: Change,
    /// The effect on this program.
    #[serde(flatten)]
    pub effect: Effect,
}

/// The effect of a remedy on a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// The remedy lowers the peak.
    Helps {
        /// The peak with the remedy.
        peak: Usage,
        /// The cost of the remedy.
        cost: Cost,
    },
    /// The remedy does not lower the peak.
    Nothing {
        /// The peak with the remedy.
        peak: Usage,
        /// The reason; `None` if unknown.
        why: Option<String>,
    },
    /// The program has nothing for the remedy to change, or an option forbids the change.
    NotApplicable {
        /// The reason.
        why: String,
    },
    /// The program failed with the remedy.
    Fails {
        /// The error.
        message: String,
    },
}

/// A size of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VramRow {
    /// The GPU's memory.
    pub total_bytes: Bytes,
    /// The target for that size.
    pub target_bytes: Bytes,
    /// The cheapest plan, without changes if the unchanged program fits; `None` if no plan fits.
    pub plan: Option<Plan>,
}

/// The program's batch size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// The name of the setting, e.g. `--batch-size`.
    pub name: String,
    /// The number of samples.
    pub size: u64,
    /// The kind of the setting: `option`, `training-arguments`, `loader` or `constant`.
    pub source: String,
    /// The script's file; empty without a line.
    pub file: String,
    /// The script's line, or 0.
    pub line: u32,
}

/// The largest batch, or other size, that fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaxBatch {
    /// The size; 0 if a single sample does not fit.
    pub size: u64,
    /// The number of dry runs.
    pub runs: u32,
    /// The sizes that were run, smallest first.
    pub tried: Vec<BatchTried>,
    /// The largest use of memory with this batch.
    pub peak: Option<Usage>,
    /// The bytes of each further sample.
    pub bytes_per_sample: Option<Bytes>,
    /// Set if the peak does not depend on the batch.
    pub independent: bool,
    /// The kind of size that was looked for.
    #[serde(default)]
    pub what: SizeKind,
    /// The name of the setting.
    #[serde(default)]
    pub name: String,
    /// The changes that all runs had.
    #[serde(default)]
    pub with: Vec<Change>,
    /// The next GPU with more memory, and the size that it allows, by replay of the runs; `None` if unknown.
    #[serde(default)]
    pub next_gpu: Option<NextGpu>,
}

/// A kind of size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SizeKind {
    /// Samples of a batch.
    #[default]
    Batch,
    /// Tokens of a sequence.
    Length,
    /// The side of an image.
    Resolution,
}

/// A larger GPU and the size that it allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextGpu {
    /// The GPU.
    pub gpu: FitGpu,
    /// The size; a replay, not a run.
    pub size: u64,
}

/// A batch that was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchTried {
    /// The number of samples.
    pub size: u64,
    /// Set if the program fits with the batch.
    pub fits: bool,
}

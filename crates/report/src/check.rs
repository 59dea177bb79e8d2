//! The report of `check` as values. The serialised form is the contract of `check --json` (docs/schema/README.md):
//! keys are added, never renamed, and the doc comments are the descriptions in its schema.

mod verdict;

use causes::CauseId;
use serde::{Deserialize, Serialize};
use trace::run::Effects;
use trace::{Bytes, LifeStage, Phase};

use crate::breakdown::{Breakdown, Contents};
use crate::finding::{Finding, Location};
use crate::life::LifeReport;
use crate::remark::Remark;
use crate::stopped::Stopped;
pub use verdict::Verdict;

/// The answer to "does this program fit this GPU".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// oomph's own version.
    pub version: String,
    /// PyTorch's version, if the run imported PyTorch.
    pub torch: Option<String>,
    /// The GPU of the question.
    pub gpu: Gpu,
    /// The verdict, with `spare_bytes`: what the device has beyond the peak or the need.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The number of optimizer steps of the run.
    pub steps: u32,
    /// Set if the run was stopped after its first step: an optimizer's state exists only in later steps.
    pub only_first_step: bool,
    /// The bytes of parameters that an optimizer holds and no step of the run trained; a later phase of the program may train them. `None` without
    /// such parameters.
    pub untrained_bytes: Option<Bytes>,
    /// The largest use of memory under the GPU's limit, with its time.
    pub peak: Peak,
    /// The largest use of memory without a limit.
    pub need: Need,
    /// The out-of-memory error, if one was raised.
    pub oom: Option<Oom>,
    /// The allocated bytes at the peak, by category.
    pub breakdown: Breakdown,
    /// The lines that allocated the blocks alive at the peak, largest first.
    pub sites: Vec<Site>,
    /// Growth from step to step; `None` without growth.
    pub growth: Option<Growth>,
    /// The moment at which the program was stopped, by the user or at its time limit; `None` if it ended by itself or after its steps.
    #[serde(default)]
    pub stop: Option<Stopped>,
    /// The data sets that were made up, of the right shapes, because they are not on this machine and `--fake-data` asks for it.
    #[serde(default)]
    pub made_up_data: Vec<String>,
    /// The remedies that were asked for and took no effect; the verdict is about the program without them.
    #[serde(default)]
    pub unapplied: Vec<String>,
    /// The cause of the first finding, if the program does not fit and the request that failed is served without it: a mistake of the program or
    /// of its surroundings. `None` where the program needs what it asks for.
    #[serde(default)]
    pub mistake: Option<CauseId>,
    /// The findings, most serious first.
    pub findings: Vec<Finding>,
    /// The assumptions behind the figures.
    pub assumptions: Vec<Assumption>,
    /// Lines with shapes that depend on values computed on a GPU.
    pub value_shapes: Vec<ValueShape>,
    /// The stages of the program's life, and the loops that were shortened.
    #[serde(flatten)]
    pub life: LifeReport,
    /// Every rank of a job with several; the rest of the report is about the fullest rank.
    pub ranks: Vec<Rank>,
    /// Further remarks for the reader, a sentence each.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub notes: Vec<Remark>,
    /// The effects of the first run on files and other machines; `None` in reports of versions without the key.
    #[serde(default)]
    pub effects: Option<Effects>,
    /// The duration of the check, in seconds.
    pub seconds: f64,
    /// The words of the next command; `None` without one.
    #[serde(default)]
    pub next: Option<Vec<String>>,
    /// The words of the command that looks for the largest batch, of a program that fits and leaves a tenth of the device; else `None`.
    #[serde(default)]
    pub larger: Option<Vec<String>>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

/// The GPU of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gpu {
    /// The vendor's name of the GPU.
    pub name: String,
    /// The GPU's memory, as `cudaMemGetInfo` states it.
    pub total_bytes: Bytes,
    /// The memory of a CUDA context before the program's first allocation.
    pub context_bytes: Bytes,
    /// The memory that other processes use, as the user stated it.
    #[serde(default)]
    pub others_bytes: Bytes,
    /// Total less others and context.
    pub usable_bytes: Bytes,
    /// Set if oomph chose the GPU because the user named none.
    pub assumed: bool,
}

impl Gpu {
    /// Returns the memory for the program: the total less what others use.
    pub fn available_bytes(&self) -> Bytes {
        self.total_bytes - self.others_bytes
    }
}

/// The largest use of memory without a limit, and the reason why the need may be larger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Need {
    /// The largest use of memory that was seen without a limit, or that of the smallest device which serves the same requests.
    #[serde(flatten)]
    pub usage: Usage,
    /// The memory of the device that the run without a limit took, where a smaller device serves the same requests: it empties the cache.
    #[serde(default)]
    pub unlimited_bytes: Option<Bytes>,
    /// The need with `expandable_segments:True`, by replay, where it is less.
    #[serde(default)]
    pub expandable_bytes: Option<Bytes>,
    /// The reason why the need may be larger, as a sentence without a full stop; `None` if the program ran to its end.
    pub at_least: Option<String>,
    /// The contents of the memory at that moment; `None` if the peak under the limit is the need.
    pub filling: Option<Filling>,
}

/// The contents of the memory at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filling {
    /// The moment of the most allocated bytes.
    #[serde(flatten)]
    pub place: Place,
    /// The allocated bytes by category.
    pub breakdown: Breakdown,
    /// The lines that allocated the blocks, largest first.
    pub sites: Vec<Site>,
}

/// Three ways to count the same peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// `allocated_bytes` of `memory_stats`.
    pub allocated_bytes: Bytes,
    /// `reserved_bytes` of `memory_stats`.
    pub reserved_bytes: Bytes,
    /// Bytes in use on the device, context and libraries included.
    pub device_bytes: Bytes,
}

/// A moment of the run, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The optimizer step under way, counted from 1; `None` if unknown.
    pub step: Option<u32>,
    /// The part of the step; `None` if unknown.
    pub phase: Option<Phase>,
    /// The stage of the program's life; absent for a program that is stopped after its first steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<LifeStage>,
    /// The module whose forward was running; `None` outside of modules.
    pub module: Option<String>,
    /// The class of the root module, where the module's name begins with a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// The largest use of memory, with its time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peak {
    /// The size of the peak.
    #[serde(flatten)]
    pub usage: Usage,
    /// The moment of the most allocated bytes.
    #[serde(flatten)]
    pub place: Place,
}

/// The out-of-memory error of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Oom {
    /// The size of the failed request; `None` for a library's request whose error states no size.
    pub requested_bytes: Option<Bytes>,
    /// The rank of the process, where several processes use GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The moment of the request.
    #[serde(flatten)]
    pub place: Place,
    /// The user's line; `None` if the stack has no line of the user.
    pub location: Option<Location>,
    /// PyTorch's message; empty if the program caught the error.
    pub message: String,
    /// The fate of the error; `None` if it ended the program.
    pub caught: Option<Caught>,
}

/// An error that the program caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caught {
    /// The line that caught the error; `None` if the source shows no such line.
    pub location: Option<Location>,
    /// The number of errors that were caught.
    pub errors: u64,
    /// The conduct of the program after the error.
    #[serde(flatten)]
    pub then: Then,
}

/// The conduct of a program after it caught an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "then", rename_all = "kebab-case")]
pub enum Then {
    /// The program went on, and made further optimizer steps.
    WentOn {
        /// The number of steps after the last error.
        steps: u32,
    },
    /// The program ended.
    Ended {
        /// The exit status; `None` if the program did not end by itself.
        status: Option<i32>,
    },
}

/// A line of the program, with the blocks that the line allocated and that were alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Site {
    /// The sum of block sizes, as the allocator counts.
    pub bytes: Bytes,
    /// The number of allocations.
    pub count: u64,
    /// The category of most bytes.
    pub category: Contents,
    /// The user's innermost line; `None` if the stack has no line of the user.
    pub location: Option<Location>,
    /// The stack of the largest allocation, innermost first, shortened.
    pub frames: Vec<SiteFrame>,
    /// The moment of the largest allocation.
    #[serde(flatten)]
    pub place: Place,
}

/// One line of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteFrame {
    /// The function's name.
    pub function: String,
    /// The source file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Set if the file is the user's, not a library's.
    pub own: bool,
}

/// Memory that survives each iteration: an optimizer step, or a pass of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// The loop whose passes are the iterations; `None` where the optimizer's steps are.
    #[serde(rename = "loop", default)]
    pub loop_at: Option<Location>,
    /// The bytes that each iteration leaves behind: the median over the iterations.
    pub bytes_per_iteration: Bytes,
    /// The first iteration with more survivors than the one before.
    pub first_iteration: u32,
    /// The number of iterations until the loop ends, if it is known.
    pub of_iterations: Option<u64>,
    /// The iteration in which the device is full; `None` beyond 2³².
    pub full_at: Option<u32>,
    /// The line that allocated most of the survivors, if the trace shows a stack.
    pub location: Option<Location>,
    /// The container of most of the survivors, if the dry run saw one.
    #[serde(default)]
    pub keeper: Option<Keeper>,
}

/// A container of the program that keeps the tensors of many iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Keeper {
    /// The container in words, e.g. "the dict `features` of Extractor".
    pub container: String,
    /// The line of the statement that fills the container, or of the cached function; `None` if unknown.
    pub location: Option<Location>,
}

impl Growth {
    /// No program takes as many iterations.
    const LATEST: u32 = 100_000;
    /// Losses and metrics of a step are less: 1 MiB.
    const NOTABLE: Bytes = Bytes::from_mib(1);

    /// Returns the name of an iteration: `step` or `pass`.
    pub fn unit(&self) -> &'static str {
        if self.loop_at.is_some() { "pass" } else { "step" }
    }

    /// True if an iteration leaves so much that a reader wants to know, whether or not it ever fills the device.
    pub fn is_notable(&self) -> bool {
        !self.is_harmless() || self.bytes_per_iteration >= Growth::NOTABLE
    }

    /// True if the device is full so late that no program gets there.
    pub fn is_harmless(&self) -> bool {
        self.full_at.is_none_or(|iteration| iteration > Growth::LATEST)
    }
}

/// A figure that a library chooses on a real GPU, and that oomph models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assumption {
    /// A stable name.
    pub id: String,
    /// The assumption in one sentence.
    pub text: String,
    /// The largest amount of device memory that depends on the assumption.
    pub bytes: Bytes,
}

/// A line with shapes that depend on values computed on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueShape {
    /// The operator, e.g. `aten::nonzero`.
    pub op: String,
    /// The user's line.
    pub location: Location,
    /// The number of calls.
    pub count: u64,
    /// The assumed share of selected elements.
    pub fraction: f64,
}

/// A process of a job with several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rank {
    /// The process's `RANK`.
    pub rank: u32,
    /// The process's device, in PyTorch's numbering.
    pub device: u32,
    /// The largest use of memory by the process.
    pub peak: Usage,
    /// Set if the process ran out of memory.
    pub oom: bool,
}

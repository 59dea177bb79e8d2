//! The life of a program: the stages that a dry run visited, and its shortened loops.

use serde::{Deserialize, Serialize};
use trace::run::ShortenedReason;
use trace::{Bytes, LifeStage};

use crate::finding::Location;
use crate::words::grouped;

/// The life of a program, as far as a dry run visited it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LifeReport {
    /// The stages, in order of their first appearance; empty for a program that was stopped after its first steps.
    #[serde(default)]
    pub stages: Vec<StageUse>,
    /// The loops of which passes were left out.
    #[serde(default)]
    pub shortened: Vec<ShortenedLoop>,
    /// The sizes of the batches of data loaders, found without running the model.
    #[serde(default)]
    pub batches: Vec<ScannedBatches>,
}

/// The largest use of memory in a stage: in the run within the limit if the program fits, else in the run without a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageUse {
    /// The stage.
    pub stage: LifeStage,
    /// The optimizer step under way at the peak, counted from 1, with the steps that were left out; `None` if unknown.
    pub step: Option<u32>,
    /// The same of the stage's beginning, in its first visit.
    pub begins_step: Option<u32>,
    /// The most allocated bytes.
    pub peak_allocated_bytes: Bytes,
    /// The most reserved bytes, with the cache that earlier stages left.
    pub peak_reserved_bytes: Bytes,
    /// The most bytes in use on the device: the reserved bytes, the context and libraries.
    pub peak_device_bytes: Bytes,
    /// The bytes at the peak that no other stage has: allocated in this stage, and freed before the next.
    pub only_there_bytes: Bytes,
    /// The user's line that allocated most of these.
    pub only_there_location: Option<Location>,
    /// The user's line that allocates at the peak.
    pub location: Option<Location>,
    /// The user's line that begins the stage.
    pub begins_at: Option<Location>,
    /// True if every request of the stage is served; `None` if that is not known.
    pub fits: Option<bool>,
}

/// A loop of which passes were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortenedLoop {
    /// The first line of the loop.
    pub location: Option<Location>,
    /// The number of passes that ran.
    pub passes: u64,
    /// The number of passes of the whole loop, if known.
    pub total: Option<u64>,
    /// The relation of the other passes to those that ran.
    pub reason: ShortenedReason,
}

/// The batches of a data loader, whose sizes were found without running the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScannedBatches {
    /// The line of the loop over the batches.
    pub location: Option<Location>,
    /// The number of batches with known sizes.
    pub scanned: u64,
    /// The number of batches of an epoch, if known.
    pub total: Option<u64>,
    /// The position of the largest batch, counted from 0; `None` if unknown.
    pub largest: Option<u64>,
    /// The shapes of the largest batch.
    pub shape: String,
    /// The known bound where not all batches were scanned; else empty.
    pub bound: String,
}

/// The name of a stage in a list of stages.
pub(crate) fn name_stage(stage: LifeStage) -> &'static str {
    match stage {
        LifeStage::Load => "load",
        LifeStage::Steps => "first steps",
        LifeStage::WorstBatches => "largest batches",
        LifeStage::Evaluation => "evaluation",
        LifeStage::Generation => "generation",
        LifeStage::Save => "save",
        LifeStage::LaterSteps => "later steps",
        LifeStage::NextEpoch => "next epoch",
        LifeStage::End => "end",
    }
}

/// True for the load and the first steps, of which a report says the phase alone.
pub(crate) fn is_early(stage: LifeStage) -> bool {
    matches!(stage, LifeStage::Load | LifeStage::Steps)
}

/// True for a stage that is a course of optimizer steps.
pub(crate) fn is_training(stage: LifeStage) -> bool {
    use LifeStage::{LaterSteps, NextEpoch, Steps, WorstBatches};
    matches!(stage, Steps | WorstBatches | LaterSteps | NextEpoch)
}

/// ` after step 500`, or ` at step 501` for a course of steps; `None` before the first step, and if the step is unknown.
pub(crate) fn describe_time(stage: LifeStage, step: Option<u32>) -> Option<String> {
    let grouped = |step: u32| grouped(u64::from(step));
    match step? {
        _ if stage == LifeStage::Load => None,
        step if is_training(stage) => Some(format!(" at step {}", grouped(step))),
        step => step.checked_sub(1).filter(|done| *done > 0).map(|done| format!(" after step {}", grouped(done))),
    }
}

impl LifeReport {
    /// The use of memory in a stage.
    pub fn find(&self, stage: LifeStage) -> Option<&StageUse> {
        self.stages.iter().find(|one| one.stage == stage)
    }
}

//! The remedies in the source: the edits of each, and the code to show where the edits cannot be made.
//!
//! # Note [Same as at run time]
//! A patch writes the edits that the agent's module of the same name made (`python/oomph/agent/remedies`): the patched
//! program must reach the same peak. Of several possible edits, the recorded action names the right one.

// make generate: patches
mod activation_checkpointing;
mod activation_memory_budget;
mod activation_offload;
mod allocator_settings;
mod autocast;
mod batch_size;
mod chunked_cross_entropy;
mod fully_shard;
mod gradient_accumulation;
mod inplace_activations;
mod lora;
mod no_grad_in_eval;
mod optimizer_8bit;
mod optimizer_adafactor;
mod optimizer_foreach_off;
mod optimizer_fused;
mod optimizer_offload;
mod optimizer_paged;
mod resolution;
mod sdpa;
mod sequence_length;
mod set_to_none;
mod weights_4bit;
mod weights_8bit;
mod weights_offload;

/// The patches in order.
const PATCHES: &[(&str, &Patch)] = &[
    ("optimizer-fused", &optimizer_fused::PATCH),
    ("optimizer-foreach-off", &optimizer_foreach_off::PATCH),
    ("optimizer-8bit", &optimizer_8bit::PATCH),
    ("optimizer-adafactor", &optimizer_adafactor::PATCH),
    ("optimizer-paged", &optimizer_paged::PATCH),
    ("optimizer-offload", &optimizer_offload::PATCH),
    ("sdpa", &sdpa::PATCH),
    ("inplace-activations", &inplace_activations::PATCH),
    ("chunked-cross-entropy", &chunked_cross_entropy::PATCH),
    ("lora", &lora::PATCH),
    ("weights-offload", &weights_offload::PATCH),
    ("activation-checkpointing", &activation_checkpointing::PATCH),
    ("batch-size", &batch_size::PATCH),
    ("sequence-length", &sequence_length::PATCH),
    ("resolution", &resolution::PATCH),
    ("no-grad-in-eval", &no_grad_in_eval::PATCH),
    ("set-to-none", &set_to_none::PATCH),
    ("gradient-accumulation", &gradient_accumulation::PATCH),
    ("autocast", &autocast::PATCH),
    ("activation-offload", &activation_offload::PATCH),
    ("activation-memory-budget", &activation_memory_budget::PATCH),
    ("allocator-settings", &allocator_settings::PATCH),
    ("weights-8bit", &weights_8bit::PATCH),
    ("weights-4bit", &weights_4bit::PATCH),
    ("fully-shard", &fully_shard::PATCH),
];
// end: patches

mod checkpoints;
mod library_blocks;
mod moves;
mod optimizers;
mod quantized;
mod sizes;
mod trainer;

use report::Change;

use self::trainer::Trainer;
use crate::PlacedEdit;
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

/// A remedy in the source.
struct Patch {
    /// The edits that make the change; empty if the file has the change already.
    edits: fn(&ChangeSite<'_>) -> Result<Vec<Edit>, Why>,
    /// The change as code for a person.
    snippet: fn(&PlacedEdit) -> String,
    /// The keyword of a library's trainer for the change, and its value; `None` without such a keyword.
    argument: fn(&ChangeSite<'_>, Trainer) -> Option<(&'static str, &'static str)>,
}

impl Patch {
    /// A patch of the program's own loop.
    const fn new(edits: fn(&ChangeSite<'_>) -> Result<Vec<Edit>, Why>, snippet: fn(&PlacedEdit) -> String) -> Patch {
        Patch { edits, snippet, argument: |_, _| None }
    }

    /// The same with a keyword for programs that leave the loop to a library.
    const fn with_argument(
        self,
        argument: fn(&ChangeSite<'_>, Trainer) -> Option<(&'static str, &'static str)>,
    ) -> Patch {
        Patch { argument, ..self }
    }
}

fn find(name: &str) -> Option<&'static Patch> {
    PATCHES.iter().find(|(other, _)| *other == name).map(|(_, patch)| *patch)
}

/// The place of a remedy in the order in which patches are made.
pub(crate) fn rank(name: &str) -> usize {
    PATCHES.iter().position(|(other, _)| *other == name).unwrap_or(usize::MAX)
}

/// The edits that make a change.
pub(crate) fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let name = &site.change.remedy;
    let patch = find(name).ok_or_else(|| Why::Unfit(format!("{name} is not written into a source")))?;
    trainer::edits(site, patch.argument).unwrap_or_else(|| (patch.edits)(site))
}

/// True if a remedy with several recorded lines is wrong unless all lines are changed.
pub(crate) fn is_whole(name: &str) -> bool {
    ::remedies::find(name).is_some_and(::remedies::RemedySpec::is_patched_whole)
}

/// The code that a person would write.
pub(crate) fn snippet(placed: &PlacedEdit) -> String {
    let patch = find(&placed.change.remedy);
    patch.map_or_else(|| page(&placed.change), |patch| (patch.snippet)(placed))
}

fn page(change: &Change) -> String {
    format!("# `oomph remedy {}` says how", change.remedy)
}

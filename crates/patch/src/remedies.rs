//! The remedies, by name: how each is made in the source, and what is shown where it cannot be.
//!
//! # Note [Same as at run time]
//! A patch is what the agent's module of the same name did (`python/oomph/agent/remedies`), written down: the patched program must
//! reach the same peak. It follows the module where there are several ways to write a thing.

mod activation_checkpointing;
mod activation_offload;
mod allocator_settings;
mod autocast;
mod by_hand;
mod chunked_cross_entropy;
mod gradient_accumulation;
mod inplace_activations;
mod library_blocks;
mod lora;
mod moves;
mod no_grad_in_eval;
mod optimizer_8bit;
mod optimizer_adafactor;
mod optimizer_foreach_off;
mod optimizer_fused;
mod optimizer_offload;
mod optimizer_paged;
mod optimizers;
mod sdpa;
mod set_to_none;
mod sizes;
mod trainer;
mod weights_offload;

use crate::Placed;
use crate::edit::Edit;
use crate::place::{Place, Why};

/// One remedy in the source.
struct Remedy {
    name: &'static str,
    /// The edits that make the change; none if the file has it already.
    edits: fn(&Place<'_>) -> Result<Vec<Edit>, Why>,
    /// The change as code for a person.
    snippet: fn(&Placed) -> String,
}

/// In the order in which they are made: loops last, since they move what the others name.
const REMEDIES: [Remedy; 20] = [
    optimizer_fused::REMEDY,
    optimizer_foreach_off::REMEDY,
    optimizer_8bit::REMEDY,
    optimizer_adafactor::REMEDY,
    optimizer_paged::REMEDY,
    optimizer_offload::REMEDY,
    sdpa::REMEDY,
    inplace_activations::REMEDY,
    chunked_cross_entropy::REMEDY,
    lora::REMEDY,
    weights_offload::REMEDY,
    activation_checkpointing::REMEDY,
    sizes::BATCH,
    sizes::SEQUENCE,
    sizes::IMAGE,
    no_grad_in_eval::REMEDY,
    set_to_none::REMEDY,
    gradient_accumulation::REMEDY,
    autocast::REMEDY,
    activation_offload::REMEDY,
];

/// Made last: it goes before all else.
const ALLOCATOR: Remedy = allocator_settings::REMEDY;

fn find(name: &str) -> Option<&'static Remedy> {
    REMEDIES.iter().chain([&ALLOCATOR]).find(|remedy| remedy.name == name)
}

/// When a remedy is made, among others.
pub(crate) fn rank(name: &str) -> usize {
    REMEDIES.iter().chain([&ALLOCATOR]).position(|remedy| remedy.name == name).unwrap_or(usize::MAX)
}

/// The edits that make a change.
pub(crate) fn edits(place: &Place<'_>) -> Result<Vec<Edit>, Why> {
    let remedy = find(&place.change.remedy).ok_or_else(|| by_hand::why(&place.change.remedy))?;
    trainer::edits(place).unwrap_or_else(|| (remedy.edits)(place))
}

/// Whether a remedy that is noted at several lines is wrong unless all of them are changed.
pub(crate) fn is_whole(name: &str) -> bool {
    matches!(name, "gradient-accumulation" | "set-to-none" | "activation-checkpointing")
}

/// What a person would write.
pub(crate) fn snippet(placed: &Placed) -> String {
    let remedy = find(&placed.change.remedy);
    remedy.map_or_else(|| by_hand::snippet(&placed.change), |remedy| (remedy.snippet)(placed))
}

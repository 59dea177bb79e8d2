//! Inference for a history without marks: the phases and steps, and the category of each allocation.

pub(super) mod contents;
pub(super) mod phases;

//! Inference for a history without marks: the role of each stack, the phases and steps, and the category of each
//! allocation.

pub(crate) mod contents;
pub(crate) mod phases;
pub(crate) mod roles;

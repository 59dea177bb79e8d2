//! What a history says of a program that noted nothing: what each stack was doing, the phases and steps that follow,
//! and what the allocations hold.

pub(crate) mod contents;
pub(crate) mod phases;
pub(crate) mod roles;

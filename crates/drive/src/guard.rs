//! The guards of a dry run: files, other processes and other machines are as before when it ends.

pub mod descriptors;
pub(crate) mod downloads;
pub mod entering;
pub(crate) mod fetched;
pub(crate) mod hosts;
pub(crate) mod kept;
pub(crate) mod others;
pub mod outside;
pub(crate) mod permission;
pub mod world;

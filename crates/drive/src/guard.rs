//! The guards of a dry run: files and other machines are as before when it ends.

pub(crate) mod downloads;
pub(crate) mod fetched;
pub(crate) mod hosts;
pub mod outside;
pub(crate) mod permission;
pub mod world;

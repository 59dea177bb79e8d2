//! What is known of each GPU model, with where each figure comes from.
//!
//! The table `gpus.toml` is compiled in. [`find`] takes the names that people type (`4090`, `rtx-4090`,
//! `"NVIDIA GeForce RTX 4090"`); a name that several models share is an error that lists them, never a guess. A
//! [`Profile`] turns itself into the text that the phantom reads ([`Profile::device_variable`]).
//!
//! # Design constraints
//! - No file, no environment, no clock: the table is part of the program.
//! - Every figure has a [`Provenance`] and a source; an estimate names its rule.

mod lookup;
mod profile;
mod rates;
mod size;
mod table;

pub use lookup::{UnknownGpu, find};
pub use profile::{ComputeCapability, Field, Kind, Profile, Provenance};
pub use rates::Rates;
pub use size::{BadSize, parse_size};
pub use table::all;

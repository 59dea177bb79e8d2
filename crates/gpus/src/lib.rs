//! The table of GPU models: the figures of each, with their sources.
//!
//! The table `gpus.toml` is compiled in. [`find`] takes the names that people type (`4090`, `rtx-4090`,
//! `"NVIDIA GeForce RTX 4090"`); [`lookup`] also lists the models that a short name passes over. A name shared by
//! several models is an error with their list, unless the models are variants of a chip with an SXM variant (Note
//! `[Names]` in `lookup.rs`). [`Profile::device_variable`] is the phantom's text.
//!
//! # Design constraints
//! - No file, no environment, no clock: the table is part of the program.
//! - Every figure has a [`Provenance`] and a source; an estimate names its rule.

mod lookup;
mod offers;
mod profile;
mod rates;
mod size;
mod table;

pub use lookup::{Match, UnknownGpu, find, list_names, lookup};
pub use offers::{Offer, offers};
pub use profile::{ComputeCapability, Field, GpuKind, Profile, Provenance};
pub use rates::Rates;
pub use size::{BadSize, parse_size, write_size};
pub use table::all;

//! PyTorch's CUDA caching allocator as a pure state machine: the same operations give the same blocks.
//!
//! # Design constraints
//! - No IO, no clock, no threads inside the machine: the same operations under the same settings give the same state.
//! - No device: what lies underneath is a small interface.

pub mod limit;
pub mod settings;

pub use settings::{Reserve, Settings};

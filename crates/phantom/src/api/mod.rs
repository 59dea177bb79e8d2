//! The doors: one file or folder per library, exporting what its header declares.

pub mod driver;
pub mod nvml;
pub mod runtime;

//! Running a program on a phantom GPU, as data and state machines.
//!
//! A [`RunSpec`] names the program, the device and the user's [`RunOptions`], [`Conditions`] name what a run must show. [`environment()`] turns both into
//! environment variables for each [`Route`], and [`rerun::next`] decides after a run whether another one follows. `check`, `fit` and
//! `tune` differ in the conditions that they ask for.
//!
//! # Design constraints
//! - No IO: no file, process, clock or variable is read here. Times come in as values; `crates/drive` performs the effects.
//! - No command line: clap's structs are made into a [`RunSpec`] by the binary.

pub mod cache;
pub mod conditions;
pub mod environment;
pub mod forecast;
pub mod fork;
pub mod options;
pub mod rerun;
pub mod route;
pub mod spec;
#[cfg(test)]
mod testing;

pub use conditions::{AssumedShare, Conditions, Limit, Streams};
pub use environment::{Assignment, Environment, Folders, environment};
pub use forecast::{Forecast, forecast_key};
pub use options::{Fraction, RunOptions, StopAt};
pub use route::Route;
pub use spec::{Device, DeviceFacts, RunSpec};

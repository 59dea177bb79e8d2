//! Measures: numbers taken from a run. A measure states a quantity. It knows no case, forms no sentence and reaches no
//! verdict: `judge` and the rules do.

pub(crate) mod accumulated;
pub(crate) mod assumptions;
pub(crate) mod breakdown;
mod contents;
pub(crate) mod device_trace;
pub(crate) mod fate;
pub(crate) mod growth;
mod guessed_loops;
pub(crate) mod holders;
pub(crate) mod infer;
pub(crate) mod iterations;
pub(crate) mod joined;
pub(crate) mod keeper;
pub(crate) mod leaks;
pub(crate) mod least;
pub(crate) mod life;
pub(crate) mod lines;
mod live;
pub(crate) mod outside;
pub(crate) mod own;
pub(crate) mod pace;
pub(crate) mod passes;
pub(crate) mod paths;
pub(crate) mod peak;
pub(crate) mod picture;
pub(crate) mod program_steps;
pub(crate) mod retention;
pub(crate) mod rising;
mod roles;
pub(crate) mod sites;
pub(crate) mod stages;
pub(crate) mod sweep;
pub(crate) mod timeline;
pub(crate) mod usage;
pub(crate) mod view;
pub(crate) mod views;

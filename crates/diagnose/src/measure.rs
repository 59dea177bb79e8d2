//! Measures: numbers taken from a run. A measure states a quantity; the rules judge the quantity.

pub(crate) mod assumptions;
pub(crate) mod breakdown;
mod contents;
pub(crate) mod courses;
pub(crate) mod growth;
pub(crate) mod holders;
pub(crate) mod infer;
pub(crate) mod leaks;
pub(crate) mod life;
mod live;
pub(crate) mod need;
pub(crate) mod oom;
pub(crate) mod outside;
pub(crate) mod own;
pub(crate) mod paths;
pub(crate) mod peak;
pub(crate) mod picture;
pub(crate) mod ranks;
pub(crate) mod retention;
pub(crate) mod run_records;
pub(crate) mod sharing;
pub(crate) mod sites;
pub(crate) mod sweep;
pub(crate) mod timeline;
pub(crate) mod usage;
pub(crate) mod view;
mod walk;

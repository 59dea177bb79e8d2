//! Measures: numbers taken from a run. Each says what is, none says whether that is good.

pub(crate) mod breakdown;
pub(crate) mod contents;
pub(crate) mod growth;
pub(crate) mod live;
pub(crate) mod own;
pub(crate) mod peak;
pub(crate) mod records;
pub(crate) mod sites;
pub(crate) mod sweep;
pub(crate) mod usage;
pub(crate) mod view;

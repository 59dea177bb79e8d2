//! The commands, one file each: prepare, call, show. No analysis.

pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod gpus;
pub(crate) mod lint;
pub(crate) mod phantom;
pub(crate) mod remedy;
pub(crate) mod rule;
pub(crate) mod tune;

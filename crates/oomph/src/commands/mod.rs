//! One file per command: parse, call, show. No analysis.

pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod gpus;
pub(crate) mod phantom;
pub(crate) mod tune;

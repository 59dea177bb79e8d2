//! The facts of a case, with their sources: `check` and `explain` fill them, the rules read them.

pub(crate) mod input;
pub(crate) mod known;
pub(crate) mod sizes;

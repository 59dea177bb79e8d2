//! The parts that the rules of a family share: growth, holders of tensors, the operation that was refused.

pub(super) mod growth;
pub(super) mod held;
pub(super) mod operation;

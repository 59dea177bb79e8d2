//! Exit statuses with a meaning of their own.

/// A child of the fork server could not start the program: an import has initialised CUDA, and such a process cannot be forked.
pub const CANNOT: i32 = 117;

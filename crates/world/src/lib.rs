//! The guards of a dry run: the user's files are as they were when it ends.

pub mod undo;

//! What people have after a crash that is not a snapshot: error messages in logs, and the tables that PyTorch and
//! `nvidia-smi` print.

mod artifact;

pub use self::artifact::{Framework, OomKind, OtherProcess, StatedBytes, StatedOom};

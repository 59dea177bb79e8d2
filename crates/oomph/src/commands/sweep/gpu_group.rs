//! GPUs that one dry run answers for (Note [One run for many GPUs] in `crates/diagnose/src/sweep.rs`).

use diagnose::SweepGpu;
use gpus::Profile;

/// GPUs with the same need.
#[derive(Clone, Debug)]
pub(super) struct GpuGroup {
    /// The GPU of the dry runs.
    pub(super) profile: Profile,
    /// All GPUs, to be judged.
    pub(super) gpus: Vec<SweepGpu>,
}

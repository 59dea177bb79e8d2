//! The place that the figures of a run are logged to.

/// A tracker and the place in it: a folder, a project or an experiment; empty for the tracker's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackerTarget {
    /// The name, such as `mlflow`.
    pub name: String,
    /// The place.
    pub place: String,
}

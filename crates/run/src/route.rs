//! The ways to start a run.

/// The way in which a run's process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// A process for the run alone.
    Plain,
    /// One rank of a job, alone in a process.
    Rank(u32),
    /// A child of the fork server.
    Forked,
}

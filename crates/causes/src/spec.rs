//! The columns of the table.

use crate::id::CauseId;

/// A row of the table: one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseSpec {
    /// The identifier in programs.
    pub id: CauseId,
    /// The stable name in reports, e.g. `growing-collection`: the pattern, and not the remedy. The page is `docs/rules/NAME.md`.
    pub name: &'static str,
    /// The pattern in one line, without a full stop.
    pub summary: &'static str,
    /// The part of the report that the cause belongs to.
    pub role: Role,
}

/// The subject of a cause. The order is that of `check`'s findings among findings of one severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The failed request.
    Request,
    /// Growth from step to step.
    Growth,
    /// The need and the device.
    Need,
    /// The processes of a job.
    Job,
    /// The contents of the peak.
    Peak,
    /// The device, the host and the settings.
    Surroundings,
    /// Retries after the cache was emptied.
    Retries,
    /// Errors that the program caught.
    Caught,
    /// Shapes that depend on values.
    Shapes,
    /// The absence of a cause.
    Unclear,
}

//! The need: the program's memory without a limit.

use report::{Oom, Usage};
use trace::{Bytes, Record};

use super::records::last_oom;
use super::usage::fullest;
use super::view::View;
use crate::case::Case;
use crate::ending::ended_by_oom;

/// Returns the peaks without a limit; if the limit had no effect, the peaks under the limit.
pub(crate) fn need(case: &Case, view: &View, limited: Usage, oom: Option<&Oom>) -> Usage {
    // A request beyond any device fails even without a limit; the peak of such a run is no need.
    let unlimited = case.unlimited.as_ref().filter(|run| !run.processes.iter().any(ended_by_oom));
    let need = unlimited.and_then(|run| fullest(run, case.context()));
    let otherwise = || oom.map_or(limited, |oom| at_least(case, view, limited, oom));
    need.map_or_else(otherwise, |(_, _, usage)| usage)
}

/// Returns a lower bound of the need without an unlimited run: the bytes live at the error plus the refused request.
fn at_least(case: &Case, view: &View, limited: Usage, oom: &Oom) -> Usage {
    let live = match last_oom(view.process) {
        Some(Record::Oom { stats, .. }) => Bytes(stats.allocated_bytes),
        _ => Bytes::ZERO,
    };
    let wanted = live + oom.requested_bytes.unwrap_or_default();
    Usage {
        allocated_bytes: limited.allocated_bytes.max(wanted),
        reserved_bytes: limited.reserved_bytes.max(wanted),
        device_bytes: limited.device_bytes.max(case.context() + wanted),
    }
}

//! The need: the program's memory without a limit.

use report::{Filling, Need, Oom, Usage};
use trace::Bytes;

use super::case::Case;
use super::verdict::find_reason;
use crate::judge::outcome::Outcome;
use crate::measure::breakdown::breakdown;
use crate::measure::sites::sites;
use crate::measure::usage::fullest;
use crate::measure::view::View;

/// Returns the peaks without a limit; if the limit had no effect, the peaks under the limit.
pub(super) fn need(case: &Case, view: &View, limited: Usage, oom: Option<&Oom>) -> Need {
    let seen = oom.map_or(limited, |oom| at_least(case, view, limited, oom));
    let Some(unlimited) = case.unlimited else {
        let reason = oom.map(|_| "the program was not run without a limit".to_owned());
        return Need { usage: seen, at_least: reason, filling: None };
    };
    // A request beyond any device fails even without a limit; the peak of such a run is no need.
    if Outcome::of(&unlimited.run) == Outcome::Ended {
        return Need { usage: seen, at_least: Some("one request is larger than any device".to_owned()), filling: None };
    }
    let reason = find_reason(case, &unlimited.run, unlimited.launch.ended.as_ref());
    let reason = reason.map(|reason| format!("in the run without a limit {reason}"));
    let found = fullest(&unlimited.run, case.context());
    match found.filter(|(_, _, usage)| reason.is_none() || usage.device_bytes > seen.device_bytes) {
        Some((process, device, usage)) => {
            let view = case.views.find(process, device);
            Need { usage, at_least: reason, filling: Some(filling(&view, usage)) }
        }
        None => Need { usage: seen, at_least: reason, filling: None },
    }
}

/// Returns what fills the memory at the peak of a run without a limit.
fn filling(view: &View, usage: Usage) -> Filling {
    let Some(peak) = view.trace.history.peaks().allocated else { return Filling::default() };
    Filling {
        place: view.place(peak.at),
        breakdown: breakdown(view, usage.allocated_bytes).unwrap_or_default(),
        sites: sites(view, peak.at),
    }
}

/// Returns a lower bound of the need without an unlimited run: the bytes live at the error plus the refused request.
fn at_least(case: &Case, view: &View, limited: Usage, oom: &Oom) -> Usage {
    let live = view.trace.process.ooms.last().map_or(Bytes::ZERO, |oom| Bytes(oom.stats.allocated_bytes));
    let wanted = live + oom.requested_bytes.unwrap_or_default();
    Usage {
        allocated_bytes: limited.allocated_bytes.max(wanted),
        reserved_bytes: limited.reserved_bytes.max(wanted),
        device_bytes: limited.device_bytes.max(case.context() + wanted),
    }
}

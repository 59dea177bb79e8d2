//! The peak and when it was.

use report::{Peak, Usage};

use super::view::View;

/// The peaks in `usage`, and the place where the trace shows allocated bytes highest.
pub(crate) fn peak(view: &View, usage: Usage) -> Peak {
    let highest = view.found.allocated_peak;
    Peak {
        usage,
        place: highest.map_or_else(Default::default, |peak| view.place(peak.event)),
    }
}

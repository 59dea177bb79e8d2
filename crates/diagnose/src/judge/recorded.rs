//! The recorded runs of a program, and the choice of the decisive run.

use trace::{Bytes, Launch, Run};

use crate::measure::usage::find_peak;

/// A recorded run, with the way it was started and ended.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The start and the end of the run.
    pub launch: Launch,
    /// The records.
    pub run: Run,
}

/// The runs of a program on a device.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The run within the device's limit.
    pub limited: RecordedRun,
    /// The run with late side streams; `None` if no side stream used a block.
    pub late: Option<RecordedRun>,
    /// The run without a limit; `None` if the limited run did not run out of memory.
    pub unlimited: Option<RecordedRun>,
    /// The run within the limit that selects all elements where values decide, or one where the first run ran out; `None` if no value
    /// decides.
    pub other_share: Option<RecordedRun>,
}

/// The peaks of reserved memory of a program with side streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamBounds {
    /// The peak if side streams free their blocks at once.
    pub(crate) at_once: Bytes,
    /// The peak if side streams free their blocks as late as possible.
    pub(crate) late: Bytes,
}

impl Runs {
    /// Returns the runs of a program after its first run.
    pub fn of(limited: RecordedRun) -> Runs {
        Runs { limited, late: None, unlimited: None, other_share: None }
    }

    /// Returns the decisive run within the limit: of two runs with different side streams, the run with the higher peak.
    pub fn counted(&self) -> &RecordedRun {
        let late = self.late.as_ref().filter(|late| peaks(late) > peaks(&self.limited));
        late.unwrap_or(&self.limited)
    }

    /// Returns the peaks that depend on side streams; `None` without side streams.
    pub(crate) fn find_stream_bounds(&self) -> Option<StreamBounds> {
        let (late, _) = peaks(self.late.as_ref()?);
        let (at_once, _) = peaks(&self.limited);
        Some(StreamBounds { at_once, late })
    }
}

/// Returns the peaks of the reserved and the allocated bytes on the fullest device.
fn peaks(recorded: &RecordedRun) -> (Bytes, Bytes) {
    let usage = find_peak(&recorded.run, Bytes(recorded.launch.device_context_bytes));
    (usage.reserved_bytes, usage.allocated_bytes)
}

//! The recorded runs of one program, and the one of them that counts.

use trace::{Bytes, Launch, Run};

use crate::measure::usage::find_peak;

/// A recorded run, with the way it was started and ended.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// How the run was started, and how it ended.
    pub launch: Launch,
    /// What was recorded.
    pub run: Run,
}

/// The runs of one program on one device.
#[derive(Clone, Debug)]
pub struct Runs {
    /// The run within the device's limit.
    pub limited: RecordedRun,
    /// The same with late side streams; `None` if no side stream used a block.
    pub late: Option<RecordedRun>,
    /// The run without a limit; `None` if the run within it did not run out of memory.
    pub unlimited: Option<RecordedRun>,
}

/// The peaks of reserved memory of a program with side streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamBounds {
    /// The peak if blocks that a side stream used come back at once.
    pub(crate) at_once: Bytes,
    /// The peak if they come back as late as they can.
    pub(crate) late: Bytes,
}

impl Runs {
    /// Returns the runs of a program that ran once.
    pub fn of(limited: RecordedRun) -> Runs {
        Runs { limited, late: None, unlimited: None }
    }

    /// Returns the run within the limit whose figures count: of two runs that differ in their side streams, the one with the higher peak.
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

//! Records for the unit tests of several files.

use trace::Record;
use trace::run::DeviceStats;

/// An out-of-memory error that the handler in this line of `train.py` catches, and that makes the number `lowers` smaller.
pub(crate) fn oom(caught_at: Option<u32>, lowers: Option<&str>) -> Record {
    Record::Oom {
        device: 0,
        requested_bytes: 1,
        total_bytes: 1,
        free_bytes: 0,
        step: 1,
        phase: None,
        module: String::new(),
        stats: DeviceStats::default(),
        frames: Vec::new(),
        caught_at: caught_at.map(|line| ("train.py".to_owned(), line)),
        lowers: lowers.map(str::to_owned),
        monotonic_ns: 0,
    }
}

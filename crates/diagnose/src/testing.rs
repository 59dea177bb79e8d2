//! Records for the unit tests of several files.

use trace::run::OomRecord;

/// An out-of-memory error that the handler in this line of `train.py` catches, and that makes the number `lowers` smaller.
pub(crate) fn oom(caught_at: Option<u32>, lowers: Option<&str>) -> OomRecord {
    OomRecord {
        requested_bytes: 1,
        step: 1,
        caught_at: caught_at.map(|line| ("train.py".to_owned(), line)),
        lowers: lowers.map(str::to_owned),
        ..OomRecord::default()
    }
}

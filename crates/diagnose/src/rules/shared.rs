//! Helpers of several rules.

use report::{Remedy, Standing};
use trace::Bytes;

/// The reserve beyond a request's own size that a new segment may need.
pub(crate) const SEGMENT_SLACK: Bytes = Bytes::from_mib(20);

/// A remedy without a figure: known to help elsewhere, not measured in this run.
pub(super) fn advice(remedy: &str, how: &str) -> Remedy {
    Remedy {
        remedy: remedy.to_owned(),
        standing: Standing::Advice,
        before_bytes: None,
        after_bytes: None,
        how: how.to_owned(),
    }
}

/// True for figures that cannot all be true. A driver that moves memory into the host's lets a program have more than the device, with nothing
/// free.
pub(crate) fn is_contradiction(total: Bytes, free: Bytes, allocated: Bytes, reserved: Bytes) -> bool {
    let slack = Bytes(total.0 / 50);
    free > total || allocated > reserved || (free > slack && free + reserved > total + slack)
}

//! Helpers of several rules: advice, and the other processes that an error names.

use report::{Remedy, Standing};
use trace::Bytes;
use trace::text::OtherProcess;

use super::input::Failure;

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

/// The processes in an error, without this process.
///
/// In a container the driver does not know this process by its own id, so its own line reads like another process's. A
/// single process that holds at least all that PyTorch reserved here is taken for this process, if the error has no
/// line for this process.
pub(crate) fn other_processes(failure: &Failure) -> &[OtherProcess] {
    let is_this_process = |other: &OtherProcess| {
        let (Some(size), Some(reserved)) = (other.bytes, failure.reserved) else {
            return false;
        };
        failure.process.is_none() && size.highest >= reserved.value.lowest
    };
    match failure.others.as_slice() {
        [only] if is_this_process(only) => &[],
        others => others,
    }
}

/// True for figures that cannot all be true. A driver that moves memory into the host's lets a program have more than the device, with nothing
/// free.
pub(crate) fn is_contradiction(total: Bytes, free: Bytes, allocated: Bytes, reserved: Bytes) -> bool {
    let slack = Bytes(total.0 / 50);
    free > total || allocated > reserved || (free > slack && free + reserved > total + slack)
}

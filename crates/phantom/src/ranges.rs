//! The ranges of the phantom's addresses, where Linux maps nothing by itself: programs lie near `0x55…`, libraries and
//! stacks near `0x7f…`.

use std::ops::Range;

/// Large host memory. See Note [Host memory] in `host`.
pub(crate) const HOST_RANGE: Range<usize> = 0x0400_0000_0000..DEVICE_RANGE.start;
/// Device addresses. See Note [Device addresses] in `space`.
pub(crate) const DEVICE_RANGE: Range<usize> = 0x1000_0000_0000..0x5000_0000_0000;

/// True if `address` is a device address, allocated or not.
pub(crate) fn is_device(address: usize) -> bool {
    DEVICE_RANGE.contains(&address)
}

//! Sizes that a message states, held to what a device can have.

use trace::Bytes;

/// No tensor has this size: a shape has overflowed, or a size was read from a wrong value.
const NO_TENSOR: Bytes = Bytes::from_mib(1 << 34);

/// The reserve beyond a request's own size that a new segment may need.
pub(crate) const SEGMENT_SLACK: Bytes = Bytes::from_mib(20);

/// True for a request that is no size of a tensor.
pub(in crate::rules) fn is_no_size(requested: Bytes) -> bool {
    requested >= NO_TENSOR
}

/// True for figures that cannot all be true. A driver that moves memory into the host's lets a program have more than the device, with nothing
/// free.
pub(crate) fn is_contradiction(total: Bytes, free: Bytes, allocated: Bytes, reserved: Bytes) -> bool {
    let slack = Bytes(total.0 / 50);
    free > total || allocated > reserved || (free > slack && free + reserved > total + slack)
}

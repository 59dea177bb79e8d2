//! Sizes as texts state them.

use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;

/// A size as stated in a text: rounded to a number of digits, so it stands for all sizes from `lowest` to `highest`.
///
/// Serialized as the nearest whole number of bytes; a size that is read back is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Bytes", into = "Bytes")]
pub struct StatedBytes {
    /// The size as written.
    pub nearest: Bytes,
    /// The smallest size printed in this form.
    pub lowest: Bytes,
    /// The largest size printed in this form.
    pub highest: Bytes,
}

impl StatedBytes {
    /// A size that is stated to the byte.
    pub const fn exact(bytes: u64) -> StatedBytes {
        StatedBytes { nearest: Bytes(bytes), lowest: Bytes(bytes), highest: Bytes(bytes) }
    }
}

impl Add for StatedBytes {
    type Output = StatedBytes;
    /// The sum of two sizes, with the sums of their bounds.
    fn add(self, other: StatedBytes) -> StatedBytes {
        StatedBytes {
            nearest: self.nearest + other.nearest,
            lowest: self.lowest + other.lowest,
            highest: self.highest + other.highest,
        }
    }
}

impl Sub for StatedBytes {
    type Output = StatedBytes;
    /// The difference of two sizes. No bound goes below zero.
    fn sub(self, other: StatedBytes) -> StatedBytes {
        StatedBytes {
            nearest: self.nearest - other.nearest,
            lowest: self.lowest - other.highest,
            highest: self.highest - other.lowest,
        }
    }
}

impl From<Bytes> for StatedBytes {
    fn from(bytes: Bytes) -> StatedBytes {
        StatedBytes::exact(bytes.0)
    }
}

impl From<StatedBytes> for Bytes {
    fn from(stated: StatedBytes) -> Bytes {
        stated.nearest
    }
}

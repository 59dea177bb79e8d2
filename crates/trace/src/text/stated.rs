//! Sizes as texts state them.

use std::ops::{Add, Sub};

use serde::{Serialize, Serializer};

use crate::bytes::Bytes;

/// A size as a text states it: rounded to so many digits, so it stands for all sizes from `lowest` to `highest`.
///
/// In JSON the nearest whole number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatedBytes {
    /// The size as written.
    pub nearest: Bytes,
    /// The smallest size that is printed so.
    pub lowest: Bytes,
    /// The largest size that is printed so.
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
    /// The sum of two sizes: its bounds are the sums of theirs.
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
    /// The difference of two sizes, no bound of which goes below zero.
    fn sub(self, other: StatedBytes) -> StatedBytes {
        StatedBytes {
            nearest: self.nearest - other.nearest,
            lowest: self.lowest - other.highest,
            highest: self.highest - other.lowest,
        }
    }
}

impl Serialize for StatedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.nearest.serialize(serializer)
    }
}

//! Sizes in bytes, and their form for people.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A number of bytes. Printed in binary units (`1.50 GiB`); computed with as a plain integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` times 1024 bytes.
    pub const fn from_kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` times 1024² bytes.
    pub const fn from_mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `n` times 1024³ bytes.
    pub const fn from_gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }

    /// The difference, or zero if `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// The median; the upper one of an even number of sizes. `None` without a size.
    pub fn median(mut sizes: Vec<Bytes>) -> Option<Bytes> {
        sizes.sort_unstable();
        sizes.get(sizes.len() / 2).copied()
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    /// Saturates. A total below zero comes from a damaged trace, which the reader of the trace reports.
    fn sub(self, other: Bytes) -> Bytes {
        self.saturating_sub(other)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(parts: I) -> Bytes {
        parts.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
        for (shift, unit) in UNITS {
            if self.0 >= 1 << shift {
                let text = format!("{:.2} {unit}", self.0 as f64 / (1u64 << shift) as f64);
                return f.pad(&text);
            }
        }
        f.pad(&format!("{} B", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_is_at_least_one() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1536, "1.50 KiB"),
            (23 << 20, "23.00 MiB"),
            (24 << 30, "24.00 GiB"),
            (3 << 40, "3.00 TiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn width_pads_the_text_as_for_any_other_value() {
        assert_eq!(format!("{:>10}", Bytes(512)), "     512 B");
    }
}

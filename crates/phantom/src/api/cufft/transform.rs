//! The work area of a Fourier transform.
//!
//! # Note [cuFFT work areas]
//!
//! cuFFT documents that a plan may need a work area, but no size. The model follows what an H200 with cuFFT 12.0 took (`fft`, `fft2`
//! and `rfft` in `tests/validation/truth/nvidia-h200`; the first within 1 %, the others exact):
//!
//! - lengths up to 4,096 with the prime factors 2, 3, 5 and 7 need none, in one dimension and in two;
//! - other lengths without a prime factor above 127 need one copy of the complex data, of which a real transform has half;
//! - a length with a larger prime factor is computed by Bluestein's algorithm, as a convolution: two copies of the data, padded to the
//!   next length of small factors from twice the length on.
//!
//! PyTorch allocates the area itself, through its caching allocator, so the ledger counts it. Every use is named in the journal as the
//! assumption `cufft-workspace`.

use super::CufftResult;
use crate::boundary::Status;

/// The longest transform that fits into the shared memory of one block.
const IN_SHARED_MEMORY: u64 = 4_096;

/// The largest prime factor of a length that is not computed by Bluestein's algorithm (cuFFT's documentation, accuracy and
/// performance).
const LARGEST_FACTOR: u64 = 127;

/// A transform: its lengths, the batch, and the bytes of a complex element.
#[derive(Clone, Debug)]
pub(super) struct Transform {
    lengths: Vec<u64>,
    batch: u64,
    element: Element,
}

/// The complex elements of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) bytes: u64,
    /// True if one side of the transform is real: the complex side has half of the last length, and one.
    pub(super) is_one_sided: bool,
}

impl Transform {
    pub(super) fn new(lengths: &[i64], batch: i64, element: Element) -> Result<Transform, CufftResult> {
        let size = |value: &i64| u64::try_from(*value).ok().filter(|size| *size > 0).ok_or(CufftResult::INVALID);
        let lengths: Vec<u64> = lengths.iter().map(size).collect::<Result<_, _>>()?;
        if !(1..=3).contains(&lengths.len()) {
            return Err(CufftResult::INVALID);
        }
        Ok(Transform { lengths, batch: size(&batch)?, element })
    }

    /// See Note [cuFFT work areas].
    pub(super) fn work_bytes(&self) -> usize {
        if self.lengths.iter().all(|&length| length <= IN_SHARED_MEMORY && is_smooth(length)) {
            return 0;
        }
        let is_padded = self.lengths.iter().any(|&length| has_large_factor(length));
        let extents = if is_padded { self.padded() } else { self.complex_extents() };
        let copies = if is_padded { 2 } else { 1 };
        let elements = extents.iter().fold(self.batch, |product, extent| product.saturating_mul(*extent));
        elements.saturating_mul(self.element.bytes).saturating_mul(copies) as usize
    }

    fn complex_extents(&self) -> Vec<u64> {
        let mut extents = self.lengths.clone();
        if let Some(last) = extents.last_mut().filter(|_| self.element.is_one_sided) {
            *last = *last / 2 + 1;
        }
        extents
    }

    fn padded(&self) -> Vec<u64> {
        let pad = |&length: &u64| if has_large_factor(length) { next_smooth(length) } else { length };
        self.lengths.iter().map(pad).collect()
    }
}

/// The next length of small factors from twice `length` on.
fn next_smooth(length: u64) -> u64 {
    let least = length.saturating_mul(2).saturating_sub(1);
    let odd = powers(3)
        .flat_map(|a| powers(5).flat_map(move |b| powers(7).map(move |c| a.saturating_mul(b).saturating_mul(c))));
    let even =
        odd.map(|odd| least.div_ceil(odd).checked_next_power_of_two().map_or(u64::MAX, |two| odd.saturating_mul(two)));
    even.min().unwrap_or(least)
}

/// The powers of a number, from 1 on.
fn powers(base: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_u64), move |power| power.checked_mul(base))
}

/// True if 2, 3, 5 and 7 are the only prime factors.
fn is_smooth(length: u64) -> bool {
    without_factors(length, [2, 3, 5, 7]) == 1
}

/// The rest of a length after division by these factors, as often as possible.
fn without_factors(mut length: u64, factors: impl IntoIterator<Item = u64>) -> u64 {
    for factor in factors {
        while length.is_multiple_of(factor) {
            length /= factor;
        }
    }
    length
}

/// True if Bluestein's algorithm computes a length.
fn has_large_factor(length: u64) -> bool {
    without_factors(length, 2..=LARGEST_FACTOR) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    type Work = Result<usize, CufftResult>;

    fn work_bytes(lengths: &[i64], batch: i64, element: Element) -> Work {
        Transform::new(lengths, batch, element).map(|transform| transform.work_bytes())
    }

    const COMPLEX: Element = Element { bytes: 8, is_one_sided: false };
    const ONE_SIDED: Element = Element { bytes: 8, is_one_sided: true };

    #[test]
    fn work_areas_are_as_the_note_says() {
        let cases: [(&[i64], i64, Element, Work); 10] = [
            (&[1_024], 64, COMPLEX, Ok(0)),
            (&[4_096], 1, COMPLEX, Ok(0)),
            (&[8_192], 2, COMPLEX, Ok(2 * 8_192 * 8)),
            (&[11 * 13], 3, COMPLEX, Ok(3 * 11 * 13 * 8)),
            (&[11 * 13], 3, ONE_SIDED, Ok(3 * 72 * 8)),
            // Twice 131, less one, is followed by 262 and so on; 270 is the first with small factors.
            (&[131], 3, COMPLEX, Ok(2 * 3 * 270 * 8)),
            (&[64, 8_192], 2, COMPLEX, Ok(2 * 64 * 8_192 * 8)),
            (&[64, 64], 2, COMPLEX, Ok(0)),
            (&[0], 1, COMPLEX, Err(CufftResult::INVALID)),
            (&[2, 2, 2, 2], 1, COMPLEX, Err(CufftResult::INVALID)),
        ];
        for (lengths, batch, element, expected) in cases {
            assert_eq!(work_bytes(lengths, batch, element), expected, "{lengths:?} x {batch}");
        }
        assert_eq!(work_bytes(&[i64::MAX, 2], i64::MAX, COMPLEX), Ok(usize::MAX));
    }

    #[test]
    fn padded_lengths_have_small_factors() {
        for (length, expected) in [(1, 1), (131, 270), (100_003, 200_704), (u64::MAX, u64::MAX)] {
            assert_eq!(next_smooth(length), expected, "{length}");
        }
    }

    /// The peaks of `algebra.py` on an H200, less its other tensors.
    #[test]
    fn work_areas_are_those_of_an_h200() {
        assert_eq!(work_bytes(&[1 << 17], 1_024, ONE_SIDED), Ok(1_024 * 65_537 * 8));
        assert_eq!(work_bytes(&[4_096, 2_048], 16, COMPLEX), Ok(0));
        let (modelled, measured) = (work_bytes(&[100_003], 1_024, COMPLEX).unwrap_or_default(), 3_319_283_712);
        assert!(modelled.abs_diff(measured) < measured / 100, "{modelled}");
    }
}

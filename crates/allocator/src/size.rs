//! The size of the block and of the segment for a request (`round_size`, `get_allocation_size` in
//! `CUDACachingAllocator.cpp`).

use crate::settings::Settings;

/// The unit of block sizes.
pub const MIN_BLOCK_BYTES: u64 = 512;
/// The largest rounded size of the small pool.
pub const SMALL_BYTES: u64 = 1 << 20;
/// The size of a segment of the small pool.
pub const SMALL_SEGMENT_BYTES: u64 = 2 << 20;
/// The least rounded size that gets a segment of its own.
pub const MIN_LARGE_BYTES: u64 = 10 << 20;
/// The unit of such segments, and the driver's page.
pub const ROUND_LARGE_BYTES: u64 = 2 << 20;
/// The least size that is rejected on any device (`kMaxAllocSize`, "1EB").
pub const MAX_REQUEST_BYTES: u64 = 1 << 60;

/// The size of the block for a request: a multiple of 512, or a step of `roundup_power2_divisions`.
#[inline]
pub fn block_bytes(requested_bytes: u64, settings: &Settings) -> u64 {
    if requested_bytes < MIN_BLOCK_BYTES {
        return MIN_BLOCK_BYTES;
    }
    let log2 = requested_bytes.ilog2();
    let divisions = settings.roundup_power2_divisions[log2.saturating_sub(20).min(15) as usize];
    if divisions > 1 && requested_bytes > MIN_BLOCK_BYTES * divisions {
        return round_to_division(requested_bytes, log2, divisions);
    }
    requested_bytes.next_multiple_of(MIN_BLOCK_BYTES)
}

/// Rounds up to the next of the `divisions` steps between two powers of two.
fn round_to_division(bytes: u64, log2: u32, divisions: u64) -> u64 {
    if bytes.is_power_of_two() {
        return bytes;
    }
    match (1_u64 << log2) >> divisions.ilog2() {
        0 => 2 << log2,
        step => bytes.next_multiple_of(step),
    }
}

/// The size to reserve from the device for a block of this size.
#[inline]
pub fn segment_bytes(block_bytes: u64, settings: &Settings) -> u64 {
    if block_bytes <= SMALL_BYTES {
        SMALL_SEGMENT_BYTES
    } else if block_bytes < MIN_LARGE_BYTES {
        settings.large_segment_size.0
    } else {
        block_bytes.next_multiple_of(ROUND_LARGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_request_becomes_a_block_and_a_segment() {
        let settings = Settings::default();
        let cases = [
            (1, 512, 2 * MIB),
            (512, 512, 2 * MIB),
            (513, 1024, 2 * MIB),
            (MIB, MIB, 2 * MIB),
            (MIB + 1, MIB + 512, 20 * MIB),
            (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
            (10 * MIB - 511, 10 * MIB, 10 * MIB),
            (10 * MIB + 1, 10 * MIB + 512, 12 * MIB),
        ];
        for (requested, block, segment) in cases {
            let rounded = block_bytes(requested, &settings);
            assert_eq!((rounded, segment_bytes(rounded, &settings)), (block, segment), "{requested}");
        }
    }

    #[test]
    fn divisions_round_to_steps_between_powers_of_two() {
        let rounding = |divisions| Settings { roundup_power2_divisions: [divisions; 16], ..Settings::default() };
        let cases = [
            (4, 1200, 1536),             // not more than 512 bytes a division: plain rounding
            (4, 2049, 2560),             // a quarter of 2048
            (8, 4097, 4608),             // an eighth of 4096
            (8, 1 << 30, 1 << 30),       // a power of two stays
            (8, (1 << 30) + 1, 9 << 27), // an eighth of 1 GiB
            (1, 2049, 2560),             // one division is none
            (0, 2049, 2560),
        ];
        for (divisions, requested, block) in cases {
            assert_eq!(block_bytes(requested, &rounding(divisions)), block, "{requested} in {divisions}");
        }
    }
}

//! The assumed cost of driver calls.
//!
//! # Note [Cost model]
//! No cost is measured on the user's machine: drivers, GPUs and sizes differ by more than a factor of ten. The model
//! only distinguishes settings with many calls from settings with few, and the report shows the counts beside the
//! cost. Mapping costs by the page, as the source of expandable segments states (`c10/cuda/CUDACachingAllocator.cpp`,
//! 2.11: ten separate pages take ten times as long as one).

use allocator::{Settings, Stats};
use report::tune::{Calls, CostModel};

/// Assumed costs: orders of magnitude that users report for an idle device.
pub(super) const MODEL: CostModel = CostModel { cuda_malloc_us: 100, cuda_free_us: 100, page_us: 50, retry_us: 1000 };

/// The page size of the small pool: a small segment.
const SMALL_PAGE_BYTES: u64 = allocator::size::SMALL_SEGMENT_BYTES;

/// Returns the driver calls that `stats` count. Under expandable segments all memory comes in pages.
pub(super) fn calls(stats: &Stats, settings: &Settings) -> Calls {
    let pages =
        |small: u64, large: u64| small.div_ceil(SMALL_PAGE_BYTES) + large.div_ceil(settings.large_segment_size.0);
    let (small, large) = (&stats.reserved_bytes.small_pool, &stats.reserved_bytes.large_pool);
    let expands = settings.expandable_segments;
    Calls {
        cuda_malloc: stats.segment.all.allocated,
        cuda_free: stats.segment.all.freed,
        pages_mapped: if expands { pages(small.allocated, large.allocated) } else { 0 },
        pages_unmapped: if expands { pages(small.freed, large.freed) } else { 0 },
    }
}

/// Returns the cost of the calls in microseconds.
pub(super) fn cost_us(calls: &Calls, retries: u64) -> u64 {
    calls.cuda_malloc * MODEL.cuda_malloc_us
        + calls.cuda_free * MODEL.cuda_free_us
        + (calls.pages_mapped + calls.pages_unmapped) * MODEL.page_us
        + retries * MODEL.retry_us
}

/// Returns the highest acceptable cost: twice the present cost, plus a single mapping of all memory at the program's
/// start.
pub(super) fn allowance_us(now_us: u64, limit_bytes: u64) -> u64 {
    let page = allocator::Settings::default().large_segment_size.0;
    now_us.saturating_mul(2) + limit_bytes.div_ceil(page) * MODEL.page_us * 5 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_paid_by_kind() {
        let calls = Calls { cuda_malloc: 3, cuda_free: 2, pages_mapped: 10, pages_unmapped: 4 };
        assert_eq!(cost_us(&calls, 1), 3 * 100 + 2 * 100 + 14 * 50 + 1000);
    }

    #[test]
    fn pages_follow_from_what_each_pool_obtained() {
        let mut stats = Stats::default();
        stats.reserved_bytes.small_pool.allocated = 6 << 20;
        stats.reserved_bytes.large_pool.allocated = 100 << 20;
        stats.reserved_bytes.large_pool.freed = 40 << 20;
        let expandable = Settings { expandable_segments: true, ..Settings::default() };
        let expected = Calls { pages_mapped: 3 + 5, pages_unmapped: 2, ..Calls::default() };
        assert_eq!(super::calls(&stats, &expandable), expected);
        assert_eq!(super::calls(&stats, &Settings::default()), Calls::default());
    }
}

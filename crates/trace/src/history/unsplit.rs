//! Pools with `torch.cuda.MemPool(no_split=True)` (2.10 and later): a request gets a whole segment. The trace does not
//! record the option, which is inferred from the dumped blocks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::size::{LARGEST_SLACK, SizeRules};
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::{Address, PoolId};
use crate::snapshot::{BlockState, Segment};

/// The unsplit pools, with their segments by address.
#[derive(Debug, Default)]
pub(super) struct Unsplit {
    pools: FxHashSet<PoolId>,
    segments: FxHashMap<u64, Bytes>,
}

impl Unsplit {
    /// The pools of a dump in which every segment is one block, and some block is longer than any rest explains.
    pub(super) fn of(dump: &[&Segment], rules: &SizeRules) -> Unsplit {
        let pools = |chosen: &dyn Fn(&Segment) -> bool| -> FxHashSet<PoolId> {
            dump.iter().filter(|segment| chosen(segment)).filter_map(|segment| segment.pool).collect()
        };
        let split = pools(&|segment| segment.blocks.len() > 1);
        let mut unsplit = Unsplit { pools: pools(&|segment| has_excess(segment, rules)), ..Unsplit::default() };
        unsplit.pools.retain(|pool| !split.contains(pool));
        let of_pools = dump.iter().filter(|segment| segment.pool.is_some_and(|pool| unsplit.pools.contains(&pool)));
        unsplit.segments = of_pools.map(|segment| (segment.address.0, segment.total_size)).collect();
        unsplit
    }

    /// The size of the segment that a block at `address` fills.
    pub(super) fn segment(&self, address: Address) -> Option<Bytes> {
        if self.segments.is_empty() { None } else { self.segments.get(&address.0).copied() }
    }

    /// Adds a reserved segment.
    pub(super) fn reserve(&mut self, event: &Event) {
        if event.pool.is_some_and(|pool| self.pools.contains(&pool)) {
            self.segments.insert(event.address.0, event.size);
        }
    }
}

/// Tests that a block is longer than its request with the largest rest.
fn has_excess(segment: &Segment, rules: &SizeRules) -> bool {
    segment.blocks.iter().filter(|block| block.state != BlockState::Inactive).any(|block| {
        let rounded = rules.rounded(block.requested_size);
        !rules.is_oversize(rounded) && block.size - rounded > Bytes(LARGEST_SLACK)
    })
}

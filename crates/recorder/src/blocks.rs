//! The table of allocated blocks: open addressing in the mapped file, by address and device.

use crate::file::RecordedBlock;

/// The size of the allocator's smallest block: lower bits of addresses say nothing (`kMinBlockSize`, c10/cuda/CUDACachingAllocator.cpp).
const GRANULE_SHIFT: u32 = 9;

fn home(slots: &[RecordedBlock], address: u64, device: u8) -> usize {
    let key = (address >> GRANULE_SHIFT) ^ u64::from(device) << 56;
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (slots.len() - 1)
}

/// Adds a block, or replaces the one at its address; false if the table is three quarters full with `count` blocks.
pub(crate) fn insert(slots: &mut [RecordedBlock], count: &mut usize, block: RecordedBlock) -> bool {
    let mut at = home(slots, block.address, block.device);
    while slots[at].address != 0 {
        if slots[at].address == block.address && slots[at].device == block.device {
            slots[at] = block;
            return true;
        }
        at = (at + 1) & (slots.len() - 1);
    }
    if *count >= slots.len() / 4 * 3 {
        return false;
    }
    slots[at] = block;
    *count += 1;
    true
}

/// Removes the block at an address, if there is one; the blocks behind it move up, so that a search never ends too early.
pub(crate) fn remove(slots: &mut [RecordedBlock], count: &mut usize, address: u64, device: u8) {
    let mask = slots.len() - 1;
    let mut gap = home(slots, address, device);
    while slots[gap].address != address || slots[gap].device != device {
        if slots[gap].address == 0 {
            return;
        }
        gap = (gap + 1) & mask;
    }
    *count -= 1;
    let mut next = gap;
    loop {
        next = (next + 1) & mask;
        if slots[next].address == 0 {
            break;
        }
        let wanted = home(slots, slots[next].address, slots[next].device);
        // The block may move to the gap if its home does not lie between gap and block.
        if (next.wrapping_sub(wanted) & mask) >= (next.wrapping_sub(gap) & mask) {
            slots[gap] = slots[next];
            gap = next;
        }
    }
    slots[gap] = RecordedBlock::default();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_table_holds_what_a_map_holds() {
        let mut slots = vec![RecordedBlock::default(); 64];
        let (mut count, mut map, mut state) = (0, BTreeMap::new(), 1u64);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (address, device) = (((state >> 33) % 70 + 1) << GRANULE_SHIFT, (state >> 60) as u8 & 1);
            let block = RecordedBlock { address, size: state >> 40, device, ..RecordedBlock::default() };
            if state >> 32 & 1 == 1 {
                if insert(&mut slots, &mut count, block) {
                    map.insert((address, device), block);
                } else {
                    assert_eq!(count, 48, "three quarters of 64");
                }
            } else {
                remove(&mut slots, &mut count, address, device);
                map.remove(&(address, device));
            }
            assert_eq!(count, map.len());
        }
        let mut held: Vec<RecordedBlock> = slots.into_iter().filter(|slot| slot.address != 0).collect();
        held.sort_by_key(|slot| (slot.address, slot.device));
        assert_eq!(held, map.into_values().collect::<Vec<_>>());
    }
}

//! Checks that every address in a trace obeys the allocator's placement rules. A trace that breaks a rule was not
//! written by the allocator, and the machine relies on the rules (Note `[Keys]` in `free_set.rs`).

use trace::{Action, Address, Bytes, Event, SegmentState, State};

use super::error::ProgramError;
use crate::size::MIN_BLOCK_BYTES;

/// The bound of addresses and sizes, above every device and address space.
const END: u64 = 1 << 57;

/// Checks that segments begin and end at multiples of 512.
pub(super) fn check_events(events: &[Event]) -> Result<(), ProgramError> {
    use Action::{SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    let segments =
        events.iter().filter(|event| matches!(event.action, SegmentAlloc | SegmentFree | SegmentMap | SegmentUnmap));
    for event in segments {
        check(event.address, event.size)?;
    }
    Ok(())
}

/// Checks that blocks begin and end at multiples of 512, and that blocks and gaps together fill their segment.
pub(super) fn check_state(state: &State) -> Result<(), ProgramError> {
    for segment in &state.segments {
        check(segment.address, segment.size)?;
        for block in &segment.used {
            check(block.address, block.size)?;
        }
        if filled_bytes(segment) != Some(segment.size.0) {
            let expected = "the blocks in use lie in it and do not overlap";
            return Err(ProgramError::Misplaced { address: segment.address.0, bytes: segment.size.0, expected });
        }
    }
    Ok(())
}

fn filled_bytes(segment: &SegmentState) -> Option<u64> {
    let used = segment.used.iter().map(|block| block.size.0);
    let gaps = segment.gaps().map(|gap| gap.size.0);
    used.chain(gaps).try_fold(0_u64, u64::checked_add)
}

fn check(address: Address, bytes: Bytes) -> Result<(), ProgramError> {
    let whole = |n: u64| n.is_multiple_of(MIN_BLOCK_BYTES) && n < END;
    if whole(address.0) && whole(bytes.0) && bytes.0 > 0 {
        return Ok(());
    }
    let expected = "those begin and end at multiples of 512, below 2^57";
    Err(ProgramError::Misplaced { address: address.0, bytes: bytes.0, expected })
}

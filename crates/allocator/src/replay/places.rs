//! Whether a history has its memory where PyTorch's allocator has it. What has not is no history of one, and the machine relies
//! on it (Note `[Keys]` in `free_set.rs`).

use trace::{Action, Address, Bytes, Event, SegmentState, State};

use super::error::ProgramError;
use crate::size::MIN_BLOCK_BYTES;

/// No device and no address space is so large.
const END: u64 = 1 << 57;

/// Segments begin and end at multiples of 512.
pub(super) fn check_events(events: &[Event]) -> Result<(), ProgramError> {
    use Action::{SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    let segments =
        events.iter().filter(|event| matches!(event.action, SegmentAlloc | SegmentFree | SegmentMap | SegmentUnmap));
    for event in segments {
        check(event.address, event.size)?;
    }
    Ok(())
}

/// So do blocks, and together with what is free between them they fill their segment.
pub(super) fn check_state(state: &State) -> Result<(), ProgramError> {
    for segment in &state.segments {
        check(segment.address, segment.size)?;
        for block in &segment.used {
            check(block.address, block.size)?;
        }
        if filled(segment) != Some(segment.size.0) {
            let expected = "the blocks in use lie in it and do not overlap";
            return Err(ProgramError::Place { address: segment.address.0, bytes: segment.size.0, expected });
        }
    }
    Ok(())
}

fn filled(segment: &SegmentState) -> Option<u64> {
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
    Err(ProgramError::Place { address: address.0, bytes: bytes.0, expected })
}

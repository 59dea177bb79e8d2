//! The number of ranks in a split: `ncclCommSplit` states only the colour of the calling rank.
//!
//! PyTorch knows the ranks of each split-off group, so the agent sets them beforehand. Without the agent, all ranks of
//! the parent are assumed to have the same colour (assumption `nccl-split`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// `NCCL_SPLIT_NOCOLOR`: this rank takes no part in the split.
pub(super) const NO_COLOR: i32 = -1;

/// The size of a group, and this process's rank in it.
type SizeAndRank = (i32, i32);

#[derive(Default)]
struct SplitGroups {
    by_color: HashMap<i32, SizeAndRank>,
    next: Option<SizeAndRank>,
}

static GROUPS: Mutex<Option<SplitGroups>> = Mutex::new(None);

/// Sets the number of ranks in the group of `color`, and this process's rank. `NO_COLOR` stands for the unknown colour of the
/// next split.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_nccl_group(color: i32, count: i32, rank: i32) {
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let groups = groups.get_or_insert_default();
    if color == NO_COLOR {
        groups.next = Some((count, rank));
    } else {
        groups.by_color.insert(color, (count, rank));
    }
}

/// Finds size and rank of the group of `color`.
pub(super) fn find_group(color: i32) -> Option<SizeAndRank> {
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let groups = groups.as_mut()?;
    groups.next.take().or_else(|| groups.by_color.get(&color).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_a_colour_stays_and_a_group_of_the_next_split_holds_once() {
        oomph_nccl_group(71, 2, 1);
        assert_eq!((find_group(71), find_group(72)), (Some((2, 1)), None));
        oomph_nccl_group(NO_COLOR, 3, 0);
        assert_eq!((find_group(71), find_group(71)), (Some((3, 0)), Some((2, 1))));
    }
}

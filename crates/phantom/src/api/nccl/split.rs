//! How many ranks a split has: `ncclCommSplit` says only the colour of this one.
//!
//! PyTorch knows the ranks of each group that it splits off, so the agent says them beforehand. Without it, all ranks of
//! the parent are taken to have the same colour, which the assumption `nccl-split` names.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// `NCCL_SPLIT_NOCOLOR`: this rank takes no part in the split.
pub(super) const NO_COLOR: i32 = -1;

/// The size of a group, and this process's rank in it.
type Place = (i32, i32);

#[derive(Default)]
struct Said {
    by_color: HashMap<i32, Place>,
    next: Option<Place>,
}

static SAID: Mutex<Option<Said>> = Mutex::new(None);

/// Says how many ranks the group of `color` has, and which of them this is. `NO_COLOR` stands for the colour of the
/// next split, for a caller that does not know it.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_nccl_group(color: i32, count: i32, rank: i32) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let said = said.get_or_insert_default();
    if color == NO_COLOR {
        said.next = Some((count, rank));
    } else {
        said.by_color.insert(color, (count, rank));
    }
}

/// What was said of the group of `color`.
pub(super) fn place(color: i32) -> Option<Place> {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let said = said.as_mut()?;
    said.next.take().or_else(|| said.by_color.get(&color).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_of_a_colour_stays_and_of_the_next_split_holds_once() {
        oomph_nccl_group(71, 2, 1);
        assert_eq!((place(71), place(72)), (Some((2, 1)), None));
        oomph_nccl_group(NO_COLOR, 3, 0);
        assert_eq!((place(71), place(71)), (Some((3, 0)), Some((2, 1))));
    }
}

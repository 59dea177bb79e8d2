//! The number of blocks to checkpoint: each of them is computed twice.
//!
//! # Note [Fewest blocks]
//! If the cheapest plan checkpoints, it does so with all repeated blocks. The first 1, 2, 4 … blocks are then tried in
//! the same plan until the plan fits, and the numbers in between by halves. More blocks are assumed to need less; every
//! plan reported as fitting was run.

use remedies::CHECKPOINTING;
use report::Change;
use trace::Bytes;

use super::search::{Search, Standing};
use super::variant::Variant;

/// Nobody has more blocks than these.
const MOST_BLOCKS: u64 = 256;

impl Search {
    /// The numbers of blocks to try next in the cheapest plan; none where it is known how many are needed.
    pub(super) fn next_blocks(&self, target: Bytes) -> Vec<Variant> {
        let Some(changes) = self.cheapest(target).filter(|changes| changes.iter().any(is_of_all_blocks)) else {
            return Vec::new();
        };
        let wanted = self.wanted_blocks(&changes, target).map(|blocks| with_blocks(&changes, blocks));
        let wanted = wanted.map(|changes| match self.standing(&changes, target) {
            Standing::Open => Variant::within(changes, target),
            _ => Variant::need(changes),
        });
        wanted.into_iter().collect()
    }

    /// The cheapest plan with as few checkpointed blocks as are known to do; `None` if all blocks are needed.
    pub(super) fn with_fewest_blocks(&self, target: Bytes) -> Option<Vec<Change>> {
        let changes = self.cheapest(target).filter(|changes| changes.iter().any(is_of_all_blocks))?;
        let fits = |blocks: &u64| self.standing(&with_blocks(&changes, *blocks), target) == Standing::Fits;
        let fewest = (1..=MOST_BLOCKS).find(fits).filter(|blocks| !self.is_all(&changes, *blocks))?;
        Some(with_blocks(&changes, fewest))
    }

    /// The number to try next.
    fn wanted_blocks(&self, changes: &[Change], target: Bytes) -> Option<u64> {
        let standing = |blocks: u64| self.standing(&with_blocks(changes, blocks), target);
        let (mut low, mut high) = (0, 1);
        while standing(high) == Standing::DoesNot {
            (low, high) = (high, high * 2);
            if high > MOST_BLOCKS || self.is_all(changes, low) {
                return None;
            }
        }
        while standing(high) == Standing::Fits {
            let middle = u64::midpoint(low, high);
            if middle == low {
                return None;
            }
            match standing(middle) {
                Standing::DoesNot => low = middle,
                Standing::Fits => high = middle,
                Standing::Open | Standing::Unknown => return Some(middle),
            }
        }
        Some(high)
    }

    /// True if `blocks` is the number of all blocks: the need is that of the plan with all.
    fn is_all(&self, changes: &[Change], blocks: u64) -> bool {
        let need = |changes: &[Change]| Some(self.trial(&Variant::need(changes.to_vec()))?.usage);
        need(changes).is_some_and(|all| need(&with_blocks(changes, blocks)) == Some(all))
    }
}

fn is_of_all_blocks(change: &Change) -> bool {
    change.remedy == CHECKPOINTING && !change.settings.contains_key("blocks")
}

fn with_blocks(changes: &[Change], blocks: u64) -> Vec<Change> {
    let one = |change: &Change| {
        if is_of_all_blocks(change) { change.clone().with("blocks", blocks) } else { change.clone() }
    };
    changes.iter().map(one).collect()
}

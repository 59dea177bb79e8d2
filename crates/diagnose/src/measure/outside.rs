//! Device memory outside PyTorch and the CUDA context: memory that libraries and extensions request from the driver.

use std::collections::BTreeMap;

use trace::run::owner::{CONTEXT, PYTORCH};
use trace::{Bytes, Run};

/// Smaller amounts of one library are not reported.
const WORTH: Bytes = Bytes::from_mib(1);

/// Returns the largest amount that one process held on one device, by requesting library.
pub(crate) fn outside(run: &Run) -> BTreeMap<&str, Bytes> {
    let mut most: BTreeMap<&str, Bytes> = BTreeMap::new();
    for process in &run.processes {
        for (device, owner) in process.ledger.owners().filter(|(_, owner)| !is_known(owner)) {
            let held = process.ledger.share_peak(device, owner).unwrap_or_default();
            let known = most.entry(owner).or_default();
            *known = (*known).max(held);
        }
    }
    most.retain(|_, held| *held >= WORTH);
    most
}

fn is_known(owner: &str) -> bool {
    matches!(owner, PYTORCH | CONTEXT)
}

#[cfg(test)]
mod tests {
    use trace::run::MemoryChange;
    use trace::{PhantomRecord, Process};

    use super::*;

    fn took(device: u32, owner: &str, mib: i64) -> PhantomRecord {
        PhantomRecord::Memory(MemoryChange { device, owner: owner.to_owned(), delta: mib << 20, used_bytes: 0 })
    }

    #[test]
    fn the_most_of_each_library() {
        let ledger = [
            took(0, "context", 400),
            took(0, "pytorch", 20),
            took(0, "libext.so", 300),
            took(0, "libext.so", -300),
            took(0, "libext.so", 200),
            took(1, "libext.so", 250),
            took(0, "libsmall.so", 0),
        ];
        let ledger = ledger.into_iter().collect();
        let run = Run { processes: vec![Process { ledger, ..Process::default() }] };
        assert_eq!(outside(&run), BTreeMap::from([("libext.so", Bytes::from_mib(300))]));
    }
}

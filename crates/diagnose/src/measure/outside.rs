//! Device memory outside PyTorch and the CUDA context: memory that libraries and extensions request from the driver.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Bytes, DeviceIndex, PhantomRecord, Process, Run};

/// Smaller amounts of one library are not reported.
const WORTH: Bytes = Bytes::from_mib(1);

/// Returns the largest amount that one process held on one device, by requesting library.
pub(crate) fn outside(run: &Run) -> BTreeMap<&str, Bytes> {
    let mut most: BTreeMap<&str, Bytes> = BTreeMap::new();
    for process in &run.processes {
        for (device, owner) in askers(process) {
            let held = process.share_peak(device, owner).unwrap_or_default();
            let known = most.entry(owner).or_default();
            *known = (*known).max(held);
        }
    }
    most.retain(|_, held| *held >= WORTH);
    most
}

/// Returns the devices and requesting libraries of a process, other than PyTorch and the context.
fn askers(process: &Process) -> BTreeSet<(DeviceIndex, &str)> {
    let asked = process.phantom.iter().filter_map(|record| match record {
        PhantomRecord::Memory { device, owner, .. } if !is_known(owner) => Some((DeviceIndex(*device), owner.as_str())),
        _ => None,
    });
    asked.collect()
}

fn is_known(owner: &str) -> bool {
    matches!(owner, "pytorch" | "context")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(device: u32, owner: &str, mib: i64) -> PhantomRecord {
        PhantomRecord::Memory { device, owner: owner.to_owned(), delta: mib << 20, used_bytes: 0 }
    }

    #[test]
    fn the_most_of_each_library() {
        let phantom = vec![
            took(0, "context", 400),
            took(0, "pytorch", 20),
            took(0, "libext.so", 300),
            took(0, "libext.so", -300),
            took(0, "libext.so", 200),
            took(1, "libext.so", 250),
            took(0, "libsmall.so", 0),
        ];
        let run = Run { processes: vec![Process { records: Vec::new(), phantom, snapshot: None }] };
        assert_eq!(outside(&run), BTreeMap::from([("libext.so", Bytes::from_mib(300))]));
    }
}

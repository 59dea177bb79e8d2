//! Devices that several processes use at once. Each process of a dry run has a ledger of its own, so what they take
//! together is a sum of peaks, which need not fall on one moment.

use std::collections::BTreeMap;

use trace::Bytes;

use super::ranks::ranks;
use crate::case::Case;

/// A device that more than one process used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Its number, as each process counts.
    pub(crate) device: u32,
    /// How many.
    pub(crate) processes: u64,
    /// The sum of their peaks: the most that they can take together.
    pub(crate) together: Bytes,
}

/// The fullest of the devices that several processes used.
pub(crate) fn shared(case: &Case) -> Option<Shared> {
    let mut devices: BTreeMap<u32, (u64, Bytes)> = BTreeMap::new();
    for rank in ranks(case) {
        let (processes, together) = devices.entry(rank.device).or_default();
        *processes += 1;
        *together += rank.peak.device_bytes;
    }
    let shared = devices.into_iter().filter(|(_, (processes, _))| *processes > 1);
    let shared = shared.map(|(device, (processes, together))| Shared { device, processes, together });
    shared.max_by_key(|shared| shared.together)
}

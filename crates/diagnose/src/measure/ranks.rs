//! The peaks of every process, where there are several.

use report::Rank;
use trace::{Bytes, Process};

use super::records::ended_by_oom;
use super::usage::fullest_device;
use crate::case::Case;

/// Every process by rank; empty where there is only one.
pub(crate) fn ranks(case: &Case) -> Vec<Rank> {
    let processes = &case.limited.processes;
    if processes.len() < 2 {
        return Vec::new();
    }
    let mut ranks: Vec<Rank> = processes.iter().filter_map(|process| rank(process, case.context())).collect();
    ranks.sort_by_key(|rank| (rank.rank, rank.device));
    ranks
}

fn rank(process: &Process, context: Bytes) -> Option<Rank> {
    let (device, peak) = fullest_device(process, context)?;
    Some(Rank { rank: process.rank(), device: device.0, peak, oom: ended_by_oom(process) })
}

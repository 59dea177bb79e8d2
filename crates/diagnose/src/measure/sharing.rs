//! Devices that several processes use at once.
//!
//! # Note [Shared devices]
//!
//! Each process of a dry run has a ledger of its own. One for all would make the answer a matter of scheduling: nothing
//! computes, so a rank that is started first has ended before the next one grows, and on another day it has not. Ranks
//! of a job do the same at the same time, because collectives make them wait for each other, and PyTorch's allocator
//! keeps what it reserved. So what they take together is the sum of their peaks; and where that is more than the device
//! has, the program is run again with a part of the device for each (`Pass::Shared` of the binary): the fullest runs out when
//! its part of the sum would no longer fit. Of processes that are no ranks of one job nobody knows whether they run at
//! the same time; then the verdict is `incomplete`.

use std::collections::{BTreeMap, BTreeSet};

use report::Location;
use trace::{Bytes, DeviceIndex, Launch, PhantomRecord, Process, Record, Run};

use super::records::{devices, ended_by_oom};
use super::usage::{fullest_device, usage};
use super::view::View;
use crate::case::Case;

/// A device that more than one process used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Its number, as each process counts.
    pub(crate) device: u32,
    /// What each rank held there at most.
    pub(crate) held: Vec<(u32, Bytes)>,
    /// How many of them held more elsewhere.
    pub(crate) visitors: usize,
    /// The sum of their peaks: the most that they can take together.
    pub(crate) together: Bytes,
    /// Whether they are ranks of one job, which run at the same time.
    pub(crate) is_job: bool,
    /// The first line that brought a rank there which should be elsewhere.
    pub(crate) astray: Option<Location>,
}

/// The fullest of the devices that several processes used.
pub(crate) fn shared(case: &Case) -> Option<Shared> {
    shared_in(&case.launch, &case.limited)
}

/// The same of another run of the program.
pub(crate) fn shared_in(launch: &Launch, run: &Run) -> Option<Shared> {
    if launch.job.is_some() {
        return None; // Each rank ran alone: equal numbers are devices of different machines, or of one at other times.
    }
    let context = Bytes(launch.device_context_bytes);
    let mut users: BTreeMap<DeviceIndex, Vec<&Process>> = BTreeMap::new();
    for process in &run.processes {
        for device in all_devices(process) {
            users.entry(device).or_default().push(process);
        }
    }
    let shared = users.into_iter().filter(|(_, users)| users.len() > 1);
    let shared = shared.map(|(device, users)| of_device(device, &users, context));
    shared.max_by_key(|shared| (shared.together, std::cmp::Reverse(shared.device)))
}

/// What other processes must be said to hold of the device, so that each rank has its part of it: what is left when the
/// fullest has as much of the device as it has of the sum. `None` where all fit together, or nobody knows.
pub fn others_of_shared(launch: &Launch, run: &Run) -> Option<Bytes> {
    if run.processes.iter().any(ended_by_oom) {
        return None;
    }
    let total = Bytes(launch.device_total_bytes);
    let found = shared_in(launch, run).filter(|found| found.is_job && found.together > total)?;
    let most = found.held.iter().map(|(_, bytes)| *bytes).max()?;
    let part = u128::from(total.0) * u128::from(most.0) / u128::from(found.together.0);
    Some(total - Bytes(u64::try_from(part).ok()?))
}

fn of_device(device: DeviceIndex, users: &[&Process], context: Bytes) -> Shared {
    let mut held: Vec<(u32, Bytes)> =
        users.iter().map(|process| (process.rank(), usage(process, device, context).device_bytes)).collect();
    held.sort_unstable();
    let visitors = users.iter().filter(|process| works_on(process, context) != Some(device)).count();
    let together = held.iter().map(|(_, bytes)| *bytes).sum();
    let ranks: BTreeSet<u32> = held.iter().map(|(rank, _)| *rank).collect();
    let is_job = ranks.len() == users.len() && users.iter().all(|process| world_size(process) > 1);
    Shared { device: device.0, held, visitors, together, is_job, astray: astray(device, users) }
}

/// Every device that the process took memory of, be it a context only.
fn all_devices(process: &Process) -> Vec<DeviceIndex> {
    let mut all = devices(process);
    all.extend(process.phantom.iter().filter_map(|record| match record {
        PhantomRecord::Memory { device, .. } => Some(DeviceIndex(*device)),
        _ => None,
    }));
    all.sort_unstable();
    all.dedup();
    all
}

fn works_on(process: &Process, context: Bytes) -> Option<DeviceIndex> {
    fullest_device(process, context).map(|(device, _)| device)
}

/// The first allocation, by a line of the user's, of a process that its launcher meant for another device.
fn astray(device: DeviceIndex, users: &[&Process]) -> Option<Location> {
    let process = users.iter().find(|process| local_rank(process).is_some_and(|local| local != device.0))?;
    let view = View::new(process, device);
    view.found.lifetimes().iter().find_map(|life| view.own_line(life.stack))
}

fn local_rank(process: &Process) -> Option<u32> {
    process.records.iter().find_map(|record| match record {
        Record::Process { local_rank, .. } => Some(*local_rank),
        _ => None,
    })
}

fn world_size(process: &Process) -> u32 {
    let found = process.records.iter().find_map(|record| match record {
        Record::Process { world_size, .. } => Some(*world_size),
        _ => None,
    });
    found.unwrap_or(1)
}

//! Devices with several simultaneous processes.
//!
//! # Note [Shared devices]
//!
//! Each process of a dry run has its own ledger. A common ledger would make the answer depend on scheduling: a dry run
//! computes nothing, so a rank may end before the next rank grows. On a GPU, collectives keep the ranks of a job in
//! step, and PyTorch's allocator keeps its reserved segments. The ranks together therefore take the sum of their peaks.
//! If the sum exceeds the device's memory, the program runs again with a part of the device for each rank
//! (`Limit::Shared` of the crate `run`): the fullest rank runs out when its part of the sum would no longer fit. For
//! processes that are not ranks of a job, simultaneous execution is unknown, and the verdict is `incomplete`, except
//! for processes that ran in sequence, because their parent waited for each.

use std::collections::{BTreeMap, BTreeSet};

use report::Location;
use trace::{Bytes, DeviceIndex, Launch, Process, Run};

use super::outcome::Outcome;
use crate::measure::usage::{fullest_device, usage};
use crate::measure::views::Views;

/// A device that several processes used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// The device's number, as each process counts.
    pub(crate) device: u32,
    /// The peak of each rank on the device.
    pub(crate) held: Vec<(u32, Bytes)>,
    /// The number of processes with a higher peak on another device.
    pub(crate) visitors: usize,
    /// The sum of the peaks: an upper bound of the processes' total.
    pub(crate) together: Bytes,
    /// True for ranks of a job, which run at the same time.
    pub(crate) is_job: bool,
    /// The first line that allocated on the device in a rank assigned to another device.
    pub(crate) astray: Option<Location>,
}

/// Returns the fullest of the devices that several processes of `run` used.
pub(crate) fn find_shared<'a>(launch: &Launch, run: &'a Run, views: &Views<'a>) -> Option<Shared> {
    if launch.job.is_some() {
        // Each rank ran alone: equal numbers are GPUs of different machines, or one GPU at different times.
        return None;
    }
    let context = Bytes(launch.device_context_bytes);
    let mut users: BTreeMap<DeviceIndex, Vec<&'a Process>> = BTreeMap::new();
    for process in &run.processes {
        for device in all_devices(process) {
            users.entry(device).or_default().push(process);
        }
    }
    let shared = users.into_iter().filter_map(|(device, users)| {
        let users = if is_job(&users) { users } else { list_simultaneous(device, &users, context) };
        (users.len() > 1).then(|| of_device(device, &users, context, views))
    });
    shared.max_by_key(|shared| (shared.together, std::cmp::Reverse(shared.device)))
}

/// Returns the bytes of the device that the fullest rank gets if each rank gets its share of the sum. `None` if all ranks fit together, or
/// simultaneous execution is unknown.
pub fn part_of_shared(launch: &Launch, run: &Run) -> Option<Bytes> {
    if Outcome::of(run) == Outcome::Ended {
        return None;
    }
    let total = launch.available_bytes();
    let found = find_shared(launch, run, &Views::default()).filter(|found| found.is_job && found.together > total)?;
    let most = found.held.iter().map(|(_, bytes)| *bytes).max()?;
    let part = u128::from(total.0) * u128::from(most.0) / u128::from(found.together.0);
    Some(Bytes(u64::try_from(part).ok()?))
}

fn of_device<'a>(device: DeviceIndex, users: &[&'a Process], context: Bytes, views: &Views<'a>) -> Shared {
    let mut held: Vec<(u32, Bytes)> =
        users.iter().map(|process| (process.identity.rank, usage(process, device, context).device_bytes)).collect();
    held.sort_unstable();
    let visitors = users.iter().filter(|process| works_on(process, context) != Some(device)).count();
    let together = held.iter().map(|(_, bytes)| *bytes).sum();
    Shared { device: device.0, held, visitors, together, is_job: is_job(users), astray: astray(device, users, views) }
}

/// True for the ranks of a job.
fn is_job(users: &[&Process]) -> bool {
    let ranks: BTreeSet<u32> = users.iter().map(|process| process.identity.rank).collect();
    ranks.len() == users.len() && users.iter().all(|process| process.identity.world_size > 1)
}

/// Lists the processes that were alive at the start of one: the group with the largest sum of peaks. A process that
/// started others begins with its own use of CUDA: it may have waited for its children.
fn list_simultaneous<'a>(device: DeviceIndex, users: &[&'a Process], context: Bytes) -> Vec<&'a Process> {
    let alive_at = |moment: u64| {
        let is_alive = |process: &&&Process| {
            let (begin, end) = lifetime(process, users);
            begin <= moment && moment <= end
        };
        users.iter().filter(is_alive).copied().collect::<Vec<_>>()
    };
    let sum = |group: &Vec<&Process>| -> Bytes {
        group.iter().map(|process| usage(process, device, context).device_bytes).sum()
    };
    let groups = users.iter().map(|process| alive_at(lifetime(process, users).0));
    groups.max_by_key(sum).unwrap_or_default()
}

/// Returns the times at which a process began and ended; unknown times are as far away as they can be.
fn lifetime(process: &Process, users: &[&Process]) -> (u64, u64) {
    let identity = &process.identity;
    let started_others = users.iter().any(|other| other.identity.ancestors.contains(&identity.pid));
    let begin = if started_others { identity.monotonic_ns } else { identity.started_ns };
    let end = process.end.as_ref().map(|end| end.monotonic_ns).filter(|end| *end > 0);
    (begin, end.unwrap_or(u64::MAX))
}

/// Returns every device that the process took memory of, including devices with only a context.
fn all_devices(process: &Process) -> Vec<DeviceIndex> {
    let mut all = process.devices();
    all.extend(process.ledger.devices());
    all.sort_unstable();
    all.dedup();
    all
}

fn works_on(process: &Process, context: Bytes) -> Option<DeviceIndex> {
    fullest_device(process, context).map(|(device, _)| device)
}

/// Returns the first allocating line of the user's code in a process that its launcher assigned to another device.
fn astray<'a>(device: DeviceIndex, users: &[&'a Process], views: &Views<'a>) -> Option<Location> {
    let process = users.iter().find(|process| process.identity.local_rank != device.0)?;
    let view = views.find(process, device);
    view.trace.history.lifetimes().iter().find_map(|life| view.own_line(life.stack))
}

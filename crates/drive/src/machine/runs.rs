//! The recordings of the programs that run on this machine.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use diagnose::Meter;
use trace::machine::HostProcess;

use crate::live::find::{find_run, list_in_runs};
use crate::live::watch::Watch;

/// The time between two searches through all processes of the machine: NVML may not list a process, in a container or under WSL.
const SEARCH_PAUSE: Duration = Duration::from_secs(5);

/// Follows all recordings.
#[derive(Default)]
pub(super) struct FollowedRuns {
    watches: BTreeMap<PathBuf, Watch>,
    /// The run of each process by its number and start; `None` for a process outside of runs.
    known: HashMap<(u32, u64), Option<PathBuf>>,
    searched: Option<Instant>,
}

impl FollowedRuns {
    /// Reads the news of all recordings; returns the running processes. `host`: the processes on the GPUs.
    pub(super) fn refresh(&mut self, host: &BTreeMap<u32, HostProcess>) -> Vec<Meter> {
        self.known.retain(|(pid, started), _| host.get(pid).is_some_and(|process| process.started_ticks == *started));
        for (&pid, process) in host {
            let folder = self.known.entry((pid, process.started_ticks)).or_insert_with(|| find_run(pid).ok());
            if let Some(folder) = folder {
                self.watches.entry(folder.clone()).or_insert_with(|| Watch::new(folder));
            }
        }
        self.search();
        let all = self.watches.values_mut().flat_map(|watch| watch.refresh(false));
        all.filter(|meter| !meter.has_ended()).cloned().collect()
    }

    fn search(&mut self) {
        if self.searched.is_some_and(|searched| searched.elapsed() < SEARCH_PAUSE) {
            return;
        }
        self.searched = Some(Instant::now());
        let running: BTreeMap<PathBuf, u32> = list_in_runs().into_iter().map(|(pid, folder)| (folder, pid)).collect();
        self.watches.retain(|folder, _| running.contains_key(folder));
        for folder in running.into_keys() {
            self.watches.entry(folder.clone()).or_insert_with(|| Watch::new(&folder));
        }
    }
}

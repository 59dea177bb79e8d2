//! The first difference between two recorded runs, and what it does to the memory.
//!
//! # Note [Two runs]
//! The requests of both runs are paired step by step (`sections`), by line and size (`align`). Addresses and times differ between any two
//! runs, and do not count. Unpaired requests are the difference. With a pair for each request, later frees still raise the peak.

mod align;
mod moved;
mod pairing;
mod places;
mod requests;
mod sections;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use report::against::{AgainstReport, AloneDevice, ComparedDevice, ComparedRun};
use report::render::words_of_failure;
use trace::{DeviceIndex, Launch, Run};

use self::pairing::{Side, compare, peak_of};
use crate::measure::view::View;
use crate::real::Real;

/// Two recorded runs, A and B.
#[derive(Clone, Debug)]
pub struct AgainstCase {
    /// The runs.
    pub runs: [AgainstRun; 2],
    /// oomph's own version.
    pub version: String,
    /// The reader's working directory; paths are shown relative to it.
    pub folder: String,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct AgainstRun {
    /// The folder, as the user wrote it.
    pub path: String,
    /// The records of its processes.
    pub run: Run,
    /// The launcher's record.
    pub launch: Launch,
}

/// A device of a process: the rank, the number of the process in this rank, the device.
type Key = (u32, usize, DeviceIndex);

/// Compares two runs.
pub fn against(case: &AgainstCase) -> AgainstReport {
    let runs = case.runs.each_ref().map(|run| describe(run, &case.folder));
    let views = case.runs.each_ref().map(list_views);
    let keys: BTreeSet<Key> = views.iter().flat_map(BTreeMap::keys).copied().collect();
    let (mut devices, mut alone) = (Vec::new(), Vec::new());
    for key in keys {
        match [views[0].get(&key), views[1].get(&key)] {
            [Some(a), Some(b)] => {
                let sides = [side(&case.runs[0], &runs[0], a), side(&case.runs[1], &runs[1], b)];
                devices.push(compare(&sides));
            }
            [a, b] => alone.extend([a, b].into_iter().enumerate().filter_map(|(run, view)| Some(alone_in(run, view?)))),
        }
    }
    AgainstReport {
        version: case.version.clone(),
        focus: find_focus(&devices),
        notes: list_notes(&views),
        settings: settings::differences(&case.runs),
        runs,
        devices,
        alone,
        folder: case.folder.clone(),
    }
}

fn describe(run: &AgainstRun, folder: &str) -> ComparedRun {
    let end = Real::of(&run.run, &run.launch, &[], folder);
    ComparedRun {
        path: run.path.clone(),
        is_dry: !run.launch.is_real(),
        steps: run.run.processes.iter().map(trace::Process::step_count).max().unwrap_or_default(),
        ran_out: end.is_explained(),
        failed: words_of_failure(&end.report(None)),
    }
}

fn list_views(run: &AgainstRun) -> BTreeMap<Key, View<'_>> {
    let (mut views, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    for process in run.run.processes.iter().filter(|process| !process.devices().is_empty()) {
        let number = numbers.entry(process.identity.rank).or_insert(0);
        views.extend(View::list(process).map(|view| ((process.identity.rank, *number, view.trace.device), view)));
        *number += 1;
    }
    views
}

fn side<'v, 'a>(run: &AgainstRun, described: &ComparedRun, view: &'v View<'a>) -> Side<'v, 'a> {
    Side { view, is_real: run.launch.is_real(), failed: described.failed.is_some() }
}

fn alone_in(run: usize, view: &View) -> AloneDevice {
    let allocated_bytes = peak_of(view).allocated_bytes;
    AloneDevice { run, rank: view.trace.process.identity.rank, device: view.trace.device, allocated_bytes }
}

/// Finds the device with the first unpaired request, else the device with the largest difference of peaks, else the fullest device.
fn find_focus(devices: &[ComparedDevice]) -> Option<usize> {
    let score = |device: &ComparedDevice| {
        let step = device.parting.as_ref().map(|parting| (parting.is_of_libraries, parting.step.unwrap_or_default()));
        let peaks = device.peaks.map(|peak| peak.allocated_bytes);
        (step.is_none(), step, std::cmp::Reverse((pairing::distance(peaks), peaks[0])))
    };
    (0..devices.len()).min_by_key(|index| devices.get(*index).map(score))
}

/// Remarks on recordings that are incomplete.
fn list_notes(views: &[BTreeMap<Key, View<'_>>; 2]) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, views) in ["A", "B"].into_iter().zip(views) {
        for ((rank, _, _), view) in views {
            if let Some(problem) = &view.trace.process.unrecorded {
                notes.push(format!("{name}, rank {rank}: allocations were not recorded: {}", problem.reason));
            } else if !view.trace.history.older().is_empty() {
                notes.push(format!("{name}, rank {rank}: the recording lost its beginning; the rest is compared"));
            }
        }
    }
    notes
}

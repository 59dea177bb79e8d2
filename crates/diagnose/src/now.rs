//! The memory of a running program, by line.

use std::collections::BTreeMap;

use report::metrics::DeviceMetrics;
use report::now::{DeviceNow, HeldLine, NowReport};
use report::{Breakdown, Location};
use trace::{Bytes, DeviceIndex, EventIndex, Process, Recording, Snapshot, StackId};

use crate::measure::breakdown::breakdown_after;
use crate::measure::own::is_own;
use crate::measure::view::View;
use crate::meter::Meter;

/// Measures the processes of a running program, each device by itself. `folder`: the reader's working directory.
pub fn measure_now(processes: &[(Process, Option<Recording>)], version: &str, folder: &str) -> NowReport {
    let is_job = processes.len() > 1;
    let list = |(process, recording): &(Process, Option<Recording>)| {
        list_devices(process, recording.as_ref(), is_job.then_some(process.identity.rank))
    };
    let devices = processes.iter().flat_map(list).collect();
    NowReport { version: version.to_owned(), devices, folder: folder.to_owned() }
}

fn list_devices(process: &Process, recording: Option<&Recording>, rank: Option<u32>) -> Vec<DeviceNow> {
    let measured = Meter::of(process, recording).measure();
    let held = recording.map(|recording| Held { recording, script_dir: &process.identity.script_dir });
    let snapshot = recording.map(|recording| recording.clone().into_snapshot(None, &[]));
    let of_device = |figures: DeviceMetrics| DeviceNow {
        rank,
        steps: measured.steps,
        lines: held.as_ref().map(|held| held.list_lines(figures.device, |_| true)).unwrap_or_default(),
        contents: snapshot.as_ref().and_then(|snapshot| guess_contents(snapshot, &figures)),
        grows_at: held.as_ref().and_then(|held| held.find_growing(figures.device, measured.steps)),
        figures,
    };
    measured.devices.iter().cloned().map(of_device).collect()
}

/// The allocated memory by category, as the stacks of the allocations tell.
fn guess_contents(snapshot: &Snapshot, figures: &DeviceMetrics) -> Option<Breakdown> {
    let view = View::bare(snapshot, DeviceIndex(figures.device));
    let last = view.trace.end().0.checked_sub(1).map(EventIndex)?;
    breakdown_after(&view, Some(last.into()), Bytes(figures.allocated_bytes)).ok()
}

/// The allocated blocks of a process.
struct Held<'a> {
    recording: &'a Recording,
    script_dir: &'a str,
}

impl Held<'_> {
    /// The lines by the memory of their blocks, of chosen steps alone.
    fn list_lines(&self, device: u32, is_chosen: impl Fn(u32) -> bool) -> Vec<HeldLine> {
        let mut lines: BTreeMap<Option<Location>, (Bytes, u64)> = BTreeMap::new();
        let held = self.recording.list_held().filter(|held| u32::from(held.device) == device && is_chosen(held.step));
        for block in held {
            let (bytes, blocks) = lines.entry(self.locate(block.stack)).or_default();
            (*bytes, *blocks) = (*bytes + Bytes(block.bytes), *blocks + 1);
        }
        let lines = lines.into_iter().map(|(location, (bytes, blocks))| HeldLine { location, bytes, blocks });
        let mut lines: Vec<HeldLine> = lines.collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.bytes));
        lines
    }

    /// The line with most of the memory that outlived its step. The first step is left out: it allocates lasting memory.
    fn find_growing(&self, device: u32, steps_done: u32) -> Option<Location> {
        let lines = self.list_lines(device, |step| step > 1 && step < steps_done);
        lines.into_iter().find_map(|line| line.location)
    }

    fn locate(&self, stack: StackId) -> Option<Location> {
        let mut frames = self.recording.stacks().frames(stack);
        let frame = frames.find(|frame| is_own(&frame.file, self.script_dir))?;
        Some(Location { file: frame.file.clone(), line: frame.line, column: None })
    }
}

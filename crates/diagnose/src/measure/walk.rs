//! The walk over a device's history that fills a [`View`].

use trace::{DeviceIndex, History, Process, Snapshot};

use super::contents::classify;
use super::infer;
use super::infer::roles::roles;
use super::run_records::{devices, script_dir};
use super::timeline::Timeline;
use super::view::View;

/// The process of a snapshot that was recorded without oomph: a process without records.
static NOBODY: Process = Process { records: Vec::new(), phantom: Vec::new(), snapshot: None };

impl<'a> View<'a> {
    /// Walks the history; empty without a snapshot.
    pub(crate) fn new(process: &'a Process, device: DeviceIndex) -> View<'a> {
        View::of(process, process.snapshot.as_ref(), device)
    }

    /// Walks the history of each device that the process used.
    pub(crate) fn list(process: &'a Process) -> impl Iterator<Item = View<'a>> {
        devices(process).into_iter().map(|device| View::new(process, device))
    }

    /// Walks the history of a snapshot without a run.
    pub(crate) fn bare(snapshot: &'a Snapshot, device: DeviceIndex) -> View<'a> {
        View::of(&NOBODY, Some(snapshot), device)
    }

    fn of(process: &'a Process, snapshot: Option<&'a Snapshot>, device: DeviceIndex) -> View<'a> {
        let trace = snapshot.and_then(|snapshot| snapshot.traces.get(device.0 as usize));
        let events = trace.map_or(&[][..], Vec::as_slice);
        let found = snapshot.map(|snapshot| History::of(snapshot, device));
        let mut view = View {
            process,
            snapshot,
            device,
            events,
            found: found.unwrap_or_default(),
            contents: Vec::new(),
            timeline: Timeline::default(),
            roles: Vec::new(),
            script_dir: script_dir(process),
        };
        view.classify_events();
        view
    }

    /// Fills phases, steps and categories: by marks if the history has marks, else by stacks.
    fn classify_events(&mut self) {
        let Some(snapshot) = self.snapshot else {
            return;
        };
        self.roles = roles(&snapshot.stacks);
        self.timeline = if self.is_marked() {
            Timeline::marked(self.events, &snapshot.marks)
        } else {
            infer::phases::infer_timeline(self.events, &self.roles, &self.found, &snapshot.stacks)
        };
        self.contents = classify(self);
    }
}

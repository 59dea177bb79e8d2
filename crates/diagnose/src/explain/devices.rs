//! The devices that the inputs show, and the one that the report is about.

use std::collections::BTreeSet;

use report::Site;
use report::explain::DeviceHistory;
use trace::text::StatedOom;
use trace::{DeviceIndex, EventIndex, Snapshot};

use super::case::{ExplainCase, InputContents};
use super::growth::{Grown, find_growth};
use super::history::history;
use crate::measure::sites::sites;
use crate::measure::view::View;

/// A device of an input.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// The index of the input.
    pub(super) input: usize,
    /// The rank, if an input states the rank.
    pub(super) rank: Option<u32>,
    /// The device's history.
    pub(super) view: View<'a>,
    /// What earlier iterations left, if the memory grows.
    pub(super) grown: Option<Grown>,
}

impl<'a> Seen<'a> {
    fn new(input: usize, rank: Option<u32>, view: View<'a>) -> Seen<'a> {
        Seen { input, rank, grown: find_growth(&view), view }
    }

    /// Summarizes the device's history.
    pub(super) fn history(&self) -> DeviceHistory {
        history(self.input, &self.view, self.grown.as_ref().map(|grown| grown.growth.clone()))
    }

    /// Returns the lines that allocated the bytes alive at the peak.
    pub(super) fn sites(&self) -> Vec<Site> {
        let peak = self.view.trace.history.peaks().allocated;
        peak.map_or_else(Vec::new, |peak| sites(&self.view, peak.at))
    }

    /// Returns the event of the last failed request.
    pub(super) fn last_oom(&self) -> Option<EventIndex> {
        self.view.trace.last_oom()
    }
}

/// Returns every device of every input that used memory, in input order.
pub(super) fn list_devices(case: &ExplainCase) -> Vec<Seen<'_>> {
    let mut seen = Vec::new();
    for (input, named) in case.inputs.iter().enumerate() {
        match &named.contents {
            InputContents::Snapshot(snapshot) => {
                seen.extend(of_snapshot(snapshot).map(|view| Seen::new(input, named.rank, view)));
            }
            InputContents::Run(run, _) => {
                let views = run.processes.iter().flat_map(View::list);
                seen.extend(views.map(|view| Seen::new(input, Some(view.trace.process.identity.rank), view)));
            }
            InputContents::Text(_) => {}
        }
    }
    seen
}

fn of_snapshot(snapshot: &Snapshot) -> impl Iterator<Item = View<'_>> {
    used_devices(snapshot).into_iter().map(|device| View::bare(snapshot, device))
}

/// Returns the devices with events or segments. The list of `torch.cuda.memory_snapshot` has no events at all.
fn used_devices(snapshot: &Snapshot) -> BTreeSet<DeviceIndex> {
    let traced =
        (0..).zip(&snapshot.traces).filter(|(_, trace)| !trace.is_empty()).map(|(index, _)| DeviceIndex(index));
    traced.chain(snapshot.segments.iter().map(|segment| segment.device)).collect()
}

/// Returns the device where a request failed, else the device that the error `named` names, else the fullest device.
pub(super) fn focus(seen: &[Seen], devices: &[DeviceHistory], named: Option<&StatedOom>) -> Option<usize> {
    let score = |index: usize| {
        let (seen, history) = (seen.get(index)?, devices.get(index)?);
        let failed = seen.last_oom().is_some();
        let same_rank = named.is_some_and(|oom| oom.rank.is_some() && oom.rank == seen.rank);
        let same_device = named.is_some_and(|oom| oom.device_index == Some(history.device.0));
        Some((same_rank, failed, same_device, history.peak.allocated_bytes))
    };
    let best = (0..seen.len()).filter_map(|index| Some((score(index)?, std::cmp::Reverse(index)))).max();
    best.map(|(_, std::cmp::Reverse(index))| index)
}

//! The watch over a running program: `--metrics`, `--log-to` and the signal for a snapshot.

use std::ffi::OsString;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use diagnose::Meter;
use drive::live::publish::{Channel, Outlet, Publisher};
use drive::live::snapshots::Snapshots;
use drive::process::attended::{OwnSignal, Signal};
use report::metrics::{ProcessMetrics, write_line, write_prometheus};

use super::trackers::Trackers;
use crate::args::{MetricsTarget, Run, SnapshotSignal};
use crate::error::Error;
use crate::output;

/// The watch, while this value lives.
pub(super) struct Watching {
    snapshots: Snapshots,
    publisher: Option<Publisher>,
    trackers: Trackers,
}

/// The places for the figures of a run.
pub(super) struct Outlets {
    metrics: Option<Outlet>,
    trackers: Trackers,
}

impl Outlets {
    /// Opens the places, before the program starts. A wrong file or address is an error, a tracker that cannot be used is not.
    pub(super) fn open(arguments: &Run, command: &[OsString]) -> Result<Outlets, Error> {
        Ok(Outlets { metrics: open_metrics(arguments)?, trackers: Trackers::start(arguments, command) })
    }

    /// Takes the channels of all places.
    fn take_channels(&mut self) -> Vec<Channel> {
        let metrics = self.metrics.take().map(|outlet| {
            let is_server = outlet.address().is_some();
            Channel { outlet, write: if is_server { Box::new(write_text) } else { Box::new(write_lines) } }
        });
        let pipes = std::mem::take(&mut self.trackers.pipes).into_iter();
        let trackers = pipes.map(|pipe| Channel { outlet: Outlet::Tracker(pipe), write: Box::new(write_lines) });
        metrics.into_iter().chain(trackers).collect()
    }
}

impl Watching {
    /// Starts to watch the run in `folder`.
    pub(super) fn start(folder: &Path, mut outlets: Outlets) -> Result<Watching, Error> {
        let channels = outlets.take_channels();
        let publisher = (!channels.is_empty()).then(|| Publisher::start(folder, channels)).transpose()?;
        Ok(Watching { snapshots: Snapshots::start(folder)?, publisher, trackers: outlets.trackers })
    }

    /// The signal for a snapshot, if one is chosen.
    pub(super) fn own_signal(&self, chosen: SnapshotSignal) -> Option<OwnSignal> {
        let signal = match chosen {
            SnapshotSignal::Usr1 => Signal::SIGUSR1,
            SnapshotSignal::Usr2 => Signal::SIGUSR2,
            SnapshotSignal::Nothing => return None,
        };
        Some(OwnSignal { signal, answer: Box::new(self.snapshots.requester()) })
    }

    /// Ends the watch after the last figures; returns true if a snapshot was taken.
    pub(super) fn finish(self) -> bool {
        let has_snapshots = self.snapshots.finish();
        drop(self.publisher);
        self.trackers.finish();
        has_snapshots
    }
}

/// Opens the place of `--metrics`.
fn open_metrics(arguments: &Run) -> Result<Option<Outlet>, Error> {
    let outlet = match &arguments.metrics {
        None => return Ok(None),
        Some(MetricsTarget::File(path)) => Outlet::open_file(path)?,
        Some(MetricsTarget::Address(address)) => Outlet::listen(*address)?,
    };
    if let Some(address) = outlet.address() {
        output::say(&format!("oomph: metrics at http://{address}/metrics"));
    }
    Ok(Some(outlet))
}

fn write_text(meters: &[&Meter]) -> String {
    write_prometheus(&measure(meters))
}

fn write_lines(meters: &[&Meter]) -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |passed| passed.as_secs_f64());
    // Numbers and texts always have a form in JSON.
    measure(meters).iter().filter_map(|process| write_line(seconds, process).ok()).collect()
}

fn measure(meters: &[&Meter]) -> Vec<ProcessMetrics> {
    meters.iter().map(|meter| meter.measure()).collect()
}

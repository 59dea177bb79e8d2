//! The watch over a running program: `--metrics` and the signal for a snapshot.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use diagnose::Meter;
use drive::live::publish::{Outlet, Publisher, WriteFigures};
use drive::live::snapshots::Snapshots;
use drive::process::attended::{OwnSignal, Signal};
use report::metrics::{ProcessMetrics, write_line, write_prometheus};

use crate::args::{MetricsTarget, Run, SnapshotSignal};
use crate::error::Error;
use crate::output;

/// The watch, while this value lives.
pub(super) struct Watching {
    snapshots: Snapshots,
    _publisher: Option<Publisher>,
}

impl Watching {
    /// Starts to watch the run in `folder`. `outlet`: the place for the figures.
    pub(super) fn start(folder: &Path, outlet: Option<Outlet>) -> Result<Watching, Error> {
        let publisher = outlet.map(|outlet| {
            let write: WriteFigures =
                if outlet.address().is_some() { Box::new(write_text) } else { Box::new(write_lines) };
            Publisher::start(folder, outlet, write)
        });
        Ok(Watching { snapshots: Snapshots::start(folder)?, _publisher: publisher.transpose()? })
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
        self.snapshots.finish()
    }
}

/// Opens the place for the figures, before the program starts.
pub(super) fn open_outlet(arguments: &Run) -> Result<Option<Outlet>, Error> {
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

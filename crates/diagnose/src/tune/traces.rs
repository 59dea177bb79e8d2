//! The inputs as replayable traces.

use allocator::replay::{Difference, Program, recorded_by, recorded_settings};
use allocator::settings::Settings;
use allocator::{Rules, limit, size};
use report::tune::{Agreement, TunedTrace};
use trace::{Bytes, DeviceIndex, Event, History, Process, Release, Snapshot};

use super::case::{TuneCase, TuneError};
use crate::explain::{ExplainInput, InputContents};
use crate::measure::view::View;

/// The recording of a device of a process.
#[derive(Debug)]
pub(super) struct Trace<'a> {
    pub(super) path: &'a str,
    pub(super) rank: Option<u32>,
    pub(super) device: DeviceIndex,
    pub(super) events: &'a [Event],
    pub(super) history: History,
    pub(super) program: Program,
    /// The recorded settings.
    pub(super) settings: Settings,
    /// The recorded settings as a text.
    pub(super) conf: String,
    /// True for a recording on Windows, where PyTorch has no expandable segments.
    pub(super) on_windows: bool,
    /// The version of the allocator model.
    pub(super) release: Release,
    /// The oldest version that the recording may have; recommended keys must exist in it.
    pub(super) oldest: Release,
    pub(super) agreement: Agreement,
    /// The peak of the live bytes, and the memory of a packing.
    pub(super) limit: (Bytes, Option<Bytes>),
    /// The largest possible memory for PyTorch's allocator, by an error in the history.
    pub(super) capacity: Option<Bytes>,
    snapshot: &'a Snapshot,
    process: Option<&'a Process>,
}

/// A snapshot and its owner.
struct RecordedSnapshot<'a> {
    path: &'a str,
    rank: Option<u32>,
    snapshot: &'a Snapshot,
    process: Option<&'a Process>,
}

/// Returns every recorded device of every input.
pub(super) fn read_traces(case: &TuneCase) -> Result<Vec<Trace<'_>>, TuneError> {
    let mut traces = Vec::new();
    for source in sources(&case.inputs)? {
        for (device, events) in (0..).map(DeviceIndex).zip(&source.snapshot.traces) {
            if is_used(events) {
                traces.push(trace(&source, device, events, case.torch)?);
            }
        }
    }
    match (traces.is_empty(), case.inputs.first()) {
        (false, _) => Ok(traces),
        (true, input) => Err(TuneError::NoHistory(input.map(|input| input.path.clone()).unwrap_or_default())),
    }
}

/// Returns the snapshots with a replayable history. The log of a run is skipped: the run's snapshots have more
/// information.
fn sources(inputs: &[ExplainInput]) -> Result<Vec<RecordedSnapshot<'_>>, TuneError> {
    let is_text = |input: &&ExplainInput| matches!(input.contents, InputContents::Text(_));
    if let Some(text) = inputs.iter().find(is_text).filter(|_| inputs.iter().all(|input| is_text(&input))) {
        return Err(TuneError::Text(text.path.clone()));
    }
    Ok(inputs.iter().flat_map(sources_of).collect())
}

fn sources_of(input: &ExplainInput) -> Vec<RecordedSnapshot<'_>> {
    let path = input.path.as_str();
    match &input.contents {
        InputContents::Text(_) => Vec::new(),
        InputContents::Snapshot(snapshot) => vec![RecordedSnapshot { path, rank: input.rank, snapshot, process: None }],
        InputContents::Run(run, _) => {
            let processes = run.processes.iter();
            let recorded = processes.filter_map(|process| Some((process, process.snapshot.as_ref()?)));
            recorded
                .map(|(process, snapshot)| RecordedSnapshot {
                    path,
                    rank: Some(process.identity.rank),
                    snapshot,
                    process: Some(process),
                })
                .collect()
        }
    }
}

/// Checks that a device of the snapshot has a history.
pub(super) fn has_history(snapshot: &Snapshot) -> bool {
    snapshot.traces.iter().any(|events| is_used(events))
}

/// Checks for events beyond the snapshot's own mark.
fn is_used(events: &[Event]) -> bool {
    events.iter().any(|event| event.action == trace::Action::Alloc)
}

fn trace<'a>(
    source: &RecordedSnapshot<'a>,
    device: DeviceIndex,
    events: &'a [Event],
    torch: Option<Release>,
) -> Result<Trace<'a>, TuneError> {
    let snapshot = source.snapshot;
    let history = History::of(snapshot, device);
    let program = Program::of(snapshot, device, &history).map_err(|error| TuneError::NotReplayable {
        path: source.path.to_owned(),
        device: device.0,
        problem: error.to_string(),
    })?;
    let known = torch.or_else(|| source.process.and_then(release_of));
    let settings = recorded_settings(&snapshot.settings, events, known.unwrap_or(snapshot.torch.from));
    let mut versions = snapshot.torch;
    if let Some(release) = known {
        versions = trace::TorchVersions { from: release, before: Some(next(release)) };
    }
    let (release, agreement) = recorded_by(&program, events, &settings, versions);
    Ok(Trace {
        path: source.path,
        rank: source.rank,
        device,
        events,
        capacity: capacity(&history),
        limit: limit(&history),
        conf: read_conf(snapshot, &settings, release),
        on_windows: is_of_windows(snapshot, events),
        history,
        program,
        settings,
        release,
        oldest: known.unwrap_or(snapshot.torch.from),
        agreement: to_reported(&agreement),
        snapshot,
        process: source.process,
    })
}

fn next(release: Release) -> Release {
    Release { minor: release.minor.saturating_add(1), ..release }
}

/// Returns the PyTorch version that the agent recorded.
fn release_of(process: &Process) -> Option<Release> {
    Release::parse(&process.identity.torch)
}

/// Returns the recorded text if it describes the settings in force; otherwise, as after a change at run time, an
/// equivalent text.
fn read_conf(snapshot: &Snapshot, settings: &Settings, release: Release) -> String {
    let recorded = &snapshot.settings.conf;
    if Settings::parse(recorded, release).as_ref() == Ok(settings) {
        return recorded.clone();
    }
    settings.conf(release).unwrap_or_else(|nearest| nearest.text)
}

/// Checks the stacks for files such as `C:\train.py`.
fn is_of_windows(snapshot: &Snapshot, events: &[Event]) -> bool {
    const LOOKED_AT: usize = 100;
    let stacks = events.iter().map(|event| event.stack).filter(|&stack| stack != trace::StackId::EMPTY);
    let mut files = stacks.take(LOOKED_AT).flat_map(|stack| snapshot.stacks.frames(stack)).map(|frame| &frame.file);
    files.any(|file| file.as_bytes().get(1..3).is_some_and(|drive| drive == b":\\"))
}

/// Returns the sum of the reserved and the free bytes at a failed request: the memory available to the allocator.
fn capacity(history: &History) -> Option<Bytes> {
    history.ooms().last().map(|failed| failed.totals.reserved + failed.device_free)
}

fn limit(history: &History) -> (Bytes, Option<Bytes>) {
    let buffers = limit::buffers(history, limit::Until::Requested);
    let packing = limit::pack(&buffers).ok().map(|packing| packing.peak);
    (limit::peak_alive_bytes(&buffers).bytes, packing)
}

fn to_reported(agreement: &allocator::replay::Agreement) -> Agreement {
    Agreement {
        exact: agreement.difference.is_none(),
        segment_events: agreement.segment_events as u64,
        placements: agreement.placements as u64,
        difference: agreement.difference.as_ref().map(words_of_difference),
    }
}

fn words_of_difference(difference: &Difference) -> String {
    match difference {
        Difference::Segment { event, replayed: (action, _, bytes), recorded: Some((other, _, others)) } => format!(
            "event {}: the replay did {action:?} of {bytes} bytes, the recording has {other:?} of {others} bytes",
            event.0
        ),
        Difference::Segment { event, replayed: (action, _, bytes), recorded: None } => {
            format!("event {}: the replay did {action:?} of {bytes} bytes, the recording ends there", event.0)
        }
        Difference::Placement { event, replayed, recorded } => {
            format!("event {}: the replay put the block at {replayed}, the recording at {recorded}", event.0)
        }
        Difference::Failure { event, error } => format!("event {}: the replay fails: {error}", event.0),
        Difference::Missing { event } => format!("event {}: the replay does not reach the recorded event", event.0),
    }
}

impl Trace<'_> {
    /// Returns the allocator rules of the trace's version.
    pub(super) fn rules(&self) -> Rules {
        Rules::of(self.release)
    }

    /// Returns the request sizes, each once, in ascending order.
    pub(super) fn requests(&self) -> Vec<u64> {
        let failed = self.history.ooms().iter().map(|failed| failed.requested.0);
        let mut sizes: Vec<u64> = self
            .history
            .lifetimes()
            .iter()
            .map(|life| life.requested.0)
            .chain(failed)
            .map(|size| size.max(1))
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Returns the recorded `max_memory_reserved`.
    pub(super) fn recorded_reserved(&self) -> Bytes {
        self.history.peaks().reserved.map_or(Bytes::ZERO, |peak| peak.bytes)
    }

    /// Returns the view with phases and steps.
    pub(super) fn as_view(&self) -> View<'_> {
        match self.process {
            Some(process) => View::new(process, self.device),
            None => View::bare(self.snapshot, self.device),
        }
    }

    /// Returns the trace's section of the report.
    pub(super) fn to_report(&self, replayed: Bytes) -> TunedTrace {
        TunedTrace {
            path: self.path.to_owned(),
            rank: self.rank,
            device: self.device,
            events: self.events.len() as u64,
            whole: self.program.is_whole(),
            recorded_reserved_bytes: self.recorded_reserved(),
            replayed_reserved_bytes: replayed,
            agreement: self.agreement.clone(),
        }
    }
}

/// Returns the block sizes for these requests under `settings`, each once, in ascending order.
pub(super) fn blocks(requests: &[u64], settings: &Settings) -> Vec<u64> {
    let mut blocks: Vec<u64> = requests.iter().map(|&request| size::block_bytes(request, settings)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

//! A run with its history, to be replayed for other batches.

use std::collections::HashSet;

use allocator::replay::{Program, recorded_settings, replay};
use allocator::{Rules, Settings, SimulatedDevice};
use trace::release::Release;
use trace::run::Ledger;
use trace::{Action, Address, Bytes, Event, EventIndex, History, Run};

use crate::measure::usage::fullest;

/// The requests to the allocator of the fullest device.
#[derive(Clone, Debug)]
pub struct ReplayableRun {
    program: Program,
    settings: Settings,
    rules: Rules,
}

impl ReplayableRun {
    /// Reads the recording of a run; `None` without a history that begins with the program.
    pub(super) fn of(run: &Run, context: Bytes) -> Option<ReplayableRun> {
        let (process, device, _) = fullest(run, context)?;
        let snapshot = process.snapshot.as_ref()?;
        let events = usize::try_from(device.0).ok().and_then(|index| snapshot.traces.get(index))?;
        let program = Program::of(snapshot, device, &History::of(snapshot, device)).ok()?;
        let release = run.torch().and_then(Release::parse).unwrap_or(snapshot.torch.from);
        let settings = recorded_settings(&snapshot.settings, events, release);
        let program = program.with_optional(&optional(&process.ledger, events));
        program.is_whole().then_some(ReplayableRun { program, settings, rules: Rules::of(release) })
    }

    /// The same program at another batch, from two recordings; `None` if the two make different requests.
    pub(super) fn scaled(&self, own: u64, other: &ReplayableRun, others: u64, size: u64) -> Option<ReplayableRun> {
        let program = self.program.scaled(own, &other.program, others, size)?;
        Some(ReplayableRun { program, settings: self.settings.clone(), rules: self.rules })
    }

    /// The peaks of allocated and reserved bytes where nothing is refused; `None` if the replay fails.
    pub(super) fn find_peaks(&self) -> Option<(Bytes, Bytes)> {
        let device = SimulatedDevice::new(SimulatedDevice::NEVER_FULL_BYTES, 0);
        let outcome = replay(&self.program, &self.settings, self.rules, device);
        outcome.failed.is_none().then(|| (outcome.peak_allocated_bytes(), outcome.peak_reserved_bytes()))
    }

    /// True if PyTorch can do without some of the requests.
    pub(super) fn has_optional(&self) -> bool {
        self.program.has_optional()
    }

    /// True if the replay succeeds on `device`.
    pub(super) fn fits(&self, device: SimulatedDevice) -> bool {
        replay(&self.program, &self.settings, self.rules, device).failed.is_none()
    }
}

/// The requests that PyTorch can do without: where there is no room for a convolution's workspace, it takes the next algorithm
/// (`try_plans` in aten/src/ATen/native/cudnn/Conv_v8.cpp, 2.11).
fn optional(ledger: &Ledger, events: &[Event]) -> HashSet<EventIndex> {
    let workspaces: HashSet<(Address, Bytes)> = convolution_workspaces(ledger).collect();
    let asked = events.iter().enumerate().filter(|(_, event)| event.action == Action::Alloc);
    let found = asked.filter(|(_, event)| workspaces.contains(&(event.address, event.size)));
    found.filter_map(|(index, _)| u32::try_from(index).ok().map(EventIndex)).collect()
}

/// The workspaces of cuDNN: address and size.
pub(super) fn convolution_workspaces(ledger: &Ledger) -> impl Iterator<Item = (Address, Bytes)> {
    let of_cudnn = ledger.workspaces.iter().filter(|workspace| workspace.library == "cudnn");
    of_cudnn.map(|workspace| (Address(workspace.address), Bytes(workspace.bytes)))
}

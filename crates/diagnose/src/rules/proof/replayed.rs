//! The effect of other allocator settings: a replay of the recorded requests.
//!
//! # Note [Verified by replay]
//!
//! A remedy by settings is `verified` if the model reproduces the recording under the recorded settings, and has a
//! lower peak under the new settings. If the model does not reproduce the recording, or the history lacks its
//! beginning, the remedy is `estimated`. A remedy is also `estimated` if equal blocks are ordered by address (up to
//! 2.11) and another order leads to another result, because the driver chooses the addresses. Both peaks are replayed
//! on a device that is never full, so that they compare; the failed request is replayed on the device of the failure.

use std::fmt::Write as _;

use allocator::replay::{AllocationChange, Program, ReplayOutcome, recorded_by, recorded_settings, replay};
use allocator::{Rules, Settings, SimulatedDevice, Tie};
use report::{Remedy, Standing};
use trace::{Bytes, EventIndex, Lifetime};

use crate::measure::least::find_least;
use crate::measure::view::View;

/// A longer program is not replayed on many devices: that would take seconds.
const MOST_OPERATIONS: usize = 400_000;

/// The possible orders of unknown addresses.
const OTHER_ORDERS: [Tie; 2] = [Tie::SegmentNumber, Tie::BlockNumber];

/// A replayable history.
pub(crate) struct Replayable {
    program: Program,
    settings: Settings,
    rules: Rules,
    /// True if the model reproduces the recording from the program's start.
    exact: bool,
    /// The last failed request, and the memory available to PyTorch's allocator at the failure.
    failure: Option<(EventIndex, Bytes)>,
    /// All failed requests.
    failed: Vec<EventIndex>,
}

/// The result of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// The peak of the reserved bytes, before and after.
    reserved: [Bytes; 2],
    /// The calls that reserved device memory, before and after.
    calls: [u64; 2],
    /// True if the failed request is served; `None` without a failed request.
    served: Option<bool>,
    standing: Standing,
}

impl Replayable {
    /// Returns the history of a view; `None` without a history, or if several allocators recorded it.
    pub(crate) fn of(view: &View) -> Option<Replayable> {
        let snapshot = view.trace.snapshot?;
        let program = Program::of(snapshot, view.trace.device, &view.trace.history).ok()?;
        let settings = recorded_settings(&snapshot.settings, view.trace.events, snapshot.torch.from);
        let (release, agreement) = recorded_by(&program, view.trace.events, &settings, snapshot.torch);
        let exact = agreement.difference.is_none() && program.is_whole();
        let failure = view.trace.history.ooms().last().map(|failed| (failed.event, failed.capacity()));
        let failed = view.trace.history.ooms().iter().map(|failed| failed.event).collect();
        Some(Replayable { program, settings, rules: Rules::of(release), exact, failure, failed })
    }

    /// Replays under changed settings.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Settings)) -> Change {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.apply(&self.program, &settings)
    }

    /// Returns the least memory for PyTorch's allocator in which every request is served, at most `reserved`: a full device empties the cache.
    /// `None` if the model does not reproduce the recording.
    pub(crate) fn least_bytes(&self, allocated: Bytes, reserved: Bytes) -> Option<Bytes> {
        self.least_under(&self.settings, allocated, reserved)
    }

    /// As [`Replayable::least_bytes`], with expandable segments; `None` also if the program has them, or is too long to try many sizes.
    pub(crate) fn least_expandable_bytes(&self, allocated: Bytes, reserved: Bytes) -> Option<Bytes> {
        let settings = Settings { expandable_segments: true, ..self.settings.clone() };
        let is_new = !self.settings.expandable_segments && self.program.operation_count() <= MOST_OPERATIONS;
        if is_new { self.least_under(&settings, allocated, reserved) } else { None }
    }

    fn least_under(&self, settings: &Settings, allocated: Bytes, reserved: Bytes) -> Option<Bytes> {
        let serves = |bytes: Bytes| {
            let device = SimulatedDevice::new(bytes.0, 0);
            replay(&self.program, settings, self.rules, device).failed.is_none()
        };
        let least = if self.exact { find_least(allocated, reserved, serves) } else { None };
        least.map(|least| least.bytes).filter(|bytes| *bytes <= reserved)
    }

    /// True if the model reproduces the recording from the program's start.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns the peak of the allocated bytes, the request that failed included.
    pub(crate) fn peak_allocated(&self) -> Bytes {
        self.run(&self.program, SimulatedDevice::NEVER_FULL_BYTES).peak_allocated_bytes()
    }

    /// Returns the peak of the allocated bytes with changed allocations, and whether the device of the failure serves the failed request.
    pub(crate) fn edited<'l>(
        &self,
        edits: impl Iterator<Item = (&'l Lifetime, AllocationChange)>,
        of_failed: Option<AllocationChange>,
    ) -> (Bytes, Option<bool>) {
        let mut program = self.program.edited(edits);
        if let Some((edit, (event, _))) = of_failed.zip(self.failure) {
            program = program.with_failed(event, edit);
        }
        let after = self.run(&program, SimulatedDevice::NEVER_FULL_BYTES).peak_allocated_bytes();
        let served = self.failure.map(|(event, capacity)| {
            let outcome = self.run(&program, capacity.0);
            let is_left_out = of_failed == Some(AllocationChange::LeaveOut);
            (is_left_out || outcome.served.contains(&event)) && is_after(&outcome, event)
        });
        (after, served)
    }

    /// Returns the peak of the reserved bytes on a device that is never full, without some blocks and without the requests that failed. `None` if
    /// the model does not reproduce the recording.
    pub(crate) fn reserved_without<'l>(&self, blocks: impl Iterator<Item = &'l Lifetime>) -> Option<Bytes> {
        let program = self.program.edited(blocks.map(|block| (block, AllocationChange::LeaveOut)));
        let program =
            self.failed.iter().fold(program, |program, event| program.with_failed(*event, AllocationChange::LeaveOut));
        self.exact.then(|| self.run(&program, SimulatedDevice::NEVER_FULL_BYTES).peak_reserved_bytes())
    }

    /// True if the allocator serves the failed request with this memory; `None` without a failed request.
    pub(crate) fn served_by(&self, memory: Bytes) -> Option<bool> {
        let (event, _) = self.failure?;
        if !self.exact {
            return Some(self.peak_allocated() <= memory);
        }
        let outcome = self.run(&self.program, memory.0);
        Some(outcome.served.contains(&event) && is_after(&outcome, event))
    }

    fn run(&self, program: &Program, bytes: u64) -> ReplayOutcome {
        replay(program, &self.settings, self.rules, SimulatedDevice::new(bytes, 0))
    }

    /// Replays without the program's own calls of `torch.cuda.empty_cache`.
    pub(crate) fn without_empty_cache(&self) -> Change {
        self.apply(&self.program.without_empty_cache(), &self.settings)
    }

    fn apply(&self, program: &Program, settings: &Settings) -> Change {
        let change = self.apply_by(self.rules, program, settings);
        let same = |tie| self.apply_by(Rules { tie, ..self.rules }, program, settings) == change;
        let by_address = self.rules.tie == Tie::Address;
        if change.standing == Standing::Verified && by_address && !OTHER_ORDERS.into_iter().all(same) {
            return Change { standing: Standing::Estimated, ..change };
        }
        change
    }

    fn apply_by(&self, rules: Rules, program: &Program, settings: &Settings) -> Change {
        let run = |program, settings, bytes| replay(program, settings, rules, SimulatedDevice::new(bytes, 0));
        let before = run(&self.program, &self.settings, SimulatedDevice::NEVER_FULL_BYTES);
        let after = run(program, settings, SimulatedDevice::NEVER_FULL_BYTES);
        let served = self.failure.map(|(event, capacity)| {
            let outcome = run(program, settings, capacity.0);
            outcome.served.contains(&event) && is_after(&outcome, event)
        });
        Change {
            reserved: [&before, &after].map(ReplayOutcome::peak_reserved_bytes),
            calls: [&before, &after].map(|outcome| outcome.stats.num_device_alloc),
            served,
            standing: if self.exact { Standing::Verified } else { Standing::Estimated },
        }
    }
}

/// True if no request up to `event` failed but in the recording.
fn is_after(outcome: &ReplayOutcome, event: EventIndex) -> bool {
    outcome.failed.as_ref().is_none_or(|failed| failed.event > Some(event))
}

impl Change {
    /// True if the failed request is served; `None` without a failed request.
    pub(crate) fn served(&self) -> Option<bool> {
        self.served
    }

    /// Checks for a benefit: the failed request is served, or without a failure fewer bytes are reserved.
    pub(crate) fn helps(&self) -> bool {
        self.served.unwrap_or(self.reserved[1] < self.reserved[0])
    }

    /// Checks that no more bytes are reserved, with fewer calls.
    pub(crate) fn saves_calls(&self) -> bool {
        self.reserved[1] <= self.reserved[0] && self.calls[1] < self.calls[0]
    }

    /// Returns the remedy with its figures.
    pub(crate) fn remedy(&self, remedy: &str, how: &str) -> Remedy {
        let mut how = format!("{how}; replayed on the recorded requests");
        if self.standing == Standing::Estimated {
            how.push_str(", whose start or placement is partly unknown");
        }
        match self.served {
            Some(true) => how.push_str(": the request that failed is served"),
            Some(false) => how.push_str(": the request still fails"),
            None => {}
        }
        let [before, after] = self.calls;
        // Writing to a text does not fail.
        let _ = write!(how, "; device memory is obtained {after} times instead of {before}");
        Remedy {
            remedy: remedy.to_owned(),
            standing: self.standing,
            before_bytes: Some(self.reserved[0]),
            after_bytes: Some(self.reserved[1]),
            how,
        }
    }
}

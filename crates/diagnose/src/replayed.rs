//! What other allocator settings would have come to: the recorded requests, replayed.
//!
//! # Note [Verified by replay]
//!
//! A remedy of settings is `verified` where the model, under the settings of the recording, did all that was recorded, and
//! then did better under others. Where it did not do all of it, or the history has lost its beginning, what it says is
//! `estimated`. So it is where equal blocks are tried by address (up to 2.11) and other orders come to something else: the
//! driver chooses the addresses. Both peaks are of a device that is never full, so that they compare; whether the request that failed would
//! have been served is asked on the device that it failed on.

use std::fmt::Write as _;

use allocator::replay::{Program, ReplayOutcome, recorded_by, recorded_settings, replay};
use allocator::{Rules, Settings, SimulatedDevice, Tie};
use report::{Remedy, Standing};
use trace::{Bytes, EventIndex};

use crate::measure::view::View;

/// What addresses may come to that are not known.
const OTHER_ORDERS: [Tie; 2] = [Tie::SegmentNumber, Tie::BlockNumber];

/// A history that can be replayed.
pub(crate) struct Replayable {
    program: Program,
    settings: Settings,
    rules: Rules,
    /// The model did all that was recorded, from the program's beginning.
    exact: bool,
    /// The request that failed last, and the memory that there was for PyTorch's allocator.
    failure: Option<(EventIndex, Bytes)>,
}

/// What a change comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// The most that was reserved, before and after.
    reserved: [Bytes; 2],
    /// Calls that obtained device memory, before and after.
    calls: [u64; 2],
    /// Whether the request that failed is served; `None` where none failed.
    served: Option<bool>,
    standing: Standing,
}

impl Replayable {
    /// The history of a view; `None` where there is none, or none that one allocator did.
    pub(crate) fn of(view: &View) -> Option<Replayable> {
        let snapshot = view.snapshot?;
        let program = Program::of(snapshot, view.device, &view.found).ok()?;
        let settings = recorded_settings(&snapshot.settings, view.events, snapshot.torch.from);
        let (release, agreement) = recorded_by(&program, view.events, &settings, snapshot.torch);
        let exact = agreement.difference.is_none() && program.is_whole();
        let failure = view.found.ooms().last().map(|failed| (failed.event, failed.capacity()));
        Some(Replayable { program, settings, rules: Rules::of(release), exact, failure })
    }

    /// Under other settings.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Settings)) -> Change {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.change(&self.program, &settings)
    }

    /// Without the program's own calls of `torch.cuda.empty_cache`.
    pub(crate) fn without_empty_cache(&self) -> Change {
        self.change(&self.program.without_empty_cache(), &self.settings)
    }

    fn change(&self, program: &Program, settings: &Settings) -> Change {
        let change = self.change_by(self.rules, program, settings);
        let same = |tie| self.change_by(Rules { tie, ..self.rules }, program, settings) == change;
        let by_address = self.rules.tie == Tie::Address;
        if change.standing == Standing::Verified && by_address && !OTHER_ORDERS.into_iter().all(same) {
            return Change { standing: Standing::Estimated, ..change };
        }
        change
    }

    fn change_by(&self, rules: Rules, program: &Program, settings: &Settings) -> Change {
        let run = |program, settings, bytes| replay(program, settings, rules, SimulatedDevice::new(bytes, 0));
        let before = run(&self.program, &self.settings, SimulatedDevice::NEVER_FULL_BYTES);
        let after = run(program, settings, SimulatedDevice::NEVER_FULL_BYTES);
        let served = self.failure.map(|(event, capacity)| {
            let outcome = run(program, settings, capacity.0);
            outcome.served.contains(&event) && outcome.failed.is_none_or(|failed| failed.event > Some(event))
        });
        Change {
            reserved: [&before, &after].map(ReplayOutcome::peak_reserved_bytes),
            calls: [&before, &after].map(|outcome| outcome.stats.num_device_alloc),
            served,
            standing: if self.exact { Standing::Verified } else { Standing::Estimated },
        }
    }
}

impl Change {
    /// Whether it is worth doing: the request is served, or where none failed less is reserved.
    pub(crate) fn helps(&self) -> bool {
        self.served.unwrap_or(self.reserved[1] < self.reserved[0])
    }

    /// Whether no more is reserved, by fewer calls.
    pub(crate) fn saves_calls(&self) -> bool {
        self.reserved[1] <= self.reserved[0] && self.calls[1] < self.calls[0]
    }

    /// The remedy with its figures.
    pub(crate) fn remedy(&self, remedy: &str, how: &str) -> Remedy {
        let mut how = format!("{how}; replayed on the recorded requests");
        if self.standing == Standing::Estimated {
            how.push_str(", whose beginning or placement is not wholly known");
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

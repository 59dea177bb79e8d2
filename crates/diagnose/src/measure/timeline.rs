//! The step and phase of each event: by the agent's marks, else by the stacks.

use report::Place;
use trace::{Event, EventIndex, Lifetime, Mark, Phase};

use super::life::Life;

/// A run of events in one phase of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first event.
    pub(crate) first: EventIndex,
    /// The step, counted from 1, and the phase; `None` if unknown.
    pub(crate) at: Option<(u32, Phase)>,
}

/// The stretches of a history, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    stretches: Vec<Stretch>,
    of_event: Vec<u32>,
}

impl Timeline {
    /// Builds the timeline from the agent's marks.
    pub(crate) fn marked(events: &[Event], marks: &[Mark]) -> Timeline {
        let mut timeline = Timeline::default();
        for event in events {
            let mark = event.mark.and_then(|index| marks.get(index as usize));
            timeline.push(mark.map(|mark| (mark.step, mark.phase)));
        }
        timeline
    }

    /// Appends an event.
    pub(crate) fn push(&mut self, at: Option<(u32, Phase)>) {
        if self.stretches.last().is_none_or(|last| last.at != at) {
            let first = EventIndex(u32::try_from(self.of_event.len()).unwrap_or(u32::MAX));
            self.stretches.push(Stretch { first, at });
        }
        self.of_event.push(u32::try_from(self.stretches.len() - 1).unwrap_or(u32::MAX));
    }

    /// Replaces the step and phase of the last stretch.
    pub(crate) fn rename_last(&mut self, at: (u32, Phase)) {
        if let Some(last) = self.stretches.last_mut() {
            last.at = Some(at);
        }
    }

    /// Returns all stretches.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Returns the number of the stretch that contains an event; `None` beyond the history.
    pub(crate) fn number(&self, event: EventIndex) -> Option<u32> {
        self.of_event.get(event.0 as usize).copied()
    }

    /// Checks for a backward in the stretches from number `from` to number `to`.
    pub(crate) fn has_backward(&self, from: u32, to: u32) -> bool {
        let range = self.stretches.get(from as usize..=to as usize).unwrap_or_default();
        range.iter().any(|stretch| matches!(stretch.at, Some((_, Phase::Backward))))
    }

    /// Returns the step and phase of an event.
    pub(crate) fn at(&self, event: EventIndex) -> Option<(u32, Phase)> {
        self.stretches.get(self.number(event)? as usize)?.at
    }

    /// Returns the step of an event.
    pub(crate) fn step(&self, event: EventIndex) -> Option<u32> {
        self.at(event).map(|(step, _)| step)
    }

    /// Returns the phase of an event.
    pub(crate) fn phase(&self, event: EventIndex) -> Option<Phase> {
        self.at(event).map(|(_, phase)| phase)
    }

    /// Returns the step of an allocation; `None` if the allocation is older than the history, or the step is unknown.
    pub(crate) fn step_of(&self, life: &Lifetime) -> Option<u32> {
        self.step(life.begun()?)
    }

    /// Returns the phase of an allocation; `None` as for [`Timeline::step_of`].
    pub(crate) fn phase_of(&self, life: &Lifetime) -> Option<Phase> {
        self.phase(life.begun()?)
    }

    /// Checks that an allocation was freed in the stretch of the phase that allocated it.
    pub(super) fn is_freed_in_its_stretch(&self, life: &Lifetime) -> bool {
        let stretch = |event: Option<EventIndex>| self.number(event?);
        let freed = stretch(life.freed());
        freed.is_some() && freed == stretch(life.begun())
    }

    /// Returns the place of an event, without the module.
    pub(crate) fn place(&self, event: EventIndex) -> Place {
        Place { step: self.step(event), phase: self.phase(event), ..Place::default() }
    }
}

//! The largest use of memory in each stage of a program's life.
//!
//! # Note [Stages]
//! The marks name the stage of each event; events before the first mark belong to the load. A stage may be visited several times. Its peak is the
//! largest value after one of its own allocations, with the memory that other stages left: the counters of PyTorch only know the running peak. A
//! block is *only there* if it was allocated in a visit and freed before the first allocation behind the visit.

use std::collections::BTreeMap;

use report::Location;
use trace::{Action, Bytes, EventIndex, LifeStage, Lifetime};

use super::life::Life;
use super::view::View;

/// The largest use of memory in all visits of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagePeak {
    /// Named by the marks of its events.
    pub(crate) stage: LifeStage,
    /// The event of the most allocated bytes; `None` for a stage without events.
    pub(crate) at: Option<EventIndex>,
    /// True if the event at the peak is an allocation: some stages only free memory.
    is_request: bool,
    /// The first event.
    pub(crate) first: Option<EventIndex>,
    /// The most allocated bytes.
    pub(crate) allocated: Bytes,
    /// The most reserved bytes.
    pub(crate) reserved: Bytes,
    /// The bytes at the peak that no other stage has.
    pub(crate) only_there: Bytes,
    /// The user's line that allocated most of these bytes.
    pub(crate) only_there_at: Option<Location>,
}

/// A visit of a stage: the events from `first` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Visit {
    stage: LifeStage,
    first: EventIndex,
    end: EventIndex,
    /// The first allocation behind the visit; `None` if there is none.
    next_alloc: Option<EventIndex>,
}

/// True if the agent named the stages of a program.
pub(crate) fn has_stages(view: &View) -> bool {
    let marks = view.trace.snapshot.map_or(&[][..], |snapshot| &snapshot.marks);
    marks.iter().any(|mark| mark.stage.is_some())
}

/// Lists the stages in order of their first appearance; empty if the agent named none. See Note [Stages].
pub(crate) fn list_stage_peaks(view: &View) -> Vec<StagePeak> {
    if !has_stages(view) {
        return Vec::new();
    }
    let visits = list_visits(view);
    let mut peaks = measure_visits(view, &visits);
    for peak in &mut peaks {
        measure_only_there(view, &visits, peak);
    }
    peaks
}

/// Splits the history into visits.
fn list_visits(view: &View) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    let mut stage = LifeStage::Load;
    for (event, index) in view.trace.events.iter().zip((0..).map(EventIndex)) {
        stage = view.trace.mark(index).map_or(stage, trace::Mark::find_stage);
        let end = EventIndex(index.0 + 1);
        match visits.last_mut().filter(|last| last.stage == stage) {
            Some(last) => last.end = end,
            None => visits.push(Visit { stage, first: index, end, next_alloc: None }),
        }
        if event.action == Action::Alloc {
            let before = visits.iter_mut().rev().skip(1);
            before.take_while(|visit| visit.next_alloc.is_none()).for_each(|visit| visit.next_alloc = Some(index));
        }
    }
    visits
}

/// Measures the totals of each stage over all of its visits.
fn measure_visits(view: &View, visits: &[Visit]) -> Vec<StagePeak> {
    let mut peaks: Vec<StagePeak> = Vec::new();
    let mut totals = view.trace.history.totals().zip(view.trace.events).zip((0..).map(EventIndex));
    for visit in visits {
        let position = peaks.iter().position(|peak| peak.stage == visit.stage);
        let position = position.unwrap_or_else(|| {
            peaks.push(StagePeak { first: Some(visit.first), ..StagePeak::of_nothing(visit.stage) });
            peaks.len() - 1
        });
        let length = (visit.end.0 - visit.first.0) as usize;
        for ((now, event), index) in totals.by_ref().take(length) {
            let peak = &mut peaks[position];
            peak.reserved = peak.reserved.max(now.reserved);
            let is_request = event.action == Action::Alloc;
            let is_higher = is_request && (!peak.is_request || now.allocated > peak.allocated);
            if is_higher || peak.at.is_none() {
                (peak.at, peak.is_request, peak.allocated) = (Some(index), is_request, now.allocated);
            }
        }
    }
    peaks
}

/// Adds the bytes that are alive at the peak and in no other stage.
fn measure_only_there(view: &View, visits: &[Visit], peak: &mut StagePeak) {
    let Some(at) = peak.at else { return };
    let lines = sum_only_there(view, visits, at);
    peak.only_there = lines.values().copied().sum();
    let most = lines.into_iter().filter_map(|(line, bytes)| Some((line?, bytes))).max_by_key(|(_, bytes)| *bytes);
    peak.only_there_at = most.map(|(line, _)| line);
}

/// Adds up the blocks that are alive at `at` and only in the visit of that event, by the user's line.
fn sum_only_there(view: &View, visits: &[Visit], at: EventIndex) -> BTreeMap<Option<Location>, Bytes> {
    let mut lines: BTreeMap<Option<Location>, Bytes> = BTreeMap::new();
    let found = visits.partition_point(|visit| visit.first <= at).checked_sub(1);
    let Some(visit) = found.and_then(|index| visits.get(index)) else { return lines };
    for life in view.trace.history.live_after(at).filter(|life| visit.is_only_there(life)) {
        *lines.entry(view.own_line(life.stack)).or_default() += life.block();
    }
    lines
}

impl Visit {
    fn is_only_there(&self, life: &Lifetime) -> bool {
        let is_begun_here = life.begun().is_some_and(|begun| begun >= self.first);
        let is_freed = |next: EventIndex| life.freed().is_some_and(|freed| freed < next);
        is_begun_here && self.next_alloc.is_none_or(is_freed)
    }
}

impl StagePeak {
    /// A stage without events: the memory before the first event of the stage `next`, or at the end of the history.
    pub(crate) fn of_moment(view: &View, stage: LifeStage, next: Option<LifeStage>) -> StagePeak {
        let is_next = |index: EventIndex| view.trace.mark(index).map(trace::Mark::find_stage) == next;
        let before = (0..).map(EventIndex).zip(view.trace.history.totals());
        let before = before.take_while(|(index, _)| next.is_none() || !is_next(*index)).last();
        let now = before.map_or(view.trace.history.at_start(), |(_, totals)| totals);
        StagePeak { allocated: now.allocated, reserved: now.reserved, ..StagePeak::of_nothing(stage) }
    }

    /// A stage before its first event.
    fn of_nothing(stage: LifeStage) -> StagePeak {
        StagePeak {
            stage,
            at: None,
            is_request: false,
            first: None,
            allocated: Bytes::ZERO,
            reserved: Bytes::ZERO,
            only_there: Bytes::ZERO,
            only_there_at: None,
        }
    }
}

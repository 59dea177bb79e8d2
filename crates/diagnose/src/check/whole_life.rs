//! The life of the program in the report: a row for each stage, the shortened loops, and the batches that were scanned.

use std::collections::BTreeSet;

use report::{LifeReport, Location, Oom, ScannedBatches, ShortenedLoop, StageUse, Verdict};
use trace::run::StageRecord;
use trace::{Action, Bytes, EventIndex, LifeStage, Process};

use super::case::Case;
use crate::measure::stages::{StagePeak, list_stage_peaks};
use crate::measure::usage::usage;
use crate::measure::view::View;

/// Describes the life of the process of `view`: of the run without a limit if the program does not fit.
pub(super) fn describe_life(case: &Case, view: &View, verdict: &Verdict, oom: Option<&Oom>) -> LifeReport {
    let later = case.find_later(view).filter(|_| verdict.is_oom());
    let shown = later.as_deref().unwrap_or(view);
    let limits = Limits::of(case, view, verdict);
    let rows = list_stage_peaks(shown).into_iter().map(|peak| limits.describe(shown, &peak));
    let mut stages: Vec<StageUse> = rows.collect();
    add_without_events(&mut stages, shown, &limits);
    if let Some(oom) = oom.filter(|_| later.is_none()) {
        locate_error(&mut stages, &limits, oom);
    }
    LifeReport { stages, shortened: list_shortened(case), batches: list_batches(case) }
}

/// What is known of the stages that fit.
struct Limits {
    /// The memory of the device for the program.
    available: Bytes,
    /// The memory of the context and of libraries.
    outside: Bytes,
    /// True if the whole program fits, as far as it was run.
    is_fit: bool,
    /// The stages in which a request failed.
    failed: BTreeSet<LifeStage>,
    /// The stages of the run within the limit.
    visited: BTreeSet<LifeStage>,
}

impl Limits {
    fn of(case: &Case, view: &View, verdict: &Verdict) -> Limits {
        let whole = usage(view.trace.process, view.trace.device, case.context());
        let events = (0..).map(EventIndex).zip(view.trace.events);
        let errors = events.filter(|(_, event)| event.action == Action::Oom);
        let failed = errors.filter_map(|(index, _)| Some(view.trace.mark(index)?.find_stage()));
        Limits {
            available: case.available(),
            outside: whole.device_bytes - whole.reserved_bytes,
            is_fit: verdict.is_fit(),
            failed: failed.collect(),
            visited: list_stage_peaks(view).into_iter().map(|peak| peak.stage).collect(),
        }
    }

    /// Returns the row of a stage.
    fn describe(&self, shown: &View, peak: &StagePeak) -> StageUse {
        let begins_at = find_record(shown.trace.process, peak.stage).and_then(locate_record);
        StageUse {
            stage: peak.stage,
            step: peak.at.and_then(|at| shown.place(at).step),
            begins_step: peak.first.and_then(|first| shown.place(first).step),
            peak_allocated_bytes: peak.allocated,
            peak_reserved_bytes: peak.reserved,
            peak_device_bytes: peak.reserved + self.outside,
            only_there_bytes: peak.only_there,
            only_there_location: peak.only_there_at.clone(),
            location: peak.at.and_then(|at| shown.own_line(shown.trace.events.get(at.0 as usize)?.stack)),
            begins_at,
            fits: self.fits(peak),
        }
    }

    /// True if the stage was run within the limit, or needs less even with its cache; false if a request failed, or cannot be served.
    fn fits(&self, peak: &StagePeak) -> Option<bool> {
        if self.is_fit {
            return Some(true);
        }
        if self.failed.contains(&peak.stage) || peak.allocated + self.outside > self.available {
            return Some(false);
        }
        let is_served = self.visited.contains(&peak.stage) || peak.reserved + self.outside <= self.available;
        is_served.then_some(true)
    }
}

/// Adds the stages that allocated and freed nothing, with the memory at the beginning of the next stage.
fn add_without_events(stages: &mut Vec<StageUse>, shown: &View, limits: &Limits) {
    let records = &shown.trace.process.stages;
    for (index, record) in records.iter().enumerate() {
        let Some(stage) = LifeStage::from_name(&record.stage) else { continue };
        if stages.is_empty() || stages.iter().any(|row| row.stage == stage) {
            continue;
        }
        let position =
            stages.iter().position(|row| records[index..].iter().any(|later| later.stage == row.stage.name()));
        let next = position.map(|position| stages[position].stage);
        let row = limits.describe(shown, &StagePeak::of_moment(shown, stage, next));
        stages.insert(position.unwrap_or(stages.len()), row);
    }
}

/// Places the error that ended the program in the row of its stage: the request that failed has no block.
fn locate_error(stages: &mut [StageUse], limits: &Limits, oom: &Oom) {
    let failed = stages.iter_mut().rev().find(|row| limits.failed.contains(&row.stage));
    if let Some(row) = failed.filter(|_| oom.location.is_some()) {
        (row.location, row.step) = (oom.location.clone(), oom.place.step);
    }
}

fn find_record(process: &Process, stage: LifeStage) -> Option<&StageRecord> {
    process.stages.iter().find(|record| record.stage == stage.name())
}

fn locate_record(record: &StageRecord) -> Option<Location> {
    locate(&record.file, record.line)
}

fn locate(file: &str, line: u32) -> Option<Location> {
    (!file.is_empty()).then(|| Location { file: file.to_owned(), line, column: None })
}

/// Lists the shortened loops of all processes: ranks say the same, and stand once.
fn list_shortened(case: &Case) -> Vec<ShortenedLoop> {
    let records = case.limited.processes.iter().flat_map(|process| &process.shortened);
    without_repeats(records.map(|record| ShortenedLoop {
        location: locate(&record.file, record.line),
        passes: record.passes,
        total: record.total,
        reason: record.reason,
    }))
}

fn list_batches(case: &Case) -> Vec<ScannedBatches> {
    let records = case.limited.processes.iter().flat_map(|process| &process.batches_scanned);
    without_repeats(records.map(|record| ScannedBatches {
        location: locate(&record.file, record.line),
        scanned: record.scanned,
        total: record.total,
        largest: record.largest,
        shape: record.shape.clone(),
        bound: record.bound.clone(),
    }))
}

fn without_repeats<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

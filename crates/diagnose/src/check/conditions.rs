//! The conditions of a program that fits: what was not run, was assumed, or still changed when it ended.
//!
//! # Note [Fits so far]
//! A program *fits* if it ran to its end, or if its repetition is proven: the agent found nothing ahead that did not run (Note `[Ahead]` in
//! `python/oomph/agent/ahead/look.py`), the peak of the last two steps is the same, each parameter that an optimizer holds was trained,
//! the memory does not grow until the device is full, and no size was assumed. Each exception is a condition, and with one the program
//! *fits so far*. Growth that was not seen to fill the device is such a condition, and no refusal: a ring buffer of 60 samples, a cache with a
//! limit and a list that is cleared every hundred steps grow as evenly as a leak, until they stop.
//!
//! A program with shortened loops *fits* if the program ended by itself, and the omitted passes of each loop repeat passes that ran, or have smaller
//! batches. A program that was stopped all the same has later steps open.

use report::{Condition, Growth, Location};
use trace::run::{AheadRecord, EndReason, ValueShapeRecord};
use trace::{AheadReason, Bytes, Frame, Process, ShortenedReason};

use super::case::Case;
use super::subject::find_subject;
use crate::judge::stepping::{allocated_after_steps, step_peaks};
use crate::measure::rising::{RisingRequests, foresee, list_rising_requests};

/// The steps that are assumed of a loop without a known end.
const MANY_STEPS: u64 = 10_000;
/// Smaller untrained parameters, such as a temperature, change no verdict.
const LEAST_UNTRAINED: u64 = 1 << 20;
/// Untrained parameters are a condition if they are more than this part of the spare memory: half a percent.
const LEAST_PART: u64 = 200;

/// Lists the conditions of a program that leaves `spare` bytes.
pub(super) fn list_conditions(case: &Case, spare: Bytes, growth: Option<&Growth>) -> Vec<Condition> {
    let processes = || case.limited.processes.iter();
    let ahead = processes().flat_map(without_run).map(of_ahead);
    let unread = processes().any(|process| is_stopped(process) && (process.course.is_none() || visits_life(process)));
    let rising = processes().find_map(|process| rise(process, spare));
    let grows = growth.filter(|growth| fills_in_time(case, growth));
    let mut conditions: Vec<Condition> = ahead.chain(list_shortened(case)).collect();
    conditions.extend(unread.then_some(Condition::LaterSteps));
    conditions.extend(is_only_first_step(case).then_some(Condition::OptimizerState));
    conditions.extend(untrained(case, spare));
    conditions.extend(grows.map(|growth| Condition::Growing {
        bytes_per_step: growth.bytes_per_iteration,
        location: growth.location.clone(),
        full_at: growth.full_at,
    }));
    // Batches that differ explain a rise.
    let varies = conditions.iter().any(|condition| matches!(condition, Condition::Varying { .. }));
    conditions.extend(rising.filter(|_| grows.is_none() && !varies));
    conditions.extend(find_rising_requests(case, spare));
    conditions.extend(list_assumed(case));
    conditions.extend(list_reads(case));
    without_repeats(conditions)
}

/// True if a growth that goes on fills the device before the loop ends: within a known number of steps, else before [`Growth::LATEST`]. A program
/// that made all of its steps has shown the opposite.
fn fills_in_time(case: &Case, growth: &Growth) -> bool {
    let is_open = case.limited.processes.iter().any(|process| is_stopped(process) || is_cut(process));
    let in_time = |step: u32| total_steps(case).map_or(!growth.is_harmless(), |total| u64::from(step) <= total);
    is_open && growth.full_at.is_some_and(in_time)
}

/// Returns the number of steps until the loop around them ends, if it is known.
pub(super) fn total_steps(case: &Case) -> Option<u64> {
    case.limited.processes.iter().filter_map(|process| process.course.as_ref()?.total_steps).max()
}

/// True if the program was stopped after a single step, and would have made more.
pub(super) fn is_only_first_step(case: &Case) -> bool {
    case.launch.steps == 1 && case.limited.processes.iter().any(is_stopped)
}

/// Returns the parameters that an optimizer holds and no step trained, of the rank with the most; `None` if they are few, or if the program ended
/// by itself: it trains them never.
fn untrained(case: &Case, spare: Bytes) -> Option<Condition> {
    case.limited.processes.iter().any(is_stopped).then_some(())?;
    let bytes = untrained_bytes(case)?;
    (bytes.0 > LEAST_UNTRAINED.max(spare.0 / LEAST_PART)).then_some(Condition::Untrained { bytes })
}

/// Bytes of the parameters that an optimizer holds and no step trained, of the rank with the most.
pub(super) fn untrained_bytes(case: &Case) -> Option<Bytes> {
    let of_process = |process: &Process| Bytes(process.untrained.iter().map(|untrained| untrained.bytes).sum());
    let most = case.limited.processes.iter().map(of_process).max()?;
    (most.0 > 0).then_some(most)
}

/// Lists the loops whose passes that were left out may differ from those that ran.
fn list_shortened(case: &Case) -> impl Iterator<Item = Condition> {
    let loops = case.limited.processes.iter().flat_map(|process| &process.shortened);
    loops.filter_map(|one| {
        let location = locate(&one.file, one.line);
        match one.reason {
            ShortenedReason::Alike | ShortenedReason::Largest => None,
            ShortenedReason::Varying => Some(Condition::Varying { location }),
            ShortenedReason::Cut => Some(Condition::Cut { location }),
        }
    })
}

/// True if a loop of the process was ended early.
fn is_cut(process: &Process) -> bool {
    process.shortened.iter().any(|one| one.reason == ShortenedReason::Cut)
}

/// True if the process was to run to its own end, with shortened loops.
fn visits_life(process: &Process) -> bool {
    !process.stages.is_empty()
}

fn is_stopped(process: &Process) -> bool {
    process.end.as_ref().is_some_and(|end| end.reason == EndReason::Steps)
}

/// Returns the findings of the agent ahead of a process, except lines that allocated in the run: sources alone do not tell which way a
/// condition went.
fn without_run(process: &Process) -> impl Iterator<Item = &AheadRecord> {
    let stacks = process.snapshot.as_ref().map(|snapshot| &snapshot.stacks);
    let has_run = move |record: &AheadRecord| {
        let is_of_line = |frame: &Frame| frame.line == record.line && frame.file == record.file;
        !record.shares_line && stacks.is_some_and(|stacks| stacks.list_frames().any(is_of_line))
    };
    process.ahead.iter().filter(move |record| record.reason != AheadReason::Unrun || !has_run(record))
}

fn of_ahead(record: &AheadRecord) -> Condition {
    let location = locate(&record.file, record.line);
    match record.reason {
        AheadReason::Unrun => Condition::NotRun { what: record.what.clone(), location },
        AheadReason::Larger => Condition::Larger { what: record.what.clone(), location },
        AheadReason::Varying => Condition::Varying { location },
        AheadReason::Unread => Condition::Unread { location },
        AheadReason::Unstepped => Condition::NoStep { location },
    }
}

fn locate(file: &str, line: u32) -> Option<Location> {
    (!file.is_empty()).then(|| Location { file: file.to_owned(), line, column: None })
}

/// Returns a condition if the peak, or the memory after the step, rose in the last step, by so much that the steps to come may use up `spare`.
fn rise(process: &Process, spare: Bytes) -> Option<Condition> {
    let (peaks, after) = (step_peaks(process), allocated_after_steps(process));
    let done = u64::try_from(peaks.len()).unwrap_or(u64::MAX);
    let total = process.course.as_ref().and_then(|course| course.total_steps).unwrap_or(MANY_STEPS);
    let left = total.saturating_sub(done);
    let more = extrapolate(&peaks, left).max(extrapolate(&after, left));
    // A peak of a later stage is no rise of the steps.
    (is_stopped(process) && !visits_life(process) && more > spare.0).then_some(Condition::Rising)
}

/// Returns the rise of the peak in `left` steps, if the last rise repeats, or rises grow as the last two did: a matrix over all earlier states
/// rises faster with every step.
fn extrapolate(peaks: &[u64], left: u64) -> u64 {
    let rises: Vec<u64> = peaks.windows(2).rev().take(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let Some(&last) = rises.first() else { return 0 };
    let faster = rises.get(1).filter(|before| **before > 0).map_or(0, |before| last.saturating_sub(*before));
    last.saturating_mul(left).saturating_add((faster / 2).saturating_mul(left).saturating_mul(left))
}

/// Returns the line whose requests rise with every step, to more than `spare` before the loop ends.
fn find_rising_requests(case: &Case, spare: Bytes) -> Option<Condition> {
    let (process, device, _) = find_subject(case).filter(|(process, ..)| is_stopped(process))?;
    let done = u64::from(process.step_count());
    let left = total_steps(case).unwrap_or(MANY_STEPS).saturating_sub(done);
    let more = |rising: &RisingRequests| {
        foresee(&rising.sizes, left).unwrap_or_default() - rising.sizes.last().copied().unwrap_or_default()
    };
    let rising = list_rising_requests(&case.views.find(process, device));
    let most = rising.into_iter().map(|rising| (more(&rising), rising.location)).max_by_key(|(more, _)| *more)?;
    (most.0 > spare).then_some(Condition::RisingRequests { location: most.1 })
}

/// Lists the assumed sizes that decide the verdict, each once.
pub(super) fn list_assumed(case: &Case) -> Vec<Condition> {
    let shapes = case.limited.processes.iter().flat_map(|process| &process.value_shapes);
    let shapes = shapes.filter(|_| case.depends_on_share());
    without_repeats(shapes.map(|ValueShapeRecord { file, line, fraction, .. }| Condition::Assumed {
        fraction: *fraction,
        location: locate(file, *line),
    }))
}

/// Lists the lines that read unknown numbers of which a size may be made.
fn list_reads(case: &Case) -> impl Iterator<Item = Condition> {
    let reads = case.limited.processes.iter().flat_map(|process| &process.value_reads);
    reads.filter(|read| read.sizes > 0).map(|read| Condition::Read { location: locate(&read.file, read.line) })
}

fn without_repeats(conditions: impl IntoIterator<Item = Condition>) -> Vec<Condition> {
    conditions.into_iter().fold(Vec::new(), |mut kept, condition| {
        if !kept.contains(&condition) {
            kept.push(condition);
        }
        kept
    })
}

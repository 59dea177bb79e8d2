//! The effect of calls of `torch.cuda.empty_cache()`: of trial calls, and of the program's own calls.

use allocator::replay::Program;
use report::tune::EmptyCache;
use trace::EventIndex;

use super::case::{EmptyCacheAt, TuneCase, TuneError};
use super::traces::Trace;
use super::trial::{Stage, outcome, worst};

/// Replays the program without its own calls, if it has any, and with each requested call.
pub(super) fn empty_cache(case: &TuneCase, traces: &[Trace<'_>], stage: Stage) -> Result<Vec<EmptyCache>, TuneError> {
    let mut tried = Vec::new();
    let own: usize = traces.iter().map(|trace| trace.program.empty_cache_count()).sum();
    if own > 0 {
        let without = |trace: &Trace<'_>| trace.program.without_empty_cache();
        tried.push(with(traces, stage, format!("nowhere (now {own} calls)"), without));
    }
    if case.empty_cache_at.contains(&EmptyCacheAt::Step) {
        tried.push(after_steps(traces, stage)?);
    }
    let mut events: Vec<EventIndex> = case.empty_cache_at.iter().filter_map(|place| place.event()).collect();
    events.sort_unstable();
    events.dedup();
    if !events.is_empty() {
        tried.push(after_events(&events, traces, stage)?);
    }
    Ok(tried)
}

fn after_events(events: &[EventIndex], traces: &[Trace<'_>], stage: Stage) -> Result<EmptyCache, TuneError> {
    let most = traces.iter().map(|trace| trace.events.len() as u64).max().unwrap_or(0);
    if let Some(event) = events.iter().find(|event| u64::from(event.0) >= most) {
        return Err(TuneError::NoSuchEvent { event: event.0, events: most });
    }
    let at = match events {
        [event] => format!("after event {}", event.0),
        events => format!("after {} events", events.len()),
    };
    Ok(with(traces, stage, at, |trace| trace.program.with_empty_cache_after(events)))
}

fn after_steps(traces: &[Trace<'_>], stage: Stage) -> Result<EmptyCache, TuneError> {
    let ends: Vec<Vec<EventIndex>> = traces.iter().map(step_ends).collect();
    if ends.iter().all(Vec::is_empty) {
        return Err(TuneError::NoSteps);
    }
    let programs = traces.iter().zip(&ends).map(|(trace, ends)| trace.program.with_empty_cache_after(ends));
    Ok(of_programs(traces, stage, "after each step".to_owned(), &programs.collect::<Vec<_>>()))
}

fn with(traces: &[Trace<'_>], stage: Stage, at: String, change: impl Fn(&Trace<'_>) -> Program) -> EmptyCache {
    of_programs(traces, stage, at, &traces.iter().map(change).collect::<Vec<_>>())
}

fn of_programs(traces: &[Trace<'_>], stage: Stage, at: String, programs: &[Program]) -> EmptyCache {
    let times = programs.iter().map(|program| program.empty_cache_count() as u64).max().unwrap_or(0);
    let outcomes = traces.iter().zip(programs).map(|(trace, program)| outcome(trace, program, &trace.settings, stage));
    let conf = traces.first().map(|trace| trace.conf.clone()).unwrap_or_default();
    EmptyCache { at, times, setting: worst(conf, outcomes.collect()) }
}

/// Returns the last event of each step except the final step.
fn step_ends(trace: &Trace<'_>) -> Vec<EventIndex> {
    let view = trace.as_view();
    let steps = view.timeline.stretches().iter().filter_map(|stretch| Some((stretch.first, stretch.at?.0)));
    let steps: Vec<(EventIndex, u32)> = steps.collect();
    let begins = steps.windows(2).filter(|pair| pair[0].1 < pair[1].1).map(|pair| pair[1].0);
    begins.map(|first| EventIndex(first.0.saturating_sub(1))).collect()
}

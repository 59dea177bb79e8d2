//! What calls of `torch.cuda.empty_cache()` would do, or what those that are there do.

use allocator::replay::Program;
use report::tune::EmptyCache;
use trace::EventIndex;

use super::case::{EmptyCacheAt, TuneCase, TuneError};
use super::traces::Trace;
use super::trial::{Stage, outcome, worst};

/// The program without its own calls, where it has any, and with each that is asked for.
pub(super) fn empty_cache(case: &TuneCase, traces: &[Trace<'_>], stage: Stage) -> Result<Vec<EmptyCache>, TuneError> {
    let mut tried = Vec::new();
    let own: usize = traces.iter().map(|trace| trace.program.empty_cache_count()).sum();
    if own > 0 {
        let without = |trace: &Trace<'_>| trace.program.without_empty_cache();
        tried.push(with(traces, stage, format!("nowhere (now {own} calls)"), without));
    }
    for place in &case.empty_cache_at {
        tried.push(at(*place, traces, stage)?);
    }
    Ok(tried)
}

fn at(place: EmptyCacheAt, traces: &[Trace<'_>], stage: Stage) -> Result<EmptyCache, TuneError> {
    match place {
        EmptyCacheAt::Event(event) => {
            let events = traces.iter().map(|trace| trace.events.len() as u64).max().unwrap_or(0);
            if u64::from(event.0) >= events {
                return Err(TuneError::NoSuchEvent { event: event.0, events });
            }
            let with_call = |trace: &Trace<'_>| trace.program.with_empty_cache_after(&[event]);
            Ok(with(traces, stage, format!("after event {}", event.0), with_call))
        }
        EmptyCacheAt::Step => {
            let ends: Vec<Vec<EventIndex>> = traces.iter().map(step_ends).collect();
            if ends.iter().all(Vec::is_empty) {
                return Err(TuneError::NoSteps);
            }
            let ends_of = |trace: &Trace<'_>| {
                let index = traces.iter().position(|other| std::ptr::eq(other, trace));
                index.and_then(|index| ends.get(index)).cloned().unwrap_or_default()
            };
            let with_calls = |trace: &Trace<'_>| trace.program.with_empty_cache_after(&ends_of(trace));
            Ok(with(traces, stage, "after each step".to_owned(), with_calls))
        }
    }
}

fn with(traces: &[Trace<'_>], stage: Stage, at: String, change: impl Fn(&Trace<'_>) -> Program) -> EmptyCache {
    let programs: Vec<Program> = traces.iter().map(change).collect();
    let calls = programs.iter().map(|program| program.empty_cache_count() as u64).max().unwrap_or(0);
    let outcomes = traces.iter().zip(&programs).map(|(trace, program)| outcome(trace, program, &trace.settings, stage));
    let conf = traces.first().map(|trace| trace.conf.to_owned()).unwrap_or_default();
    EmptyCache { at, calls, setting: worst(conf, outcomes.collect()) }
}

/// The last event of each step but the last.
fn step_ends(trace: &Trace<'_>) -> Vec<EventIndex> {
    let view = trace.view();
    let steps = view.timeline.stretches().iter().filter_map(|stretch| Some((stretch.first, stretch.at?.0)));
    let steps: Vec<(EventIndex, u32)> = steps.collect();
    let begins = steps.windows(2).filter(|pair| pair[0].1 < pair[1].1).map(|pair| pair[1].0);
    begins.map(|first| EventIndex(first.0.saturating_sub(1))).collect()
}

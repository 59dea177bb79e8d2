//! The loops around a failed request, guessed from the history: a snapshot without a run has no record of them.
//!
//! # Note [Guessed loops]
//! Each line of the user's own code on the stack of the request, outside modules, may belong to the body of a loop. If the line runs several
//! times, the body has all lines of the same function that allocate between the first time and the last. The loop's own line allocates nothing
//! as a rule, so the first line of the body stands for it. A function that a loop calls looks like a loop, too: of the levels with the same
//! passes, the outermost is the loop.

use std::collections::BTreeMap;

use trace::run::LoopRecord;
use trace::{Frame, StackId};

use super::device_trace::DeviceTrace;
use super::own::{calls_module, is_own};

/// Returns the bodies of the loops, outermost first. See Note [Guessed loops].
pub(super) fn guess_loops(trace: &DeviceTrace) -> Vec<LoopRecord> {
    let stack = trace.last_oom().and_then(|event| trace.events.get(event.0 as usize)).map(|event| event.stack);
    let frames: Vec<&Frame> = stack.into_iter().flat_map(|stack| trace.python(stack)).collect();
    let module = frames.iter().rposition(|frame| calls_module(frame));
    let first = module.map_or(0, |module| module + 1);
    let own = (first..frames.len()).rev().filter(|at| frames.get(*at).is_some_and(|frame| is_users(trace, frame)));
    own.filter_map(|at| guess_loop(trace, frames.get(at..)?)).collect()
}

fn is_users(trace: &DeviceTrace, frame: &Frame) -> bool {
    is_own(&frame.file, trace.script_dir)
}

/// Returns the lines of the first frame's function, called by the other frames, between the first and the last time that the frame's line
/// allocates.
fn guess_loop(trace: &DeviceTrace, frames: &[&Frame]) -> Option<LoopRecord> {
    let (of, callers) = frames.split_first()?;
    let mut line_of: BTreeMap<StackId, Option<u32>> = BTreeMap::new();
    let mut lines: Vec<Option<u32>> = Vec::new();
    for life in trace.history.lifetimes() {
        let find = || {
            let stack: Vec<&Frame> = trace.python(life.stack).collect();
            let at = stack.len().checked_sub(frames.len())?;
            let (frame, others) = stack.get(at..)?.split_first()?;
            let is_same = frame.file == of.file && frame.function == of.function && others == callers;
            is_same.then_some(frame.line)
        };
        lines.push(*line_of.entry(life.stack).or_insert_with(find));
    }
    let first = lines.iter().position(|line| *line == Some(of.line))?;
    let last = lines.iter().rposition(|line| *line == Some(of.line))?;
    let body = || lines.iter().take(last + 1).skip(first).flatten().copied();
    Some(LoopRecord { depth: 0, file: of.file.clone(), line: body().min()?, last_line: body().max()? })
}

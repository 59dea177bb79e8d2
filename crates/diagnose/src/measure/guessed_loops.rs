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
    let outside = frames.get(module.map_or(0, |module| module + 1)..).unwrap_or_default();
    let own = outside.iter().rev().filter(|frame| is_own(&frame.file, trace.script_dir));
    own.filter_map(|frame| guess_loop(trace, frame)).collect()
}

/// Returns the lines of a frame's function between the first and the last time that its line allocates.
fn guess_loop(trace: &DeviceTrace, of: &Frame) -> Option<LoopRecord> {
    let mut lines_of: BTreeMap<StackId, Vec<u32>> = BTreeMap::new();
    let is_same = |frame: &&Frame| frame.file == of.file && frame.function == of.function;
    for life in trace.history.lifetimes() {
        let lines = || trace.python(life.stack).filter(is_same).map(|frame| frame.line).collect();
        lines_of.entry(life.stack).or_insert_with(lines);
    }
    let lines: Vec<&[u32]> =
        trace.history.lifetimes().iter().filter_map(|life| lines_of.get(&life.stack)).map(Vec::as_slice).collect();
    let runs = |lines: &&[u32]| lines.contains(&of.line);
    let first = lines.iter().position(runs)?;
    let last = lines.iter().rposition(runs)?;
    let body = || lines.iter().take(last + 1).skip(first).copied().flatten().copied();
    Some(LoopRecord { depth: 0, file: of.file.clone(), line: body().min()?, last_line: body().max()? })
}

//! The loops around a failed request, guessed from the history: a snapshot without a run has no record of them.
//!
//! # Note [Guessed loops]
//! Each line of the user's own code on the stack of the request, outside modules, may belong to the body of a loop. If the line runs several
//! times for the same callers, the body has all lines of the function that allocate between the first time and the last. The loop's own line
//! allocates nothing as a rule, so the first line of the body stands for it.
//!
//! The history shows allocations, not calls: a line that runs once, such as `main()`, looks like many runs. So the program must have returned to
//! the line: other lines of the function allocate between its runs, or the program returned to the next function on the stack, called from
//! there. A function that a loop calls looks like a loop, too: of the levels with the same passes, the outermost is the loop.

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
    let own = (first..frames.len()).filter(|at| frames.get(*at).is_some_and(|frame| is_users(trace, frame)));
    // Innermost first: the last request of the stack itself returns to its line.
    let (mut loops, mut is_returned) = (Vec::new(), true);
    for at in own {
        let body = frames.get(at..).and_then(|frames| guess_loop(trace, frames));
        let body = body.filter(|body| is_returned || body.line < body.last_line);
        is_returned = body.is_some();
        loops.extend(body);
    }
    loops.reverse();
    loops
}

fn is_users(trace: &DeviceTrace, frame: &Frame) -> bool {
    is_own(&frame.file, trace.script_dir)
}

/// Returns the lines of the first frame's function, called by the other frames, between the first and the last time that the frame's line
/// allocates.
fn guess_loop(trace: &DeviceTrace, frames: &[&Frame]) -> Option<LoopRecord> {
    let (of, callers) = frames.split_first()?;
    let find = |stack: StackId| {
        let stack: Vec<&Frame> = trace.python(stack).collect();
        let at = stack.len().checked_sub(frames.len())?;
        let (frame, others) = stack.get(at..)?.split_first()?;
        let is_same = frame.file == of.file && frame.function == of.function && others == callers;
        is_same.then_some(frame.line)
    };
    let line_of: Vec<Option<u32>> = (0..).map(StackId).take(trace.roles.len()).map(find).collect();
    let all = trace.history.lifetimes().iter();
    let lines: Vec<Option<u32>> = all.map(|life| *line_of.get(life.stack.0 as usize)?).collect();
    let first = lines.iter().position(|line| *line == Some(of.line))?;
    let last = lines.iter().rposition(|line| *line == Some(of.line))?;
    let body = || lines.iter().take(last + 1).skip(first).flatten().copied();
    Some(LoopRecord { depth: 0, file: of.file.clone(), line: body().min()?, last_line: body().max()? })
}

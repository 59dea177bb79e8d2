//! The step and phase of each event of a recording: the step by the agent, the phase by the stack.
//!
//! The agent of a real run hooks no module. The functions on the stack show the phase: a call of a module, an optimizer's step, autograd's
//! own threads, which run no Python. Between these the phases follow each other as `python/oomph/agent/position/marks.py` sets them.

use std::collections::HashMap;

use crate::event::{Mark, Phase};
use crate::stack::{Frame, StackId, StackTable};

/// What a stack says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Module,
    Optimizer,
    Backward,
    None,
}

/// The marks of a recording, in the order of its events.
#[derive(Debug)]
pub(super) struct Phases {
    signs: HashMap<StackId, Sign>,
    step: u32,
    phase: Phase,
    marks: Vec<Mark>,
}

impl Phases {
    pub(super) fn new() -> Phases {
        Phases { signs: HashMap::new(), step: 0, phase: Phase::Setup, marks: Vec::new() }
    }

    /// The number of the mark in force at an event, which allocates with `stack`; `None`: it frees.
    pub(super) fn mark(&mut self, stacks: &StackTable, step: u32, stack: Option<StackId>) -> u32 {
        let before = (self.step, self.phase);
        let phase = self.advance(stacks, step, stack);
        if self.marks.is_empty() || (step, phase) != before {
            self.marks.push(Mark { step, phase, ..Mark::default() });
        }
        u32::try_from(self.marks.len() - 1).unwrap_or(u32::MAX)
    }

    /// The phase at an event, without a mark.
    pub(super) fn advance(&mut self, stacks: &StackTable, step: u32, stack: Option<StackId>) -> Phase {
        let is_new_step = step != self.step && self.step > 0;
        let before = if is_new_step { Phase::Data } else { self.phase };
        let sign = stack.map(|stack| *self.signs.entry(stack).or_insert_with(|| sign_of(stacks, stack)));
        let phase = match (sign, before) {
            (Some(Sign::Optimizer), _) => Phase::Optimizer,
            (Some(Sign::Backward), _) => Phase::Backward,
            (Some(Sign::Module), _) => Phase::Forward,
            (Some(Sign::None), Phase::Backward | Phase::Optimizer) => Phase::Other,
            (None | Some(Sign::None), phase) => phase,
        };
        (self.step, self.phase) = (step, phase);
        phase
    }

    pub(super) fn into_marks(self) -> Vec<Mark> {
        self.marks
    }
}

fn sign_of(stacks: &StackTable, stack: StackId) -> Sign {
    let mut running = stacks.frames(stack).peekable();
    if running.peek().is_none() {
        return Sign::Backward;
    }
    running.map(sign_of_frame).find(|sign| *sign != Sign::None).unwrap_or(Sign::None)
}

fn sign_of_frame(frame: &Frame) -> Sign {
    let ends = |path: &str| frame.file.ends_with(path);
    match frame.function.rsplit('.').next().unwrap_or_default() {
        "_call_impl" | "_wrapped_call_impl" if ends("/torch/nn/modules/module.py") => Sign::Module,
        "_engine_run_backward" if ends("/torch/autograd/graph.py") => Sign::Backward,
        "wrapper" if ends("/torch/optim/optimizer.py") => Sign::Optimizer,
        _ => Sign::None,
    }
}

//! The training work in a piece of a program: backward, step and zero_grad, and the purpose of loops.

use ruff_python_ast::{Expr, Stmt};

use super::data::{ClassId, FunctionId, LoopId, NodeId, RegionId, RegionKind};
use super::evidence::{backward_subject, is_called_optimizer};
use super::{Call, Model, ValueKind};

/// The number of calls of each kind, including calls in functions of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrainingCalls {
    /// Calls of `backward`.
    pub(crate) backwards: usize,
    /// Calls of an optimizer's `step`.
    pub(crate) steps: usize,
    /// Calls of `zero_grad`.
    pub(crate) zeroes: usize,
    /// Calls of `torch.autograd.grad`.
    pub(crate) grads: usize,
}

impl TrainingCalls {
    fn add(&mut self, other: TrainingCalls) {
        self.backwards = self.backwards.saturating_add(other.backwards);
        self.steps = self.steps.saturating_add(other.steps);
        self.zeroes = self.zeroes.saturating_add(other.zeroes);
        self.grads = self.grads.saturating_add(other.grads);
    }
}

impl<'a> Model<'a> {
    /// Returns the work in a loop's body.
    pub(crate) fn work_of_loop(&self, id: LoopId) -> TrainingCalls {
        if let Some(&known) = self.loop_works.borrow().get(&id) {
            return known;
        }
        let work = self.work_of(self.calls_between(self.tree.loops[id.index()].body));
        self.loop_works.borrow_mut().insert(id, work);
        work
    }

    /// Returns the work of these calls.
    pub(crate) fn work_of(&self, calls: &[Call<'a>]) -> TrainingCalls {
        let mut work = TrainingCalls::default();
        for call in calls {
            work.backwards += usize::from(backward_subject(self, call).is_some());
            work.steps += usize::from(self.is_optimizer_step(call));
            work.zeroes += usize::from(Self::is_zero_grad(call));
            work.grads += usize::from(call.is("torch.autograd.grad"));
            if let Some(callee) = self.callee(call) {
                work.add(self.work_of_function(callee));
            }
        }
        work
    }

    /// Returns the work of one call of a function, without recursive calls.
    pub(crate) fn work_of_function(&self, function: FunctionId) -> TrainingCalls {
        if let Some(&known) = self.works.borrow().get(&function) {
            return known;
        }
        self.works.borrow_mut().insert(function, TrainingCalls::default());
        let body = self.tree.functions[function.index()].body;
        let work = self.follow(|| self.work_of(self.calls_between(body))).unwrap_or_default();
        self.works.borrow_mut().insert(function, work);
        work
    }

    /// `optimizer.step()`, `scaler.step(optimizer)`.
    pub(crate) fn is_optimizer_step(&self, call: &Call<'a>) -> bool {
        if !call.is_method("step") {
            return false;
        }
        let Some((receiver, _)) = call.method() else { return false };
        let first = call.syntax.arguments.args.first();
        match self.value(receiver) {
            ValueKind::Optimizer | ValueKind::Scaler => true,
            ValueKind::Unknown => is_called_optimizer(receiver) || first.is_some_and(is_called_optimizer),
            _ => false,
        }
    }

    /// `optimizer.zero_grad()`, `model.zero_grad()`.
    pub(crate) fn is_zero_grad(call: &Call<'_>) -> bool {
        call.is_method("zero_grad")
    }

    /// Checks whether gradients are set to None or zero by hand from one node to another: `p.grad = None`, `p.grad.zero_()`.
    pub(crate) fn clears_by_hand(&self, range: (NodeId, NodeId)) -> bool {
        self.expressions(range).any(|(id, expression)| match expression {
            Expr::Attribute(it) if it.attr.as_str() == "grad" => {
                let parent = self.node(id).parent;
                it.ctx.is_store() || !matches!(self.node(parent).syntax, super::Syntax::Statement(Stmt::Expr(_)))
            }
            _ => false,
        })
    }

    /// Checks whether a loop runs once per training batch: the innermost loop around a backward and an optimizer step.
    pub(crate) fn is_training_loop(&self, id: LoopId) -> bool {
        let work = self.work_of_loop(id);
        work.backwards > 0 && work.steps > 0
    }

    /// Checks whether each iteration of a loop is one step: it trains on or evaluates a batch, and no inner loop does.
    pub(crate) fn is_step_loop(&self, id: LoopId) -> bool {
        if let Some(&known) = self.step_loops.borrow().get(&id) {
            return known;
        }
        let is_working = |id: LoopId| self.work_of_loop(id).backwards > 0 || self.is_over_batches(id);
        let is_step = is_working(id) && !self.inner_loops(id).any(is_working);
        self.step_loops.borrow_mut().insert(id, is_step);
        is_step
    }

    /// Returns the innermost loop around a region if it is a step's.
    pub(crate) fn step_loop(&self, region: RegionId) -> Option<LoopId> {
        self.loops(region).next().filter(|&id| self.is_step_loop(id))
    }

    /// Returns the loop that makes a call in each step.
    pub(crate) fn made_in_each_step(&self, call: &Call<'a>) -> Option<LoopId> {
        self.step_loop(call.region).filter(|&around| !self.is_conditional(call.region, around))
    }

    /// Checks whether a loop lies directly or deeper in another.
    pub(crate) fn inner_loops(&self, id: LoopId) -> impl Iterator<Item = LoopId> + '_ {
        // Loops are in the order of the walk: inner loops follow.
        let rest = (id.0.saturating_add(1)..).map(LoopId).take(self.tree.loops.len().saturating_sub(id.index() + 1));
        rest.take_while(move |&other| self.is_in(self.tree.loops[other.index()].node, id))
    }

    /// Checks whether the iterated object visibly yields batches.
    pub(crate) fn is_over_batches(&self, id: LoopId) -> bool {
        self.tree.loops[id.index()].iterated.is_some_and(|iterated| self.gives_batches(iterated))
    }

    pub(crate) fn gives_batches(&self, iterated: &'a Expr) -> bool {
        if self.value(iterated) == ValueKind::Loader {
            return true;
        }
        match self.call(iterated) {
            Some(call) if super::known::wraps_iterable(call) => {
                call.syntax.arguments.args.iter().any(|argument| self.gives_batches(argument))
            }
            _ => false,
        }
    }

    /// Checks whether a class has a base, in this file or imported, for which `is_wanted` holds.
    pub(crate) fn derives(&self, class: ClassId, is_wanted: &dyn Fn(&str) -> bool) -> bool {
        self.derives_within(class, is_wanted, 8)
    }

    fn derives_within(&self, class: ClassId, is_wanted: &dyn Fn(&str) -> bool, left: usize) -> bool {
        let syntax = self.tree.classes[class.index()].syntax;
        let mut bases = syntax.arguments.iter().flat_map(|arguments| &arguments.args);
        left > 0
            && bases.any(|base| {
                let local = self.named(base).and_then(|it| self.class_of(it));
                match local {
                    Some(local) => local != class && self.derives_within(local, is_wanted, left - 1),
                    None => self.path(base).is_some_and(|path| is_wanted(&path)),
                }
            })
    }

    /// Checks whether a region lies in a branch that some steps of the loop skip.
    pub(crate) fn is_conditional(&self, region: RegionId, around: LoopId) -> bool {
        self.regions_within(region, around)
            .any(|kind| matches!(kind, RegionKind::If(..) | RegionKind::Maybe | RegionKind::Handler(_)))
    }
}

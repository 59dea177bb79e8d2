//! What a run notes of training steps: backwards, steps and cleared gradients, and the mistakes in their order.

use ruff_python_ast::{Expr, Operator, Stmt};

use report::lint::Certainty;

use super::arguments::CallArguments;
use super::loops::LoopRun;
use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue};
use super::{Interpreter, NodeId};
use crate::semantics::data::Syntax;
use crate::semantics::is_called_optimizer;
use crate::semantics::{Observation, ObservationKind};

/// A branch of a condition with a remainder: `if step % 4 == 0`.
pub(super) type RemainderArm = (NodeId, bool);

/// A call of `backward`.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
pub(super) struct Backward {
    at: NodeId,
    time: u32,
    loss: Option<TensorValue>,
    keeps_graph: bool,
    creates_graph: bool,
    arm: Option<RemainderArm>,
    /// True within an inner loop over the batches of one step.
    in_micro_loop: bool,
    /// True if all forwards of the loss ran for every batch.
    has_regular_forwards: bool,
}

/// A call of `step` or `zero_grad`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptimizerCall {
    at: NodeId,
    time: u32,
    optimizer: Option<ObjectId>,
    is_step: bool,
    arm: Option<RemainderArm>,
    in_micro_loop: bool,
}

/// The events of training steps.
#[derive(Debug, Default)]
pub(super) struct Training {
    pub(super) backwards: Vec<Backward>,
    pub(super) calls: Vec<OptimizerCall>,
    /// Forwards that ran under a condition with a remainder; bits of sites.
    pub(super) irregular: u128,
    /// Optimizers with known parameters, and others.
    pub(super) known_optimizers: u32,
    pub(super) unknown_optimizers: u32,
    /// The time of the last forward of each site.
    pub(super) times: Vec<u32>,
}

impl<'a> Interpreter<'_, 'a> {
    /// Notes a call of a method if it belongs to a training step.
    pub(super) fn note_training(
        &mut self,
        receiver: AbstractValue<'a>,
        base: &'a Expr,
        name: &str,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) {
        match name {
            "backward" | "manual_backward" => {
                let loss = receiver.tensor().or_else(|| arguments.first().and_then(AbstractValue::tensor));
                self.note_backward(loss, arguments, at);
            }
            "step" => {
                let given = arguments.first().and_then(AbstractValue::object);
                let of = [receiver.object(), given].into_iter().flatten();
                let optimizer = of.into_iter().find(|&id| self.object(id).kind == ObjectKind::Optimizer);
                if optimizer.is_some() || is_called_optimizer(base) {
                    self.note_optimizer(optimizer, true, at);
                }
            }
            "zero_grad" => {
                let optimizer = receiver.object().filter(|&id| self.object(id).kind == ObjectKind::Optimizer);
                self.note_optimizer(optimizer, false, at);
                if matches!(arguments.get("set_to_none", 0), Some(AbstractValue::Int(0)))
                    && self.loops.last().is_some_and(|run| self.model.is_own_node(run.at))
                {
                    self.confirm_own(ObservationKind::ZerosKept, at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn note_backward(&mut self, loss: Option<TensorValue>, arguments: &CallArguments<'a>, at: NodeId) {
        let is_true =
            |name: &str| arguments.named.iter().any(|(it, value)| *it == name && *value == AbstractValue::Int(1));
        let time = self.tick();
        let sources = loss.map_or(0, |it| it.sources);
        let event = Backward {
            at: self.own_node(at),
            time,
            loss,
            keeps_graph: is_true("retain_graph") || is_true("create_graph"),
            creates_graph: is_true("create_graph"),
            arm: self.remainders.last().copied(),
            in_micro_loop: self.loops.iter().any(|run| run.is_micro),
            has_regular_forwards: sources != 0 && sources & self.found.training.irregular == 0,
        };
        self.judge_order(sources, time);
        self.found.training.backwards.push(event);
    }

    /// Finds a `zero_grad` between all forwards of a loss and its backward.
    fn judge_order(&mut self, sources: u128, now: u32) {
        let times = self.found.training.times.iter().enumerate();
        let last = times.filter(|(index, _)| sources & (1 << index) != 0).map(|(_, time)| *time).max();
        let Some(run) = self.loops.last().filter(|run| self.model.is_own_node(run.at)) else { return };
        let started = run.step_started;
        let Some(last) = last.filter(|&it| it >= started) else { return };
        let between = self.found.training.calls.iter().rev().take_while(|it| it.time > last);
        let cleared = between.into_iter().find(|it| !it.is_step && it.time < now && it.optimizer.is_some());
        let is_first = self.found.training.backwards.last().is_none_or(|it| it.time < last);
        if let Some(at) = cleared.filter(|_| is_first).map(|it| it.at) {
            self.confirm_own(ObservationKind::ClearedAfterForward, at);
        }
    }

    fn note_optimizer(&mut self, optimizer: Option<ObjectId>, is_step: bool, at: NodeId) {
        let time = self.tick();
        let event = OptimizerCall {
            at: self.own_node(at),
            time,
            optimizer,
            is_step,
            arm: self.remainders.last().copied(),
            in_micro_loop: self.loops.iter().any(|run| run.is_micro),
        };
        self.found.training.calls.push(event);
    }

    /// Notes that gradients are cleared by hand: `parameter.grad = None`.
    pub(super) fn note_cleared(&mut self, at: NodeId) {
        self.note_optimizer(None, false, at);
    }

    pub(super) fn confirm_own(&mut self, kind: ObservationKind, at: NodeId) {
        let at = self.own_node(at);
        if self.model.is_own_node(at) {
            self.found.confirm(
                Observation { kind, at, in_training: true, certainty: Certainty::Likely, is_tensor: false },
                None,
            );
        }
    }

    /// Judges the order of backwards, steps and cleared gradients within a training loop.
    pub(super) fn judge_steps(&mut self, run: &LoopRun<'a>) {
        let within = |time: u32| time >= run.started;
        let backwards: Vec<Backward> =
            self.found.training.backwards.iter().filter(|it| within(it.time)).copied().collect();
        let calls: Vec<OptimizerCall> =
            self.found.training.calls.iter().filter(|it| within(it.time)).copied().collect();
        if run.work.trains() && !run.has_inner_step {
            self.judge_clearing(run, &calls);
            self.judge_accumulation(&backwards, &calls);
        }
        if run.work.trains() && !run.has_inner_step {
            self.judge_retained(run, &backwards);
        }
    }

    fn judge_clearing(&mut self, run: &LoopRun<'a>, calls: &[OptimizerCall]) {
        let is_cleared = |optimizer: Option<ObjectId>| {
            calls.iter().any(|it| !it.is_step && (it.optimizer.is_none() || it.optimizer == optimizer))
        };
        if calls.iter().any(|it| !it.is_step) {
            self.found.confirm(
                Observation {
                    kind: ObservationKind::GradientsCleared,
                    at: run.at,
                    in_training: true,
                    certainty: Certainty::Likely,
                    is_tensor: false,
                },
                None,
            );
        }
        let has_clear = calls.iter().any(|it| !it.is_step);
        for step in calls.iter().filter(|it| it.is_step && it.optimizer.is_some()) {
            // Without any clearing in the loop, the rule decides by the text.
            if has_clear && !is_cleared(step.optimizer) {
                self.confirm_own(ObservationKind::NeverCleared, step.at);
            }
        }
    }

    fn judge_accumulation(&mut self, backwards: &[Backward], calls: &[OptimizerCall]) {
        let steps: Vec<&OptimizerCall> = calls.iter().filter(|it| it.is_step).collect();
        let in_both_arms = backwards.iter().any(|one| {
            let other_arm = |other: &Backward| {
                one.arm.zip(other.arm).is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
            };
            backwards.iter().any(other_arm)
        });
        if steps.is_empty() || in_both_arms {
            return;
        }
        let every_nth = steps.iter().all(|it| it.arm.is_some());
        let after_micro = steps.iter().all(|it| !it.in_micro_loop);
        let is_raw = |it: &Backward| it.loss.is_some_and(|loss| loss.sources != 0 && !loss.is_scaled);
        for it in backwards {
            let is_regular = it.arm.is_none() && (every_nth || (it.in_micro_loop && after_micro));
            if is_regular && is_raw(it) && backwards.iter().all(|other| other.at == it.at) {
                self.confirm_own(ObservationKind::NotDivided, it.at);
            }
        }
        let all_irregular = every_nth && backwards.iter().all(|it| it.arm.is_some());
        if all_irregular && let Some(it) = backwards.iter().find(|it| it.has_regular_forwards) {
            let is_sum = it.loss.is_some_and(|loss| loss.kept | loss.added | loss.through != 0);
            if !is_sum {
                self.confirm_own(ObservationKind::BackwardSkipped, it.at);
            }
        }
    }

    /// Finds graphs that are kept for no later backward of the same step.
    fn judge_retained(&mut self, run: &LoopRun<'a>, backwards: &[Backward]) {
        let last_step: Vec<&Backward> = backwards.iter().filter(|it| it.time >= run.step_started).collect();
        for (index, it) in last_step.iter().enumerate() {
            let sources = it.loss.map_or(0, |loss| loss.sources);
            let is_carried = it.loss.is_some_and(|loss| loss.kept | loss.added | loss.through != 0);
            if !it.keeps_graph || sources == 0 || is_carried {
                continue;
            }
            let later = last_step.iter().skip(index + 1);
            let is_shared = later.into_iter().any(|other| {
                let others = other.loss.map_or(0, |loss| loss.sources);
                others == 0 || others & sources != 0
            });
            if it.creates_graph && run.work.trains() && !is_shared {
                self.confirm_own(ObservationKind::GraphCreated, it.at);
            } else if !it.creates_graph && !is_shared {
                self.confirm_own(ObservationKind::GraphRetained, it.at);
            }
        }
    }

    /// Checks for a counter: its function has `counter += 1`.
    fn counts_up(&self, counter: &'a Expr) -> bool {
        let Some(id) = self.model.id(counter).filter(|_| counter.is_name_expr() || counter.is_attribute_expr()) else {
            return false;
        };
        let text = self.model.source(counter);
        let function = self.model.function(self.model.node(id).region);
        let is_bound =
            function.is_some() && !text.contains("step") && !text.contains("epoch") && !text.contains("iter");
        let (first, last) = self.model.body(function);
        is_bound
            && (first.0..=last.0).map(NodeId).any(|id| match self.model.node(id).syntax {
                Syntax::Statement(Stmt::AugAssign(it)) => {
                    self.model.source(&*it.target) == text && self.model.source(&*it.value) == "1"
                }
                _ => false,
            })
    }

    /// Checks whether a test computes a remainder, directly or through a name.
    pub(super) fn has_remainder(&self, test: &'a Expr) -> bool {
        let has_modulo = |expression: &'a Expr| {
            let Some(id) = self.model.id(expression) else { return false };
            self.model
                .expressions((id, self.model.node(id).last))
                .any(|(_, it)| it.as_bin_op_expr().is_some_and(|it| it.op == Operator::Mod))
        };
        let by_name = |name: &'a Expr| self.model.origins(name).into_iter().any(has_modulo);
        match test {
            Expr::UnaryOp(it) => self.has_remainder(&it.operand),
            Expr::BoolOp(it) => it.values.iter().any(|value| self.has_remainder(value)),
            Expr::Name(_) => by_name(test),
            Expr::Compare(it) if self.counts_up(&it.left) => true,
            test => has_modulo(test),
        }
    }
}

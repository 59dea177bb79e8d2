//! Loops, and the steps that they make.
//!
//! # Note [Carried values]
//! Before the second run of a loop's body, every variable, field and entry with a recorded tensor is marked as carried. A mark follows the
//! tensor through arithmetic (`added`) and through modules (`through`), and ends with its graph. If a write to the same place finds its own
//! mark, the graph of each step hangs on that of the step before. A write without the mark starts anew.

use ruff_python_ast::{Expr, Stmt, StmtFor, StmtWhile};

use super::value::{AbstractValue, ObjectKind, StoredPlace};
use super::{Interpreter, Mode, NodeId};
use crate::semantics::Graph;

/// The largest number of marks.
const MOST_CARRIES: usize = 127;

/// The syntax of a loop.
pub(super) struct LoopHead<'a> {
    pub(super) at: NodeId,
    /// The iterated expression.
    pub(super) iterated: Option<&'a Expr>,
    /// The test of a `while`.
    pub(super) test: Option<&'a Expr>,
    /// True for a loop of a framework over batches.
    pub(super) is_of_framework: bool,
}

impl<'a> LoopHead<'a> {
    pub(super) fn of_for(statement: &'a StmtFor) -> LoopHead<'a> {
        LoopHead { at: node_of(statement), iterated: Some(&statement.iter), test: None, is_of_framework: false }
    }

    pub(super) fn of_while(statement: &'a StmtWhile) -> LoopHead<'a> {
        LoopHead { at: node_of(statement), iterated: None, test: Some(&statement.test), is_of_framework: false }
    }
}

fn node_of(syntax: &impl ruff_python_ast::HasNodeIndex) -> NodeId {
    crate::semantics::data::id_of(syntax).unwrap_or(NodeId(0))
}

/// The training work within a run of a loop, calls included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopWork {
    pub(super) backwards: u32,
    pub(super) steps: u32,
    /// Gradients by `autograd.grad`, and inputs that require gradients.
    pub(super) grads: u32,
    /// Forwards of modules.
    pub(super) forwards: u32,
}

impl LoopWork {
    pub(super) fn trains(self) -> bool {
        self.backwards > 0 && self.steps > 0
    }

    pub(super) fn wants_gradients(self) -> bool {
        self.backwards + self.grads + self.steps > 0
    }

    fn add(&mut self, other: LoopWork) {
        self.backwards += other.backwards;
        self.steps += other.steps;
        self.grads += other.grads;
        self.forwards += other.forwards;
    }
}

/// One execution of a loop, with its work and its fresh starts.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
pub(super) struct LoopRun<'a> {
    /// The number of the run.
    pub(super) serial: u32,
    pub(super) at: NodeId,
    /// The time at the start of the loop, and of the current step.
    pub(super) started: u32,
    pub(super) step_started: u32,
    pub(super) work: LoopWork,
    /// True if a loop within trains or evaluates by itself.
    pub(super) has_inner_step: bool,
    /// True if a loop within runs a backward.
    pub(super) has_inner_backward: bool,
    pub(super) is_over_batches: bool,
    /// True for a loop over a whole data set, in batches, chunks or files.
    pub(super) is_over_many: bool,
    /// True for a loop over a literal tuple or list, which makes no steps.
    pub(super) is_literal: bool,
    /// True for a loop over the batches of one step: `for micro_step in range(accumulation_steps)`.
    pub(super) is_micro: bool,
    /// The number of frames when the loop started.
    pub(super) frames: usize,
    /// Places that started anew in the second step, and whether they do so in every step.
    pub(super) resets: Vec<(StoredPlace<'a>, bool)>,
    pub(super) is_second: bool,
    pub(super) doubts: u32,
}

impl<'a> Interpreter<'_, 'a> {
    /// Runs a loop: `bind` assigns an element to the target.
    pub(super) fn run_loop(
        &mut self,
        head: &LoopHead<'a>,
        iterable: AbstractValue<'a>,
        bind: impl Fn(&mut Self, AbstractValue<'a>),
        body: &'a [Stmt],
    ) {
        self.repeat(head, iterable, |run, element| {
            bind(run, element);
            run.block(body);
        });
    }

    /// Runs code twice as the body of a loop.
    pub(super) fn repeat(
        &mut self,
        head: &LoopHead<'a>,
        iterable: AbstractValue<'a>,
        mut body: impl FnMut(&mut Self, AbstractValue<'a>),
    ) {
        let serial = self.tick();
        let is_over_batches = self.is_of_batches(head, iterable);
        let doubts = std::mem::take(&mut self.doubts);
        self.loops.push(LoopRun {
            serial,
            at: head.at,
            started: serial,
            step_started: serial,
            work: LoopWork::default(),
            has_inner_step: false,
            has_inner_backward: false,
            is_over_batches,
            is_literal: head.iterated.is_some_and(|it| it.is_tuple_expr() || it.is_list_expr()),
            is_micro: self.is_over_micro_steps(head),
            is_over_many: is_over_batches || self.is_over_chunks(head),
            frames: self.frames.len(),
            resets: Vec::new(),
            is_second: false,
            doubts,
        });
        let elements = self.known_elements(iterable);
        for step in 0..elements.len().clamp(2, 4) {
            if self.is_over() {
                break;
            }
            let now = self.tick();
            if let Some(run) = self.loops.last_mut() {
                run.step_started = now;
                run.is_second = step >= 1;
            }
            if step == 1 {
                self.mark_carried();
            }
            let element = match elements.get(step) {
                Some(element) => *element,
                None => self.element_for_step(head, iterable),
            };
            body(self, element);
        }
        let Some(run) = self.loops.pop() else { return };
        self.doubts = run.doubts;
        self.end_loop(&run);
    }

    fn end_loop(&mut self, run: &LoopRun<'a>) {
        let is_training = run.work.trains() && !run.is_literal;
        let is_step = is_training || (run.is_over_batches && run.work.forwards > 0);
        if let Some(outer) = self.loops.last_mut() {
            outer.work.add(run.work);
            outer.has_inner_step |= is_step || run.has_inner_step;
            outer.has_inner_backward |= run.work.backwards + run.work.grads > 0;
        }
        self.judge_loop(run);
    }

    /// Checks whether a loop visibly runs over batches.
    fn is_of_batches(&self, head: &LoopHead<'a>, iterable: AbstractValue<'a>) -> bool {
        if iterable.object().is_some_and(|id| self.object(id).kind == ObjectKind::Loader) {
            return true;
        }
        let Some(iterated) = head.iterated else { return head.is_of_framework };
        let text = self.model.source(iterated).to_ascii_lowercase();
        self.model.gives_batches(iterated)
            || ["loader", "batches", "dataset", "dataiter", "data_iter"].iter().any(|word| text.contains(word))
    }

    fn is_over_micro_steps(&self, head: &LoopHead<'a>) -> bool {
        let text = head.iterated.map_or("", |it| self.model.source(it)).to_ascii_lowercase();
        text.contains("accum") || text.contains("micro")
    }

    /// `range(0, n, batch_size)`, loops over files, and `while len(images) < n`.
    fn is_over_chunks(&self, head: &LoopHead<'a>) -> bool {
        if head.test.is_some_and(|test| self.model.source(test).contains("len(")) {
            return true;
        }
        let Some(iterated) = head.iterated else { return false };
        let has_stride = self.model.call(iterated).is_some_and(|call| call.syntax.arguments.args.len() == 3);
        let text = self.model.source(iterated).to_ascii_lowercase();
        has_stride || ["files", "paths", "chunks", "images", "samples"].iter().any(|word| text.contains(word))
    }

    fn element_for_step(&mut self, head: &LoopHead<'a>, iterable: AbstractValue<'a>) -> AbstractValue<'a> {
        let is_plain =
            head.iterated.and_then(|it| self.model.call(it)).is_some_and(|call| call.path.as_deref() == Some("range"));
        let is_of_batches = self.loops.last().is_some_and(|run| run.is_over_batches);
        match if is_plain { AbstractValue::Plain } else { self.element_of(iterable) } {
            AbstractValue::Unknown if is_of_batches => AbstractValue::Tensor(super::value::TensorValue {
                is_output: true,
                ..super::value::TensorValue::new(Graph::Absent, crate::semantics::TensorDevice::Host)
            }),
            element => element,
        }
    }

    /// Marks the recorded tensors that the second step finds: Note [Carried values].
    fn mark_carried(&mut self) {
        let Some(run) = self.loops.last() else { return };
        // Nothing is carried by a loop without a module.
        if run.work.forwards + run.work.backwards == 0 {
            return;
        }
        let (serial, started) = (run.serial, run.started);
        let mut places = Vec::new();
        let mut envs: Vec<super::EnvId> = self.frames.iter().map(|frame| frame.env).collect();
        envs.extend(self.files.iter().flatten());
        envs.sort_unstable();
        envs.dedup();
        for env in envs {
            let variables = &self.envs[env.0 as usize].variables;
            let recorded = variables.iter().filter(|(_, value)| self.holds_recorded(**value));
            places.extend(recorded.map(|(name, _)| StoredPlace::Variable(env, name)));
        }
        for (index, object) in (0..).zip(&self.heap).filter(|(_, it)| it.born < started) {
            let id = super::ObjectId(index);
            let recorded = object.fields.iter().filter(|(_, value)| self.holds_recorded(**value));
            places.extend(recorded.map(|(name, _)| StoredPlace::Field(id, name)));
            let recorded = object.entries.iter().filter(|(_, value)| self.holds_recorded(**value));
            places.extend(recorded.map(|(name, _)| StoredPlace::Entry(id, name)));
            if object.content.is_some_and(AbstractValue::is_recorded) {
                places.push(StoredPlace::Content(id));
            }
        }
        // The order of a hash map must not show.
        places.sort_unstable();
        for place in places {
            self.mark(serial, place);
        }
    }

    fn mark(&mut self, serial: u32, place: StoredPlace<'a>) {
        let known = self.carries.iter().position(|(_, it)| *it == place);
        if known.is_none() && self.carries.len() >= MOST_CARRIES {
            return;
        }
        let index = known.unwrap_or(self.carries.len());
        match self.carries.get_mut(index) {
            Some(entry) => entry.0 = serial,
            None => self.carries.push((serial, place)),
        }
        let bit = 1_u128 << index;
        let value = match place {
            StoredPlace::Variable(env, name) => self.envs[env.0 as usize].variables.get(name).copied(),
            StoredPlace::Field(id, name) => self.object(id).fields.get(name).copied(),
            StoredPlace::Entry(id, name) => self.object(id).entries.get(name).copied(),
            StoredPlace::Content(id) => self.object(id).content,
        };
        let Some(value) = value.map(|it| self.marked(it, bit)) else { return };
        match place {
            StoredPlace::Variable(env, name) => self.set_variable(env, name, value),
            StoredPlace::Field(id, name) => _ = self.object_mut(id).fields.insert(name, value),
            StoredPlace::Entry(id, name) => _ = self.object_mut(id).entries.insert(name, value),
            StoredPlace::Content(id) => self.object_mut(id).content = Some(value),
        }
    }

    /// Returns a value with a mark; the tensors in a tuple or a list get the mark where they are.
    fn marked(&mut self, value: AbstractValue<'a>, bit: u128) -> AbstractValue<'a> {
        match value {
            AbstractValue::Tensor(tensor) if tensor.graph == Graph::Recorded => {
                AbstractValue::Tensor(super::value::TensorValue {
                    kept: bit,
                    added: (tensor.added | tensor.kept) & !bit,
                    through: tensor.through & !bit,
                    ..tensor
                })
            }
            AbstractValue::Object(id) if self.object(id).kind == ObjectKind::Dict => {
                let entries: Vec<_> = self.object(id).entries.iter().map(|(key, value)| (*key, *value)).collect();
                for (key, value) in entries {
                    let value = self.marked_tensor(value, bit);
                    self.object_mut(id).entries.insert(key, value);
                }
                let content = self.object(id).content.map(|it| self.marked_tensor(it, bit));
                self.object_mut(id).content = content;
                value
            }
            AbstractValue::Object(id) if matches!(self.object(id).kind, ObjectKind::Tuple | ObjectKind::List) => {
                let elements = self.object(id).elements.clone();
                let elements = elements.into_iter().map(|it| self.marked_tensor(it, bit)).collect();
                let content = self.object(id).content.map(|it| self.marked_tensor(it, bit));
                let object = self.object_mut(id);
                (object.elements, object.content) = (elements, content);
                value
            }
            value => value,
        }
    }

    fn marked_tensor(&mut self, value: AbstractValue<'a>, bit: u128) -> AbstractValue<'a> {
        if value.tensor().is_some() { self.marked(value, bit) } else { value }
    }

    /// Checks for a recorded tensor, or a tuple or a list with one.
    fn holds_recorded(&self, value: AbstractValue<'a>) -> bool {
        match value {
            AbstractValue::Object(id) => {
                let object = self.object(id);
                let mut parts = object.elements.iter().chain(object.entries.values()).copied().chain(object.content);
                matches!(object.kind, ObjectKind::Tuple | ObjectKind::List | ObjectKind::Dict)
                    && parts.any(AbstractValue::is_recorded)
            }
            value => value.is_recorded(),
        }
    }

    /// Notes that a place starts anew.
    pub(super) fn note_reset(&mut self, place: StoredPlace<'a>) {
        let mut is_certain = self.doubts == 0;
        for run in self.loops.iter_mut().rev() {
            if run.is_second && !run.resets.contains(&(place, is_certain)) {
                run.resets.push((place, is_certain));
            }
            is_certain &= run.doubts == 0;
        }
    }

    /// Notes training work in all loops around.
    pub(super) fn note_work(&mut self, note: impl Fn(&mut LoopWork)) {
        if let Some(run) = self.loops.last_mut() {
            note(&mut run.work);
        }
        note(&mut self.found.work);
    }

    /// Returns the mode of gradients as a graph of what is computed.
    pub(super) fn graph_of_mode(&self) -> Graph {
        match self.mode() {
            Mode::On => Graph::Recorded,
            Mode::Off => Graph::Absent,
            Mode::Unsure => Graph::Unsure,
        }
    }
}

//! Judges what a run has noted: stores, chains and forwards become observations once the loops and calls around them have ended.

use report::lint::Certainty;
use rustc_hash::FxHashSet;

use super::loops::{LoopRun, LoopWork};
use super::value::{ObjectId, ObjectKind, StoredPlace, AbstractValue};
use super::{Interpreter, Mode, NodeId};
use crate::semantics::{Graph, Model, TensorDevice};

/// The largest number of places of forwards; a set of them has a bit for each.
const MOST_SITES: usize = 128;

/// A mistake that a run has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObservationKind {
    /// A total that each step adds to with a graph.
    Accumulated,
    /// A collection that keeps a graph of each step.
    Collected,
    /// A recurrent state with the graph of the step before.
    Carried,
    /// A forward in a loop over batches whose graph nobody uses.
    RecordedLoop,
    /// Another forward whose graph nobody uses.
    RecordedForward,
    /// A forward of a fixed module in a training step, whose graph nobody uses.
    RecordedTeacher,
    /// Outputs of all batches kept on the GPU.
    OutputsOnGpu,
    /// An optimizer takes steps and its gradients are never cleared, though those of others are.
    NeverCleared,
    /// A loop that clears gradients; no mistake.
    GradientsCleared,
    /// Gradients cleared between the forward and the backward.
    ClearedAfterForward,
    /// Gradients filled with zeros instead of freed.
    ZerosKept,
    /// A graph kept for no later backward.
    GraphRetained,
    /// A graph of gradients that nobody uses.
    GraphCreated,
    /// Gradients of several batches added up without a division.
    NotDivided,
    /// Batches whose loss has no backward.
    BackwardSkipped,
}

/// A mistake and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) kind: ObservationKind,
    pub(crate) at: NodeId,
    /// True if a training step frees the saved tensors, so that only the nodes of the graph stay.
    pub(crate) in_training: bool,
    pub(crate) certainty: Certainty,
}

/// A recorded tensor put into a container.
#[derive(Clone, Copy, Debug)]
struct ContainerStore {
    container: ObjectId,
    at: NodeId,
    time: u32,
    is_recorded: bool,
    is_on_gpu: bool,
    is_off: bool,
}

/// A write that continues the value of the step before.
#[derive(Clone, Copy, Debug)]
struct CarriedChain<'a> {
    place: StoredPlace<'a>,
    at: NodeId,
    time: u32,
    is_through_module: bool,
}

/// A forward of a module with parameters that records a graph.
#[derive(Clone, Copy, Debug)]
struct Forward {
    at: NodeId,
    time: u32,
    is_eval: bool,
}

/// A forward at one place of the program, reached by one chain of calls.
#[derive(Clone, Copy, Debug)]
struct ForwardSite {
    at: NodeId,
    caller: NodeId,
    is_eval: bool,
    in_loop: bool,
    in_constructor: bool,
    /// True if the mode is assumed, and the module is not put into evaluation mode.
    is_doubtful: bool,
    /// The site of the forward around, if the module is a part of another.
    around: u128,
    /// True for `autograd.grad` with `create_graph=True`.
    is_gradient: bool,
}

/// A candidate that waits for the end of its caller.
#[derive(Clone, Copy, Debug)]
struct WaitingObservation {
    observation: Observation,
    container: Option<ObjectId>,
    /// The frame that must end without a backward.
    frames: usize,
    backwards: u32,
}

/// What a run has noted.
#[derive(Debug, Default)]
pub(super) struct RunFacts<'a> {
    stores: Vec<ContainerStore>,
    chains: Vec<CarriedChain<'a>>,
    forwards: Vec<Forward>,
    teachers: Vec<(NodeId, u32, ObjectId)>,
    sites: Vec<ForwardSite>,
    /// Sites whose graph a backward or unknown code got.
    used: u128,
    /// Sites whose result an unknown caller gets.
    returned: u128,
    /// Sites whose result was read without its graph.
    read: u128,
    waiting: Vec<WaitingObservation>,
    confirmed: Vec<Observation>,
    /// Stores into generators, which count once the elements are collected.
    lazy: Vec<(Observation, ObjectId)>,
    /// All work so far.
    pub(super) work: LoopWork,
    pub(super) training: super::training::Training,
    seen: FxHashSet<(ObservationKind, NodeId)>,
}

impl<'a> RunFacts<'a> {
    /// Drops candidates of ended frames in which a backward came later, and confirms the others.
    pub(super) fn end_frame(&mut self, frames: usize) {
        let work = self.work.backwards + self.work.grads;
        let (ended, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|it| it.frames > frames);
        self.waiting = waiting;
        let ended: Vec<WaitingObservation> = ended;
        for it in ended.into_iter().filter(|it| it.backwards == work) {
            self.confirm(it.observation, it.container);
        }
    }

    /// Ends an entry: nothing waits for a caller.
    pub(super) fn end_entry(&mut self) {
        self.end_frame(0);
        self.forwards.clear();
        self.stores.clear();
        self.chains.clear();
    }

    pub(super) fn confirm(&mut self, observation: Observation, lazy: Option<ObjectId>) {
        if let Some(container) = lazy {
            self.lazy.push((observation, container));
        } else if self.seen.insert((observation.kind, observation.at)) {
            self.confirmed.push(observation);
        }
    }

    /// Confirms the stores into a generator.
    pub(super) fn collect(&mut self, container: ObjectId) {
        let (ready, lazy) = std::mem::take(&mut self.lazy).into_iter().partition(|it| it.1 == container);
        self.lazy = lazy;
        let ready: Vec<(Observation, ObjectId)> = ready;
        ready.into_iter().for_each(|(observation, _)| self.confirm(observation, None));
    }

    /// Returns the observations, in the order of the text.
    pub(super) fn finish(mut self, model: &Model<'a>) -> Vec<Observation> {
        self.end_frame(0);
        let trains = self.work.wants_gradients();
        for (index, site) in self.sites.clone().into_iter().enumerate() {
            let bit = 1_u128 << index;
            let is_dead = |set: u128| self.used & set == 0 && self.read & set != 0;
            // The forward of the whole is reported, not those of its parts.
            if site.around != 0 && (is_dead(site.around) || (!trains && site.is_eval)) {
                continue;
            }
            let is_dead = is_dead(bit);
            // A program without any backward, with a module that it put into evaluation mode.
            let is_inference = !trains && site.is_eval && self.returned & bit == 0;
            if model.means_no_grad_at(site.at) {
                continue;
            }
            if site.is_gradient {
                if is_dead && model.is_own_node(site.at) {
                    self.confirm(
                        Observation {
                            kind: ObservationKind::GraphCreated,
                            at: site.at,
                            in_training: true,
                            certainty: Certainty::Likely,
                        },
                        None,
                    );
                }
            } else if (is_dead || is_inference)
                && !site.in_constructor
                && !site.is_doubtful
                && model.is_own_node(site.at)
            {
                let kind = if site.in_loop { ObservationKind::RecordedLoop } else { ObservationKind::RecordedForward };
                self.confirm(Observation { kind, at: site.at, in_training: false, certainty: Certainty::Likely }, None);
            }
        }
        let mut all = self.confirmed;
        all.sort_by_key(|it| (it.at, it.kind as u8));
        all
    }
}

impl<'a> Interpreter<'_, 'a> {
    /// Notes that a value was put into a container.
    pub(super) fn note_store(&mut self, container: ObjectId, value: AbstractValue<'a>, at: NodeId) {
        let is_recorded = self.holds(value, 3, &|it| it.is_recorded());
        let is_on_gpu =
            self.holds(value, 3, &|it| it.tensor().is_some_and(|it| it.is_output && it.device != TensorDevice::Host));
        let frame_born = self.envs[self.env().0 as usize].born;
        if self.object(container).born < frame_born {
            // Other code may run a backward on what the container keeps.
            self.note_use(value);
        }
        if is_recorded || is_on_gpu {
            let time = self.tick();
            let is_off =
                self.holds(value, 3, &|it| it.tensor().is_some_and(|it| it.is_output && it.graph == Graph::Absent));
            let at = self.own_node(self.giving_node(at));
            self.found.stores.push(ContainerStore { container, at, time, is_recorded, is_on_gpu, is_off });
        }
    }

    /// Checks whether a value is, or a fresh object holds, a tensor for which `is_wanted` holds.
    pub(super) fn holds(&self, value: AbstractValue<'a>, left: u32, is_wanted: &dyn Fn(AbstractValue<'a>) -> bool) -> bool {
        if is_wanted(value) {
            return true;
        }
        let (Some(id), Some(left)) = (value.object(), left.checked_sub(1)) else { return false };
        let object = self.object(id);
        let is_data = object.is_container() || (matches!(object.kind, ObjectKind::Instance(_)) && !object.is_module);
        let newest = self.loops.last().map_or(0, |run| run.step_started);
        if !is_data || object.born < newest {
            return false;
        }
        let parts = object.elements.iter().chain(object.entries.values()).chain(object.fields.values()).copied();
        parts.chain(object.content).any(|part| self.holds(part, left, is_wanted))
    }

    /// Notes that outputs of a batch are written into a buffer on the GPU.
    pub(super) fn note_buffer(&mut self, value: AbstractValue<'a>, at: NodeId) {
        let is_output = value.tensor().is_some_and(|it| it.is_output && it.device != TensorDevice::Host);
        let is_over_batches = self.loops.last().is_some_and(|run| run.is_over_batches);
        if is_output && is_over_batches && self.model.is_own_node(at) {
            self.found.confirm(
                Observation {
                    kind: ObservationKind::OutputsOnGpu,
                    at,
                    in_training: false,
                    certainty: Certainty::Likely,
                },
                None,
            );
        }
    }

    pub(super) fn note_chain(&mut self, place: StoredPlace<'a>, at: NodeId, is_through_module: bool) {
        if let StoredPlace::Field(id, _) = place
            && let ObjectKind::Instance(class) = self.object(id).kind
            && self.model.derives(class, &|path| path.contains("Metric") || path.contains("metric"))
        {
            // torchmetrics wraps the methods of its classes.
            return;
        }
        let time = self.tick();
        let at = self.own_node(if is_through_module { at } else { self.giving_node(at) });
        self.found.chains.push(CarriedChain { place, at, time, is_through_module });
    }

    /// Notes a forward of a module with parameters, and returns the bit of its site.
    pub(super) fn note_forward(&mut self, at: NodeId, module: ObjectId, input_has_graph: bool) -> u128 {
        self.note_work(|work| work.forwards += 1);
        let object = self.object(module);
        if self.mode() != Mode::On || object.is_frozen {
            return 0;
        }
        let is_loaded = object.is_loaded && object.is_eval.is_none();
        let is_eval = object.is_eval == Some(true) || (is_loaded && !self.is_assumed);
        // Nothing tells that gradients are recorded here, or that the module has parameters.
        let is_doubtful = (self.is_assumed && !is_eval) || object.is_guess;
        let is_eval = is_eval && !object.is_guess;
        let is_fixed = (is_eval || object.is_copy) && !object.is_optimized && !input_has_graph;
        let time = self.tick();
        let caller = self.frames.last().map_or(NodeId(0), |frame| frame.at);
        let site_at = at;
        let at = self.own_node(at);
        // The loop of an entry stands for unknown callers.
        let in_loop = self.loops.iter().any(|run| run.frames > 0);
        let in_constructor = self.frames.iter().any(|frame| {
            let function = frame.function.map(|it| &self.model.tree.functions[it.index()]);
            function.is_some_and(|it| it.syntax.name.as_str() == "__init__")
        });
        self.found.forwards.push(Forward { at, time, is_eval });
        if is_fixed {
            self.found.teachers.push((at, time, module));
        }
        let site = self.site(ForwardSite {
            at: site_at,
            caller,
            is_eval,
            in_loop,
            in_constructor,
            is_doubtful,
            around: self.forward,
            is_gradient: false,
        });
        let now = self.time;
        let index = usize::try_from(site.trailing_zeros()).unwrap_or(usize::MAX);
        if let Some(time) = self.found.training.times.get_mut(index) {
            *time = now;
        }
        if self.remainders.is_empty() {
            self.found.training.irregular &= !site;
        } else {
            self.found.training.irregular |= site;
        }
        site
    }

    /// Notes a gradient with a graph of its own, and returns the bit of its site.
    pub(super) fn note_gradient(&mut self, at: NodeId) -> u128 {
        let caller = self.frames.last().map_or(NodeId(0), |frame| frame.at);
        // The loop of an entry stands for unknown callers.
        let in_loop = self.loops.iter().any(|run| run.frames > 0);
        self.site(ForwardSite {
            at,
            caller,
            is_eval: false,
            in_loop,
            in_constructor: false,
            is_doubtful: false,
            around: 0,
            is_gradient: true,
        })
    }

    /// Returns the bit of a forward at a place; zero beyond the largest number of places.
    fn site(&mut self, site: ForwardSite) -> u128 {
        let is_same = |it: &ForwardSite| it.at == site.at && it.caller == site.caller && it.is_eval == site.is_eval;
        let sites = &mut self.found.sites;
        let index = match sites.iter().position(is_same) {
            Some(index) => index,
            None if sites.len() >= MOST_SITES => return 0,
            None => {
                sites.push(site);
                self.found.training.times.push(0);
                sites.len() - 1
            }
        };
        1 << index
    }

    /// Notes that a backward or unknown code gets the graph of a value.
    pub(super) fn note_use(&mut self, value: AbstractValue<'a>) {
        self.found.used |= self.sources_of(value, 3);
    }

    /// Notes that an unknown caller gets a value.
    pub(super) fn note_returned(&mut self, value: AbstractValue<'a>) {
        let sources = self.sources_of(value, 3);
        self.found.used |= sources;
        self.found.returned |= sources;
    }

    /// Notes that a value is read without its graph.
    pub(super) fn note_read(&mut self, tensor: super::value::TensorValue) {
        self.found.read |= tensor.sources;
    }

    fn sources_of(&self, value: AbstractValue<'a>, left: u32) -> u128 {
        match (value, left.checked_sub(1)) {
            (AbstractValue::Tensor(tensor), _) => tensor.sources,
            (AbstractValue::Object(id), Some(left)) if !self.object(id).is_module => {
                let object = self.object(id);
                let parts = object.elements.iter().chain(object.entries.values()).chain(object.fields.values());
                parts.copied().chain(object.content).fold(0, |set, part| set | self.sources_of(part, left))
            }
            _ => 0,
        }
    }

    /// Judges what happened within a loop.
    pub(super) fn judge_loop(&mut self, run: &LoopRun<'a>) {
        // A mistake belongs to the file of the loop: there the value of each step is made.
        if !self.model.is_own_node(run.at) {
            return;
        }
        let backwards = run.work.backwards + run.work.grads;
        if backwards > 0 && !run.has_inner_backward {
            self.judge_carried(run);
        }
        if backwards > 0 {
            self.judge_steps(run);
        }
        if run.work.trains() && !run.has_inner_step && !run.is_literal {
            self.judge_training(run);
        } else if !run.work.wants_gradients() && run.work.forwards > 0 && !run.has_inner_step {
            self.judge_evaluation(run);
        }
    }

    fn judge_carried(&mut self, run: &LoopRun<'a>) {
        for chain in self.chains_within(run).into_iter().filter(|it| it.is_through_module) {
            let observation = Observation {
                kind: ObservationKind::Carried,
                at: chain.at,
                in_training: true,
                certainty: Certainty::Likely,
            };
            self.found.confirm(observation, None);
        }
    }

    fn judge_training(&mut self, run: &LoopRun<'a>) {
        let observation = |kind, at| Observation { kind, at, in_training: true, certainty: Certainty::Likely };
        for store in self.stores_within(run).into_iter().filter(|it| it.is_recorded) {
            let lazy = self.lazy_container(store.container);
            let certainty = self.certainty_of(store.container);
            let observation = observation(ObservationKind::Collected, store.at);
            self.found.confirm(Observation { certainty, ..observation }, lazy);
        }
        for chain in self.chains_within(run).into_iter().filter(|it| !it.is_through_module) {
            self.found.confirm(observation(ObservationKind::Accumulated, chain.at), None);
        }
        let teachers: Vec<_> = self.found.teachers.iter().filter(|it| it.1 >= run.started).copied().collect();
        for (at, _, module) in teachers {
            let knows_optimizers =
                self.found.training.known_optimizers > 0 && self.found.training.unknown_optimizers == 0;
            if knows_optimizers && !self.object(module).is_optimized && !self.object(module).is_frozen {
                self.found.confirm(observation(ObservationKind::RecordedTeacher, at), None);
            }
        }
    }

    fn judge_evaluation(&mut self, run: &LoopRun<'a>) {
        let forwards: Vec<Forward> = self.found.forwards.iter().filter(|it| it.time >= run.started).copied().collect();
        let is_evaluation = forwards.iter().any(|it| it.is_eval);
        let is_evaluation = is_evaluation && !run.is_literal;
        let mut found: Vec<(Observation, Option<ObjectId>)> = Vec::new();
        let observation = |kind, at| Observation { kind, at, in_training: false, certainty: Certainty::Likely };
        for store in self.stores_within(run) {
            let certainty = self.certainty_of(store.container);
            let observation = |kind, at| Observation { certainty, ..observation(kind, at) };
            if store.is_recorded && is_evaluation {
                found.push((observation(ObservationKind::Collected, store.at), self.lazy_container(store.container)));
            } else if store.is_on_gpu && store.is_off && run.is_over_many && forwards.is_empty() {
                found
                    .push((observation(ObservationKind::OutputsOnGpu, store.at), self.lazy_container(store.container)));
            }
        }
        let is_meant_off = forwards.first().is_some_and(|it| self.model.means_no_grad_at(it.at));
        if is_evaluation && !is_meant_off {
            for chain in self.chains_within(run).into_iter().filter(|it| !it.is_through_module) {
                found.push((observation(ObservationKind::Accumulated, chain.at), None));
            }
            let first = forwards.iter().find(|it| it.is_eval);
            found.extend(first.map(|it| (observation(ObservationKind::RecordedLoop, it.at), None)));
        }
        let backwards = self.found.work.backwards + self.found.work.grads;
        let frames = run.frames;
        let waiting =
            found.into_iter().map(|(observation, container)| WaitingObservation { observation, container, frames, backwards });
        self.found.waiting.extend(waiting);
    }

    /// Returns the container if its elements are collected later, or never.
    fn lazy_container(&self, container: ObjectId) -> Option<ObjectId> {
        let object = self.object(container);
        (object.kind == ObjectKind::Iterator && !object.is_collected).then_some(container)
    }

    /// Returns the confidence in what happens to a container: unknown code that gets it may empty it.
    fn certainty_of(&self, container: ObjectId) -> Certainty {
        if self.object(container).escaped { Certainty::Possible } else { Certainty::Likely }
    }

    /// Notes that all elements of a generator are kept or summed.
    pub(super) fn mark_collected(&mut self, id: ObjectId) {
        if !self.object(id).is_collected {
            self.object_mut(id).is_collected = true;
            self.found.collect(id);
        }
    }

    /// Returns the stores within a loop into containers that outlive its steps and are not emptied.
    fn stores_within(&self, run: &LoopRun<'a>) -> Vec<ContainerStore> {
        let is_kept = |store: &&ContainerStore| {
            let object = self.object(store.container);
            let is_unlimited = object.limit.is_none_or(|limit| limit == 0 || limit >= 128);
            store.time >= run.started && object.born < run.started && object.emptied < run.started && is_unlimited
        };
        self.found.stores.iter().filter(is_kept).copied().collect()
    }

    /// Returns the chains within a loop whose place never starts anew in it.
    fn chains_within(&self, run: &LoopRun<'a>) -> Vec<CarriedChain<'a>> {
        let outlives = |place: StoredPlace<'a>| match place {
            StoredPlace::Variable(env, _) => self.envs[env.0 as usize].born < run.started,
            StoredPlace::Field(id, _) | StoredPlace::Entry(id, _) | StoredPlace::Content(id) => {
                let object = self.object(id);
                object.born < run.started && object.emptied < run.started
            }
        };
        let is_kept =
            |chain: &&CarriedChain<'a>| chain.time >= run.started && !run.resets_place(chain.place) && outlives(chain.place);
        self.found.chains.iter().filter(is_kept).copied().collect()
    }
}

impl<'a> LoopRun<'a> {
    fn resets_place(&self, place: StoredPlace<'a>) -> bool {
        self.resets.contains(&place)
    }
}

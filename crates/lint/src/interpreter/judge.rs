//! Judges the notes of a run: stores and chains become observations at the end of the loops around.

use report::lint::Certainty;

use super::facts::{CarriedChain, ContainerStore, Forward, WaitingObservation};
use super::loops::LoopRun;
use super::value::{AbstractValue, ObjectId, ObjectKind, StoredPlace};
use super::{Interpreter, NodeId};
use crate::semantics::{Graph, Observation, ObservationKind, TensorDevice};

impl<'a> Interpreter<'_, 'a> {
    /// Notes a value put into a container.
    pub(super) fn note_store(&mut self, container: ObjectId, value: AbstractValue<'a>, at: NodeId) {
        let is_recorded = self.holds(value, 3, &|it| it.is_recorded());
        let is_on_gpu =
            self.holds(value, 3, &|it| it.tensor().is_some_and(|it| it.is_output && it.device != TensorDevice::Host));
        let frame_born = self.envs[self.env().0 as usize].born;
        if self.object(container).born < frame_born {
            // Other code may run a backward on the container's elements.
            self.note_use(value);
        }
        if is_recorded || is_on_gpu {
            let time = self.tick();
            let is_off =
                self.holds(value, 3, &|it| it.tensor().is_some_and(|it| it.is_output && it.graph == Graph::Absent));
            let own = self.own_node(self.giving_node(at));
            let is_tensor = value.is_recorded() && own == at;
            let at = own;
            self.found.stores.push(ContainerStore { container, at, time, is_recorded, is_tensor, is_on_gpu, is_off });
        }
    }

    /// Checks whether a value, or a part of a fresh object, is wanted.
    pub(super) fn holds(
        &self,
        held: AbstractValue<'a>,
        left: u32,
        is_wanted: &dyn Fn(AbstractValue<'a>) -> bool,
    ) -> bool {
        if is_wanted(held) {
            return true;
        }
        let (Some(id), Some(left)) = (held.object(), left.checked_sub(1)) else { return false };
        let object = self.object(id);
        let is_data = object.is_container() || (matches!(object.kind, ObjectKind::Instance(_)) && !object.is_module);
        let newest = self.loops.last().map_or(0, |run| run.step_started);
        if !is_data || object.born < newest {
            return false;
        }
        let parts = object.elements.iter().chain(object.entries.values()).chain(object.fields.values()).copied();
        parts.chain(object.content).any(|part| self.holds(part, left, is_wanted))
    }

    /// Notes outputs of a batch written into a buffer on the GPU.
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
                    is_tensor: false,
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

    /// Judges the notes of a loop.
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
        let is_innermost = !run.has_inner_step && !run.is_literal;
        let only_gradients = run.work.grads > 0 && run.work.backwards == 0 && run.is_over_batches;
        if is_innermost && (run.work.trains() || only_gradients) {
            self.judge_training(run);
        } else if is_innermost && run.work.backwards > 0 && !run.has_inner_backward {
            self.judge_backwards(run);
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
                is_tensor: false,
            };
            self.found.confirm(observation, None);
        }
    }

    fn judge_training(&mut self, run: &LoopRun<'a>) {
        let observation =
            |kind, at| Observation { kind, at, in_training: true, certainty: Certainty::Likely, is_tensor: false };
        for store in self.stores_within(run).into_iter().filter(|it| it.is_recorded) {
            let lazy = self.lazy_container(store.container);
            let certainty = self.certainty_of(store.container);
            let observation = observation(ObservationKind::Collected, store.at);
            self.found.confirm(Observation { certainty, is_tensor: store.is_tensor, ..observation }, lazy);
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

    /// A loop with a backward and a later step: a kept graph is a mistake unless a backward follows.
    fn judge_backwards(&mut self, run: &LoopRun<'a>) {
        let backwards = self.found.work.backwards + self.found.work.grads;
        for store in self.stores_within(run).into_iter().filter(|it| it.is_recorded) {
            let certainty = self.certainty_of(store.container);
            let kind = ObservationKind::Collected;
            self.found.waiting.push(WaitingObservation {
                observation: Observation {
                    kind,
                    at: store.at,
                    in_training: true,
                    certainty,
                    is_tensor: store.is_tensor,
                },
                container: self.lazy_container(store.container),
                frames: run.frames,
                backwards,
            });
        }
    }

    fn judge_evaluation(&mut self, run: &LoopRun<'a>) {
        let forwards: Vec<Forward> = self.found.forwards.iter().filter(|it| it.time >= run.started).copied().collect();
        let is_evaluation = forwards.iter().any(|it| it.is_eval);
        let is_evaluation = is_evaluation && !run.is_literal;
        let mut found: Vec<(Observation, Option<ObjectId>)> = Vec::new();
        let observation =
            |kind, at| Observation { kind, at, in_training: false, certainty: Certainty::Likely, is_tensor: false };
        for store in self.stores_within(run) {
            let certainty = self.certainty_of(store.container);
            let observation = |kind, at| Observation { certainty, is_tensor: store.is_tensor, ..observation(kind, at) };
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
        let waiting = found.into_iter().map(|(observation, container)| WaitingObservation {
            observation,
            container,
            frames,
            backwards,
        });
        self.found.waiting.extend(waiting);
    }

    /// Returns the container of elements not collected yet.
    fn lazy_container(&self, container: ObjectId) -> Option<ObjectId> {
        let object = self.object(container);
        (object.kind == ObjectKind::Iterator && !object.is_collected).then_some(container)
    }

    /// Returns the confidence in a container: unknown code may empty its arguments.
    fn certainty_of(&self, container: ObjectId) -> Certainty {
        if self.object(container).escaped { Certainty::Possible } else { Certainty::Likely }
    }

    /// Notes a generator whose elements are all kept or summed.
    pub(super) fn mark_collected(&mut self, id: ObjectId) {
        if !self.object(id).is_collected {
            self.object_mut(id).is_collected = true;
            self.found.collect(id);
        }
    }

    /// Returns the stores within a loop into containers older than the loop and never emptied in it.
    fn stores_within(&self, run: &LoopRun<'a>) -> Vec<ContainerStore> {
        let is_kept = |store: &&ContainerStore| {
            let object = self.object(store.container);
            let is_unlimited = object.limit.is_none_or(|limit| limit == 0 || limit >= 128);
            store.time >= run.started && object.born < run.started && object.emptied < run.started && is_unlimited
        };
        self.found.stores.iter().filter(is_kept).copied().collect()
    }

    /// Returns the chains within a loop at places without a fresh start.
    fn chains_within(&self, run: &LoopRun<'a>) -> Vec<CarriedChain<'a>> {
        let outlives = |place: StoredPlace<'a>| match place {
            StoredPlace::Variable(env, _) => self.envs[env.0 as usize].born < run.started,
            StoredPlace::Field(id, _) | StoredPlace::Entry(id, _) | StoredPlace::Content(id) => {
                let object = self.object(id);
                object.born < run.started && object.emptied < run.started
            }
        };
        let is_kept =
            |chain: &&CarriedChain<'a>| chain.time >= run.started && !run.resets_place(chain) && outlives(chain.place);
        self.found.chains.iter().filter(is_kept).copied().collect()
    }
}

impl<'a> LoopRun<'a> {
    /// A total that is reset now and then is bounded; a state must be cut in every step.
    fn resets_place(&self, chain: &CarriedChain<'a>) -> bool {
        self.resets.iter().any(|(place, is_certain)| *place == chain.place && (*is_certain || !chain.is_through_module))
    }
}

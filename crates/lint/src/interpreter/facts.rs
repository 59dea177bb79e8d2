//! Notes of a run, and the observations confirmed from them.

use report::lint::Certainty;
use rustc_hash::FxHashSet;

use super::NodeId;
use super::loops::LoopWork;
use super::training::Training;
use super::value::{ObjectId, StoredPlace};
use crate::semantics::{Model, Observation, ObservationKind};

/// The largest number of places of forwards; a set has a bit for each place.
pub(super) const MOST_SITES: usize = 128;

/// A recorded tensor put into a container.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
pub(super) struct ContainerStore {
    pub(super) container: ObjectId,
    pub(super) at: NodeId,
    pub(super) time: u32,
    pub(super) is_recorded: bool,
    /// True if the value itself is the tensor, and the container is in reach of the same function.
    pub(super) is_tensor: bool,
    pub(super) is_on_gpu: bool,
    pub(super) is_off: bool,
}

/// A write to a place with a value made of the previous step's value.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarriedChain<'a> {
    pub(super) place: StoredPlace<'a>,
    pub(super) at: NodeId,
    pub(super) time: u32,
    pub(super) is_through_module: bool,
}

/// A forward of a module with parameters that records a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forward {
    pub(super) at: NodeId,
    pub(super) time: u32,
    pub(super) is_eval: bool,
}

/// A forward at one place of the program, reached by one chain of calls.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
pub(super) struct ForwardSite {
    pub(super) at: NodeId,
    pub(super) caller: NodeId,
    pub(super) is_eval: bool,
    pub(super) in_loop: bool,
    pub(super) in_constructor: bool,
    /// True if the mode is assumed, and the module is not put into evaluation mode.
    pub(super) is_doubtful: bool,
    /// The site of the forward around, if the module is a part of another.
    pub(super) around: u128,
    /// True for `autograd.grad` with `create_graph=True`.
    pub(super) is_gradient: bool,
}

/// A candidate, waiting for the end of the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingObservation {
    pub(super) observation: Observation,
    pub(super) container: Option<ObjectId>,
    /// The frame, to end without a backward.
    pub(super) frames: usize,
    pub(super) backwards: u32,
}

/// Stores, chains, forwards and training calls as they happen, and the confirmed observations.
#[derive(Debug, Default)]
pub(super) struct RunNotes<'a> {
    pub(super) stores: Vec<ContainerStore>,
    pub(super) chains: Vec<CarriedChain<'a>>,
    pub(super) forwards: Vec<Forward>,
    pub(super) teachers: Vec<(NodeId, u32, ObjectId)>,
    pub(super) sites: Vec<ForwardSite>,
    /// Sites with a graph used by a backward or by unknown code.
    pub(super) used: u128,
    /// Sites with a result for an unknown caller.
    pub(super) returned: u128,
    /// Sites with a result read without a graph.
    pub(super) read: u128,
    pub(super) waiting: Vec<WaitingObservation>,
    pub(super) confirmed: Vec<Observation>,
    /// Stores into generators: no mistake until the elements are collected.
    pub(super) lazy: Vec<(Observation, ObjectId)>,
    /// All work so far.
    pub(super) work: LoopWork,
    pub(super) training: Training,
    pub(super) seen: FxHashSet<(ObservationKind, NodeId)>,
}

impl<'a> RunNotes<'a> {
    /// Confirms the candidates of ended frames without a later backward, and drops the others.
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
        for (observation, _) in ready {
            self.confirm(observation, None);
        }
    }

    /// Returns the observations, in the order of the text.
    pub(super) fn finish(mut self, model: &Model<'a>) -> Vec<Observation> {
        self.end_frame(0);
        let trains = self.work.wants_gradients();
        for (index, site) in self.sites.clone().into_iter().enumerate() {
            let bit = 1_u128 << index;
            let is_dead = |set: u128| self.used & set == 0 && self.read & set != 0;
            // The forward of the whole is reported, not the forwards of the parts.
            if site.around != 0 && (is_dead(site.around) || (!trains && site.is_eval)) {
                continue;
            }
            let is_dead = is_dead(bit);
            // A program without any backward, with a module in evaluation mode.
            let is_inference = !trains && site.is_eval && self.returned & bit == 0;
            if model.means_no_grad_at(site.at) {
                continue;
            }
            let kind = match (site.is_gradient, site.in_loop) {
                (true, _) => ObservationKind::GraphCreated,
                (false, true) => ObservationKind::RecordedLoop,
                (false, false) => ObservationKind::RecordedForward,
            };
            let is_reported = is_dead || (is_inference && !site.is_gradient);
            // Another caller uses the graph: this caller is the place.
            let bits = self.sites.iter().enumerate().filter(|(_, it)| it.at == site.at);
            let is_shared = bits.into_iter().any(|(other, _)| self.used & (1 << other) != 0);
            let at = if is_shared && !site.is_eval { site.caller } else { site.at };
            if is_reported && !site.in_constructor && !site.is_doubtful && model.is_own_node(at) {
                let certainty = Certainty::Likely;
                self.confirm(
                    Observation { kind, at, in_training: site.is_gradient, certainty, is_tensor: false },
                    None,
                );
            }
        }
        let mut all = self.confirmed;
        all.sort_by_key(|it| (it.at, it.kind as u8));
        all
    }
}

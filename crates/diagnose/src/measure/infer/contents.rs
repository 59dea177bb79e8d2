//! The categories of the allocations in a history without marks.
//!
//! # Note [Contents without marks]
//! - A persistent tensor that a module allocated, moved or loaded is a parameter. The same line moves buffers, so
//!   buffers count as parameters.
//! - An allocation of an optimizer's step is optimizer state if it outlives the step, else a temporary.
//! - An allocation of backward that outlives backward is a gradient, if a parameter has its size (or parameters are
//!   unknown); an allocation that backward frees is a temporary. The buckets of DistributedDataParallel are second
//!   copies of gradients.
//! - An allocation that forward frees is a temporary, unless an out-of-memory error ended its life; the other
//!   allocations of forward are activations.
//! - An allocation between a step and the next forward is an input. Allocations of the same line before the first step
//!   are inputs too.
//! - A cuBLAS workspace has a known size, follows the allocation of its call's result, and persists once per
//!   multiplying thread (`CUDABlas.cpp`, 2.0 to 2.14).
//! - All other allocations are `other`: a history without stacks has no more information.

use std::collections::HashSet;

use report::Contents;
use trace::{Bytes, EventIndex, Lifetime, Phase, StackId};

use crate::measure::device_trace::DeviceTrace;
use crate::measure::life::Life;
use crate::measure::roles::Role;
use crate::measure::timeline::Timeline;

/// Workspace sizes of cuBLAS (`getChosenWorkspaceSize`, 2.0 to 2.15: devices below and from capability 9.0) and of
/// cuBLASLt (2.9 to 2.11).
const WORKSPACES: [u64; 3] = [8_519_680, 33_554_432, 1_048_576];
/// The most workspaces of one size: the program's thread multiplies, and autograd's thread.
const THREADS: usize = 2;

/// Returns the category of each allocation of `trace`, in the order of its list. See Note [Contents without marks].
pub(crate) fn classify(trace: &DeviceTrace, timeline: &Timeline, ooms: &[EventIndex]) -> Vec<Contents> {
    let signs = Signs::new(trace, timeline, ooms);
    trace.history.lifetimes().iter().map(|life| signs.contents(life)).collect()
}

struct Signs<'a> {
    trace: &'a DeviceTrace<'a>,
    timeline: &'a Timeline,
    ooms: &'a [EventIndex],
    /// Requested sizes of the modules' tensors.
    parameters: HashSet<Bytes>,
    /// Stacks that load data between steps.
    loading: HashSet<StackId>,
    /// The events that allocated cuBLAS workspaces.
    workspaces: HashSet<EventIndex>,
}

impl<'a> Signs<'a> {
    fn new(trace: &'a DeviceTrace<'a>, timeline: &'a Timeline, ooms: &'a [EventIndex]) -> Signs<'a> {
        let workspaces = WORKSPACES.iter().flat_map(|&size| workspaces(trace, timeline, Bytes(size))).collect();
        let mut signs =
            Signs { trace, timeline, ooms, parameters: HashSet::new(), loading: HashSet::new(), workspaces };
        for life in trace.history.lifetimes() {
            let stack = life.stack;
            let role = signs.role(stack);
            if matches!(role, Role::Placed | Role::Built) && !signs.short(life) {
                signs.parameters.insert(life.requested());
            }
            if role == Role::Own && timeline.phase_of(life) == Some(Phase::Data) {
                signs.loading.insert(stack);
            }
        }
        signs
    }

    fn role(&self, stack: StackId) -> Role {
        self.trace.roles.get(stack.0 as usize).copied().unwrap_or(Role::Frameless)
    }

    fn contents(&self, life: &Lifetime) -> Contents {
        let Some(phase) = self.timeline.phase_of(life) else {
            return self.of_old(life);
        };
        if life.begun().is_some_and(|event| self.workspaces.contains(&event)) {
            return Contents::Workspaces;
        }
        let stack = life.stack;
        match self.role(stack) {
            Role::Placed => self.unless_short(life, Contents::Parameters),
            Role::Optimizer | Role::OptimizerState => self.unless_short(life, Contents::OptimizerState),
            Role::Clipping | Role::ZeroGrad => Contents::Temporaries,
            Role::Buckets => self.unless_short(life, Contents::Gradients),
            Role::Loading => Contents::Inputs,
            Role::Built if phase == Phase::Setup => self.unless_short(life, Contents::Parameters),
            Role::Own if phase == Phase::Setup && self.loading.contains(&stack) => Contents::Inputs,
            _ => self.by_phase(life, phase),
        }
    }

    /// Classifies an allocation older than the history; only the stack in the dump is known.
    fn of_old(&self, life: &Lifetime) -> Contents {
        match self.role(life.stack) {
            Role::Placed => Contents::Parameters,
            Role::Optimizer | Role::OptimizerState => Contents::OptimizerState,
            Role::Forward => Contents::Activations,
            Role::Loading => Contents::Inputs,
            Role::Buckets => Contents::Gradients,
            _ if self.parameters.is_empty() => Contents::Other,
            Role::Frameless | Role::Backward if self.parameters.contains(&life.requested()) => Contents::Gradients,
            _ => Contents::Other,
        }
    }

    fn by_phase(&self, life: &Lifetime, phase: Phase) -> Contents {
        match phase {
            Phase::Setup => Contents::Other,
            Phase::Data => Contents::Inputs,
            Phase::Forward => self.unless_short(life, Contents::Activations),
            Phase::Backward if self.is_gradient(life) => Contents::Gradients,
            Phase::Backward | Phase::Optimizer | Phase::Other => self.unless_short(life, Contents::Other),
        }
    }

    fn unless_short(&self, life: &Lifetime, contents: Contents) -> Contents {
        if self.short(life) { Contents::Temporaries } else { contents }
    }

    /// Checks that an allocation was freed in the stretch that allocated it, and not by an error's unwinding.
    fn short(&self, life: &Lifetime) -> bool {
        self.timeline.is_freed_in_its_stretch(life) && !self.ooms.iter().any(|&oom| life.is_live_after(oom))
    }

    fn is_gradient(&self, life: &Lifetime) -> bool {
        let known = self.parameters.is_empty() || self.parameters.contains(&life.requested());
        known && !self.short(life)
    }
}

/// Returns the events that allocated workspaces of this size. See Note [Contents without marks].
fn workspaces(trace: &DeviceTrace, timeline: &Timeline, size: Bytes) -> Vec<EventIndex> {
    let lives = trace.history.lifetimes();
    let mut found = Vec::new();
    for (before, life) in lives.iter().zip(lives.iter().skip(1)) {
        if life.requested() == size && life.freed().is_none() && trace.is_same_python(before.stack, life.stack) {
            found.extend(life.begun().filter(|&event| is_running(timeline, event)));
        }
    }
    if found.len() > THREADS { Vec::new() } else { found }
}

fn is_running(timeline: &Timeline, event: EventIndex) -> bool {
    matches!(timeline.phase(event), Some(Phase::Forward | Phase::Backward))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "test")]
mod tests {
    use std::collections::BTreeMap;

    use trace::{DeviceIndex, Process, Snapshot, read_phantom_records, read_records, read_snapshot};

    use super::*;
    use crate::measure::view::View;

    /// Reads a run whose censuses state the category of each allocation.
    fn recorded() -> Process {
        let snapshot = read_snapshot(&include_bytes!("../../../tests/runs/small/snapshot.pickle")[..]).unwrap();
        let (records, _) = read_records(include_bytes!("../../../tests/runs/small/marks.jsonl"));
        let (journal, _) = read_phantom_records(include_bytes!("../../../tests/runs/small/phantom.jsonl"));
        let ledger = journal.into_iter().collect();
        Process { ledger, snapshot: Some(snapshot), ..records.into_iter().collect() }
    }

    fn without_marks(snapshot: &Snapshot) -> Snapshot {
        let mut snapshot = snapshot.clone();
        snapshot.traces.iter_mut().flatten().for_each(|event| event.mark = None);
        snapshot
    }

    /// Returns the live bytes at the peak, by the census's category and the stacks' category.
    fn confusion() -> BTreeMap<(Contents, Contents), Bytes> {
        let process = recorded();
        let bare = without_marks(process.snapshot.as_ref().unwrap());
        let (truth, told) = (View::new(&process, DeviceIndex(0)), View::bare(&bare, DeviceIndex(0)));
        let peak = truth.trace.history.peaks().allocated.unwrap();
        let mut confusion = BTreeMap::new();
        for ((life, holds), (_, said)) in truth.live_after(peak.at).zip(told.live_after(peak.at)) {
            *confusion.entry((holds, said)).or_insert(Bytes::ZERO) += life.block();
        }
        confusion
    }

    #[test]
    fn stacks_tell_what_nearly_all_bytes_at_the_peak_hold() {
        let confusion = confusion();
        let total: Bytes = confusion.values().copied().sum();
        let right: Bytes = confusion.iter().filter(|((holds, said), _)| holds == said).map(|(_, bytes)| *bytes).sum();
        assert!(right.0 * 100 >= total.0 * 99, "{right} of {total} are told right: {confusion:#?}");
        let buffers = confusion.keys().find(|(holds, said)| *holds == Contents::Buffers && holds == said);
        assert_eq!(buffers, None, "buffers are counted as parameters");
    }

    #[test]
    fn the_phases_and_steps_are_those_that_the_agent_marked() {
        let process = recorded();
        let bare = without_marks(process.snapshot.as_ref().unwrap());
        let (truth, told) = (View::new(&process, DeviceIndex(0)), View::bare(&bare, DeviceIndex(0)));
        let allocs = truth.trace.history.lifetimes().iter().filter_map(Life::begun);
        let allocs: Vec<EventIndex> = allocs.collect();
        let same = allocs.iter().filter(|&&event| truth.timeline.at(event) == told.timeline.at(event)).count();
        assert!(same * 100 >= allocs.len() * 95, "{same} of {} allocations", allocs.len());
    }
}

//! The category of each allocation: by census, by workspace record, else by its lifetime.
//!
//! # Note [Contents]
//! A census names storages by address at one instant. The allocation live at that address keeps the category for its
//! whole life: a gradient in the census of step 1 is already a gradient in the backward that allocated it. A workspace
//! belongs to a library for one call or for good. A later allocation of the same address and size that outlives its
//! phase is no workspace.
//!
//! The lifetime decides the remaining allocations. An allocation that is freed in the same stretch of the phase that
//! allocated it is a temporary; an allocation of the forward that outlives the forward is an activation. No census
//! lists the buckets of DistributedDataParallel: their stack identifies them, and they count as gradients. An
//! out-of-memory error ends lifetimes early: unwinding frees the saved tensors of the failed forward while the mark
//! still says forward. Allocations alive at the error therefore count as never freed.
//!
//! A history without marks (torch before 2.10) does not state the position of a census. The last census lies at the
//! end of the history; earlier censuses are ignored, because an address may have been reused since. Without a census
//! the stacks decide (Note [Contents without marks]).

use std::collections::{BTreeMap, HashSet};

use report::Contents;
use trace::run::{CensusRecord, census_of_device};
use trace::{Address, Bytes, Category, EventIndex, Lifetime, Moment, Phase, StackId};

use super::device_trace::DeviceTrace;
use super::infer;
use super::life::Life;
use super::live::Live;
use super::timeline::Timeline;

/// Returns the category of each allocation of `trace`, in the order of its list. See Note [Contents].
pub(super) fn classify(trace: &DeviceTrace, timeline: &Timeline) -> Vec<Contents> {
    let ooms = trace.ooms();
    let noted = trace.is_marked() && trace.process.is_recorded();
    let mut contents: Vec<Contents> = if noted {
        trace.history.lifetimes().iter().map(|life| by_life(trace, timeline, life, &ooms)).collect()
    } else {
        infer::contents::classify(trace, timeline, &ooms)
    };
    if noted && trace.process.steps.is_empty() {
        for index in list_outliving(trace, timeline) {
            keep(&mut contents[index]);
        }
    }
    let workspaces = workspaces(trace);
    for (held, life) in contents.iter_mut().zip(trace.history.lifetimes()) {
        let passing = timeline.is_freed_in_its_stretch(life) || life.freed().is_none();
        if passing && workspaces.contains(&(life.address(), life.requested())) {
            *held = Contents::Workspaces;
        }
    }
    for (index, named) in by_census(trace) {
        if let Some(held) = contents.get_mut(index) {
            *held = named;
        }
    }
    contents
}

fn by_life(trace: &DeviceTrace, timeline: &Timeline, life: &Lifetime, ooms: &[EventIndex]) -> Contents {
    let Some(phase) = timeline.phase_of(life) else {
        return Contents::Other;
    };
    let short = timeline.is_freed_in_its_stretch(life) && !ooms.iter().any(|&oom| life.is_live_after(oom));
    match phase {
        _ if !short && trace.is_of_buckets(life.stack) => Contents::Gradients,
        Phase::Setup => Contents::Other,
        Phase::Data => Contents::Inputs,
        Phase::Forward if !short => Contents::Activations,
        Phase::Other if !short => Contents::Other,
        Phase::Forward | Phase::Backward | Phase::Optimizer | Phase::Other => Contents::Temporaries,
    }
}

/// A program without an optimizer has one long phase, and so frees in the phase what it kept for many passes: no temporaries.
fn keep(held: &mut Contents) {
    if *held == Contents::Temporaries {
        *held = Contents::Activations;
    }
}

/// Lists the allocations of stacks that allocated twice more before the free. The first step of an optimizer is no loop of the program's:
/// `_foreach_sqrt` of `torch/optim/adam.py` allocates once for each parameter.
fn list_outliving(trace: &DeviceTrace, timeline: &Timeline) -> Vec<usize> {
    let mut begun: BTreeMap<StackId, Vec<Moment>> = BTreeMap::new();
    for life in trace.history.lifetimes() {
        begun.entry(life.stack).or_default().push(life.begun);
    }
    let is_outliving = |life: &Lifetime| {
        let all = begun.get(&life.stack).map(Vec::as_slice).unwrap_or_default();
        let later = |moment| all.partition_point(|begun| *begun <= moment);
        life.stack != StackId::EMPTY
            && later(life.free_requested) - later(life.begun) >= 2
            && timeline.phase_of(life) != Some(Phase::Optimizer)
    };
    let lives = trace.history.lifetimes().iter().enumerate();
    lives.filter(|(_, life)| is_outliving(life)).map(|(index, _)| index).collect()
}

fn workspaces(trace: &DeviceTrace) -> HashSet<(Address, Bytes)> {
    let workspaces = trace.process.ledger.workspaces.iter();
    workspaces.map(|workspace| (Address(workspace.address), Bytes(workspace.bytes))).collect()
}

/// Returns the categories that censuses state, by index of the allocation. The first census wins.
fn by_census(trace: &DeviceTrace) -> BTreeMap<usize, Contents> {
    let mut named = BTreeMap::new();
    let mut live = Live::new(trace.history.lifetimes(), trace.end());
    for census in censuses(trace) {
        live.advance(|event| trace.mark(event).is_some_and(|mark| mark.census >= census.number));
        for (category, address, _) in census_of_device(&census.tensors, trace.device) {
            if let Some(index) = live.holder(address) {
                named.entry(index).or_insert(contents(category));
            }
        }
    }
    named
}

/// Returns the censuses with a known position in the history: all censuses, or without marks the last census.
fn censuses<'a>(trace: &DeviceTrace<'a>) -> &'a [CensusRecord] {
    let all = trace.process.censuses.as_slice();
    let from = if trace.is_marked() { 0 } else { all.len().saturating_sub(1) };
    &all[from..]
}

fn contents(category: Category) -> Contents {
    match category {
        Category::Parameter => Contents::Parameters,
        Category::Gradient => Contents::Gradients,
        Category::OptimizerState => Contents::OptimizerState,
        Category::Buffer => Contents::Buffers,
    }
}

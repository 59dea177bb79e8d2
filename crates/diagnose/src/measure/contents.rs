//! What each allocation holds: by census, by workspace record, else by when it began and ended.
//!
//! # Note [Contents]
//! A census names storages by address at one instant; the allocation that is live there then keeps that name for its
//! whole life, so a gradient that the census of step 1 saw is a gradient already in the backward that made it.
//! A workspace is handed to a library for one call, or for good. What later got the same address and size and outlived
//! its phase is something else.
//!
//! Everything else is told by its life: what is freed in the same stretch of the same phase that made it is a
//! temporary; what forward made and outlives it is an activation. The buckets of DistributedDataParallel, which no census
//! meets, are known by their stack, and count as what they hold: gradients. An out-of-memory error ends a life too early:
//! unwinding frees what the failed forward had saved while the mark still says forward. What was live when the
//! allocator gave up therefore counts as never freed.
//!
//! A history without marks (torch before 2.10) does not say where a census lies. The last one lies at its end; the
//! others are not looked at, because an address may have changed hands since. Where no census says, the stacks do
//! (Note [Contents without marks]).

use std::collections::{BTreeMap, HashSet};

use report::Contents;
use trace::run::census_of_device;
use trace::{Address, Bytes, Category, EventIndex, Lifetime, PhantomRecord, Phase, Record};

use super::infer;
use super::life::Life;
use super::live::Live;
use super::view::View;

/// What each allocation of `view` holds, in the order of its list. See Note [Contents].
pub(crate) fn classify(view: &View) -> Vec<Contents> {
    let ooms = view.ooms();
    let noted = view.is_marked() && !view.process.records.is_empty();
    let mut contents: Vec<Contents> = if noted {
        view.found.lifetimes().iter().map(|life| by_life(view, life, &ooms)).collect()
    } else {
        infer::contents::classify(view, &ooms)
    };
    let workspaces = workspaces(view);
    for (held, life) in contents.iter_mut().zip(view.found.lifetimes()) {
        let passing = freed_in_its_stretch(view, life) || life.freed().is_none();
        if passing && workspaces.contains(&(life.address(), life.requested())) {
            *held = Contents::Workspaces;
        }
    }
    for (index, named) in by_census(view) {
        if let Some(held) = contents.get_mut(index) {
            *held = named;
        }
    }
    contents
}

fn by_life(view: &View, life: &Lifetime, ooms: &[EventIndex]) -> Contents {
    let Some(phase) = view.phase_of(life) else {
        return Contents::Other;
    };
    let short = freed_in_its_stretch(view, life) && !ooms.iter().any(|&oom| life.is_live_after(oom));
    match phase {
        _ if !short && view.is_of_buckets(life.stack) => Contents::Gradients,
        Phase::Setup => Contents::Other,
        Phase::Data => Contents::Inputs,
        Phase::Forward if !short => Contents::Activations,
        Phase::Other if !short => Contents::Other,
        Phase::Forward | Phase::Backward | Phase::Optimizer | Phase::Other => Contents::Temporaries,
    }
}

/// Whether an allocation was let go of in the stretch of one phase that made it.
pub(super) fn freed_in_its_stretch(view: &View, life: &Lifetime) -> bool {
    let stretch = |event: Option<EventIndex>| view.timeline.number(event?);
    let freed = stretch(life.freed());
    freed.is_some() && freed == stretch(life.begun())
}

fn workspaces(view: &View) -> HashSet<(Address, Bytes)> {
    let records = view.process.phantom.iter().filter_map(|record| match record {
        PhantomRecord::Workspace { address, bytes, .. } => Some((Address(*address), Bytes(*bytes))),
        _ => None,
    });
    records.collect()
}

/// The allocations that a census names, by their place in the list. What the first census says of one stays.
fn by_census(view: &View) -> BTreeMap<usize, Contents> {
    let mut named = BTreeMap::new();
    let mut live = Live::new(view);
    for (number, tensors) in censuses(view) {
        live.advance(|view, event| view.mark(event).is_some_and(|mark| mark.census >= number));
        for (category, address, _) in census_of_device(tensors, view.device) {
            if let Some(index) = live.holder(address) {
                named.entry(index).or_insert(contents(category));
            }
        }
    }
    named
}

/// A storage in a census: category, device, address, bytes.
type Storage = (Category, u32, u64, u64);

/// The censuses that have a place in the history: all of them, or without marks the last.
fn censuses<'a>(view: &View<'a>) -> Vec<(u32, &'a [Storage])> {
    let all = view.process.records.iter().filter_map(|record| match record {
        Record::Census { number, tensors, .. } => Some((*number, tensors.as_slice())),
        _ => None,
    });
    let all: Vec<(u32, &[Storage])> = all.collect();
    let from = if view.is_marked() { 0 } else { all.len().saturating_sub(1) };
    all.into_iter().skip(from).collect()
}

fn contents(category: Category) -> Contents {
    match category {
        Category::Parameter => Contents::Parameters,
        Category::Gradient => Contents::Gradients,
        Category::OptimizerState => Contents::OptimizerState,
        Category::Buffer => Contents::Buffers,
    }
}

//! What each allocation holds: by census, by workspace record, else by when it began and ended.
//!
//! # Note [Contents]
//! A census names storages by address at one instant; the allocation that is live there then keeps that name for its
//! whole life, so a gradient that the census of step 1 saw is a gradient already in the backward that made it.
//! Everything else is told by its life: what is freed in the same stretch of the same phase that made it is a
//! temporary; what forward made and outlives it is an activation. An out-of-memory error ends a life too early:
//! unwinding frees what the failed forward had saved while the mark still says forward. What was live when the
//! allocator gave up therefore counts as never freed.
//!
//! A history without marks (torch before 2.10) does not say where a census lies. The last one lies at its end; the
//! others are not looked at, because an address may have changed hands since.

use std::collections::{BTreeMap, HashSet};

use report::Contents;
use trace::run::census_of_device;
use trace::{Action, Address, Bytes, Category, EventIndex, Lifetime, PhantomRecord, Phase, Record};

use super::live::Live;
use super::view::View;

/// For each event, the number of the stretch of one step's one phase that it lies in.
pub(crate) fn spans(view: &View) -> Vec<u32> {
    let (mut span, mut last) = (0, None);
    let mut next = |event| {
        let now = view.mark(event).map(|mark| (mark.step, mark.phase));
        if now != last {
            (span, last) = (span + 1, now);
        }
        span
    };
    (0..view.end().0).map(|event| next(EventIndex(event))).collect()
}

/// What each allocation of `view` holds, in the order of its list. See Note [Contents].
pub(crate) fn classify(view: &View, spans: &[u32]) -> Vec<Contents> {
    let named = by_census(view);
    let workspaces = workspaces(view);
    let ooms = ooms(view);
    let lives = view.found.list.iter().enumerate();
    let held = lives.map(|(index, life)| match named.get(&index) {
        Some(&contents) => contents,
        None if workspaces.contains(&(life.allocation.address, life.allocation.requested)) => Contents::Workspaces,
        None => by_life(view, life, spans, &ooms),
    });
    held.collect()
}

fn by_life(view: &View, life: &Lifetime, spans: &[u32], ooms: &[EventIndex]) -> Contents {
    let Some(mark) = view.mark(life.allocation.event) else {
        return Contents::Other;
    };
    let short = freed_in_its_span(life, spans) && !ooms.iter().any(|&oom| life.is_live_after(oom));
    match mark.phase {
        Phase::Setup => Contents::Other,
        Phase::Data => Contents::Inputs,
        Phase::Forward if !short => Contents::Activations,
        Phase::Other if !short => Contents::Other,
        Phase::Forward | Phase::Backward | Phase::Optimizer | Phase::Other => Contents::Temporaries,
    }
}

fn freed_in_its_span(life: &Lifetime, spans: &[u32]) -> bool {
    let span = |event: EventIndex| spans.get(event.0 as usize);
    let freed = life.free_requested.and_then(span);
    freed.is_some() && freed == span(life.allocation.event)
}

/// When the allocator gave up.
fn ooms(view: &View) -> Vec<EventIndex> {
    let events = (0..).map(EventIndex).zip(view.events);
    let ooms = events.filter(|(_, event)| event.action == Action::Oom);
    ooms.map(|(index, _)| index).collect()
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
    let marked = view.events.iter().any(|event| event.mark.is_some());
    let from = if marked { 0 } else { all.len().saturating_sub(1) };
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

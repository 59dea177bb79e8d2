//! `dataset-on-gpu`: data of many iterations is on the device at once.
//!
//! Role growth, order 167.
//!
//! Evidence: tensors that the program made itself, outside modules and optimizers, before the first iteration, and that stay until the
//! end, are a large part of the memory. A table that every iteration needs looks the same.

use std::collections::BTreeMap;

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Contents, Finding, Location, Severity};
use trace::{Bytes, Frame, Lifetime, LifetimeId, Phase, StackId};

use crate::measure::iterations::Iterations;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Known, Source, bytes, count};
use crate::rules::families::held;
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Data of less than 1/8 of the live bytes, or of the failed request, is not reported.
const MIN_SHARE_DENOMINATOR: u64 = 8;

/// The words of expressions that put data on a device.
const PLACING: [&str; 5] = ["cuda", "device", ".to(", "load", "tensor("];
/// The functions for tensors without data, such as caches and buffers that the program fills later.
const BLANK: [&str; 4] = ["zeros", "ones", "empty", "full"];

pub(super) const RULE: Rule = Rule { cause: CauseId::DatasetOnGpu, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error() && facts.pressure.is_none())?, facts.moment()?);
    let held = held::of_any_holder(facts);
    let blank = find_blank(view);
    let data: Vec<(LifetimeId, &Lifetime)> = view
        .live_with_ids(moment)
        .filter(|(id, life, _)| !held.contains(id) && !is_made_like(view, blank, life.stack))
        .filter(|(id, life, contents)| is_data(facts, view, *id, life, *contents))
        .map(|(id, life, _)| (id, life))
        .collect();
    let total: Bytes = data.iter().map(|(_, life)| life.block()).sum();
    let requested = facts.failure.as_ref().and_then(|failure| failure.requested).map(Known::nearest);
    let wanted = view.live_total(moment).max(requested.unwrap_or_default());
    if total.0.saturating_mul(MIN_SHARE_DENOMINATOR) < wanted.0 || data.is_empty() || is_beside_gaps(facts, total) {
        return None;
    }
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("{total} of data are put on the device before the first iteration, and stay to the end"),
        location: find_largest_line(view, &data),
        evidence: vec![
            bytes("made before the first iteration and alive", total, Source::Lifetimes),
            count("tensors", u64::try_from(data.len()).unwrap_or(u64::MAX), Source::Lifetimes),
        ],
        remedies: vec![advice(
            "keep the data on the CPU and move one batch at a time",
            "index on the CPU, then .to(device, non_blocking=True) from pinned memory, as DataLoader(pin_memory=True) does; uint8 or float16 \
             instead of float32 is a quarter or half of it",
        )],
    };
    let cause = Cause { finding, bytes: Some(total), rank: Rank::Fault, removal: None };
    let edits = data.iter().map(|(id, _)| *id);
    // A request for more of the data goes with the data.
    let change = if is_before_any_call(facts, view) {
        Removal::with_failed(edits.map(|id| (id, AllocationChange::LeaveOut)).collect(), AllocationChange::LeaveOut)
    } else {
        Removal::leave_out(edits).steady()
    };
    Some(cause.with_removal(change))
}

/// True if the reserved and free memory is as large as the request, and the data is not most of the rest: the gaps are the cause.
fn is_beside_gaps(facts: &Facts, data: Bytes) -> bool {
    let Some(failure) = &facts.failure else { return false };
    let requested = failure.requested.map(Known::nearest).unwrap_or_default();
    let allocated = failure.allocated.map(Known::nearest).unwrap_or_default();
    let has_gaps = failure.cached().is_some_and(|cached| cached.nearest >= requested);
    has_gaps && data.0.saturating_mul(2) < allocated.0
}

/// True for a tensor of the program's own that is older than all iterations and that the program never frees.
fn is_data(facts: &Facts, view: &View, id: LifetimeId, life: &Lifetime, contents: Contents) -> bool {
    let is_own = matches!(contents, Contents::Other | Contents::Inputs | Contents::Temporaries | Contents::Activations);
    let is_made = !view.is_made_by_module(life.stack)
        && !view.is_placed(life.stack)
        && view.phase_of(life) != Some(Phase::Backward);
    let is_early = is_before_any_call(facts, view) || {
        let loops = &view.trace.loops;
        !loops.is_empty()
            && facts.iterations.iter().all(|level| is_before(level, life))
            && loops.iter().all(|one| !view.is_in_loop(life.stack, one))
    };
    let stays = facts.fate.as_ref().is_none_or(|fate| fate.is_kept(id.0 as usize));
    is_own && is_made && is_early && stays
}

/// True for a program that ran out before it called a module, while a loop put data on the device line by line.
fn is_before_any_call(facts: &Facts, view: &View) -> bool {
    let Some(failed) = facts.failed_at() else { return false };
    let is_of_line = |life: &&Lifetime| view.own_line(life.stack).as_ref() == Some(&failed);
    let in_setup = view.trace.process.ooms.last().is_some_and(|oom| oom.phase.0 == Some(Phase::Setup));
    // Arithmetic on tensors that are there is no data that a line puts on the device.
    let text = text_of_failed(view);
    let is_data = text.is_empty() || (PLACING.iter().any(|word| text.contains(word)) && !makes_blank(text));
    in_setup
        && is_data
        && view.trace.process.roots.iter().all(|root| root.last_call == 0)
        && view.trace.history.lifetimes().iter().filter(is_of_line).count() >= 2
}

/// The text of the operation whose request failed; empty if it is unknown.
fn text_of_failed<'v>(view: &'v View) -> &'v str {
    view.trace.process.operation.as_ref().map_or("", |operation| operation.text.as_str())
}

/// Returns the program's own function that asked in vain for a tensor without data: what it has made so far has none, either.
fn find_blank<'v>(view: &View<'v>) -> Option<&'v Frame> {
    let event = view.trace.last_oom().filter(|_| makes_blank(text_of_failed(view)))?;
    view.own_frame(view.trace.events.get(event.0 as usize)?.stack)
}

fn is_made_like(view: &View, blank: Option<&Frame>, stack: StackId) -> bool {
    let made = blank.zip(view.own_frame(stack));
    made.is_some_and(|(blank, made)| blank.file == made.file && blank.function == made.function)
}

/// True for a call of a function for tensors without data.
fn makes_blank(text: &str) -> bool {
    BLANK.iter().any(|name| text.contains(&format!(".{name}(")) || text.starts_with(&format!("{name}(")))
}

/// Steps are counted from the start of the program, so their first iteration counts as before.
fn is_before(level: &Iterations, life: &Lifetime) -> bool {
    match level.of(life) {
        None => true,
        Some(number) => level.at.is_none() && number == 0,
    }
}

fn find_largest_line(view: &View, data: &[(LifetimeId, &Lifetime)]) -> Option<Location> {
    let mut lines: BTreeMap<Location, Bytes> = BTreeMap::new();
    for (_, life) in data {
        if let Some(line) = view.own_line(life.stack) {
            *lines.entry(line).or_default() += life.block();
        }
    }
    lines.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(line, _)| line)
}

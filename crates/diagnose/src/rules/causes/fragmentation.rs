//! `fragmentation`: the allocator held enough free memory for the request, but no free block was large enough.
//!
//! Role request, order 190.

use causes::CauseId;
use report::{Breakdown, Finding, Remedy, Severity};
use trace::Bytes;
use trace::text::StatedBytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, bytes, text};
use crate::rules::proof::replayed::Replayable;
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// A table without a request counts as fragmented from 1/4 of reserved bytes in inactive splits.
const MIN_SPLIT_DENOMINATOR: u64 = 4;

pub(super) const RULE: Rule = Rule { cause: CauseId::Fragmentation, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    if facts.failure.is_some() { find_in_error(facts) } else { find_in_table(facts) }
}

/// PyTorch's table after an error states the inactive splits, but not the requested size.
fn find_in_table(facts: &Facts) -> Option<Cause> {
    let Known { value: counters, source } =
        facts.counters.filter(|counters| counters.value.ooms.is_some_and(|ooms| ooms > 0))?;
    let (reserved, split) = (counters.reserved_bytes?.nearest, counters.inactive_split_bytes?.nearest);
    if split == Bytes::ZERO || split.0.saturating_mul(MIN_SPLIT_DENOMINATOR) < reserved.0 {
        return None;
    }
    let allocated = counters.allocated_bytes.map(|allocated| allocated.nearest);
    let mut evidence = vec![bytes("reserved", reserved, source), bytes("inactive splits", split, source)];
    evidence.extend(allocated.map(|allocated| bytes("allocated", allocated, source)));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!(
            "out of memory with {split} of {reserved} free in inactive splits, which cannot be released; the requested \
             size is not stated"
        ),
        location: None,
        evidence,
        remedies: vec![advise_expandable_segments()],
    };
    Some(Cause { finding, bytes: Some(split), rank: Rank::Fault, removal: None })
}

fn find_in_error(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.is_allocators())?;
    let (requested, cached) = (failure.requested?, failure.cached()?);
    let certain = cached.lowest >= requested.value.highest;
    let (size, cached) = (requested.nearest(), cached.nearest);
    let served = failure.largest_free.is_some_and(|largest| largest.value >= size);
    if size == Bytes::ZERO || !certain || served || is_too_large(facts) {
        return None;
    }
    let mut evidence = evidence(failure, requested);
    let remedies = remedies(facts, &mut evidence);
    let whole = fits_expandable(facts);
    evidence
        .extend(whole.map(|need| bytes("need of the whole program with expandable segments", need, Source::Replay)));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!(
            "{size} could not be allocated with {cached} reserved and free: no free block was large enough"
        ),
        location: failure.location.clone(),
        evidence,
        remedies,
    };
    let rank = if whole.is_some() { Rank::Setting } else { Rank::Fault };
    let cause = Cause { finding, bytes: Some(cached), rank, removal: None };
    Some(cause.with_removal(Removal::settings(|settings| settings.expandable_segments = true)))
}

/// Returns the need of the whole program with expandable segments, if the device has as much.
fn fits_expandable(facts: &Facts) -> Option<Bytes> {
    let device = facts.device.total?.nearest();
    facts.need.as_ref()?.value.expandable.filter(|need| *need <= device)
}

/// Tests that the program's tensors alone exceed the device at the need: no allocator serves all requests.
fn is_too_large(facts: &Facts) -> bool {
    let live = facts.need.as_ref().and_then(|need| need.value.breakdown.as_ref()).map(Breakdown::total);
    live.zip(facts.device.usable).is_some_and(|(live, usable)| live > usable.bytes.value)
}

/// Expandable segments, replayed if the facts have a history.
fn remedies(facts: &Facts, evidence: &mut Vec<report::Evidence>) -> Vec<Remedy> {
    let replayable = facts.view.and_then(Replayable::of);
    match replayable.map(|replayable| replayable.with(|settings| settings.expandable_segments = true)) {
        Some(change) if change.helps() => vec![change.remedy(EXPANDABLE, SETTING)],
        Some(_) => {
            let outcome = "the request still fails".to_owned();
            evidence.push(text("with expandable_segments:True", outcome, Source::Replay));
            vec![advice("other allocator settings", "oomph tune SNAPSHOT replays the history under each of them")]
        }
        None => vec![advise_expandable_segments()],
    }
}

const EXPANDABLE: &str = "expandable segments";
const SETTING: &str = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA call (2.1 and later)";

pub(in crate::rules) fn advise_expandable_segments() -> Remedy {
    advice(
        EXPANDABLE,
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA call (2.1 and later). max_split_size_mb, which \
         older messages name, helps only where large blocks were split for small requests",
    )
}

/// The advice where expandable segments cannot be set, for the reason `why`.
pub(in crate::rules) fn keep_blocks_whole(why: &str) -> Remedy {
    advice(
        &format!("free what shares the cached segments before the request: {why}"),
        "move the model that is done to the CPU and call empty_cache() before the next phase; max_split_size_mb keeps large blocks from being \
         split for small requests",
    )
}

fn evidence(failure: &Failure, requested: Known<StatedBytes>) -> Vec<report::Evidence> {
    let counted = [("reserved", failure.reserved), ("allocated", failure.allocated)];
    let counted = counted.iter().filter_map(|&(what, size)| Some(size?.row(what)));
    let largest = failure.largest_free.map(|largest| largest.row("largest free block"));
    counted.chain([requested.row("requested")]).chain(largest).collect()
}

//! `allocator-setting-harmful`: an allocator setting, or emptying the cache in every step, costs more than it saves.
//!
//! Role surroundings, order 90.
//!
//! - `max_split_size_mb`: free blocks above this size are never split, so a request of about the same size takes a whole
//!   block (Note `[Block sizes]` in `trace`). The cost is the difference between block and request.
//! - `roundup_power2_divisions`: requests are rounded up further; the cost is the same difference.
//! - `torch.cuda.empty_cache()` in every step: all segments are reserved again. PyTorch empties its cache by itself
//!   before it raises an error, so the call prevents no error.

use std::collections::{BTreeMap, BTreeSet};

use allocator::Settings;
use allocator::replay::find_releases;
use causes::CauseId;
use report::{Finding, Location, Remedy, Severity, Standing};
use trace::{Action, Bytes, EventIndex, SnapshotSettings, StackId};

use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count, text};
use crate::rules::proof::replayed::{Change, Replayable};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Rounding below 1/20 of the live bytes is not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;
/// The cache must be emptied in at least this many steps.
const MIN_STEPS: u32 = 3;

pub(super) const RULE: Rule = Rule { cause: CauseId::AllocatorSettingHarmful, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_rounding(facts).or_else(|| find_emptied_cache(facts))
}

/// Finds a setting that makes blocks larger than their requests.
fn find_rounding(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view?, facts.moment()?);
    let settings = &view.trace.snapshot?.settings;
    let name = rounding_setting(settings)?;
    let mut stacks: BTreeMap<StackId, Bytes> = BTreeMap::new();
    for (life, _) in view.live_after(moment) {
        *stacks.entry(life.stack).or_default() += life.block() - life.requested();
    }
    let (wasted, total): (Bytes, Bytes) = (stacks.values().copied().sum(), view.live_total(moment));
    if wasted.0.saturating_mul(MIN_SHARE_DENOMINATOR) < total.0 {
        return None;
    }
    let most = stacks.into_iter().max_by_key(|(_, bytes)| *bytes).and_then(|(stack, _)| view.own_line(stack));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("{name} makes blocks {wasted} larger in total than the requests"),
        location: most,
        evidence: vec![
            text("setting", settings.conf.clone(), Source::Settings),
            bytes("allocated but not requested", wasted, Source::Lifetimes),
            bytes("allocated", total, Source::Lifetimes),
        ],
        remedies: vec![replayed_default(view).unwrap_or_else(|| estimated_default(name, total, wasted))],
    };
    let cause = Cause { finding, bytes: Some(wasted), rank: Rank::Setting, removal: None };
    Some(cause.with_removal(Removal::settings(restore_default)))
}

/// The name of the setting that can make blocks larger than their requests.
fn rounding_setting(settings: &SnapshotSettings) -> Option<&'static str> {
    let rounds = settings.roundup_power2_divisions.iter().any(|&(_, divisions)| divisions > 1);
    let splits = settings.max_split_size.is_some();
    if splits { Some("max_split_size_mb") } else { rounds.then_some("roundup_power2_divisions") }
}

/// The default rounding and splitting, if the replay reserves less under it.
fn replayed_default(view: &View) -> Option<Remedy> {
    let change = Replayable::of(view)?.with(restore_default);
    let remedy = "take max_split_size_mb and roundup_power2_divisions out of the allocator's settings";
    change
        .helps()
        .then(|| change.remedy(remedy, "in PYTORCH_CUDA_ALLOC_CONF or torch.cuda.memory._set_allocator_settings"))
}

fn restore_default(settings: &mut Settings) {
    settings.max_split_size = None;
    settings.roundup_power2_divisions = Default::default();
}

fn estimated_default(name: &str, total: Bytes, wasted: Bytes) -> Remedy {
    Remedy {
        remedy: format!("take {name} out of the allocator's settings"),
        standing: Standing::Estimated,
        before_bytes: Some(total),
        after_bytes: Some(total - wasted),
        how: "in PYTORCH_CUDA_ALLOC_CONF or torch.cuda.memory._set_allocator_settings; estimated as if every block were as \
              large as its request"
            .to_owned(),
    }
}

/// Finds device memory that is released and reserved again, step after step.
fn find_emptied_cache(facts: &Facts) -> Option<Cause> {
    let view = facts.view?;
    let released = released_segments(view);
    // A step that ran out may empty the cache before it tries again.
    let failed: BTreeSet<u32> =
        view.trace.history.ooms().iter().filter_map(|oom| view.timeline.step(oom.event)).collect();
    let steps = released.iter().filter_map(|&(event, _)| view.timeline.step(event));
    let steps: BTreeSet<u32> = steps.filter(|step| !failed.contains(step)).collect();
    let all = view.timeline.stretches().iter().filter_map(|stretch| stretch.at).map(|(step, _)| step).max()?;
    let times = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if times < MIN_STEPS || times.saturating_mul(4) < all.saturating_mul(3) {
        return None;
    }
    let total: Bytes = released.iter().map(|&(_, bytes)| bytes).sum();
    let segments = u64::try_from(released.len()).unwrap_or(u64::MAX);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!(
            "the cache was emptied in {times} of {all} steps: {segments} segments, {total} in total, were released and \
             reserved again; each release waits for the device"
        ),
        location: released.first().and_then(|&(event, _)| own_line(view, event)),
        evidence: vec![
            count("segments released", segments, Source::SegmentEvents),
            bytes("bytes released", total, Source::SegmentEvents),
            count("steps with a release", u64::from(times), Source::SegmentEvents),
        ],
        remedies: vec![keep_the_cache(view)],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Setting, removal: None })
}

fn keep_the_cache(view: &View) -> Remedy {
    let remedy = "call torch.cuda.empty_cache() only where another process needs the memory";
    let how = "PyTorch empties its cache by itself before it raises an error; the call prevents no error";
    let change = Replayable::of(view).map(|replayable| replayable.without_empty_cache());
    let saves = change.filter(Change::saves_calls);
    saves.map_or_else(|| advice(remedy, how), |change| change.remedy(remedy, how))
}

fn own_line(view: &View, event: EventIndex) -> Option<Location> {
    view.own_line(view.trace.events.get(event.0 as usize)?.stack)
}

/// The segments that calls of `empty_cache` released. Releases on behalf of a failed request are left out.
fn released_segments(view: &View) -> Vec<(EventIndex, Bytes)> {
    let max_split = view.trace.snapshot.and_then(|snapshot| snapshot.settings.max_split_size);
    let releases = find_releases(view.trace.events, view.trace.history.at_start().reserved, max_split);
    let calls = releases.iter().filter(|release| release.is_call);
    let events = calls.flat_map(|release| (release.first.0..release.end.0).map(EventIndex));
    let event = |index: EventIndex| view.trace.events.get(index.0 as usize).map(|event| (index, event));
    let freed = events.filter_map(event).filter(|(_, event)| is_release(event.action));
    freed.map(|(index, event)| (index, event.size)).collect()
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

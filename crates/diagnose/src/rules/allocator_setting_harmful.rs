//! `allocator-setting-harmful`: a setting, or emptying the cache again and again, costs more than it gives.
//!
//! - `max_split_size_mb`: free blocks larger than it are never split, so a request just as large takes a whole one
//!   (Note `[Block sizes]` in `trace`). What it costs is the difference between block and request.
//! - `roundup_power2_divisions`: requests are rounded up further; the same difference.
//! - `torch.cuda.empty_cache()` in every step: everything is taken from CUDA anew. PyTorch empties its cache by itself
//!   before it gives up, so this does not prevent an error.

use std::collections::{BTreeMap, BTreeSet};

use allocator::replay::releases;
use report::{Evidence, Finding, Location, Remedy, RuleId, Severity, Standing, Value};
use trace::{Action, Bytes, EventIndex, SnapshotSettings, StackId};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::Facts;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::replayed::{Change, Replayable};

/// Less than this share of what is alive is not worth a word.
const SHARE: u64 = 20;
/// In how many steps the cache has to be emptied.
const STEPS: u32 = 3;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    slack(facts).or_else(|| emptied(facts))
}

/// What a setting makes blocks larger than their requests.
fn slack(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view?, facts.moment?);
    let settings = &view.snapshot?.settings;
    let name = setting(settings)?;
    let mut stacks: BTreeMap<StackId, Bytes> = BTreeMap::new();
    for (life, _) in view.live_after(moment) {
        *stacks.entry(life.stack).or_default() += life.block() - life.requested();
    }
    let (wasted, total): (Bytes, Bytes) = (stacks.values().copied().sum(), view.live_total(moment));
    if wasted.0.saturating_mul(SHARE) < total.0 {
        return None;
    }
    let most = stacks.into_iter().max_by_key(|(_, bytes)| *bytes).and_then(|(stack, _)| view.own_line(stack));
    let finding = Finding {
        rule: RuleId("allocator-setting-harmful"),
        severity: facts.severity(),
        message: format!("{name} makes blocks {wasted} larger in all than what was asked for"),
        location: most,
        evidence: vec![
            Evidence { what: "setting".to_owned(), value: Value::Text(settings.conf.clone()), source: "the snapshot" },
            bytes("allocated and not asked for", wasted, "lifetimes in the history"),
            bytes("allocated", total, "lifetimes in the history"),
        ],
        remedies: vec![replayed(view).unwrap_or_else(|| without(name, total, wasted))],
    };
    Some(Cause { finding, bytes: Some(wasted), rank: Rank::Setting })
}

/// The setting that can make blocks larger than their requests.
fn setting(settings: &SnapshotSettings) -> Option<&'static str> {
    let rounds = settings.roundup_power2_divisions.iter().any(|&(_, divisions)| divisions > 1);
    let splits = settings.max_split_size.is_some();
    if splits { Some("max_split_size_mb") } else { rounds.then_some("roundup_power2_divisions") }
}

/// The default rounding and splitting, where the replay says that less is reserved.
fn replayed(view: &View) -> Option<Remedy> {
    let change = Replayable::of(view)?.with(|settings| {
        settings.max_split_size = None;
        settings.roundup_power2_divisions = Default::default();
    });
    let remedy = "take max_split_size_mb and roundup_power2_divisions out of the allocator's settings";
    change
        .helps()
        .then(|| change.remedy(remedy, "in PYTORCH_CUDA_ALLOC_CONF or torch.cuda.memory._set_allocator_settings"))
}

fn without(name: &str, total: Bytes, wasted: Bytes) -> Remedy {
    Remedy {
        remedy: format!("take {name} out of the allocator's settings"),
        standing: Standing::Estimated,
        before_bytes: Some(total),
        after_bytes: Some(total - wasted),
        how: "in PYTORCH_CUDA_ALLOC_CONF or torch.cuda.memory._set_allocator_settings; reckoned as if every block were as \
              large as its request"
            .to_owned(),
    }
}

/// Device memory that was given back and taken again, step after step.
fn emptied(facts: &Facts) -> Option<Cause> {
    let view = facts.view?;
    let given = given_back(view);
    let steps: BTreeSet<u32> = given.iter().filter_map(|&(event, _)| view.timeline.step(event)).collect();
    let seen = view.timeline.stretches().iter().filter_map(|stretch| stretch.at).map(|(step, _)| step).max()?;
    let times = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    if times < STEPS || times.saturating_mul(4) < seen.saturating_mul(3) {
        return None;
    }
    let total: Bytes = given.iter().map(|&(_, bytes)| bytes).sum();
    let segments = u64::try_from(given.len()).unwrap_or(u64::MAX);
    let finding = Finding {
        rule: RuleId("allocator-setting-harmful"),
        severity: Severity::Warning,
        message: format!(
            "the cache was emptied in {times} of {seen} steps: {segments} segments, {total} in all, were given back and \
             taken anew, and every time waits for the device"
        ),
        location: given.first().and_then(|&(event, _)| line(view, event)),
        evidence: vec![
            count("segments given back", segments, "segment_free events"),
            bytes("given back", total, "segment_free events"),
            count("steps in which it was", u64::from(times), "segment_free events"),
        ],
        remedies: vec![not_emptied(view)],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Setting })
}

fn not_emptied(view: &View) -> Remedy {
    let remedy = "call torch.cuda.empty_cache() only where another process needs the memory";
    let how = "PyTorch empties its cache by itself before it raises an error, so calling it prevents none";
    let change = Replayable::of(view).map(|replayable| replayable.without_empty_cache());
    let saves = change.filter(Change::saves_calls);
    saves.map_or_else(|| advice(remedy, how), |change| change.remedy(remedy, how))
}

fn line(view: &View, event: EventIndex) -> Option<Location> {
    view.own_line(view.events.get(event.0 as usize)?.stack)
}

/// The segments that calls of `empty_cache` gave back, not requests that needed room.
fn given_back(view: &View) -> Vec<(EventIndex, Bytes)> {
    let max_split = view.snapshot.and_then(|snapshot| snapshot.settings.max_split_size);
    let releases = releases(view.events, view.found.at_start().reserved, max_split);
    let calls = releases.iter().filter(|release| release.is_call);
    let events = calls.flat_map(|release| (release.first.0..release.end.0).map(EventIndex));
    let event = |index: EventIndex| view.events.get(index.0 as usize).map(|event| (index, event));
    let freed = events.filter_map(event).filter(|(_, event)| is_release(event.action));
    freed.map(|(index, event)| (index, event.size)).collect()
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

//! `weights-loaded-twice`: weights are on the device twice, because a checkpoint was loaded there and then copied into a model, or in a larger
//! type first, because they are cast there.
//!
//! Role growth, order 166.

use std::collections::BTreeMap;

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Contents, Finding, Location, Severity};
use trace::{Bytes, LifetimeId, StackId};

use crate::measure::casts::{Cast, find_casts};
use crate::measure::fate::Fate;
use crate::measure::life::Life;
use crate::measure::paths::{in_torch, posix};
use crate::measure::sweep::peak_without;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// A checkpoint of less than 1/20 of the live bytes is not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;
/// Weights to be cast of less than 1/4 of the live bytes are not reported.
const MIN_CAST_SHARE_DENOMINATOR: u64 = 4;

pub(super) const RULE: Rule = Rule { cause: CauseId::WeightsLoadedTwice, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_checkpoint(facts).or_else(|| find_cast(facts))
}

fn find_checkpoint(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
    let loaded: Vec<(LifetimeId, StackId, Bytes)> = view
        .live_with_ids(moment)
        .filter(|(_, life, contents)| !is_in_use(*contents) && is_loaded(view, life.stack))
        .map(|(id, life, _)| (id, life.stack, life.block()))
        .collect();
    let total: Bytes = loaded.iter().map(|(_, _, block)| *block).sum();
    let weights = facts.live_bytes(Contents::Parameters) + facts.live_bytes(Contents::Buffers);
    if loaded.is_empty() || total.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 {
        return None;
    }
    let beside = match weights {
        Bytes::ZERO => " beside the weights of the model".to_owned(),
        weights => format!(" beside {weights} of weights"),
    };
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("{total} of a checkpoint are alive{beside}"),
        location: loaded
            .iter()
            .max_by_key(|(id, _, block)| (*block, *id))
            .and_then(|(_, stack, _)| view.own_line(*stack)),
        evidence: vec![
            bytes("loaded from a checkpoint and alive", total, Source::LiveAtError),
            bytes("parameters and buffers", weights, Source::LiveAtError),
        ],
        remedies: vec![advice(
            "load with map_location=\"cpu\", or del the checkpoint",
            "torch.load(..., map_location=\"cpu\") (mmap=True reads it piece by piece), then load_state_dict copies; del after load_state_dict; or make the model on the \
             meta device and load_state_dict(..., assign=True)",
        )],
    };
    let failed_in_load =
        facts.failure.as_ref().and_then(|failure| failure.event).is_some_and(|event| {
            view.trace.events.get(event.0 as usize).is_some_and(|event| is_loaded(view, event.stack))
        });
    let edits: Vec<_> = loaded.iter().map(|(id, ..)| (*id, AllocationChange::LeaveOut)).collect();
    let change = if failed_in_load {
        Removal::with_failed(edits, AllocationChange::LeaveOut)
    } else {
        Removal::leave_out(edits.into_iter().map(|(id, _)| id))
    };
    Some(Cause { finding, bytes: Some(total), rank: Rank::Fault, removal: None }.with_removal(change))
}

/// Finds weights that wait on the device for their cast to a smaller type. See Note `[Casts]` in `measure/casts.rs`.
fn find_cast(facts: &Facts) -> Option<Cause> {
    let (view, fate) = (facts.view.filter(|_| facts.is_at_error())?, facts.fate.as_ref()?);
    let moment = facts.moment()?;
    let casts = find_casts(fate.later);
    let waiting: Vec<(LifetimeId, StackId, Cast)> = view
        .live_with_ids(moment)
        .filter_map(|(id, life, _)| Some((id, life.stack, *casts.get(&fate.number(id.0 as usize)?)?)))
        .collect();
    let held: Bytes = waiting.iter().map(|(.., cast)| cast.before_bytes).sum();
    if waiting.is_empty() || held.0.saturating_mul(MIN_CAST_SHARE_DENOMINATOR) < view.live_total(moment).0 {
        return None;
    }
    let [before, after] = [|cast: &Cast| cast.before_bytes, |cast: &Cast| cast.after_bytes]
        .map(|size| casts.values().map(size).sum::<Bytes>());
    let cast_at = casts.values().next().and_then(|cast| find_stack(fate.later, cast.successor));
    let cast_at = cast_at.and_then(|stack| fate.later.own_line(stack));
    let location = waiting.iter().max_by_key(|(id, _, cast)| (cast.before_bytes, *id));
    let location = location.and_then(|(_, stack, _)| view.own_line(*stack));
    let is_same = cast_at.as_ref().map(|line| &line.file) == location.as_ref().map(|line| &line.file);
    let words = |line: Location| {
        if is_same { format!(" in line {}", line.line) } else { format!(" at {}", facts.at(&line)) }
    };
    let cast_at = cast_at.map_or_else(String::new, words);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("{before} of weights are moved to the device, and cast there{cast_at} to {after}"),
        location,
        evidence: vec![
            bytes("to be cast, alive at the error", held, Source::LiveAtError),
            bytes("all weights before the cast", before, Source::UnlimitedRun),
            bytes("and after the cast", after, Source::UnlimitedRun),
        ],
        remedies: vec![advice(
            "cast the weights before they are moved",
            "model.to(dtype).to(device), or .to(device, dtype) in one call, which casts on the CPU; dtype= (torch_dtype=) of from_pretrained",
        )],
    };
    let edits = waiting.iter().map(|(id, _, cast)| (*id, AllocationChange::Resize(cast.after_bytes.0))).collect();
    let change = Removal::with_failed(edits, without_cast(facts, fate, &casts)?);
    let need = peak_without(fate.later, |number, _| casts.contains_key(&number));
    Some(Cause { finding, bytes: Some(held), rank: Rank::Fault, removal: None }.with_removal(change.all_but(need)))
}

/// Returns the refused request of a program that casts first: a moved tensor is smaller, and its successor is not made.
fn without_cast(facts: &Facts, fate: &Fate, casts: &BTreeMap<usize, Cast>) -> Option<AllocationChange> {
    let lives = fate.later.trace.history.lifetimes();
    let number = lives.partition_point(|life| life.begun().is_none_or(|begun| begun < fate.request));
    if casts.values().any(|cast| cast.successor == number) {
        return Some(AllocationChange::LeaveOut);
    }
    let same = facts.failure.as_ref()?.requested?.nearest();
    Some(AllocationChange::Resize(casts.get(&number).map_or(same, |cast| cast.after_bytes).0))
}

fn find_stack(view: &View, number: usize) -> Option<StackId> {
    view.trace.history.lifetimes().get(number).map(|life| life.stack)
}

fn is_in_use(contents: Contents) -> bool {
    matches!(contents, Contents::Parameters | Contents::Buffers | Contents::Workspaces)
}

/// True for a tensor that a reader of checkpoints made: `torch.load`, safetensors' `load_file`.
fn is_loaded(view: &View, stack: StackId) -> bool {
    view.frames_of(stack).any(|frame| {
        let file = posix(&frame.file);
        in_torch(&file) == Some("serialization.py") || file.ends_with("/safetensors/torch.py")
    })
}

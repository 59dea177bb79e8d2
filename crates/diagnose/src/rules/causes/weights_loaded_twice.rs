//! `weights-loaded-twice`: weights are on the device twice, because a checkpoint was loaded there and then copied into a model.
//!
//! Role growth, order 166.

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Contents, Finding, Severity};
use trace::{Bytes, LifetimeId, StackId};

use crate::measure::life::Life;
use crate::measure::paths::{in_torch, posix};
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// A checkpoint of less than 1/20 of the live bytes is not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;

pub(super) const RULE: Rule = Rule { cause: CauseId::WeightsLoadedTwice, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
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

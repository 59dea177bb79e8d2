//! `batch-too-large`: activations, temporaries and inputs fill the device, and they grow with the batch.
//!
//! Role peak, order 210.

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Contents, Finding, Remedy, Standing};
use trace::{Bytes, LifetimeId};

use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Known, Source, bytes};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// The categories that grow with the batch.
const SCALING: [Contents; 3] = [Contents::Activations, Contents::Temporaries, Contents::Inputs];

pub(super) const RULE: Rule = Rule { cause: CauseId::BatchTooLarge, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    // A need above the device's memory says which part of the batch fits: `need-exceeds-device`.
    let view = facts.view.filter(|_| facts.is_at_error() && is_need_open(facts))?;
    let moment = facts.moment()?;
    let total = view.live_total(moment);
    let inputs = facts.live_bytes(Contents::Inputs);
    let scales = facts.live_bytes(Contents::Activations) + facts.live_bytes(Contents::Temporaries) + inputs;
    if scales.0.saturating_mul(2) <= total.0 || facts.pressure.is_some() {
        return None;
    }
    // A step that was never seen whole has a peak that is not known.
    let is_seen = moment.event_before().and_then(|event| view.timeline.number(event));
    let is_seen = is_seen.is_some_and(|last| view.timeline.has_backward(0, last));
    let source = Source::Lifetimes;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("{scales} of the {total} allocated at the error grow with the batch"),
        location: facts.failed_at(),
        evidence: vec![
            bytes("activations", facts.live_bytes(Contents::Activations), source),
            bytes("temporaries", facts.live_bytes(Contents::Temporaries), source),
            bytes("inputs", inputs, source),
            bytes("allocated", total, source),
        ],
        remedies: vec![if is_seen { halve(total, scales) } else { smaller() }, checkpointing()],
    };
    let cause = Cause { finding, bytes: Some(Bytes(scales.0 / 2)), rank: Rank::Need, removal: None };
    let removal = halved(facts, view);
    Some(cause.with_removal(if is_seen { removal } else { removal.without_remedy() }))
}

/// True if no need is known, or a lower bound that the device has: the program was stopped there.
fn is_need_open(facts: &Facts) -> bool {
    let total = facts.device.total.map(Known::nearest);
    facts.need.as_ref().is_none_or(|need| need.value.is_partial && total.is_some_and(|total| need.value.bytes <= total))
}

/// Half of every activation, temporary and input, and of the request that failed.
fn halved(facts: &Facts, view: &View) -> Removal {
    let lives = (0..).map(LifetimeId).zip(view.trace.history.lifetimes()).zip(&view.contents);
    let scaling = lives.filter(|(_, contents)| SCALING.contains(contents));
    let edits = scaling.map(|((id, life), _)| (id, AllocationChange::Resize(life.requested().0.div_ceil(2)))).collect();
    let requested = facts.failure.as_ref().and_then(|failure| failure.requested);
    let half = requested.map_or(0, |requested| requested.nearest().0.div_ceil(2));
    Removal::with_failed(edits, AllocationChange::Resize(half)).estimated()
}

fn halve(total: Bytes, scales: Bytes) -> Remedy {
    Remedy {
        remedy: "halve the batch".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(total),
        after_bytes: Some(total - Bytes(scales.0 / 2)),
        how: "estimated as if every activation, temporary and input scaled with the batch; with twice the gradient \
              accumulation the effective batch stays the same (divide the loss, call backward on every micro-batch)"
            .to_owned(),
    }
}

/// No part of the batch is known to fit.
fn smaller() -> Remedy {
    advice(
        "a smaller batch",
        "the program was not seen to the end of a step, so how much smaller is not known: oomph check runs it without a limit",
    )
}

fn checkpointing() -> Remedy {
    advice(
        "activation checkpointing, or mixed precision",
        "gradient_checkpointing_enable() of Hugging Face models, torch.utils.checkpoint(use_reentrant=False) elsewhere, at \
         the price of another forward; torch.autocast with bfloat16 halves activations and leaves weights unchanged",
    )
}

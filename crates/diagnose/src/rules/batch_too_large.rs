//! `batch-too-large`: activations, temporaries and inputs fill the device, and they grow with the batch.
//!
//! Role peak, order 210.

use causes::CauseId;
use report::{Contents, Finding, Remedy, Standing};
use trace::Bytes;

use super::input::Facts;
use super::known::{Source, bytes};
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;

pub(super) const RULE: Rule = Rule { cause: CauseId::BatchTooLarge, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
    let total = view.live_total(moment);
    let inputs = facts.live_bytes(Contents::Inputs);
    let scales = facts.live_bytes(Contents::Activations) + facts.live_bytes(Contents::Temporaries) + inputs;
    if scales.0.saturating_mul(2) <= total.0 || facts.pressure.is_some() {
        return None;
    }
    let source = Source::Lifetimes;
    let finding = Finding {
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
        remedies: vec![halve(total, scales), checkpointing()],
    };
    Some(Cause { finding, bytes: Some(Bytes(scales.0 / 2)), rank: Rank::Need })
}

fn halve(total: Bytes, scales: Bytes) -> Remedy {
    Remedy {
        remedy: "halve the batch".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(total),
        after_bytes: Some(total - Bytes(scales.0 / 2)),
        how: "estimated from the memory in use at the error as if all of it scaled with the batch; with twice the gradient \
              accumulation the effective batch stays the same (divide the loss, call backward on every micro-batch)"
            .to_owned(),
    }
}

fn checkpointing() -> Remedy {
    advice(
        "activation checkpointing, or mixed precision",
        "gradient_checkpointing_enable() of Hugging Face models, torch.utils.checkpoint(use_reentrant=False) elsewhere, at \
         the price of another forward; torch.autocast with bfloat16 halves activations and leaves weights unchanged",
    )
}

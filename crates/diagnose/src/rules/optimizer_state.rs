//! `optimizer-state`: the peak is in the optimizer step, where the foreach implementation makes temporaries.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::{Bytes, Phase};

use super::{Cause, Rank, advice, bytes};
use crate::facts::Facts;
use crate::measure::sweep::peak_without;
use crate::measure::view::View;

/// Temporaries that raise the peak by less than one part in so many are not worth a word.
const WORTH: u64 = 50;
/// Nor are those that take less of the device than one part in so many.
const WORTH_OF_DEVICE: u64 = 1000;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    temporaries(facts).or_else(|| state(facts))
}

/// The request that failed was the optimizer's own, for its state or for temporaries.
fn state(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.explains && facts.fatal)?, facts.moment?);
    if view.timeline.phase(moment.event()?) != Some(Phase::Optimizer) {
        return None;
    }
    let (state, parameters) = (facts.live_bytes(Contents::OptimizerState), facts.live_bytes(Contents::Parameters));
    let temporaries = facts.live_bytes(Contents::Temporaries);
    let source = "what was live at the error";
    let finding = Finding {
        rule: RuleId("optimizer-state"),
        severity: facts.severity(),
        message: format!(
            "it ran out in the optimizer step, which had made {state} of state and {temporaries} of temporaries"
        ),
        location: facts.failed_at(),
        evidence: vec![
            bytes("optimizer state", state, source),
            bytes("temporaries", temporaries, source),
            bytes("parameters", parameters, source),
        ],
        remedies: vec![
            advice(
                "an optimizer with less state",
                "8-bit Adam (bitsandbytes), Adafactor or SGD; their numerics differ",
            ),
            advice("foreach=False or fused=True", "pass it to the optimizer: it makes no temporaries then"),
            advice("shard or offload the state", "ZeroRedundancyOptimizer, FSDP, DeepSpeed ZeRO"),
        ],
    };
    Some(Cause { finding, bytes: Some(state + temporaries), rank: Rank::Need })
}

/// The peak is in a step that went well, and temporaries raise it.
fn temporaries(facts: &Facts) -> Option<Cause> {
    let view = facts.view.filter(|_| !(facts.explains && facts.fatal))?;
    let peak = view.found.peaks().allocated?;
    let temporaries = view.live_bytes(peak.at, Contents::Temporaries);
    if facts.peak_place.phase != Some(Phase::Optimizer) || temporaries == Bytes::ZERO {
        return None;
    }
    let after = without_temporaries(view);
    let saved = peak.bytes - after;
    let of_device = facts.device.usable.unwrap_or_default();
    if saved.0.saturating_mul(WORTH) < peak.bytes.0 || saved.0.saturating_mul(WORTH_OF_DEVICE) < of_device.0 {
        return None;
    }
    let finding = Finding {
        rule: RuleId("optimizer-state"),
        severity: Severity::Warning,
        message: format!("the peak is in the optimizer step: {temporaries} of it are the optimizer's temporaries"),
        location: None,
        evidence: vec![
            bytes("temporaries at the peak", temporaries, "lifetimes in the trace"),
            bytes("they raise the peak by", saved, "the trace without them"),
        ],
        remedies: vec![Remedy {
            remedy: "foreach=False or fused=True".to_owned(),
            standing: Standing::Estimated,
            before_bytes: Some(peak.bytes),
            after_bytes: Some(after),
            how: "pass it to the optimizer; reckoned as the trace's peak without the temporaries of its steps"
                .to_owned(),
        }],
    };
    Some(Cause { finding, bytes: Some(saved), rank: Rank::Need })
}

fn without_temporaries(view: &View) -> Bytes {
    peak_without(view, |index, life| {
        let temporary = view.contents.get(index) == Some(&Contents::Temporaries);
        temporary && view.phase_of(life) == Some(Phase::Optimizer)
    })
}

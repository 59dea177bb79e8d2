//! `optimizer-state`: the peak or the failed request is the optimizer's state, or the temporaries of its step.
//!
//! Role peak, order 200.

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Contents, Finding, Remedy, Severity, Standing};
use trace::{Bytes, Phase};

use crate::measure::sweep::peak_without;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// Temporaries that raise the peak by less than 1/50 are not reported.
const MIN_PEAK_DENOMINATOR: u64 = 50;
/// Temporaries that raise the peak by less than 1/1000 of the device are not reported.
const MIN_DEVICE_DENOMINATOR: u64 = 1000;

pub(super) const RULE: Rule = Rule { cause: CauseId::OptimizerState, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_temporaries(facts).or_else(|| find_failed_step(facts))
}

/// Finds a failed request of the optimizer, for its state or for temporaries.
fn find_failed_step(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
    if view.timeline.phase(moment.event_before()?) != Some(Phase::Optimizer) {
        return None;
    }
    let (state, parameters) = (facts.live_bytes(Contents::OptimizerState), facts.live_bytes(Contents::Parameters));
    let temporaries = facts.live_bytes(Contents::Temporaries);
    let source = Source::LiveAtError;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!(
            "out of memory in the optimizer step, with {state} of optimizer state and {temporaries} of temporaries"
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
            advice("foreach=False or fused=True", "pass it to the optimizer; the step then allocates no temporaries"),
            advice("shard or offload the state", "ZeroRedundancyOptimizer, FSDP, DeepSpeed ZeRO"),
        ],
    };
    let held = view.live_with_ids(moment).filter(|(_, life, contents)| {
        let is_state = *contents == Contents::OptimizerState;
        is_state || (*contents == Contents::Temporaries && view.phase_of(life) == Some(Phase::Optimizer))
    });
    let edits = held.map(|(id, ..)| (id, AllocationChange::LeaveOut)).collect();
    let cause = Cause { finding, bytes: Some(state + temporaries), rank: Rank::Need, removal: None };
    Some(cause.with_removal(Removal::with_failed(edits, AllocationChange::LeaveOut).without_remedy()))
}

/// Finds temporaries that raise the peak, in a step that succeeded.
fn find_temporaries(facts: &Facts) -> Option<Cause> {
    let view = facts.view.filter(|_| !facts.is_at_error())?;
    let peak = view.trace.history.peaks().allocated?;
    let temporaries = view.live_bytes(peak.at, Contents::Temporaries);
    if facts.peak.place.phase != Some(Phase::Optimizer) || temporaries == Bytes::ZERO {
        return None;
    }
    let after = peak_without_temporaries(view);
    let saved = peak.bytes - after;
    let of_device = facts.device.usable.map(|usable| usable.bytes.value).unwrap_or_default();
    let is_small = saved.0.saturating_mul(MIN_PEAK_DENOMINATOR) < peak.bytes.0
        || saved.0.saturating_mul(MIN_DEVICE_DENOMINATOR) < of_device.0;
    if is_small {
        return None;
    }
    let has_room = peak.bytes.0.saturating_add(peak.bytes.0 / 8) < of_device.0;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if has_room { Severity::Info } else { Severity::Warning },
        message: format!("the peak is in the optimizer step: {temporaries} of it are the optimizer's temporaries"),
        location: None,
        evidence: vec![
            bytes("temporaries at the peak", temporaries, Source::TraceLifetimes),
            bytes("peak raised by temporaries", saved, Source::WithoutTemporaries),
        ],
        remedies: vec![Remedy {
            remedy: "foreach=False or fused=True".to_owned(),
            standing: Standing::Estimated,
            before_bytes: Some(peak.bytes),
            after_bytes: Some(after),
            how: "pass it to the optimizer; estimated as the trace's peak without the temporaries of its steps"
                .to_owned(),
        }],
    };
    Some(Cause { finding, bytes: Some(saved), rank: Rank::Need, removal: None })
}

fn peak_without_temporaries(view: &View) -> Bytes {
    peak_without(view, |index, life| {
        let temporary = view.contents.get(index) == Some(&Contents::Temporaries);
        temporary && view.phase_of(life) == Some(Phase::Optimizer)
    })
}

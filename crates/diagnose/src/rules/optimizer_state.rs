//! `optimizer-state`: the peak is in the optimizer step, where the foreach implementation makes temporaries.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::{Bytes, Phase};

use super::{Facts, bytes};
use crate::measure::sweep::peak_without;

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let peak = facts.view.found.allocated_peak?;
    let temporaries = facts.view.live_bytes(peak.event, Contents::Temporaries);
    if facts.report.peak.place.phase != Some(Phase::Optimizer) || temporaries == Bytes::ZERO {
        return None;
    }
    let after = without_temporaries(facts);
    let saved = peak.bytes - after;
    Some(Finding {
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
    })
}

fn without_temporaries(facts: &Facts) -> Bytes {
    let view = facts.view;
    peak_without(view, |index, life| {
        let temporary = view.contents.get(index) == Some(&Contents::Temporaries);
        temporary && view.place(life.allocation.event).phase == Some(Phase::Optimizer)
    })
}

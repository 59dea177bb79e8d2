//! `need-exceeds-device`: the program needs more than the device has, whatever the allocator does.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::Bytes;

use super::{Facts, bytes};

/// How many parts of the breakdown are named.
const PARTS: usize = 3;

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let (report, total) = (facts.report, facts.case.total());
    let need = report.need.device_bytes;
    if need <= total {
        return None;
    }
    let mut evidence =
        vec![bytes("need", need, "the run without a limit"), bytes("device", total, "the GPU's profile")];
    let parts = report.breakdown.parts().iter().take(PARTS);
    evidence.extend(parts.map(|part| bytes(part.category.words(), part.bytes, "breakdown at the peak")));
    let message = format!("the program needs {need} and {} has {total}: {} too little", report.gpu.name, need - total);
    Some(Finding {
        rule: RuleId("need-exceeds-device"),
        severity: Severity::Error,
        message,
        location: report.oom.as_ref().and_then(|oom| oom.location.clone()),
        evidence,
        remedies: smaller_batch(facts).into_iter().collect(),
    })
}

/// Halving the batch halves the activations, where they are what fills the device.
fn smaller_batch(facts: &Facts) -> Option<Remedy> {
    let breakdown = &facts.report.breakdown;
    let activations = breakdown.bytes_of(Contents::Activations);
    let largest = breakdown.parts().first()?;
    if largest.category != Contents::Activations {
        return None;
    }
    let before = breakdown.total();
    Some(Remedy {
        remedy: "halve the batch".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - Bytes(activations.0 / 2)),
        how: "reckoned as if every activation scaled with the batch; with twice the gradient accumulation the \
              effective batch stays the same"
            .to_owned(),
    })
}

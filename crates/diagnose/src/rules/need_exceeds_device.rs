//! `need-exceeds-device`: the program needs more than the device has, whatever the allocator does.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::Bytes;

use super::{Cause, Rank, bytes};
use crate::facts::Facts;

/// How many parts of the breakdown are named.
const PARTS: usize = 3;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let (need, total) = (facts.need?, facts.device.total?.nearest);
    if need <= total {
        return None;
    }
    let mut evidence =
        vec![bytes("need", need, "the run without a limit"), bytes("device", total, "the GPU's profile")];
    let parts = facts.breakdown.parts().iter().take(PARTS);
    evidence.extend(parts.map(|part| bytes(part.category.words(), part.bytes, "breakdown at the peak")));
    let name = facts.device.name.unwrap_or("the device");
    let finding = Finding {
        rule: RuleId("need-exceeds-device"),
        severity: Severity::Error,
        message: format!("the program needs {need} and {name} has {total}: {} too little", need - total),
        location: facts.failure.as_ref().filter(|_| facts.fatal).and_then(|failure| failure.location.clone()),
        evidence,
        remedies: smaller_batch(facts).into_iter().collect(),
    };
    Some(Cause { finding, bytes: Some(need - total), rank: Rank::Need })
}

/// Halving the batch halves the activations, where they are what fills the device.
fn smaller_batch(facts: &Facts) -> Option<Remedy> {
    let breakdown = &facts.breakdown;
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

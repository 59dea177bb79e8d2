//! `one-huge-request`: one request is larger than all that could ever be free.

use report::{Contents, Finding, RuleId, Severity};
use trace::Bytes;

use super::{Facts, bytes};

/// What no earlier freeing gives back.
const PERSISTENT: [Contents; 4] =
    [Contents::Parameters, Contents::Gradients, Contents::OptimizerState, Contents::Buffers];

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let report = facts.report;
    let (oom, error) = (report.oom.as_ref()?, facts.view.last_oom()?);
    let kept: Bytes = PERSISTENT.iter().map(|&contents| facts.view.live_bytes(error, contents)).sum();
    let most = report.gpu.usable_bytes - kept;
    if oom.requested_bytes <= most {
        return None;
    }
    let evidence = vec![
        bytes("requested", oom.requested_bytes, "the allocator's out-of-memory observer"),
        bytes("device less context", report.gpu.usable_bytes, "the GPU's profile"),
        bytes("parameters, gradients, optimizer state, buffers", kept, "what was live at the error"),
    ];
    Some(Finding {
        rule: RuleId("one-huge-request"),
        severity: Severity::Error,
        message: format!("one request for {} is larger than the {most} that could ever be free", oom.requested_bytes),
        location: oom.location.clone(),
        evidence,
        remedies: Vec::new(),
    })
}

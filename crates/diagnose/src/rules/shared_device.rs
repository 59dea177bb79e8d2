//! `shared-device`: several processes use one device, as when every rank of a job stays on GPU 0.

use report::{Finding, Remedy, RuleId, Severity, Standing};

use super::{Facts, bytes, count};
use crate::measure::sharing::shared;

/// Where its figures come from.
const SOURCE: &str = "the sum of each process's own peak";

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let found = shared(facts.case)?;
    let (processes, device, together) = (found.processes, found.device, found.together);
    Some(Finding {
        rule: RuleId("shared-device"),
        severity: if together > facts.case.total() { Severity::Error } else { Severity::Warning },
        message: format!("{processes} processes use device {device}, up to {together} together"),
        location: None,
        evidence: vec![
            count("processes on the device", processes, "the phantom's ledgers"),
            bytes("together at most", together, SOURCE),
        ],
        remedies: vec![Remedy {
            remedy: "give each process a device of its own".to_owned(),
            standing: Standing::Advice,
            before_bytes: None,
            after_bytes: None,
            how: "torch.cuda.set_device(local_rank) before anything touches CUDA, and map_location in torch.load"
                .to_owned(),
        }],
    })
}

//! `shared-device`: several processes use one device, as when every rank of a job stays on GPU 0.

use report::{Finding, RuleId, Severity};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::Facts;

/// Where its figures come from.
const SOURCE: &str = "the sum of each process's own peak";

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let found = facts.shared?;
    let (processes, device, together) = (found.processes, found.device, found.together);
    let finding = Finding {
        rule: RuleId("shared-device"),
        severity: if facts.device.total.is_some_and(|total| together > total.nearest) { Severity::Error } else { Severity::Warning },
        message: format!("{processes} processes use device {device}, up to {together} together"),
        location: None,
        evidence: vec![
            count("processes on the device", processes, "the phantom's ledgers"),
            bytes("together at most", together, SOURCE),
        ],
        remedies: vec![advice(
            "give each process a device of its own",
            "torch.cuda.set_device(local_rank) before anything touches CUDA, and map_location in torch.load",
        )],
    };
    Some(Cause { finding, bytes: Some(together), rank: Rank::Fault })
}

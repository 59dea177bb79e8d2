//! Anomaly detection in a training program.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::RegionKind;
use crate::semantics::{Model, is_bool};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("anomaly-detection-left-on"),
    effect: MemoryEffect::Wastes,
    summary: "`set_detect_anomaly(True)` in a training program",
    help: "remove the call, or enter `torch.autograd.detect_anomaly()` around the code being debugged",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in
        model.calls().iter().filter(|call| call.is("torch.autograd.set_detect_anomaly") && model.is_statement(call))
    {
        // A program with an option for anomaly detection uses it on purpose.
        if model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(..))) {
            continue;
        }
        let Some(value) = call.argument("mode", 0).filter(|value| is_bool(value, true)) else { continue };
        let message = "every operation of a forward keeps a formatted stack in host memory, and backward checks \
                      every result for NaN";
        matches.add(call.syntax, message).fix = Some(edits::replace(value, "False", Applicability::Safe));
    }
}

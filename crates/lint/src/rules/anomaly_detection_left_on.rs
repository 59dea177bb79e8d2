//! Anomaly detection in a program that trains.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::data::RegionKind;
use crate::semantics::{Model, is_bool};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("anomaly-detection-left-on"),
    effect: Effect::Wastes,
    summary: "`set_detect_anomaly(True)`",
    help: "leave it out, or enter `torch.autograd.detect_anomaly()` where you search",
    cause: Some("host-memory"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in
        model.calls().iter().filter(|call| call.is("torch.autograd.set_detect_anomaly") && model.is_statement(call))
    {
        // Who asks for it by an option knows of it.
        if model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(..))) {
            continue;
        }
        let Some(value) = call.argument("mode", 0).filter(|value| is_bool(value, true)) else { continue };
        let message = "every operation of every forward keeps a formatted stack in host memory, and backward looks for NaN in each result";
        found.at(call.syntax, message).fix = Some(fix::replace(value, "False", Applicability::Safe));
    }
}

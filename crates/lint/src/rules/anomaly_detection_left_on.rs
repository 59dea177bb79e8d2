//! Anomaly detection in a training program.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, RegionKind, Syntax};
use crate::semantics::{Call, Model, is_bool};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt, StmtWith};

pub(super) const RULE: Rule = Rule {
    id: RuleId("anomaly-detection-left-on"),
    effect: MemoryEffect::Wastes,
    summary: "anomaly detection for the whole of a training program",
    help: "remove it, or enter `torch.autograd.detect_anomaly()` around the code being debugged",
    cause: Some(CauseId::HostMemory),
    check,
};

const MESSAGE: &str = "every operation of a forward keeps a formatted stack in host memory, and backward checks every \
                       result for NaN";

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        // A program with an option for anomaly detection uses it on purpose.
        if model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(..))) {
            continue;
        }
        if call.is_any(&["torch.autograd.set_detect_anomaly", "torch.autograd.anomaly_mode.set_detect_anomaly"]) {
            let Some(value) = call.argument("mode", 0).filter(|value| is_true(model, value)) else { continue };
            if model.is_statement(call) {
                let fix = is_bool(value, true).then(|| edits::replace(value, "False", Applicability::Safe));
                matches.add(call.syntax, MESSAGE).fix = fix;
            } else if is_entered_for_training(model, call) {
                matches.add(call.syntax, MESSAGE);
            }
        } else if call.is_any(&["torch.autograd.detect_anomaly", "torch.autograd.anomaly_mode.detect_anomaly"]) {
            if is_entered_for_training(model, call) || is_entered_by_hand(model, call) {
                matches.add(call.syntax, MESSAGE);
            }
        } else if is_trainer(call) && call.keyword("detect_anomaly").is_some_and(|it| is_true(model, it)) {
            matches.add(call.syntax, MESSAGE);
        }
    }
    options_of_trainer(model, matches);
}

/// Checks for `True`, directly or by a name that is bound once.
fn is_true(model: &Model<'_>, value: &Expr) -> bool {
    if is_bool(value, true) {
        return true;
    }
    let Some(name) = value.as_name_expr() else { return false };
    let definition = match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Outer(symbol) => match model.tree.symbols[symbol.index()].bindings.as_slice() {
            [only] => *only,
            _ => return false,
        },
        _ => model.definition(name),
    };
    matches!(model.tree.definitions[definition.index()].binding, Binding::Value(value) if is_bool(value, true))
}

/// Checks for a trainer of Lightning, which takes the option, or for the dict of its options.
fn is_trainer(call: &Call<'_>) -> bool {
    let path = call.path.as_deref().unwrap_or_default();
    path == "dict" || (path.contains("lightning") && path.ends_with("Trainer")) || path.ends_with(".Fabric")
}

/// `{"detect_anomaly": True}` in a file that uses Lightning.
fn options_of_trainer(model: &Model<'_>, matches: &mut Matches) {
    if !model.text.contains("lightning") {
        return;
    }
    for (_, expression) in model.expressions(model.body(None)) {
        let Expr::Dict(dict) = expression else { continue };
        let is_key = |it: &Expr| it.as_string_literal_expr().is_some_and(|it| it.value.to_str() == "detect_anomaly");
        for item in dict.items.iter().filter(|item| item.key.as_ref().is_some_and(is_key)) {
            if is_bool(&item.value, true) {
                matches.add(&item.value, MESSAGE);
            }
        }
    }
}

/// Checks for a `with` around a loop, or in each step of a training loop.
fn is_entered_for_training(model: &Model<'_>, call: &Call<'_>) -> bool {
    let Syntax::Statement(Stmt::With(with)) = model.node(model.node(call.id).parent).syntax else { return false };
    encloses_loop(model, with)
        || model.loops(call.region).any(|it| model.work_of_loop(it).backwards > 0)
        || trains_in(model, with)
}

fn encloses_loop(model: &Model<'_>, with: &StmtWith) -> bool {
    body(model, with).is_some_and(|(first, last)| model.tree.loops.iter().any(|it| first <= it.node && it.node <= last))
}

/// Checks whether the block calls a function with a training loop, or belongs to code that runs in each step.
fn trains_in(model: &Model<'_>, with: &StmtWith) -> bool {
    body(model, with).is_some_and(|range| {
        let calls = model.calls_between(range);
        let work = model.work_of(calls);
        let fits =
            |call: &Call<'_>| call.is_method("fit") || call.is_method("train") && call.syntax.arguments.is_empty();
        (work.backwards > 0 && (work.steps > 0 || calls.first().is_some_and(|call| model.runs_with_steps(call))))
            || calls.iter().any(fits)
    })
}

fn body(
    model: &Model<'_>,
    with: &StmtWith,
) -> Option<(crate::semantics::data::NodeId, crate::semantics::data::NodeId)> {
    Some((model.id(with.body.first()?)?, model.node(model.id(with.body.last()?)?).last))
}

/// `torch.autograd.detect_anomaly().__enter__()`
fn is_entered_by_hand(model: &Model<'_>, call: &Call<'_>) -> bool {
    let parent = model.node(model.node(call.id).parent).syntax;
    matches!(parent, Syntax::Expression(Expr::Attribute(it)) if it.attr.as_str() == "__enter__")
}

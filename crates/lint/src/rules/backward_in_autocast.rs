//! A backward within `autocast`.

use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{FunctionId, RegionId, RegionKind};
use crate::semantics::{Call, Model, is_bool};

pub(super) const RULE: Rule = Rule {
    id: RuleId("backward-in-autocast"),
    effect: MemoryEffect::Wastes,
    summary: "`backward` within `autocast`",
    help: "end the `autocast` block before `backward`",
    cause: None,
    check,
};

/// The largest number of calls between an autocast block and the backward within.
const CALLS: usize = 3;

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let is_direct = model.backward_subject(call).is_some();
        let callee = model.callee(call).filter(|&it| !is_direct && runs_backward(model, it, CALLS));
        if (is_direct || callee.is_some()) && is_in_autocast(model, call.region) {
            matches.add(
                call.syntax,
                "backward runs within autocast: the lower-precision copies of the weights stay allocated until \
                the block ends, through the whole backward",
            );
        }
    }
}

/// Checks whether a function calls backward outside of an autocast block of its own, by itself or in a function that it calls.
fn runs_backward(model: &Model<'_>, function: FunctionId, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let body = model.tree.functions[function.index()].body;
    model.calls_between(body).iter().any(|call| {
        let runs = model.backward_subject(call).is_some()
            || model.callee(call).is_some_and(|it| it != function && runs_backward(model, it, left));
        runs && model.function(call.region) == Some(function) && !enters_any_autocast(model, call.region)
    })
}

fn enters_any_autocast(model: &Model<'_>, region: RegionId) -> bool {
    model.regions(region).any(|kind| {
        matches!(kind, RegionKind::With(with) if with.items.iter().any(|it| model.source(&it.context_expr).contains("autocast")))
    })
}

/// Checks whether the innermost autocast around a region lowers the precision on the GPU.
fn is_in_autocast(model: &Model<'_>, region: RegionId) -> bool {
    for kind in model.regions(region) {
        let decided = match kind {
            RegionKind::With(with) => with.items.iter().rev().find_map(|it| lowers(model, &it.context_expr, CALLS)),
            RegionKind::Function(function) => {
                let decorators = &model.tree.functions[function.index()].syntax.decorator_list;
                decorators.iter().find_map(|it| lowers(model, &it.expression, CALLS))
            }
            _ => None,
        };
        if let Some(decided) = decided {
            return decided;
        }
    }
    false
}

/// Checks whether a context manager is an autocast of the GPU: the call itself, a name of one, or a function of the file that returns one.
fn lowers<'a>(model: &Model<'a>, manager: &'a Expr, left: usize) -> Option<bool> {
    let left = left.checked_sub(1)?;
    match manager {
        Expr::Call(_) => {
            let call = model.call(manager)?;
            if is_autocast(call) {
                return Some(!is_host(call) && !is_disabled(call));
            }
            let returned = &model.tree.functions[model.callee(call)?.index()].returned;
            returned.iter().find_map(|it| lowers(model, it, left))
        }
        Expr::If(it) => lowers(model, &it.body, left).or_else(|| lowers(model, &it.orelse, left)),
        Expr::Name(_) | Expr::Attribute(_) => {
            model.assigned_expressions(manager, left).into_iter().find_map(|it| lowers(model, it, left))
        }
        _ => None,
    }
}

fn is_autocast(call: &Call<'_>) -> bool {
    call.path.as_deref().is_some_and(|path| path.starts_with("torch.") && path.ends_with("autocast"))
}

fn is_host(call: &Call<'_>) -> bool {
    let device = call.argument("device_type", 0).and_then(|it| it.as_string_literal_expr());
    call.is("torch.cpu.amp.autocast") || device.is_some_and(|it| it.value.to_str() == "cpu")
}

fn is_disabled(call: &Call<'_>) -> bool {
    call.keyword("enabled").is_some_and(|it| is_bool(it, false))
}

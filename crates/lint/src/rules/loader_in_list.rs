//! `list(loader)`: all batches at once.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, RegionKind};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("loader-in-list"),
    effect: MemoryEffect::Wastes,
    summary: "all batches of a DataLoader in one list",
    help: "iterate over the loader",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        // A list that is not kept only runs the loader to its end.
        let is_list = call.is_any(&["list", "tuple", "sorted"]) && !model.is_statement(call);
        if let ([argument], true) = (&*call.syntax.arguments.args, is_list) {
            report_list(model, matches, call.syntax, argument);
        }
        report_append(model, matches, call);
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Expr::ListComp(it) = expression {
            // Only lists of the batches themselves: `[len(batch) for batch in loader]` is fine.
            let [generator] = it.generators.as_slice() else { continue };
            if generator.ifs.is_empty() && is_whole_batch(&it.elt, &generator.target) {
                report_list(model, matches, expression, &generator.iter);
            }
        }
    }
}

/// Checks whether an element is the batch that a loop yields, or all of its parts. Batches moved to the GPU are reported by `dataset-on-gpu`.
fn is_whole_batch(element: &Expr, target: &Expr) -> bool {
    match (element, target) {
        (Expr::Name(one), Expr::Name(other)) => one.id == other.id,
        (Expr::Tuple(one), Expr::Tuple(other)) => {
            one.elts.len() == other.elts.len()
                && one.elts.iter().zip(&other.elts).all(|(one, other)| is_whole_batch(one, other))
        }
        (Expr::List(one), Expr::Tuple(other)) => {
            one.elts.len() == other.elts.len()
                && one.elts.iter().zip(&other.elts).all(|(one, other)| is_whole_batch(one, other))
        }
        (Expr::Call(call), target) => call.func.as_attribute_expr().is_some_and(|it| {
            matches!(it.attr.as_str(), "cpu" | "clone" | "pin_memory") && is_whole_batch(&it.value, target)
        }),
        _ => false,
    }
}

fn report_list<'a>(model: &Model<'a>, matches: &mut Matches, whole: &impl Ranged, loader: &'a Expr) {
    if model.is_called_loader(loader) {
        matches.add(whole, format!("all batches of `{}` stay in memory at once", model.source(loader)));
    }
}

/// `for batch in loader: batches.append(batch)`, without a condition and without an early end.
fn report_append<'a>(model: &Model<'a>, matches: &mut Matches, call: &Call<'a>) {
    let (true, Some((list, _)), [batch]) = (call.is_method("append"), call.method(), &*call.syntax.arguments.args)
    else {
        return;
    };
    let Some(around) = model.loops(call.region).next() else { return };
    let it = &model.tree.loops[around.index()];
    let Some(loader) = it.iterated.filter(|it| model.is_called_loader(it)) else { return };
    let is_element = |it: &Expr| {
        it.as_name_expr().is_some_and(|name| {
            let binding = &model.tree.definitions[model.definition(name).index()].binding;
            matches!(binding, Binding::Element(from, path) if model.id(*from) == model.id(loader) && path.is_empty())
        })
    };
    let ends_early = model
        .statements()
        .any(|(id, statement)| model.is_in(id, around) && matches!(statement, Stmt::Break(_) | Stmt::Return(_)));
    let is_always = model
        .regions_within(call.region, around)
        .all(|kind| !matches!(kind, RegionKind::If(..) | RegionKind::Handler(_)));
    if is_element(batch) && is_always && !ends_early && model.outlives_step(list, around) {
        matches.add(call.syntax, format!("all batches of `{}` stay in memory at once", model.source(loader)));
    }
}

//! Gradients accumulated under DDP, and exchanged for every batch.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{LoopId, RegionId, RegionKind};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulation-without-no-sync"),
    effect: MemoryEffect::Style,
    summary: "gradient accumulation under DistributedDataParallel without `no_sync`",
    help: "run forward and backward of all but the last batch within `model.no_sync()`",
    cause: Some(CauseId::RankImbalance),
    check,
};

/// Words of programs that control the exchange of gradients, or leave the accumulation to a library.
const CONTROLS: [&str; 5] =
    ["no_sync", "require_backward_grad_sync", "set_requires_gradient_sync", ".accumulate(", "deepspeed"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    let wraps = |call: &Call<'_>| {
        call.path
            .as_deref()
            .is_some_and(|path| path.starts_with("torch.nn.") && path.ends_with(".DistributedDataParallel"))
    };
    if !model.calls().iter().any(wraps) || CONTROLS.iter().any(|word| model.text.contains(word)) {
        return;
    }
    for call in model.calls() {
        let Some(loss) = model.backward_subject(call) else { continue };
        let is_engine =
            model.source(call.syntax).contains("accelerator") || model.source(call.syntax).contains("fabric");
        let is_accumulated = model.loops(call.region).next().is_some_and(|around| accumulates(model, call, around));
        if is_accumulated && !is_engine {
            let message = format!(
                "DDP exchanges the gradients of `{}` in every backward, although the optimizer steps after several",
                model.source(loss)
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks whether the optimizer steps after several iterations of the innermost loop around a backward.
fn accumulates<'a>(model: &Model<'a>, backward: &Call<'a>, around: LoopId) -> bool {
    let steps: Vec<&Call<'a>> = model
        .calls()
        .iter()
        .filter(|call| model.is_optimizer_step(call) && model.function(call.region) == model.function(backward.region))
        .collect();
    let is_every_backward = !model.is_conditional(backward.region, around);
    let inside: Vec<&&Call<'a>> = steps.iter().filter(|call| model.is_region_in(call.region, around)).collect();
    if !inside.is_empty() {
        return is_every_backward && inside.iter().all(|call| is_periodic(model, call.region, around));
    }
    // `for micro_batch in ...: backward`, then one step in the loop around.
    let mut outer = model.loops(backward.region).skip(1);
    let is_counted =
        model.tree.loops[around.index()].iterated.and_then(|it| model.call(it)).is_some_and(|it| it.is("range"));
    is_every_backward
        && is_counted
        && outer.any(|outer| {
            steps.iter().any(|call| call.id > backward.id && model.loops(call.region).next() == Some(outer))
        })
}

/// Checks whether a region lies below a condition on a remainder: `(step + 1) % 4 == 0`, or a name of one.
fn is_periodic(model: &Model<'_>, region: RegionId, around: LoopId) -> bool {
    model
        .regions_within(region, around)
        .any(|kind| matches!(kind, RegionKind::If(it, _) if has_remainder(model, &it.test)))
}

fn has_remainder<'a>(model: &Model<'a>, test: &'a Expr) -> bool {
    let Some(id) = model.id(test) else { return false };
    let is_remainder = |it: &Expr| it.as_bin_op_expr().is_some_and(|it| it.op == Operator::Mod);
    model.expressions((id, model.node(id).last)).any(|(_, it)| {
        is_remainder(it)
            || (it.is_name_expr()
                && model.origins(it).into_iter().any(|made| {
                    model
                        .id(made)
                        .is_some_and(|id| model.expressions((id, model.node(id).last)).any(|(_, it)| is_remainder(it)))
                }))
    })
}

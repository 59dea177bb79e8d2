//! Offloading of a pipeline that is already on the GPU.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{NodeId, RegionId};
use crate::semantics::{Call, Model, TensorDevice};

pub(super) const RULE: Rule = Rule {
    id: RuleId("offload-after-cuda"),
    effect: MemoryEffect::Wastes,
    summary: "a pipeline moved to the GPU whole before its offloading is enabled",
    help: "leave out the move: offloading moves each part to the GPU when it runs",
    cause: Some(CauseId::NeedExceedsDevice),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some((pipeline, "enable_model_cpu_offload" | "enable_sequential_cpu_offload")) = call.method() else {
            continue;
        };
        if call.path.is_none() && model.is_bound_by_values_alone(pipeline) && is_on_gpu_before(model, pipeline, call) {
            let name = model.source(pipeline);
            matches.add(call.syntax, format!("all of `{name}` was on the GPU before its offloading is enabled"));
        }
    }
}

/// Checks whether the last certain move of an object before a call, in the same function, was to the GPU.
fn is_on_gpu_before<'a>(model: &Model<'a>, object: &'a Expr, call: &Call<'a>) -> bool {
    let function = model.function(call.region);
    let before = model.statements().filter(|&(id, _)| {
        model.body(function).0 <= id && id < call.id && model.function(model.node(id).region) == function
    });
    let mut is_on_gpu = false;
    for (id, statement) in before {
        match device_after(model, statement, model.source(object)) {
            Some(TensorDevice::Gpu) => is_on_gpu |= encloses(model, id, call.region),
            Some(_) => is_on_gpu = false,
            None => {}
        }
    }
    is_on_gpu
}

/// The device of an object after a statement: `None` if the statement leaves it where it is.
fn device_after<'a>(model: &Model<'a>, statement: &'a Stmt, object: &str) -> Option<TensorDevice> {
    match statement {
        Stmt::Assign(it) if it.targets.iter().any(|target| model.source(target) == object) => {
            let (moved, root) = chain(model, &it.value);
            moved.or_else(|| (model.source(root) != object).then_some(TensorDevice::Unsure))
        }
        Stmt::Expr(it) => {
            let (moved, root) = chain(model, &it.value);
            moved.filter(|_| model.source(root) == object)
        }
        _ => None,
    }
}

/// The last move in a chain of methods, and the expression that the chain starts from; also in a function that returns the object.
fn chain<'a>(model: &Model<'a>, mut expression: &'a Expr) -> (Option<TensorDevice>, &'a Expr) {
    let mut moved = None;
    if let Some(returned) =
        model.call(expression).and_then(|call| model.callee(call)).map(|it| &model.tree.functions[it.index()].returned)
        && let [only] = returned.as_slice()
        && only.is_call_expr()
        && model.call(only).is_some_and(|it| model.callee(it).is_none())
    {
        return (chain(model, only).0, expression);
    }
    while let Some(call) = model.call(expression).filter(|call| call.path.is_none())
        && let Some((receiver, method)) = call.method()
    {
        moved = moved.or_else(|| device_of_move(model, call, method));
        expression = receiver;
    }
    (moved, expression)
}

fn device_of_move<'a>(model: &Model<'a>, call: &Call<'a>, method: &str) -> Option<TensorDevice> {
    match method {
        _ if model.is_certain_move_to_gpu(call) => Some(TensorDevice::Gpu),
        "cpu" => Some(TensorDevice::Host),
        "to" => {
            let given = call.argument("device", 0)?;
            let is_type = model.path(given).is_some_and(|path| path.starts_with("torch."));
            (!is_type).then_some(TensorDevice::Unsure)
        }
        _ => None,
    }
}

/// Checks whether code in a region runs only if a statement has run.
fn encloses(model: &Model<'_>, statement: NodeId, mut region: RegionId) -> bool {
    let outer = model.node(statement).region;
    loop {
        let parent = model.tree.regions[region.index()].parent;
        match region == outer {
            false if parent != region => region = parent,
            is_outer => return is_outer,
        }
    }
}

//! A CUDA graph captured for every shape of the inputs.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{FunctionId, NodeId};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cuda-graph-per-shape"),
    effect: MemoryEffect::Style,
    summary: "a CUDA graph kept for every shape of the inputs",
    help: "capture a few sizes, and pad the inputs to the next one",
    cause: Some(CauseId::GrowingCollection),
    check,
};

/// The calls that capture a graph.
const CAPTURES: [&str; 3] = ["torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables"];

/// Words of code that limits the number of graphs.
const LIMITS: [&str; 8] = ["bucket", ".pop(", ".popitem(", ".clear(", "next(", "bisect", "pad", "ceil"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let Some(target) = it.targets.iter().find_map(Expr::as_subscript_expr) else { continue };
        let Some(function) = model.function(model.node(id).region) else { continue };
        let is_kept = captures_in(model, id, function, &it.value) && is_shape(model, &target.slice, 3);
        if is_kept && !is_limited(model, function) {
            let message = format!(
                "`{}` keeps a graph, with memory of its own, for every shape of the inputs",
                model.source(&*target.value)
            );
            matches.add(statement, message);
        }
    }
}

/// Checks whether a value is a captured graph: the called function captures, or the function around did before.
fn captures_in<'a>(model: &Model<'a>, id: NodeId, function: FunctionId, value: &'a Expr) -> bool {
    let captures = |range| model.calls_between(range).iter().any(|call: &Call<'_>| call.is_any(&CAPTURES));
    let call = model.call(value);
    let callee = call.and_then(|call| model.callee(call));
    call.is_some_and(|call| call.is_any(&CAPTURES))
        || callee.is_some_and(|it| captures(model.body(Some(it))))
        || captures((model.body(Some(function)).0, id))
}

/// Checks whether a key is made of the shape of a tensor.
fn is_shape<'a>(model: &Model<'a>, key: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let text = model.source(key);
    if [".shape", ".size("].iter().any(|it| text.contains(it)) {
        return true;
    }
    match key {
        Expr::Name(_) => model.assigned_expressions(key, 3).into_iter().any(|it| is_shape(model, it, left)),
        Expr::Tuple(it) => it.elts.iter().any(|it| is_shape(model, it, left)),
        _ => false,
    }
}

fn is_limited(model: &Model<'_>, function: FunctionId) -> bool {
    let text = model.source(model.tree.functions[function.index()].syntax);
    LIMITS.iter().any(|word| text.to_ascii_lowercase().contains(word))
}

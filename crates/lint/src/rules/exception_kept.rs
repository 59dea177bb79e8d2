//! An out-of-memory error stored with its traceback.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, ExprName, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, NodeId, RegionId, RegionKind};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("exception-kept"),
    effect: MemoryEffect::Grows,
    summary: "an exception kept after its `except` block",
    help: "keep `str(error)` or `traceback.format_exc()`",
    cause: Some(CauseId::ExceptionHoldsFrames),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let message = "an exception refers to its stack frames, and the frames to their tensors: the tensors of the \
                  failed step stay on the GPU";
    for call in model.calls() {
        if let Some(kept) = collected(call).and_then(|it| error_in(it)).filter(|it| is_caught(model, call.id, it)) {
            matches.add(kept, message);
        }
    }
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let (Some(kept), [target]) = (error_in(&it.value), it.targets.as_slice()) else { continue };
        let is_kept = match target {
            Expr::Attribute(_) | Expr::Subscript(_) => is_caught(model, id, kept) || is_of_exit(model, kept),
            Expr::Name(name) => is_caught(model, id, kept) && outlives_retry(model, id, name),
            _ => false,
        };
        if is_kept {
            matches.add(kept, message);
        }
    }
}

/// Returns the value that a call adds to a collection.
fn collected<'a>(call: &Call<'a>) -> Option<&'a Expr> {
    let (_, method) = call.method().filter(|_| call.path.is_none())?;
    let arguments = &call.syntax.arguments.args;
    match (method, &**arguments) {
        ("append" | "add" | "appendleft" | "put", [value]) | ("insert" | "setdefault", [_, value]) => Some(value),
        _ => None,
    }
}

/// Returns the name that a value is, or holds: in a tuple, a list, a dict, or as an argument of a record.
fn error_in(value: &Expr) -> Option<&ExprName> {
    match value {
        Expr::Name(name) => Some(name),
        Expr::Tuple(it) => it.elts.iter().filter(|it| !it.is_call_expr()).rev().find_map(error_in),
        Expr::List(it) => it.elts.iter().filter(|it| !it.is_call_expr()).rev().find_map(error_in),
        Expr::Dict(it) => {
            it.items.iter().map(|item| &item.value).filter(|it| !it.is_call_expr()).rev().find_map(error_in)
        }
        Expr::Call(it) if is_record(&it.func) => it.arguments.keywords.iter().rev().find_map(|it| error_in(&it.value)),
        _ => None,
    }
}

/// Checks for a constructor: `Failure(error=error)`, `dict(error=error)`.
fn is_record(function: &Expr) -> bool {
    let name = match function {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        _ => return false,
    };
    name == "dict" || name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Checks whether a name is the error of a handler around a node: for out-of-memory errors, or for any error of work on the GPU.
fn is_caught(model: &Model<'_>, id: NodeId, name: &ExprName) -> bool {
    model.regions(model.node(id).region).any(|kind| match kind {
        RegionKind::Handler(it) => {
            it.name.as_ref().is_some_and(|it| it.as_str() == name.id.as_str())
                && (model.is_for_oom(it) || fails_on_gpu(model, id, it))
        }
        _ => false,
    })
}

fn fails_on_gpu<'a>(model: &Model<'a>, id: NodeId, handler: &'a ruff_python_ast::ExceptHandlerExceptHandler) -> bool {
    model.is_general(handler) && model.try_body(id, handler).is_some_and(|body| model.works_on_gpu(body))
}

/// Checks whether a name is the exception, or the traceback, that `__exit__` of a guard against out-of-memory errors gets.
fn is_of_exit(model: &Model<'_>, name: &ExprName) -> bool {
    let Binding::Parameter(function, 2 | 3, _) = model.tree.definitions[model.definition(name).index()].binding else {
        return false;
    };
    let syntax = model.tree.functions[function.index()].syntax;
    let text = model.source(syntax);
    matches!(syntax.name.as_str(), "__exit__" | "__aexit__")
        && ["OutOfMemoryError", "out of memory", "OOM"].iter().any(|word| text.contains(word))
}

/// Checks whether work on the GPU follows while a local name refers to the error: in the next round of a loop, or behind the handler.
fn outlives_retry(model: &Model<'_>, id: NodeId, name: &ExprName) -> bool {
    let region = model.node(id).region;
    if is_given_up(model, id, name) {
        return false;
    }
    is_in_loop(model, region)
        || model.handler(region).is_some_and(|handler| {
            let behind = NodeId(model.node(id).last.0.saturating_add(1));
            let is_same = |call: &&Call<'_>| {
                model.function(call.region) == model.function(region) && model.handler(call.region).is_none()
            };
            let Some(tried) = model.try_body(id, handler) else { return false };
            let functions: Vec<&str> =
                model.calls_between(tried).iter().map(|call| model.source(&*call.syntax.func)).collect();
            let rest = model.calls_between((behind, model.body(model.function(region)).1));
            rest.iter()
                .filter(is_same)
                .any(|call| works(model, call) && functions.contains(&model.source(&*call.syntax.func)))
        })
}

fn works<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    model.is_forward(call) || model.callee(call).is_some_and(|it: FunctionId| model.works_on_gpu(model.body(Some(it))))
}

/// Checks whether a loop goes on to the next round after the handler: the loop lies around the `try`.
fn is_in_loop(model: &Model<'_>, region: RegionId) -> bool {
    let mut kinds = model.regions(region).skip_while(|kind| !matches!(kind, RegionKind::Handler(_)));
    kinds.any(|kind| matches!(kind, RegionKind::Loop(_)))
}

/// Checks whether the function deletes the name, or sets it to None behind the handler.
fn is_given_up(model: &Model<'_>, id: NodeId, name: &ExprName) -> bool {
    let function = model.function(model.node(id).region);
    let is_same = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id == name.id);
    model.statements().filter(|(at, _)| model.function(model.node(*at).region) == function).any(|(at, statement)| {
        match statement {
            Stmt::Delete(it) => it.targets.iter().any(is_same),
            Stmt::Assign(it) => at > id && it.value.is_none_literal_expr() && it.targets.iter().any(is_same),
            _ => false,
        }
    })
}

//! A retry while the traceback of the failure is alive.

use report::RuleId;
use ruff_python_ast::{ExceptHandlerExceptHandler, Stmt};

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::data::{NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("retry-in-except"),
    effect: Effect::Wastes,
    summary: "a retry inside the `except` that caught the out-of-memory error",
    help: "leave the `except` block first: set a flag there and retry behind it",
    cause: Some("exception-holds-frames"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        let handler = model.regions(call.region).find_map(|kind| match kind {
            RegionKind::Handler(handler) => Some(handler),
            _ => None,
        });
        let Some(handler) = handler.filter(|handler| catches_oom(model, handler)) else { continue };
        if is_tried_again(model, call, handler) {
            found.at(
                call.syntax,
                "the exception that is being handled refers to the frames that failed: their tensors are still on the GPU while \
                 this runs",
            );
        }
    }
}

/// Whether a handler is for running out of memory: by its type, or by the words it looks for.
pub(super) fn catches_oom(model: &Model<'_>, handler: &ExceptHandlerExceptHandler) -> bool {
    let Some(kind) = handler.type_.as_deref() else { return false };
    let kind = model.source(kind);
    kind.contains("OutOfMemoryError")
        || (kind.contains("RuntimeError") && model.source(handler).contains("out of memory"))
}

/// Whether the call is one that the `try` of the handler made: same function, and one that works with tensors.
fn is_tried_again<'a>(model: &Model<'a>, call: &Call<'a>, handler: &'a ExceptHandlerExceptHandler) -> bool {
    let works = !call.syntax.arguments.is_empty() && (model.is_forward(call) || model.callee(call).is_some());
    works
        && tried(model, call, handler).is_some_and(|body| {
            let function = model.source(&*call.syntax.func);
            model.calls_between(body).iter().any(|it| model.source(&*it.syntax.func) == function)
        })
}

/// The nodes of the body of the `try` that a handler belongs to.
fn tried<'a>(model: &Model<'a>, call: &Call<'a>, handler: &ExceptHandlerExceptHandler) -> Option<(NodeId, NodeId)> {
    let mut id = call.id;
    loop {
        let parent = model.node(id).parent;
        if let Syntax::Statement(Stmt::Try(it)) = model.node(parent).syntax
            && it.handlers.iter().any(|other| ruff_text_size::Ranged::range(other) == handler.range)
        {
            return Some((model.id(it.body.first()?)?, model.node(model.id(it.body.last()?)?).last));
        }
        if parent == id {
            return None;
        }
        id = parent;
    }
}

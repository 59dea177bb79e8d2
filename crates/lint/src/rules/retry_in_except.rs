//! A retry during the lifetime of the traceback.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{ExceptHandlerExceptHandler, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("retry-in-except"),
    effect: MemoryEffect::Wastes,
    summary: "a retry inside the `except` that caught the out-of-memory error",
    help: "leave the `except` block first: set a flag in it and retry after it",
    cause: Some(CauseId::ExceptionHoldsFrames),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let handler = model.regions(call.region).find_map(|kind| match kind {
            RegionKind::Handler(handler) => Some(handler),
            _ => None,
        });
        let Some(handler) = handler.filter(|handler| model.catches_oom(handler)) else { continue };
        if is_tried_again(model, call, handler) {
            matches.add(
                call.syntax,
                "the handled exception refers to the frames that failed: their tensors stay on the GPU during \
                this call",
            );
        }
    }
}

/// Checks whether a call repeats a call of the `try`: the same function, and one that works with tensors.
fn is_tried_again<'a>(model: &Model<'a>, call: &Call<'a>, handler: &'a ExceptHandlerExceptHandler) -> bool {
    let works = !call.syntax.arguments.is_empty() && (model.is_forward(call) || model.callee(call).is_some());
    works
        && try_body(model, call, handler).is_some_and(|body| {
            let function = model.source(&*call.syntax.func);
            model.calls_between(body).iter().any(|it| model.source(&*it.syntax.func) == function)
        })
}

/// Returns the nodes of the `try` body of a handler.
fn try_body<'a>(model: &Model<'a>, call: &Call<'a>, handler: &ExceptHandlerExceptHandler) -> Option<(NodeId, NodeId)> {
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

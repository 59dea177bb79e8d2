//! `non_blocking=True` without pinned memory.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::Binding;
use crate::semantics::unpacked::GivenArgument;
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, ExprName};

pub(super) const RULE: Rule = Rule {
    id: RuleId("non-blocking-without-pinned-memory"),
    effect: MemoryEffect::Style,
    summary: "`non_blocking=True` for batches in memory that is not pinned",
    help: "pass `pin_memory=True` to the DataLoader",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let loaders: Vec<_> = model.loader_calls().collect();
    let is_pinned = loaders.iter().any(|call| may_be_pinned(model, call));
    let pins = model.calls().iter().any(|call| call.is_method("pin_memory"));
    if loaders.is_empty() || is_pinned || pins {
        return;
    }
    for call in model.calls().iter().filter(|call| call.is_method("to") || call.is_method("cuda")) {
        let Some(keyword) = call.syntax.arguments.find_keyword("non_blocking") else { continue };
        if model.is_known_bool(&keyword.value, true)
            && call.method().is_some_and(|(batch, _)| model.is_batch(batch, 12))
        {
            matches.add(keyword, "a copy from unpinned memory is synchronous: `non_blocking` has no effect");
        }
    }
}

fn may_be_pinned<'a>(model: &Model<'a>, loader: &Call<'a>) -> bool {
    match model.given_to_loader(loader, "pin_memory", 7) {
        // The callers of a library may pass another value than the default.
        GivenArgument::Value(Expr::Name(name)) if is_parameter(model, name) => true,
        GivenArgument::Value(value) => !model.is_known_bool(value, false),
        GivenArgument::Absent => false,
        GivenArgument::Unsure => true,
    }
}

fn is_parameter(model: &Model<'_>, name: &ExprName) -> bool {
    matches!(model.tree.definitions[model.definition(name).index()].binding, Binding::Parameter(..))
}

//! `copy.deepcopy(model)` while training.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::Syntax;
use crate::semantics::{Call, Model, ValueKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("model-copied-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "a deep copy of a model or its state in a training loop",
    help: "copy to the CPU: `{k: v.cpu() for k, v in model.state_dict().items()}`",
    cause: Some(CauseId::SavedIntermediates),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("copy.deepcopy")) {
        let Some(copied) = call.syntax.arguments.args.first().filter(|it| is_model(model, it)) else { continue };
        let is_training = model.loops(call.region).any(|around| model.is_training_loop(around));
        if is_training && is_kept(model, call) {
            let message = format!(
                "the copy of `{}` stays on the same device: a second set of weights on the GPU",
                model.source(copied)
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks for a model, or its `state_dict()`.
fn is_model<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let state = model.call(expression).filter(|call| call.is_method("state_dict")).and_then(Call::method);
    let subject = state.map_or(expression, |(receiver, _)| receiver);
    model.value(subject) == ValueKind::Module
}

/// Checks whether the copy itself is stored, unlike `copy.deepcopy(model).cpu()`.
fn is_kept(model: &Model<'_>, call: &Call<'_>) -> bool {
    match model.node(model.node(call.id).parent).syntax {
        Syntax::Statement(statement) => statement.is_assign_stmt(),
        Syntax::Expression(parent) => model.call(parent).is_some_and(|it| it.is_method("append")),
    }
}

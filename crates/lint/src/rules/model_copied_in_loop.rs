//! `copy.deepcopy(model)` while training.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::data::Syntax;
use crate::semantics::{Call, Model, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("model-copied-in-loop"),
    effect: Effect::Wastes,
    summary: "a deep copy of a model or its state in a training loop",
    help: "copy to the CPU: `{k: v.cpu() for k, v in model.state_dict().items()}`",
    cause: Some("saved-intermediates"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("copy.deepcopy")) {
        let Some(copied) = call.syntax.arguments.args.first().filter(|it| is_model(model, it)) else { continue };
        let is_training = model.loops(call.region).any(|around| model.is_training_loop(around));
        if is_training && is_kept(model, call) {
            let message =
                format!("`{}` is copied where it is: a second set of weights on the GPU", model.source(copied));
            found.at(call.syntax, message);
        }
    }
}

/// A model, or its `state_dict()`.
fn is_model<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let state = model.call(expression).filter(|call| call.is_method("state_dict")).and_then(Call::method);
    let subject = state.map_or(expression, |(receiver, _)| receiver);
    model.value(subject) == Value::Module
}

/// Whether the copy itself is what is kept: not `copy.deepcopy(model).cpu()`, which is gone when the line ends.
fn is_kept(model: &Model<'_>, call: &Call<'_>) -> bool {
    match model.node(model.node(call.id).parent).syntax {
        Syntax::Statement(statement) => statement.is_assign_stmt(),
        Syntax::Expression(parent) => model.call(parent).is_some_and(|it| it.is_method("append")),
    }
}

//! `out, hidden = rnn(x, hidden)` in a loop, without a detach.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, DefinitionId, LoopId};
use crate::semantics::{Call, Model, ObservationKind, ran_module};

pub(super) const RULE: Rule = Rule {
    id: RuleId("carried-hidden-state"),
    effect: MemoryEffect::Grows,
    summary: "a recurrent state passed from batch to batch with its graph",
    help: "detach the state before the next batch: `hidden = hidden.detach()`",
    cause: Some(CauseId::RetainedGraph),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some(around) = model.step_loop(call.region).filter(|&id| model.is_training_loop(id)) else { continue };
        // The body of a known module may detach the state: there the program is followed.
        let is_followed = model.class_of_object(ran_module(call)).is_some();
        if !model.is_forward(call) || model.work_of_loop(around).backwards == 0 || is_followed {
            continue;
        }
        let carried = call.syntax.arguments.args.iter().find(|argument| is_own_result(model, call, argument, around));
        if let Some(state) = carried {
            let message = format!(
                "`{}` still has the graph of the previous step: backward runs through all earlier steps, or fails \
                because their graphs are freed",
                model.source(state)
            );
            matches.add(state, message);
        }
    }
    for observation in observed(model, ObservationKind::Carried) {
        let Some((_, statement)) = model.statement(observation.at) else { continue };
        if matches.list.is_empty() {
            let place = model.source_at(observation.at);
            matches.add(
                statement,
                format!(
                    "`{place}` has the graph of the previous step: backward runs through all earlier steps, or fails because \
                    their graphs are freed"
                ),
            )
            .certainty = observation.certainty;
        }
    }
}

/// Checks whether an argument is the result of the same call in the previous step.
fn is_own_result<'a>(model: &Model<'a>, call: &Call<'a>, argument: &'a Expr, around: LoopId) -> bool {
    let Some(name) = argument.as_name_expr() else { return false };
    let Binding::Join(inputs, Some(id)) = &model.tree.definitions[model.definition(name).index()].binding else {
        return false;
    };
    let is_result = |&input: &DefinitionId| match &model.tree.definitions[input.index()].binding {
        Binding::Item(value, _) | Binding::Value(value) => model.call(value).is_some_and(|it| it.id == call.id),
        _ => false,
    };
    *id == around && inputs.iter().any(is_result)
}

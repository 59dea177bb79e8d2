//! `torch.no_grad()` on a line of its own has no effect.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Mode, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("no-grad-not-entered"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.no_grad()` as a statement of its own",
    help: "write `with torch.no_grad():`",
    cause: Some(CauseId::GradRecordedInEval),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let managers = [
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autocast",
        "torch.amp.autocast",
    ];
    for call in model.calls().iter().filter(|call| call.is_any(&managers) && model.is_statement(call)) {
        let message = format!("`{}` is created but never entered: it has no effect", model.source(call.syntax));
        matches.add(call.syntax, message);
    }
    for call in model.calls().iter().filter(|call| model.is_statement(call) && gives_manager(model, call)) {
        let message =
            format!("`{}` returns a context that is never entered: it has no effect", model.source(call.syntax));
        matches.add(call.syntax, message);
    }
    for class in &model.tree.classes {
        let mut decorators = class.syntax.decorator_list.iter().map(|it| &it.expression);
        if let Some(decorator) = decorators.find(|it| model.mode_of_manager(it) == Some(Mode::Off)) {
            let message = format!(
                "`@{}` covers the making of `{}` alone: its methods record gradients",
                model.source(decorator),
                class.syntax.name
            );
            matches.add(decorator, message);
        }
    }
    for function in model.tree.functions.iter().filter(|it| it.syntax.is_async) {
        let mut decorators = function.syntax.decorator_list.iter().map(|it| &it.expression);
        if let Some(decorator) = decorators.find(|it| model.mode_of_manager(it) == Some(Mode::Off)) {
            let message = format!(
                "`@{}` ends before the coroutine `{}` runs: it has no effect",
                model.source(decorator),
                function.syntax.name
            );
            matches.add(decorator, message);
        }
    }
}

/// Checks whether a call runs a function of the project that only returns a context for gradients.
fn gives_manager(model: &Model<'_>, call: &Call<'_>) -> bool {
    let Some(function) = model.callee(call) else { return false };
    let function = &model.tree.functions[function.index()];
    let is_short = function.syntax.body.len() <= 2;
    is_short && !function.yields && function.returned.iter().any(|it| returns_manager(model, it))
}

fn returns_manager<'a>(model: &Model<'a>, returned: &'a Expr) -> bool {
    match returned {
        Expr::If(it) => returns_manager(model, &it.body) || returns_manager(model, &it.orelse),
        Expr::Call(_) => {
            model.call(returned).is_some_and(|call| call.is_any(&["torch.no_grad", "torch.inference_mode"]))
        }
        _ => false,
    }
}

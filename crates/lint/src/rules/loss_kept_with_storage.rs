//! `losses.append(mse.detach())`: a number in a large storage.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};
use ruff_text_size::Ranged;

/// Functions and classes whose scalar result lies in a storage made for the losses of all elements (torch 2.11:
/// `build_borrowing_binary_op`, then `resize_({})` in `aten/src/ATen/native/Loss.cpp`).
const LOSSES: [&str; 6] = [
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.smooth_l1_loss",
    "torch.nn.functional.soft_margin_loss",
    "torch.nn.MSELoss",
    "torch.nn.SmoothL1Loss",
    "torch.nn.SoftMarginLoss",
];

pub(super) const RULE: Rule = Rule {
    id: RuleId("loss-kept-with-storage"),
    effect: MemoryEffect::Grows,
    summary: "a detached `mse_loss` kept with a storage of the size of its input",
    help: "store `.item()`, or `.detach().clone()`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_method("append")) {
        let (Some((list, _)), [kept]) = (call.method(), &*call.syntax.arguments.args) else { continue };
        let Some(loss) = detached_loss(model, kept).filter(|loss| is_loss(model, loss)) else { continue };
        let outlives = model.loops(call.region).next().is_some_and(|around| model.outlives_step(list, around));
        if outlives && !model.is_bounded(list) {
            let message = format!(
                "`{}` is one number in a storage of the size of its input: `{}` keeps the whole storage of every \
                step",
                model.source(loss),
                model.source(list)
            );
            matches.add(kept, message).fix =
                Some(edits::insert(kept.range().end().to_usize(), ".clone()", Applicability::Safe));
        }
    }
}

/// Returns `loss` of `loss.detach()` and `loss.data`.
fn detached_loss<'a>(model: &Model<'a>, kept: &'a Expr) -> Option<&'a Expr> {
    match kept {
        Expr::Attribute(it) if it.attr.as_str() == "data" => Some(&it.value),
        Expr::Call(_) => {
            model.call(kept).filter(|call| call.is_method("detach")).and_then(Call::method).map(|(loss, _)| loss)
        }
        _ => None,
    }
}

/// Checks whether an expression is certainly a reduced loss of [`LOSSES`].
fn is_loss<'a>(model: &Model<'a>, loss: &'a Expr) -> bool {
    let values = if loss.is_call_expr() { vec![loss] } else { model.origins(loss) };
    !values.is_empty() && values.into_iter().all(|value| model.call(value).is_some_and(|call| makes_loss(model, call)))
}

fn makes_loss<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    if call.keyword("reduction").is_some() || call.has_unpacked() {
        return false;
    }
    if call.path.is_some() {
        return call.is_any(&LOSSES);
    }
    let made = model.origins(&call.syntax.func);
    !made.is_empty()
        && made
            .into_iter()
            .all(|it| model.call(it).is_some_and(|it| it.is_any(&LOSSES) && it.keyword("reduction").is_none()))
}

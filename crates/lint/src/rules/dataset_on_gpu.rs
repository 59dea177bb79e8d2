//! A data set that lives on the GPU.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::{Call, Model, Place};

pub(super) const RULE: Rule = Rule {
    id: RuleId("dataset-on-gpu"),
    effect: Effect::Wastes,
    summary: "a whole data set that is moved to the GPU",
    help: "move each batch: `x = x.to(device, non_blocking=True)`",
    cause: Some("growing-collection"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        if call.is("torch.utils.data.TensorDataset") {
            let on_gpu = call.syntax.arguments.args.iter().find(|it| model.value(it).is_on_gpu());
            if let Some(tensor) = on_gpu {
                tell(model, found, tensor);
            }
        } else if is_move(model, call) && call.method().is_some_and(|(it, _)| is_data_of_set(model, it)) {
            found.at(call.syntax, MESSAGE);
        }
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Expr::ListComp(it) = expression {
            let is_loader = it.generators.iter().any(|generator| model.gives_batches(&generator.iter));
            if is_loader && keeps_on_gpu(model, &it.elt) {
                found.at(expression, MESSAGE);
            }
        }
    }
}

const MESSAGE: &str = "the whole data set is on the GPU, for the whole run: its bytes are missing for activations";

fn tell<'a>(model: &Model<'a>, found: &mut Found, tensor: &'a Expr) {
    found.at(
        tensor,
        format!("`{}` is the whole data set: on the GPU its bytes are missing for activations", model.source(tensor)),
    );
}

/// `.cuda()`, `.to("cuda")`
pub(super) fn is_move<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    call.is_method("cuda")
        || (call.is_method("to") && call.argument("device", 0).is_some_and(|device| model.place(device) == Place::Gpu))
}

/// `dataset.data`, `dataset.targets` of a data set of torchvision.
fn is_data_of_set<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let Some(attribute) = expression.as_attribute_expr() else { return false };
    matches!(attribute.attr.as_str(), "data" | "targets" | "tensors")
        && model.origins(&attribute.value).into_iter().any(|value| {
            let path = model.call(value).and_then(|call| call.path.as_deref());
            path.is_some_and(|path| path.starts_with("torchvision.datasets.") || path.starts_with("torch.utils.data."))
        })
}

/// Whether an element is a batch that was moved, in a tuple or alone.
fn keeps_on_gpu<'a>(model: &Model<'a>, element: &'a Expr) -> bool {
    match element {
        Expr::Tuple(it) => it.elts.iter().any(|element| keeps_on_gpu(model, element)),
        _ => model.call(element).is_some_and(|call| is_move(model, call)),
    }
}

//! A dataset on the GPU.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;

pub(super) const RULE: Rule = Rule {
    id: RuleId("dataset-on-gpu"),
    effect: MemoryEffect::Wastes,
    summary: "a whole dataset moved to the GPU",
    help: "move each batch: `x = x.to(device, non_blocking=True)`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        if call.is("torch.utils.data.TensorDataset") {
            let on_gpu = call.syntax.arguments.args.iter().find(|it| model.value(it).is_on_gpu());
            if let Some(tensor) = on_gpu {
                report_tensor(model, matches, tensor);
            }
        } else if model.is_move_to_gpu(call) && call.method().is_some_and(|(it, _)| is_data_of_set(model, it)) {
            matches.add(call.syntax, MESSAGE);
        }
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Expr::ListComp(it) = expression {
            let is_loader = it.generators.iter().any(|generator| model.gives_batches(&generator.iter));
            if is_loader && keeps_on_gpu(model, &it.elt) {
                matches.add(expression, MESSAGE);
            }
        }
    }
}

const MESSAGE: &str = "the whole dataset stays on the GPU for the whole run, which leaves less memory for \
                      activations";

fn report_tensor<'a>(model: &Model<'a>, matches: &mut Matches, tensor: &'a Expr) {
    matches.add(
        tensor,
        format!("`{}` is a whole dataset on the GPU, which leaves less memory for activations", model.source(tensor)),
    );
}

/// Checks for `dataset.data` and `dataset.targets` of a dataset of torchvision.
fn is_data_of_set<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let Some(attribute) = expression.as_attribute_expr() else { return false };
    matches!(attribute.attr.as_str(), "data" | "targets" | "tensors")
        && model.origins(&attribute.value).into_iter().any(|value| {
            let path = model.call(value).and_then(|call| call.path.as_deref());
            path.is_some_and(|path| path.starts_with("torchvision.datasets.") || path.starts_with("torch.utils.data."))
        })
}

/// Checks whether an element is a moved batch, alone or in a tuple.
fn keeps_on_gpu<'a>(model: &Model<'a>, element: &'a Expr) -> bool {
    match element {
        Expr::Tuple(it) => it.elts.iter().any(|element| keeps_on_gpu(model, element)),
        _ => model.call(element).is_some_and(|call| model.is_move_to_gpu(call)),
    }
}

//! Workers that would have to share the GPU.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;

pub(super) const RULE: Rule = Rule {
    id: RuleId("workers-with-gpu-tensors"),
    effect: Effect::Wastes,
    summary: "a DataLoader with workers over tensors that are on the GPU",
    help: "leave the data on the host, or the workers out",
    cause: Some("non-pytorch-memory"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")) {
        let workers =
            call.argument("num_workers", 5).and_then(|it| it.as_number_literal_expr()?.value.as_int()?.as_u64());
        let data = call.argument("dataset", 0).filter(|_| workers.is_some_and(|workers| workers > 0));
        if data.is_some_and(|data| is_on_gpu(model, data)) {
            found.at(
                call.syntax,
                "each worker starts CUDA for itself to read its tensors, some hundred MiB of the GPU's memory, or fails because it was \
                 forked",
            );
        }
    }
}

/// Whether it is a data set of tensors, at least one of them on the GPU.
fn is_on_gpu<'a>(model: &Model<'a>, data: &'a Expr) -> bool {
    let is_tensors = |value: &'a Expr| {
        let call = model.call(value).filter(|call| call.is("torch.utils.data.TensorDataset"));
        call.is_some_and(|call| call.syntax.arguments.args.iter().any(|it| model.value(it).is_on_gpu()))
    };
    is_tensors(data) || model.origins(data).into_iter().any(is_tensors)
}

//! Loader workers over tensors on the GPU.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;

pub(super) const RULE: Rule = Rule {
    id: RuleId("workers-with-gpu-tensors"),
    effect: MemoryEffect::Wastes,
    summary: "a DataLoader with workers over a dataset on the GPU",
    help: "keep the dataset on the host, or set `num_workers=0`",
    cause: Some(CauseId::NonPytorchMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")) {
        let workers =
            call.argument("num_workers", 5).and_then(|it| it.as_number_literal_expr()?.value.as_int()?.as_u64());
        let data = call.argument("dataset", 0).filter(|_| workers.is_some_and(|workers| workers > 0));
        if data.is_some_and(|data| is_on_gpu(model, data)) {
            matches.add(
                call.syntax,
                "each worker creates a CUDA context of several hundred MiB to read its tensors, or fails because \
                the process was forked",
            );
        }
    }
}

/// Checks for a dataset of tensors with at least one tensor on the GPU.
fn is_on_gpu<'a>(model: &Model<'a>, data: &'a Expr) -> bool {
    let is_tensors = |value: &'a Expr| {
        let call = model.call(value).filter(|call| call.is("torch.utils.data.TensorDataset"));
        call.is_some_and(|call| call.syntax.arguments.args.iter().any(|it| model.value(it).is_on_gpu()))
    };
    is_tensors(data) || model.origins(data).into_iter().any(is_tensors)
}

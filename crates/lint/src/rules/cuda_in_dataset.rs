//! `.cuda()` in a loader's workers.

use report::RuleId;
use ruff_python_ast::Expr;

use super::dataset_on_gpu::is_move;
use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use crate::semantics::data::{FunctionId, RegionKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cuda-in-dataset"),
    effect: Effect::Wastes,
    summary: "a tensor that `__getitem__` or `collate_fn` puts on the GPU",
    help: "return tensors of the host, and move each batch in the training loop",
    cause: Some("non-pytorch-memory"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    let collates: Vec<FunctionId> = model
        .calls()
        .iter()
        .filter_map(|call| {
            let workers = call.keyword("num_workers")?;
            let is_zero = workers.as_number_literal_expr().and_then(|it| it.value.as_int()?.as_u64()) == Some(0);
            let name = call.keyword("collate_fn").filter(|_| !is_zero)?.as_name_expr()?;
            model.function_of(model.definition(name))
        })
        .collect();
    for call in model.calls().iter().filter(|call| is_move(model, call)) {
        let function = model.function(call.region);
        let is_lazy = model.regions(call.region).any(|kind| matches!(kind, RegionKind::Lambda));
        if !is_lazy && function.is_some_and(|it| collates.contains(&it) || is_item_of_dataset(model, it)) {
            found.at(
                call.syntax,
                "runs in the loader's workers: each of them starts CUDA for itself, some hundred MiB of the GPU's memory, or fails \
                 because it was forked",
            );
        }
    }
}

fn is_item_of_dataset(model: &Model<'_>, function: FunctionId) -> bool {
    let it = &model.tree.functions[function.index()];
    let is_dataset = |path: &str| path.starts_with("torch") && path.ends_with("Dataset");
    it.syntax.name.as_str() == "__getitem__"
        && it.class.is_some_and(|class| model.derives(class, &is_dataset))
        && !is_unused(model)
}

/// Whether every loader of the file has no workers.
fn is_unused(model: &Model<'_>) -> bool {
    let mut loaders = model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")).peekable();
    let has_workers =
        |workers: &Expr| workers.as_number_literal_expr().and_then(|it| it.value.as_int()?.as_u64()) != Some(0);
    loaders.peek().is_some() && !loaders.any(|call| call.argument("num_workers", 5).is_some_and(has_workers))
}

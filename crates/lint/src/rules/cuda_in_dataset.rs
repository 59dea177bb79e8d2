//! `.cuda()` in the workers of a loader.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::{FunctionId, RegionKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cuda-in-dataset"),
    effect: MemoryEffect::Wastes,
    summary: "`__getitem__` or `collate_fn` moves a tensor to the GPU",
    help: "return host tensors, and move each batch in the training loop",
    cause: Some(CauseId::NonPytorchMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
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
    for call in model.calls().iter().filter(|call| model.is_move_to_gpu(call)) {
        let function = model.function(call.region);
        let is_lazy = model.regions(call.region).any(|kind| matches!(kind, RegionKind::Lambda));
        if !is_lazy && function.is_some_and(|it| collates.contains(&it) || is_item_of_dataset(model, it)) {
            matches.add(
                call.syntax,
                "this runs in the workers of the DataLoader: each worker creates a CUDA context of several \
                hundred MiB, or fails because the process was forked",
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

/// Checks whether all loaders of the file have no workers.
fn is_unused(model: &Model<'_>) -> bool {
    let mut loaders = model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")).peekable();
    let has_workers =
        |workers: &Expr| workers.as_number_literal_expr().and_then(|it| it.value.as_int()?.as_u64()) != Some(0);
    loaders.peek().is_some() && !loaders.any(|call| call.argument("num_workers", 5).is_some_and(has_workers))
}

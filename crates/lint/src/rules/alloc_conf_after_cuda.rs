//! Allocator settings that come too late.

use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use super::dataset_on_gpu::is_move;
use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::data::NodeId;
use crate::semantics::{Model, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("alloc-conf-after-cuda"),
    effect: Effect::Wastes,
    summary: "`PYTORCH_CUDA_ALLOC_CONF` set after the GPU was used",
    help: "set it before the first tensor is put on the GPU, best in the shell",
    cause: Some("allocator-setting-harmful"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let is_setting = it.targets.iter().any(|target| is_variable(model, target));
        if is_setting && uses_gpu_before(model, id) {
            found.at(statement, "the allocator read its settings when the GPU was used first: this changes nothing");
        }
    }
}

fn is_variable<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let Some(subscript) = target.as_subscript_expr() else { return false };
    let name = subscript.slice.as_string_literal_expr().map_or("", |it| it.value.to_str());
    matches!(name, "PYTORCH_CUDA_ALLOC_CONF" | "PYTORCH_ALLOC_CONF" | "PYTORCH_HIP_ALLOC_CONF")
        && model.path(&subscript.value).as_deref() == Some("os.environ")
}

/// Whether the same body has put something on the GPU, in any case, before a statement.
fn uses_gpu_before(model: &Model<'_>, id: NodeId) -> bool {
    let function = model.function(model.node(id).region);
    let first = model.body(function).0;
    model.calls_between((first, id)).iter().any(|call| {
        let is_here = model.function(call.region) == function
            && model.regions(call.region).all(|kind| {
                !matches!(kind, crate::semantics::data::RegionKind::If(..) | crate::semantics::data::RegionKind::Lambda)
            });
        let receiver = call.method().map(|(receiver, _)| model.value(receiver));
        let moves = is_move(model, call) && matches!(receiver, Some(Value::Module | Value::Tensor(..)));
        is_here && (moves || model.value_of(call).is_on_gpu())
    })
}

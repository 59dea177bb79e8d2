//! Allocator settings after the first use of the GPU.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::NodeId;
use crate::semantics::{Model, ValueKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("alloc-conf-after-cuda"),
    effect: MemoryEffect::Wastes,
    summary: "`PYTORCH_CUDA_ALLOC_CONF` set after the first use of the GPU",
    help: "set the variable before the first tensor is moved to the GPU, best in the shell",
    cause: Some(CauseId::AllocatorSettingHarmful),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let is_setting = it.targets.iter().any(|target| is_variable(model, target));
        if is_setting && uses_gpu_before(model, id) {
            matches.add(
                statement,
                "the allocator reads its settings at the first use of the GPU: this assignment \
                                   has no effect",
            );
        }
    }
}

fn is_variable<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let Some(subscript) = target.as_subscript_expr() else { return false };
    let name = subscript.slice.as_string_literal_expr().map_or("", |it| it.value.to_str());
    matches!(name, "PYTORCH_CUDA_ALLOC_CONF" | "PYTORCH_ALLOC_CONF" | "PYTORCH_HIP_ALLOC_CONF")
        && model.path(&subscript.value).as_deref() == Some("os.environ")
}

/// Checks whether the same body certainly uses the GPU before a statement.
fn uses_gpu_before(model: &Model<'_>, id: NodeId) -> bool {
    let function = model.function(model.node(id).region);
    let first = model.body(function).0;
    model.calls_between((first, id)).iter().any(|call| {
        let is_here = model.function(call.region) == function
            && model.regions(call.region).all(|kind| {
                !matches!(kind, crate::semantics::data::RegionKind::If(..) | crate::semantics::data::RegionKind::Lambda)
            });
        let receiver = call.method().map(|(receiver, _)| model.value(receiver));
        let moves = model.is_move_to_gpu(call) && matches!(receiver, Some(ValueKind::Module | ValueKind::Tensor(..)));
        is_here && (moves || model.value_of(call).is_on_gpu())
    })
}

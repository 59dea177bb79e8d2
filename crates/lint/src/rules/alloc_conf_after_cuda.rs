//! Allocator settings after the first use of the GPU.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::allocator::{AllocatorSetting, VARIABLES};
use crate::semantics::data::{NodeId, Syntax};

pub(super) const RULE: Rule = Rule {
    id: RuleId("alloc-conf-after-cuda"),
    effect: MemoryEffect::Wastes,
    summary: "`PYTORCH_CUDA_ALLOC_CONF` set after the first use of the GPU",
    help: "set the variable before the first tensor is moved to the GPU, best in the shell",
    cause: Some(CauseId::AllocatorSettingHarmful),
    check,
};

/// Calls that start processes, which inherit the variable.
const STARTERS: [&str; 5] = ["subprocess.", "torch.multiprocessing.", "multiprocessing.", "os.exec", "os.spawn"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    let settings = model.allocator_settings();
    report_late_imports(model, matches, &settings);
    for setting in settings {
        let is_known = setting.is_of_process && VARIABLES.contains(&setting.variable.as_str());
        if !is_known || starts_processes(model, setting.at) {
            continue;
        }
        if model.is_gpu_used_before(setting.at) || is_changed_between_uses(model, &setting) {
            let message = "the allocator reads its settings at the first use of the GPU: this assignment has no effect";
            match model.node(setting.at).syntax {
                Syntax::Statement(it) => matches.add(it, message),
                Syntax::Expression(it) => matches.add(it, message),
            };
        }
    }
}

/// A module that sets the variable, imported after the first use of the GPU.
fn report_late_imports(model: &Model<'_>, matches: &mut Matches, settings: &[AllocatorSetting<'_>]) {
    let is_run_by_import =
        |it: &&AllocatorSetting<'_>| it.is_of_process && model.function(model.node(it.at).region).is_none();
    let nodes: Vec<NodeId> = settings.iter().filter(is_run_by_import).map(|it| it.at).collect();
    if nodes.is_empty() {
        return;
    }
    for (id, statement) in model.late_imports(&nodes) {
        if model.is_gpu_used_before(id) {
            matches.add(
                statement,
                "this import sets the allocator after the first use of the GPU: the setting has no effect",
            );
        }
    }
}

/// Checks whether the function starts processes after a node.
fn starts_processes(model: &Model<'_>, id: NodeId) -> bool {
    let last = model.body(model.function(model.node(id).region)).1;
    model
        .calls_between((id, last))
        .iter()
        .any(|call| call.path.as_deref().is_some_and(|path| STARTERS.iter().any(|starter| path.starts_with(starter))))
}

/// Checks for a loop with another setting in each iteration: the GPU is used between them.
fn is_changed_between_uses(model: &Model<'_>, setting: &AllocatorSetting<'_>) -> bool {
    let Some(around) = model.loops(model.node(setting.at).region).next() else { return false };
    let last = model.tree.loops[around.index()].body.1;
    let changes = !setting.assigned.is_literal_expr();
    changes && model.calls_between((setting.at, last)).iter().any(|call| model.uses_gpu(call))
}

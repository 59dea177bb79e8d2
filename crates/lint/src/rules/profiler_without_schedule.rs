//! A profiler that records without end.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::{LoopId, RegionKind, Syntax};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("profiler-without-schedule"),
    effect: MemoryEffect::Grows,
    summary: "a profiler around a training loop, without a schedule",
    help: "pass `schedule=torch.profiler.schedule(...)` and call `prof.step()`",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut reported = Vec::new();
    for (index, it) in model.tree.loops.iter().enumerate() {
        let id = LoopId(u32::try_from(index).unwrap_or(u32::MAX));
        if !model.is_step_loop(id) || !model.is_over_batches(id) || leaves_early(model, id) {
            continue;
        }
        let managers = model.regions(it.outside).filter_map(|kind| match kind {
            RegionKind::With(with) => with.items.iter().find_map(|item| model.call(&item.context_expr)),
            _ => None,
        });
        for profiler in managers.filter(|call| call.is("torch.profiler.profile")) {
            let is_open = profiler.argument("schedule", 1).is_none() && !profiler.has_unpacked();
            if is_open && !reported.contains(&profiler.id) {
                reported.push(profiler.id);
                matches.add(
                    &profiler.syntax.range(),
                    "every operation of every step stays in host memory until the block ends",
                );
            }
        }
    }
}

/// Checks for a `break`: the loop ends after a few steps.
fn leaves_early(model: &Model<'_>, id: LoopId) -> bool {
    let (first, last) = model.tree.loops[id.index()].body;
    let nodes = model.tree.nodes.get(first.index()..=last.index()).unwrap_or_default();
    nodes.iter().any(|node| matches!(node.syntax, Syntax::Statement(Stmt::Break(_))))
}

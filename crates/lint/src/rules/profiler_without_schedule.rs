//! A profiler that records without end.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{LoopId, NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("profiler-without-schedule"),
    effect: MemoryEffect::Grows,
    summary: "a profiler around a training loop, without a schedule",
    help: "pass `schedule=torch.profiler.schedule(...)` and call `prof.step()`",
    cause: Some(CauseId::HostMemory),
    check,
};

const MESSAGE: &str = "every operation of every step stays in host memory until the profiler stops";

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut reported = Vec::new();
    let loops: Vec<LoopId> = (0..).map(LoopId).take(model.tree.loops.len()).filter(|&id| is_long(model, id)).collect();
    for &id in &loops {
        let outside = model.tree.loops[id.index()].outside;
        let managers = model.regions(outside).filter_map(|kind| match kind {
            RegionKind::With(with) => with.items.iter().find_map(|item| profiler(model, &item.context_expr)),
            _ => None,
        });
        for profiler in managers.chain(started(model, id)) {
            if is_open(profiler) && !reported.contains(&profiler.id) {
                reported.push(profiler.id);
                matches.add(&profiler.syntax.range(), MESSAGE);
            }
        }
    }
}

fn is_open(profiler: &Call<'_>) -> bool {
    profiler.argument("schedule", 1).is_none() && !profiler.has_unpacked()
}

/// Checks whether a loop works through a loader: all batches, until its end.
fn is_long(model: &Model<'_>, id: LoopId) -> bool {
    model.is_step_loop(id)
        && !leaves_early(model, id)
        && (model.is_over_batches(id) || is_over_named_batches(model, id))
}

/// Checks by its name whether a training loop iterates over batches.
fn is_over_named_batches(model: &Model<'_>, id: LoopId) -> bool {
    let Some(iterated) = model.tree.loops[id.index()].iterated else { return false };
    let name = model.source(iterated).to_ascii_lowercase();
    let is_batches = ["loader", "batches", "dataset"].iter().any(|word| name.contains(word));
    is_batches && !name.contains("islice") && model.work_of_loop(id).steps > 0
}

/// Returns the call that made a profiler: the expression, or the value of a name or an attribute.
fn profiler<'m, 'a>(model: &'m Model<'a>, manager: &'a Expr) -> Option<&'m Call<'a>> {
    let made = std::iter::once(manager).chain(model.origins(manager));
    made.filter_map(|it| model.call(it)).find(|call| {
        call.is_any(&["torch.profiler.profile", "torch.autograd.profiler.profile", "torch.profiler.profiler.profile"])
    })
}

/// Returns the profilers that are started in front of a loop, by `start()`.
fn started<'m, 'a>(model: &'m Model<'a>, id: LoopId) -> impl Iterator<Item = &'m Call<'a>> {
    let it = &model.tree.loops[id.index()];
    let function = model.function(it.outside);
    let around: Vec<NodeId> = model.loops(it.outside).map(|outer| model.tree.loops[outer.index()].node).collect();
    let first = around.iter().min().copied().unwrap_or(it.node);
    let before = model.calls_between((model.body(function).0, first)).iter();
    before.filter_map(move |call| {
        let (receiver, _) = call.method().filter(|(_, method)| matches!(*method, "start" | "__enter__"))?;
        let is_asked = model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(..)));
        profiler(model, receiver).filter(|_| !is_asked && model.function(call.region) == function)
    })
}

/// Checks for a `break`: the loop ends after a few steps.
fn leaves_early(model: &Model<'_>, id: LoopId) -> bool {
    let (first, last) = model.tree.loops[id.index()].body;
    let nodes = model.tree.nodes.get(first.index()..=last.index()).unwrap_or_default();
    nodes.iter().any(|node| matches!(node.syntax, Syntax::Statement(Stmt::Break(_))))
}

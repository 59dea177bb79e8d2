//! A profiler that records without end.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, LoopId, NodeId, RegionId, RegionKind, Syntax};
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

/// The largest number of functions between a profiler and a loop.
const MOST_FUNCTIONS: usize = 12;

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
        for profiler in managers.chain(started(model, id)).chain(around_calls(model, id)) {
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
        if model.function(call.region) != function || is_asked(model, call) {
            return None;
        }
        let inner = model.callee(call).map(|it| model.calls_between(model.body(Some(it)))).unwrap_or_default();
        opened(model, call).or_else(|| inner.iter().filter(|it| !is_asked(model, it)).find_map(|it| opened(model, it)))
    })
}

/// Returns the profiler that a call opens for longer than a block: `prof.start()`, `stack.enter_context(prof)`.
fn opened<'m, 'a>(model: &'m Model<'a>, call: &Call<'a>) -> Option<&'m Call<'a>> {
    match call.method()? {
        (receiver, "start" | "__enter__") => profiler(model, receiver),
        (_, "enter_context") => profiler(model, call.syntax.arguments.args.first()?),
        _ => None,
    }
}

fn is_asked(model: &Model<'_>, call: &Call<'_>) -> bool {
    model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(..)))
}

/// Returns the profilers around the calls of the function of a loop: in a block, or in the wrapper of a decorator.
fn around_calls<'m, 'a>(model: &'m Model<'a>, id: LoopId) -> Vec<&'m Call<'a>> {
    let mut found = Vec::new();
    let mut pending: Vec<FunctionId> = model.function(model.tree.loops[id.index()].outside).into_iter().collect();
    let mut seen = pending.clone();
    while let Some(function) = pending.pop().filter(|_| seen.len() < MOST_FUNCTIONS) {
        let mut regions: Vec<RegionId> = model.callers(function).map(|call| call.region).collect();
        regions.extend(calls_of_wrappers(model, function));
        for region in regions {
            let managers = model.regions(region).filter_map(|kind| match kind {
                RegionKind::With(with) => with.items.iter().find_map(|item| profiler(model, &item.context_expr)),
                _ => None,
            });
            found.extend(managers);
            pending.extend(model.function(region).filter(|it| !seen.contains(it)));
            seen.extend(model.function(region));
        }
    }
    found
}

/// Returns the regions in which the decorators of a function call their argument.
fn calls_of_wrappers(model: &Model<'_>, function: FunctionId) -> Vec<RegionId> {
    let decorators = model.tree.functions[function.index()].syntax.decorator_list.iter();
    let named = decorators
        .filter_map(|it| model.function_named(it.expression.as_call_expr().map_or(&it.expression, |it| &it.func)));
    named.flat_map(|decorator| {
        let is_argument = |call: &&Call<'_>| {
            let name = call.syntax.func.as_name_expr();
            name.is_some_and(|it| {
                let definition = model.definition(it);
                let bindings = match &model.tree.definitions[definition.index()].binding {
                    Binding::Outer(symbol) => model.tree.symbols[symbol.index()].bindings.clone(),
                    _ => vec![definition],
                };
                bindings.iter().any(|it| {
                    matches!(model.tree.definitions[it.index()].binding, Binding::Parameter(of, ..) if is_within(model, of, decorator))
                })
            })
        };
        model.calls().iter().filter(is_argument).map(|call| call.region).collect::<Vec<_>>()
    }).collect()
}

/// Checks whether a function is another, or is defined in the other.
fn is_within(model: &Model<'_>, function: FunctionId, around: FunctionId) -> bool {
    function == around || model.function(model.tree.functions[function.index()].outside) == Some(around)
}

/// Checks for a `break`: the loop ends after a few steps.
fn leaves_early(model: &Model<'_>, id: LoopId) -> bool {
    let (first, last) = model.tree.loops[id.index()].body;
    let nodes = model.tree.nodes.get(first.index()..=last.index()).unwrap_or_default();
    nodes.iter().any(|node| matches!(node.syntax, Syntax::Statement(Stmt::Break(_))))
}

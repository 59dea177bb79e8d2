//! `itertools.cycle(loader)`: a copy of the dataset.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, LoopId, NodeId};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cycle-keeps-batches"),
    effect: MemoryEffect::Grows,
    summary: "`itertools.cycle` of a DataLoader",
    help: "write `while True: yield from loader`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

/// Functions that store the items of the first pass for later ones.
const KEEPERS: [&str; 2] = ["itertools.cycle", "more_itertools.ncycles"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_any(&KEEPERS)) {
        let Some(items) = call.syntax.arguments.args.first() else { continue };
        if model.gives_batches(items) || model.is_called_loader(items) || is_used_as_batches(model, call, items) {
            matches.add(
                call.syntax,
                "`cycle` stores every item for later passes: all batches of the first pass stay in memory, and \
                later passes are not shuffled",
            );
        }
    }
}

/// Checks whether a training moves the items of a cycle to the GPU: in the loop over the cycle, or after `next`.
fn is_used_as_batches<'a>(model: &Model<'a>, cycle: &Call<'a>, items: &'a Expr) -> bool {
    let is_known = |it: &&Expr| !matches!(it, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Call(_));
    if model.option_values(items).iter().any(is_known) || model.call(items).is_some_and(|it| it.is("range")) {
        return false;
    }
    match model.statement(cycle.id) {
        Some((id, Stmt::For(_))) => is_moved_in_loop(model, id, cycle),
        Some((_, Stmt::Assign(_) | Stmt::AnnAssign(_))) => {
            model.calls().iter().filter(|call| call.is("next")).any(|call| is_moved_item(model, call, cycle))
        }
        _ => false,
    }
}

/// `for (x, y), (z,) in zip(cycle(labeled), unlabeled)` around a backward
fn is_moved_in_loop(model: &Model<'_>, statement: NodeId, cycle: &Call<'_>) -> bool {
    let loops = (0_u32..).map(LoopId).zip(&model.tree.loops);
    let mut around = loops.filter(|(_, it)| it.node == statement);
    around.any(|(id, it)| {
        let place = it.iterated.and_then(|it| model.call(it)).and_then(|zip| {
            zip.syntax.arguments.args.iter().position(|it| model.id(it).is_some_and(|it| it == cycle.id))
        });
        model.work_of_loop(id).backwards > 0
            && model.calls_between(it.body).iter().any(|call| is_move_of(model, call, place))
    })
}

/// Checks for `x.to(device)` of an item of a loop, at a place of the `zip`.
fn is_move_of(model: &Model<'_>, call: &Call<'_>, place: Option<usize>) -> bool {
    let object = call.method().filter(|(_, name)| matches!(*name, "to" | "cuda")).and_then(|(it, _)| Model::root(it));
    object.is_some_and(|name| match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Element(_, path) => place.is_none() || path.first() == place.as_ref(),
        _ => false,
    })
}

/// `x, y = next(cycled)` and `x.to(device)`
fn is_moved_item<'a>(model: &Model<'a>, next: &Call<'a>, cycle: &Call<'a>) -> bool {
    let iterator = next.syntax.arguments.args.first();
    let is_it = |it: &'a Expr| model.id(it) == Some(cycle.id);
    if !iterator.is_some_and(|it| model.option_values(it).into_iter().any(is_it)) {
        return false;
    }
    let body = model.body(model.function(next.region));
    model.calls_between(body).iter().any(|call| {
        let object =
            call.method().filter(|(_, name)| matches!(*name, "to" | "cuda")).and_then(|(it, _)| Model::root(it));
        object.is_some_and(|name| match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Value(value) | Binding::Item(value, _) => model.id(*value) == Some(next.id),
            _ => false,
        })
    })
}

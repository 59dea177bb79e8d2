//! `x = torch.cat([x, y])` for every batch.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, LoopId, NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cat-in-loop"),
    effect: MemoryEffect::Style,
    summary: "a tensor that grows by `torch.cat` with every batch",
    help: "append to a list, and call `torch.cat` once after the loop",
    cause: Some(CauseId::GrowingCollection),
    check,
};

/// The functions that join tensors.
const JOINS: [&str; 5] = ["torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"];

/// Words of names whose whole value the next step needs: a generated sequence, and its mask.
const SEQUENCES: [&str; 7] = ["ids", "idx", "token", "seq", "mask", "prompt", "context"];

/// Words of loops over the few parts of a model.
const PARTS: [&str; 7] = ["layer", "level", "scale", "head", "block", "stage", "branch"];

/// The smallest constant number of iterations that is reported.
const MANY: u64 = 16;

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| is_reduction(model, call)) {
        let message = "all tensors so far are copied with every new one: quadratic time, and each copy needs a block of a new size";
        matches.add(call.syntax, message);
    }
    for call in model.calls().iter().filter(|call| call.is_any(&JOINS)) {
        let Some((id, target)) = grown(model, call) else { continue };
        let name = model.source(target);
        let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        if !SEQUENCES.iter().any(|word| last.contains(word)) && is_collected(model, call, id, target) {
            let message = format!(
                "all of `{name}` is copied with every batch: quadratic time, and each copy needs a block of a new size"
            );
            matches.add(call.syntax, message);
        }
    }
}

/// `reduce(lambda all, new: torch.cat([all, new]), batches)`
fn is_reduction<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let [Expr::Lambda(lambda), items, ..] = &*call.syntax.arguments.args else { return false };
    let is_reduce = call.is_any(&["functools.reduce", "itertools.accumulate"]);
    let joined = model.call(&lambda.body).filter(|it| is_reduce && it.is_any(&JOINS));
    let parameters = lambda.parameters.iter().flat_map(|it| it.iter_non_variadic_params());
    let names: Vec<&str> = parameters.map(|it| it.parameter.name.as_str()).collect();
    let joins = |call: &Call<'a>| {
        let tensors = call.argument("tensors", 0);
        names.len() == 2 && tensors.is_some_and(|it| names.iter().all(|name| model.mentions(it, name)))
    };
    joined.is_some_and(joins) && yields_many(model, items)
}

/// Checks for batches, a comprehension over them, or a generator.
fn yields_many<'a>(model: &Model<'a>, items: &'a Expr) -> bool {
    match items {
        Expr::Generator(it) => it.generators.first().is_some_and(|it| yields_many(model, &it.iter)),
        Expr::ListComp(it) => it.generators.first().is_some_and(|it| yields_many(model, &it.iter)),
        Expr::Call(it) => {
            let Some(call) = model.call(items) else { return false };
            let mapped = it.arguments.args.get(1).filter(|_| call.is("map"));
            model.is_called_batches(items)
                || mapped.is_some_and(|it| yields_many(model, it))
                || method_of(model, call).is_some_and(|it| model.tree.functions[it.index()].yields)
        }
        items => model.is_called_batches(items),
    }
}

/// Returns the statement and the target of `target = join([target, value])`, also in one branch of a condition.
fn grown<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<(NodeId, &'a Expr)> {
    let elements = match call.argument("tensors", 0)? {
        Expr::List(it) => &it.elts,
        Expr::Tuple(it) => &it.elts,
        _ => return None,
    };
    let (id, Stmt::Assign(it)) = model.statement(call.id)? else { return None };
    let [target] = it.targets.as_slice() else { return None };
    let is_call = |it: &Expr| it.as_call_expr().is_some_and(|it| std::ptr::eq(it, call.syntax));
    let (target, value) = match (target, &*it.value) {
        (Expr::Tuple(targets), Expr::Tuple(values)) => {
            let mut pairs = targets.elts.iter().zip(&values.elts);
            pairs.find(|(_, value)| is_call(value))?
        }
        pair => pair,
    };
    let is_whole = is_call(value) || value.as_if_expr().is_some_and(|it| is_call(&it.body) || is_call(&it.orelse));
    let is_target = |it: &'a Expr| model.source(it) == model.source(target) || is_copy(model, it, target);
    let has_target = elements.first().is_some_and(is_target) || elements.last().is_some_and(is_target);
    (is_whole && elements.len() > 1 && has_target).then_some((id, target))
}

/// `old` of `old = kept[key]`
fn is_copy<'a>(model: &Model<'a>, element: &'a Expr, target: &'a Expr) -> bool {
    let Some(name) = element.as_name_expr() else { return false };
    match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Value(value) => !target.is_name_expr() && model.source(*value) == model.source(target),
        _ => false,
    }
}

/// Checks whether a loop of many iterations only collects the target: directly, or by calls of the method around.
fn is_collected<'a>(model: &Model<'a>, call: &Call<'a>, id: NodeId, target: &'a Expr) -> bool {
    if let Some(around) = model.loops(call.region).find(|&it| !is_indexed_by(model, target, it)) {
        return is_long(model, around)
            && is_carried(model, id, target, around)
            && is_only_kept(model, target, id, around);
    }
    let Some(function) = model.function(call.region).filter(|_| Model::root_is_self(target)) else { return false };
    let body = model.body(Some(function));
    is_used_in_tests_alone(model, target, id, body)
        && model.callers(function).any(|caller| is_collected_by(model, caller, function, target))
}

/// Checks whether a loop collects by the calls of a method, and calls no other method that reads the target.
fn is_collected_by<'a>(model: &Model<'a>, caller: &Call<'a>, method: FunctionId, target: &'a Expr) -> bool {
    let Some(around) = model.loops(caller.region).next().filter(|&it| is_long(model, it)) else { return false };
    let body = model.tree.loops[around.index()].body;
    let object = caller.method().map(|(object, _)| object);
    let is_older = object.is_some_and(|it| model.outlives_step(it, around));
    let root = attribute(target);
    let reads = |call: &Call<'a>| {
        let run = model.callee(call).filter(|&it| it != method);
        run.is_some_and(|it| mentions(model, model.body(Some(it)), root, model.source(root)))
    };
    is_older && !model.calls_between(body).iter().any(reads) && !mentions(model, body, root, model.source(root))
}

/// Returns the attribute of `self` within a target: `self.data` of `self.data[key]`.
fn attribute(target: &Expr) -> &Expr {
    match target {
        Expr::Subscript(it) => attribute(&it.value),
        other => other,
    }
}

fn mentions(model: &Model<'_>, range: (NodeId, NodeId), kind: &Expr, text: &str) -> bool {
    model
        .expressions(range)
        .any(|(_, it)| it.is_attribute_expr() == kind.is_attribute_expr() && model.source(it) == text)
}

/// Checks whether an index of the target is the variable of a loop: each iteration has a target of its own.
fn is_indexed_by<'a>(model: &Model<'a>, target: &'a Expr, around: LoopId) -> bool {
    if !target.is_subscript_expr() {
        return false;
    }
    let Syntax::Statement(Stmt::For(statement)) = model.node(model.tree.loops[around.index()].node).syntax else {
        return false;
    };
    let mut names = Vec::new();
    names_of(&statement.target, &mut names);
    names.iter().any(|name| model.mentions(target, name))
}

fn names_of<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(it) => names.push(it.id.as_str()),
        Expr::Tuple(it) => it.elts.iter().for_each(|it| names_of(it, names)),
        _ => {}
    }
}

/// Checks for a loop over batches or samples, not over the few parts of a model.
fn is_long(model: &Model<'_>, around: LoopId) -> bool {
    let Some(iterated) = model.tree.loops[around.index()].iterated else { return model.is_loop_of_steps(around) };
    if model.is_called_batches(iterated) {
        return true;
    }
    let text = model.source(iterated);
    let Some(range) = counted(model, iterated) else { return false };
    let variable = match model.node(model.tree.loops[around.index()].node).syntax {
        Syntax::Statement(Stmt::For(it)) => model.source(&*it.target),
        _ => "",
    };
    let is_few = PARTS.iter().any(|word| text.contains(word) || variable.contains(word));
    let constants =
        range.syntax.arguments.args.iter().map(|it| {
            it.as_number_literal_expr().and_then(|it| it.value.as_int()).and_then(ruff_python_ast::Int::as_u64)
        });
    !is_few && !constants.clone().all(|it| it.is_some_and(|it| it < MANY)) && constants.count() > 0
}

/// Returns the call of `range` of a loop, within `tqdm` and its like.
fn counted<'m, 'a>(model: &'m Model<'a>, iterated: &'a Expr) -> Option<&'m Call<'a>> {
    let call = model.call(iterated)?;
    let is_range = call.is("range") || call.path.as_deref().is_some_and(|path| path.ends_with(".trange"));
    if is_range { Some(call) } else { counted(model, call.syntax.arguments.args.first()?) }
}

/// Checks whether the loop carries the target from one iteration to the next.
fn is_carried<'a>(model: &Model<'a>, statement: NodeId, target: &'a Expr, around: LoopId) -> bool {
    let Expr::Name(name) = target else { return model.outlives_step(target, around) };
    let range = (statement, model.node(statement).last);
    let mut uses = model
        .expressions(range)
        .filter_map(|(_, it)| it.as_name_expr())
        .filter(|it| it.id == name.id && it.ctx.is_load());
    uses.any(|it| model.carrying_loop(statement, model.definition(it)) == Some(around))
        && !model.is_reset_in(model.definition(name), around)
        || is_first_assigned(model, name, statement, around)
}

/// `if kept is None: kept = x` and `else: kept = torch.cat([kept, x])`
fn is_first_assigned(model: &Model<'_>, name: &ruff_python_ast::ExprName, statement: NodeId, around: LoopId) -> bool {
    let is_asked = |kind| matches!(kind, RegionKind::If(it, _) if model.source(&*it.test).contains(name.id.as_str()));
    model.regions_within(model.node(statement).region, around).any(is_asked)
}

/// Checks whether a loop uses the target in the join and in conditions alone.
fn is_only_kept<'a>(model: &Model<'a>, target: &'a Expr, join: NodeId, around: LoopId) -> bool {
    is_used_in_tests_alone(model, target, join, model.tree.loops[around.index()].body)
}

fn is_used_in_tests_alone<'a>(model: &Model<'a>, target: &'a Expr, join: NodeId, range: (NodeId, NodeId)) -> bool {
    let (text, last) = (model.source(target), model.node(join).last);
    let mut uses = model.expressions(range).filter(|&(id, it)| {
        !(join <= id && id <= last)
            && std::mem::discriminant(it) == std::mem::discriminant(target)
            && model.source(it) == text
    });
    uses.all(|(id, it)| {
        let is_store = match it {
            Expr::Name(it) => it.ctx.is_store(),
            Expr::Attribute(it) => it.ctx.is_store(),
            Expr::Subscript(it) => it.ctx.is_store(),
            _ => false,
        };
        is_store && is_below_test(model, id, text) || is_in_test(model, id) || is_copied(model, id)
    })
}

fn is_below_test(model: &Model<'_>, id: NodeId, text: &str) -> bool {
    model
        .regions(model.node(id).region)
        .any(|kind| matches!(kind, RegionKind::If(it, _) if model.source(&*it.test).contains(text)))
}

/// `kept is None`, `len(kept) == 0`, `if kept.numel():`
fn is_in_test(model: &Model<'_>, id: NodeId) -> bool {
    match model.node(model.node(id).parent).syntax {
        Syntax::Expression(Expr::Compare(_) | Expr::If(_)) => true,
        Syntax::Statement(it) => it.is_if_stmt(),
        Syntax::Expression(it) => {
            let is_size =
                it.as_attribute_expr().is_some_and(|it| matches!(it.attr.as_str(), "numel" | "shape" | "size"));
            is_size || model.source(it).starts_with("len(")
        }
    }
}

/// `old = kept[key]`
fn is_copied(model: &Model<'_>, id: NodeId) -> bool {
    matches!(model.node(model.node(id).parent).syntax, Syntax::Statement(Stmt::Assign(it)) if model.id(&*it.value) == Some(id))
}

/// Returns the function that a call runs, also for a method of a new object: `Recorder(policy).steps()`.
fn method_of<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<FunctionId> {
    let of_object = || {
        let (object, name) = call.method()?;
        model.method_of(model.class_of_object(object)?, name)
    };
    model.callee(call).or_else(of_object)
}

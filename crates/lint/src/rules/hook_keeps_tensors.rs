//! Activations that a hook puts away.

use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use super::{Found, Rule, fix};
use crate::finding::Effect;
use crate::semantics::data::{Binding, FunctionId, NodeId, Syntax};
use crate::semantics::{Mode, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-keeps-tensors"),
    effect: Effect::Grows,
    summary: "a hook that keeps the tensors it sees with their graph",
    help: "keep `output.detach()`, on the CPU if it is for later",
    cause: Some("saved-intermediates"),
    check,
};

/// Methods that register a function to be called with a module's tensors.
const REGISTER: [&str; 3] = ["register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook"];

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        let Some((_, method)) = call.method() else { continue };
        let Some(hook) = call.syntax.arguments.args.first().filter(|_| REGISTER.contains(&method)) else { continue };
        let function = match hook {
            Expr::Name(name) => model.function_of(model.definition(name)),
            // `get_activation("layer")`: the function that it returns.
            Expr::Call(_) => model.call(hook).and_then(|call| returned(model, model.callee(call)?)),
            _ => None,
        };
        if let Some(function) = function {
            hook_body(model, found, function);
        }
    }
}

fn returned(model: &Model<'_>, factory: FunctionId) -> Option<FunctionId> {
    let value = model.tree.functions[factory.index()].returned.first()?;
    model.function_of(model.definition(value.as_name_expr()?))
}

fn hook_body(model: &Model<'_>, found: &mut Found, function: FunctionId) {
    if model.mode(model.node(model.body(Some(function)).0).region) == Mode::Off {
        return;
    }
    for call in model.calls_between(model.body(Some(function))).iter().filter(|call| call.is_method("append")) {
        if let ([kept], Some((list, _))) = (&*call.syntax.arguments.args, call.method()) {
            let is_emptied = model.is_emptied(list, model.body(None));
            if is_parameter(model, function, kept)
                && is_outer(model, list)
                && !is_emptied
                && outlives_forward(model, list)
            {
                let message = format!(
                    "`{}` gets every forward's `{}` with its graph, and is emptied nowhere",
                    model.source(list),
                    model.source(kept)
                );
                found.at(kept, message).fix = fix::detach(kept);
            }
        }
    }
    for (_, statement) in model.statements().filter(|(id, _)| model.function(model.node(*id).region) == Some(function))
    {
        let Stmt::Assign(it) = statement else { continue };
        let is_kept = matches!(it.targets.as_slice(), [Expr::Subscript(_) | Expr::Attribute(_)]);
        let is_outside = it.targets.iter().all(|target| is_outer(model, target));
        let is_wanted = it.targets.first().is_some_and(|target| is_read_with_graph(model, function, target));
        if is_kept && is_outside && !is_wanted && is_parameter(model, function, &it.value) {
            let message = format!(
                "`{}` is kept with its graph until the next forward, through backward and step",
                model.source(&*it.value)
            );
            let place = found.at(&*it.value, message);
            place.effect = Some(Effect::Wastes);
            place.fix = fix::detach(&it.value);
        }
    }
}

/// Whether an expression is a parameter of the hook itself: the input or the output, not the module.
fn is_parameter(model: &Model<'_>, function: FunctionId, kept: &Expr) -> bool {
    let name = match kept {
        Expr::Subscript(it) => it.value.as_name_expr(),
        _ => kept.as_name_expr(),
    };
    name.is_some_and(|name| match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Parameter(of, index, _) => *of == function && *index >= 1 && name.id.as_str() != "self",
        _ => false,
    })
}

/// Whether an object is there before the hook runs: of an outer scope, or `self`.
fn is_outer<'a>(model: &Model<'a>, object: &'a Expr) -> bool {
    Model::root(object).is_some_and(|root| match &model.tree.definitions[model.definition(root).index()].binding {
        Binding::Outer(_) => true,
        Binding::Parameter(..) => root.id.as_str() == "self",
        _ => false,
    })
}

/// Whether a list is there for more than one forward: of the module, of an object, or of a function that goes through batches.
fn outlives_forward<'a>(model: &Model<'a>, list: &'a Expr) -> bool {
    let Some(root) = Model::root(list) else { return false };
    let Binding::Outer(symbol) = &model.tree.definitions[model.definition(root).index()].binding else { return true };
    let bindings = &model.tree.symbols[symbol.index()].bindings;
    bindings.iter().all(|it| {
        let owner = model.function(model.tree.definitions[it.index()].region);
        let mut forwards = model.calls().iter().filter(|call| model.is_forward(call));
        owner.is_none()
            || forwards.any(|it| model.function(it.region) == owner && model.loops(it.region).next().is_some())
    })
}

/// Whether what a hook keeps may be read as it is, not detached: a loss may go through it. What `self` keeps and this file does not read,
/// somebody else does.
fn is_read_with_graph<'a>(model: &Model<'a>, hook: FunctionId, target: &'a Expr) -> bool {
    let kept = match target {
        Expr::Subscript(it) => &it.value,
        _ => target,
    };
    let body = model.body(Some(hook));
    let is_read = |&(id, it): &(NodeId, &Expr)| !(body.0 <= id && id <= body.1) && is_same_place(kept, it);
    let reads: Vec<NodeId> = model.expressions(model.body(None)).filter(is_read).map(|(id, _)| id).collect();
    (reads.is_empty() && Model::root_is_self(kept)) || reads.into_iter().any(|id| !is_detached(model, id))
}

/// Whether an expression reads the name, or an attribute of that name of any object.
fn is_same_place(kept: &Expr, read: &Expr) -> bool {
    match (kept, read) {
        (Expr::Name(kept), Expr::Name(read)) => read.ctx.is_load() && kept.id == read.id,
        (Expr::Attribute(kept), Expr::Attribute(read)) => {
            read.ctx.is_load() && kept.attr.as_str() == read.attr.as_str()
        }
        _ => false,
    }
}

/// Whether a value goes no further than `.detach()`, or a number of it.
fn is_detached(model: &Model<'_>, mut id: NodeId) -> bool {
    loop {
        let parent = model.node(id).parent;
        match model.node(parent).syntax {
            Syntax::Expression(Expr::Attribute(it)) if matches!(it.attr.as_str(), "detach" | "shape" | "clear") => {
                return true;
            }
            Syntax::Expression(Expr::Attribute(_) | Expr::Subscript(_) | Expr::Call(_)) if parent != id => id = parent,
            _ => return false,
        }
    }
}

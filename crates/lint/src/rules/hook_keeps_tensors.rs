//! Activations stored by a hook.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::edits;
use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, NodeId, Syntax};
use crate::semantics::{Mode, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-keeps-tensors"),
    effect: MemoryEffect::Grows,
    summary: "a hook that keeps module inputs or outputs with their graph",
    help: "keep `output.detach()`, or `output.detach().cpu()` for later use",
    cause: Some(CauseId::SavedIntermediates),
    check,
};

/// Methods that register a hook on the tensors of a module.
const REGISTER: [&str; 3] = ["register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some((_, method)) = call.method() else { continue };
        let Some(hook) = call.syntax.arguments.args.first().filter(|_| REGISTER.contains(&method)) else { continue };
        let function = match hook {
            Expr::Name(name) => model.function_of(model.definition(name)),
            // `get_activation("layer")` returns the hook.
            Expr::Call(_) => model.call(hook).and_then(|call| returned_function(model, model.callee(call)?)),
            _ => None,
        };
        if let Some(function) = function {
            hook_body(model, matches, function);
        }
    }
}

fn returned_function(model: &Model<'_>, factory: FunctionId) -> Option<FunctionId> {
    let value = model.tree.functions[factory.index()].returned.first()?;
    model.function_of(model.definition(value.as_name_expr()?))
}

fn hook_body(model: &Model<'_>, matches: &mut Matches, function: FunctionId) {
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
                    "`{}` collects `{}` of every forward with its graph and is never emptied",
                    model.source(list),
                    model.source(kept)
                );
                matches.add(kept, message).fix = edits::detach(kept);
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
            let place = matches.add(&*it.value, message);
            place.effect = Some(MemoryEffect::Wastes);
            place.fix = edits::detach(&it.value);
        }
    }
}

/// Checks whether an expression is the input or the output parameter of the hook.
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

/// Checks whether an object exists before the hook runs: a name of an outer scope, or `self`.
fn is_outer<'a>(model: &Model<'a>, object: &'a Expr) -> bool {
    Model::root(object).is_some_and(|root| match &model.tree.definitions[model.definition(root).index()].binding {
        Binding::Outer(_) => true,
        Binding::Parameter(..) => root.id.as_str() == "self",
        _ => false,
    })
}

/// Checks whether a list lives longer than one forward: a list of the module, of an object, or of a function with a loop over batches.
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

/// Checks whether the stored tensor may be read with its graph, for example by a loss. An attribute of `self` without a read in this file
/// counts as read elsewhere.
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

/// Checks whether an expression reads the stored name, or an attribute of the same name.
fn is_same_place(kept: &Expr, read: &Expr) -> bool {
    match (kept, read) {
        (Expr::Name(kept), Expr::Name(read)) => read.ctx.is_load() && kept.id == read.id,
        (Expr::Attribute(kept), Expr::Attribute(read)) => {
            read.ctx.is_load() && kept.attr.as_str() == read.attr.as_str()
        }
        _ => false,
    }
}

/// Checks whether a value is only used detached, or for its shape.
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

//! Activations stored by a hook.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, ExprLambda, ExprName, Stmt};

use crate::edits;
use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, DefinitionId, FunctionId, NodeId, Syntax};
use crate::semantics::{Call, HookFunction, Mode, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-keeps-tensors"),
    effect: MemoryEffect::Grows,
    summary: "a hook that keeps module inputs, outputs or gradients",
    help: "keep `output.detach()`, or `output.detach().cpu()` for later use",
    cause: Some(CauseId::SavedIntermediates),
    check,
};

/// Methods that register a hook on the tensors of a module.
const FORWARD: [&str; 3] = ["register_forward_hook", "register_forward_pre_hook", "register_module_forward_hook"];
/// Methods that register a hook on the gradients of a module.
const BACKWARD: [&str; 3] =
    ["register_full_backward_hook", "register_backward_hook", "register_module_full_backward_hook"];

/// A hook, and the tensors that the hook gets.
#[derive(Clone, Copy)]
struct KeepingHook {
    function: FunctionId,
    /// The index of the first parameter with tensors.
    first: usize,
    /// True if the tensors are gradients, which have no graph.
    is_of_gradients: bool,
}

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut seen = Vec::new();
    for call in model.calls() {
        let Some(method) = registering(call) else { continue };
        // The hook of a tensor gets a gradient, all others get the module first.
        let (is_of_gradients, skipped) = match method {
            _ if FORWARD.contains(&method) => (false, 1),
            _ if BACKWARD.contains(&method) => (true, 1),
            "register_hook" | "register_post_accumulate_grad_hook" => (true, 0),
            _ => continue,
        };
        let Some(hook) = call.syntax.arguments.args.first() else { continue };
        if model.mode(call.region) == Mode::Off {
            continue;
        }
        if let Expr::Lambda(lambda) = hook {
            hook_lambda(model, matches, lambda, is_of_gradients);
        } else if let Some(HookFunction { function, bound }) = model.hook_function(hook)
            && !seen.contains(&function)
        {
            seen.push(function);
            hook_body(model, matches, KeepingHook { function, first: bound.saturating_add(skipped), is_of_gradients });
        }
    }
}

/// Returns the name of a method, or of the function for the hooks of all modules.
fn registering<'m>(call: &'m Call<'_>) -> Option<&'m str> {
    match call.path.as_deref() {
        Some(path) => path.starts_with("torch.").then(|| path.rsplit('.').next()).flatten(),
        None => call.method().map(|(_, method)| method),
    }
}

/// `lambda module, inputs, output: outputs.append(output)`
fn hook_lambda<'a>(model: &Model<'a>, matches: &mut Matches, lambda: &'a ExprLambda, is_of_gradients: bool) {
    let Some(call) = model.call(&lambda.body).filter(|call| call.is_method("append")) else { return };
    let ([kept], Some((list, _))) = (&*call.syntax.arguments.args, call.method()) else { return };
    let parameters: Vec<&str> =
        lambda.parameters.iter().flat_map(|it| it.iter()).map(|it| it.name().as_str()).collect();
    let is_last = kept_name(kept, is_of_gradients).is_some_and(|it| parameters.last() == Some(&it.id.as_str()));
    let is_local = Model::root(list).is_some_and(|it| parameters.contains(&it.id.as_str()));
    if is_last && !is_local && !is_emptied(model, list) && outlives_forward(model, list) {
        report_collected(model, matches, list, kept, is_of_gradients);
    }
}

fn hook_body(model: &Model<'_>, matches: &mut Matches, hook: KeepingHook) {
    let function = hook.function;
    if model.mode(model.node(model.body(Some(function)).0).region) == Mode::Off {
        return;
    }
    for call in model.calls_between(model.body(Some(function))) {
        if let Some((list, kept)) = added(model, call)
            && is_parameter(model, hook, kept)
            && is_outer(model, list)
            && !is_emptied(model, list)
            && outlives_forward(model, list)
        {
            report_collected(model, matches, list, kept, hook.is_of_gradients);
        }
    }
    for (_, statement) in model.statements().filter(|(id, _)| model.function(model.node(*id).region) == Some(function))
    {
        let Stmt::Assign(it) = statement else { continue };
        let [target @ (Expr::Subscript(_) | Expr::Attribute(_))] = it.targets.as_slice() else { continue };
        if !is_outer(model, target) || !is_parameter(model, hook, &it.value) {
            continue;
        }
        if is_keyed_by_step(model, target) && !is_emptied(model, target) {
            report_collected(model, matches, target, &it.value, hook.is_of_gradients);
        } else if !hook.is_of_gradients && !is_read_with_graph(model, function, target) {
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

fn report_collected<'a>(
    model: &Model<'a>,
    matches: &mut Matches,
    list: &'a Expr,
    kept: &'a Expr,
    is_of_gradients: bool,
) {
    let (list, name) = (model.source(list), model.source(kept));
    if is_of_gradients {
        matches.add(kept, format!("`{list}` collects `{name}` of every backward on the GPU and is never emptied"));
    } else {
        let message = format!("`{list}` collects `{name}` of every forward with its graph and is never emptied");
        matches.add(kept, message).fix = edits::detach(kept);
    }
}

/// Checks whether an expression is a tensor that the hook gets, with its graph; for gradients, the whole tensor.
fn is_parameter<'a>(model: &Model<'a>, hook: KeepingHook, kept: &'a Expr) -> bool {
    is_parameter_within(model, hook, kept, 4)
}

fn is_parameter_within<'a>(model: &Model<'a>, hook: KeepingHook, kept: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match kept {
        Expr::Tuple(it) => return it.elts.iter().any(|it| is_parameter_within(model, hook, it, left)),
        Expr::Dict(it) => return it.items.iter().any(|it| is_parameter_within(model, hook, &it.value, left)),
        Expr::If(it) => {
            return is_parameter_within(model, hook, &it.body, left)
                && is_parameter_within(model, hook, &it.orelse, left);
        }
        _ => {}
    }
    let name = kept_name(kept, hook.is_of_gradients);
    name.is_some_and(|name| is_given(model, hook, name, model.definition(name), left))
}

/// Checks whether a definition is a parameter of the hook, or a local name for one.
fn is_given(model: &Model<'_>, hook: KeepingHook, name: &ExprName, definition: DefinitionId, left: usize) -> bool {
    match &model.tree.definitions[definition.index()].binding {
        Binding::Parameter(of, index, _) => *of == hook.function && *index >= hook.first && name.id.as_str() != "self",
        Binding::Value(value) | Binding::Item(value, _) | Binding::Element(value, _) => {
            is_parameter_within(model, hook, value, left)
        }
        Binding::Join(inputs, None) => {
            left > 0 && inputs.iter().take(4).all(|it| is_given(model, hook, name, *it, left.saturating_sub(1)))
        }
        _ => false,
    }
}

/// Returns the list and the element of `list.append(element)`, `list.extend([element])`, and `lists.setdefault(key, []).append(element)`.
fn added<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<(&'a Expr, &'a Expr)> {
    let (list, method) = call.method().filter(|_| call.path.is_none())?;
    let element = match (method, &*call.syntax.arguments.args) {
        ("append" | "appendleft" | "add" | "put", [element]) => element,
        ("extend", [Expr::List(it)]) => it.elts.first()?,
        _ => return None,
    };
    let lists = model.call(list).and_then(Call::method).filter(|(_, method)| *method == "setdefault");
    Some((lists.map_or(list, |(lists, _)| lists), element))
}

/// Returns the name of the tensor in `output`, `output[0]`, `output.clone()`, `output.flatten(1)`.
fn kept_name(kept: &Expr, is_of_gradients: bool) -> Option<&ExprName> {
    let keeps = |method: &str| match method {
        "clone" | "float" | "half" | "squeeze" | "unsqueeze" | "view" | "reshape" | "contiguous" | "to" => true,
        "detach" => is_of_gradients,
        "flatten" | "mean" | "sum" | "permute" | "transpose" | "abs" | "pow" | "norm" | "softmax" => !is_of_gradients,
        _ => false,
    };
    match kept {
        Expr::Name(name) => Some(name),
        Expr::Subscript(it) => kept_name(&it.value, is_of_gradients),
        Expr::Call(it) => {
            let method = it.func.as_attribute_expr().filter(|it| keeps(it.attr.as_str()))?;
            let leaves = it
                .arguments
                .args
                .iter()
                .any(|it| it.as_string_literal_expr().is_some_and(|it| it.value.to_str() == "cpu"));
            if leaves { None } else { kept_name(&method.value, is_of_gradients) }
        }
        _ => None,
    }
}

/// Checks whether an entry is new in each step: `states[self.global_step]`.
fn is_keyed_by_step<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let Expr::Subscript(it) = target else { return false };
    let key = model.source(&*it.slice).to_ascii_lowercase();
    let is_text = it.slice.is_string_literal_expr() || key.contains('%');
    !is_text
        && ["step", "iter", "epoch", "counter", "count", "len(", "batch_idx", "calls"]
            .iter()
            .any(|word| key.contains(word))
}

/// Checks whether a list, or the collection of the list, is emptied anywhere but in the constructor.
fn is_emptied<'a>(model: &Model<'a>, list: &'a Expr) -> bool {
    let mut places = vec![list];
    let mut part = list;
    while let Expr::Subscript(it) = part {
        part = &it.value;
        places.push(part);
    }
    let functions = (0..).map(FunctionId).zip(&model.tree.functions);
    let is_constructor = |name: &str| matches!(name, "__init__" | "__post_init__");
    let others = functions.filter(|(_, it)| it.class.is_none() || !is_constructor(it.syntax.name.as_str()));
    let mut ranges: Vec<(NodeId, NodeId)> = others.map(|(id, _)| model.body(Some(id))).collect();
    ranges.push(module_body(model));
    let is_rebound = part.as_name_expr().is_some_and(|it| bindings(model, it) > 1);
    is_rebound || ranges.into_iter().any(|range| places.iter().any(|place| model.is_emptied(place, range)))
}

/// Returns the nodes outside of functions.
fn module_body(model: &Model<'_>) -> (NodeId, NodeId) {
    let first = model.tree.functions.iter().map(|it| it.body.0).min();
    let whole = model.body(None);
    (whole.0, first.map_or(whole.1, |it| NodeId(it.0.saturating_sub(1)).min(whole.1)))
}

/// Returns the number of bindings of a name of an outer scope.
fn bindings(model: &Model<'_>, name: &ExprName) -> usize {
    match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Outer(symbol) => model.tree.symbols[symbol.index()].bindings.len(),
        _ => 0,
    }
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
    if Model::root_is_self(list) {
        return true;
    }
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

//! An unbounded cache of tensors.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, Function};
use crate::semantics::{Call, Model, ValueKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("tensors-in-cache"),
    effect: MemoryEffect::Grows,
    summary: "a cache on a function that returns tensors, or that takes a model",
    help: "bound the cache: `lru_cache(maxsize=1)`, or store the needed results by hand",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for function in &model.tree.functions {
        let cache = function.syntax.decorator_list.iter().find(|it| is_unbounded(model, &it.expression));
        if let Some(cache) = cache.filter(|_| gives_tensor(model, function) && is_sized_by_parameter(model, function)) {
            matches.add(
                &cache.expression,
                "every result stays in memory together with its arguments until the program ends",
            );
        } else if let Some((cache, name)) = cached_model(model, function).or_else(|| cached_holder(model, function)) {
            let message = format!("the cache keeps `{name}` alive, with all of its weights, after its last use");
            matches.add(cache, message);
        }
    }
}

/// Returns the cache of a function of a model, and the parameter that is the model.
fn cached_model<'a>(model: &Model<'a>, function: &Function<'a>) -> Option<(&'a Expr, &'a str)> {
    let is_cache = |it: &&'a Expr| match model.call(it) {
        Some(call) => call.is("functools.lru_cache") && !is_small(call.argument("maxsize", 0)),
        None => matches!(model.path(it).as_deref(), Some("functools.cache" | "functools.lru_cache")),
    };
    let cache = function.syntax.decorator_list.iter().map(|it| &it.expression).find(is_cache)?;
    let methods =
        ["parameters", "named_parameters", "modules", "named_modules", "state_dict", "children", "named_children"];
    let asked = |call: &Call<'a>| {
        let (receiver, _) = call.method().filter(|(_, method)| methods.contains(method))?;
        Some(receiver.as_name_expr()?.id.as_str())
    };
    let names: Vec<&str> = function.syntax.parameters.iter().map(|it| it.name().as_str()).collect();
    let mut asked = model.calls_between(function.body).iter().filter_map(asked);
    let is_module = |class| model.value_of_instance(class) == ValueKind::Module;
    let own = function.class.filter(|class| is_module(*class)).and_then(|_| names.first().copied());
    let is_own = |name: &&str| *name == "self";
    let name = asked.find(|name| names.contains(name)).or(own.filter(is_own))?;
    Some((cache, name))
}

/// Checks for a cache of a few results.
fn is_small(size: Option<&Expr>) -> bool {
    let number = size.and_then(|it| it.as_number_literal_expr()?.value.as_int()?.as_u64());
    number.is_some_and(|it| it <= 8)
}

/// Checks for `@cache` and `@lru_cache(maxsize=None)`.
fn is_unbounded<'a>(model: &Model<'a>, decorator: &'a Expr) -> bool {
    if model.path(decorator).as_deref() == Some("functools.cache") {
        return true;
    }
    let call = model.call(decorator).filter(|call| call.is("functools.lru_cache"));
    call.and_then(|call| call.argument("maxsize", 0)).is_some_and(Expr::is_none_literal_expr)
}

fn gives_tensor(model: &Model<'_>, function: &Function<'_>) -> bool {
    function.returned.iter().any(|it| matches!(model.value(it), ValueKind::Tensor(..)) || is_output(model, it, 8))
}

/// Checks for the output of a model, as long as nothing moves the output to the host.
fn is_output<'a>(model: &Model<'a>, value: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Expr::Subscript(it) => is_output(model, &it.value, left),
        Expr::Name(_) => model.origins(value).first().is_some_and(|it| it.is_call_expr() && is_output(model, it, left)),
        Expr::Attribute(it) => is_output(model, &it.value, left),
        Expr::Call(it) => {
            if model.is_model(&it.func) {
                return true;
            }
            let Some(method) = it.func.as_attribute_expr() else { return false };
            let name = method.attr.as_str();
            if model.is_model(&method.value) {
                return ["forward", "encode", "embed", "get_"].iter().any(|word| name.starts_with(word))
                    && !it.arguments.is_empty();
            }
            let keeps = ["squeeze", "mean", "float", "half", "detach", "clone", "flatten", "pow", "softmax"];
            keeps.contains(&name) && is_output(model, &method.value, left)
        }
        _ => false,
    }
}

/// Returns the cache on a method of a class of which each object holds a model.
fn cached_holder<'a>(model: &Model<'a>, function: &Function<'a>) -> Option<(&'a Expr, &'a str)> {
    let class = function.class?;
    let first = function.syntax.parameters.iter_non_variadic_params().next()?.parameter.name.as_str();
    let is_cache = |it: &&'a Expr| is_unbounded(model, it);
    let cache = function.syntax.decorator_list.iter().map(|it| &it.expression).find(is_cache)?;
    let holds = |value: &'a Expr| {
        let given = match value.as_name_expr().map(|it| &model.tree.definitions[model.definition(it).index()].binding) {
            Some(Binding::Parameter(function, index, it)) => model.given_to(*function, *index, it.name.as_str()),
            _ => Vec::new(),
        };
        model.is_model(value) || given.into_iter().flatten().take(4).any(|it| model.is_model(it))
    };
    let mut values = model.tree.classes[class.index()].attributes.values().flatten();
    let is_held = values.any(|it| holds(it));
    (first == "self" && is_held).then_some((cache, first))
}

/// Checks whether a parameter determines the size of the result, which allows many results. A device, or a name to look up, has few values.
fn is_sized_by_parameter(model: &Model<'_>, function: &Function<'_>) -> bool {
    let parameters: Vec<&str> = function.syntax.parameters.iter().map(|it| it.name().as_str()).collect();
    let is_parameter = |it: &Expr| it.as_name_expr().is_some_and(|name| parameters.contains(&name.id.as_str()));
    model.calls_between(function.body).iter().any(|call| {
        let is_torch = call.path.as_deref().is_some_and(|path| path.starts_with("torch.") && path != "torch.device");
        is_torch && call.syntax.arguments.args.iter().any(is_parameter)
    }) || is_read_by_parameter(model, function)
}

/// Checks whether a parameter of an output chooses the input of the model.
fn is_read_by_parameter(model: &Model<'_>, function: &Function<'_>) -> bool {
    let parameters: Vec<&str> = function.syntax.parameters.iter().map(|it| it.name().as_str()).collect();
    let chooses = |it: &Expr| {
        it.as_name_expr().is_some_and(|name| parameters.contains(&name.id.as_str()) && !is_setting(name.id.as_str()))
    };
    function.returned.iter().any(|it| is_output(model, it, 8))
        && model.calls_between(function.body).iter().any(|call| call.syntax.arguments.args.iter().any(chooses))
}

fn is_setting(name: &str) -> bool {
    ["self", "device", "dtype", "name", "model"].contains(&name)
}

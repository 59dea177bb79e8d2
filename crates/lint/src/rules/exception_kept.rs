//! An out-of-memory error stored with its traceback.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, ExprName, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, NodeId, RegionId, RegionKind, Syntax};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("exception-kept"),
    effect: MemoryEffect::Grows,
    summary: "an exception kept after its `except` block",
    help: "keep `str(error)` or `traceback.format_exc()`",
    cause: Some(CauseId::ExceptionHoldsFrames),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let message = "an exception refers to its stack frames, and the frames to their tensors: the tensors of the \
                  failed step stay on the GPU";
    for call in model.calls() {
        let kept = collected(call).and_then(|it| error_in(model, it));
        if let Some(kept) = kept.filter(|it| is_caught(model, call.id, it) || is_of_exit(model, it)) {
            matches.add(kept, message);
        } else if let Some(kept) = stored_by_callee(model, call) {
            matches.add(kept, message);
        }
    }
    for (id, statement) in model.statements() {
        if let Some(kept) = collected_by_statement(model, id, statement).filter(|it| is_caught(model, id, it)) {
            matches.add(kept, message);
        }
        let Stmt::Assign(it) = statement else { continue };
        let (Some(kept), [target]) = (error_in(model, &it.value), it.targets.as_slice()) else { continue };
        let is_kept = match target {
            Expr::Attribute(_) | Expr::Subscript(_) => is_caught(model, id, kept) || is_of_exit(model, kept),
            Expr::Name(name) => {
                is_caught(model, id, kept) && (is_global(model, name) || outlives_retry(model, id, name))
            }
            _ => false,
        };
        if is_kept {
            matches.add(kept, message);
        }
    }
}

/// Returns the value that a call adds to a collection.
fn collected<'a>(call: &Call<'a>) -> Option<&'a Expr> {
    let (_, method) = call.method().filter(|_| call.path.is_none())?;
    let arguments = &call.syntax.arguments.args;
    match (method, &**arguments) {
        ("append" | "add" | "appendleft" | "put", [value]) | ("insert" | "setdefault", [_, value]) => Some(value),
        _ => None,
    }
}

/// `errors += [error]`, and `return error` of a function whose results are collected.
fn collected_by_statement<'a>(model: &Model<'a>, id: NodeId, statement: &'a Stmt) -> Option<&'a Expr> {
    match statement {
        Stmt::AugAssign(it) => error_in(model, &it.value).filter(|_| !it.value.is_name_expr()),
        Stmt::Return(it) => {
            let kept = error_in(model, it.value.as_deref()?)?;
            let function = model.function(model.node(id).region)?;
            model.callers(function).take(8).any(|call| is_collected(model, call)).then_some(kept)
        }
        _ => None,
    }
}

/// Checks whether the result of a call goes into a collection: by a method, by a key, as an element of a list.
fn is_collected(model: &Model<'_>, call: &Call<'_>) -> bool {
    let parent = model.node(model.node(call.id).parent).syntax;
    match parent {
        Syntax::Expression(Expr::ListComp(it)) => model.id(&*it.elt) == Some(call.id),
        Syntax::Expression(Expr::DictComp(it)) => model.id(&*it.value) == Some(call.id),
        Syntax::Expression(it @ Expr::Call(_)) => {
            let around = model.call(it).and_then(collected);
            around.is_some_and(|it| model.id(it) == Some(call.id))
        }
        Syntax::Statement(Stmt::Assign(it)) => it.targets.iter().any(Expr::is_subscript_expr),
        _ => false,
    }
}

/// Returns the error that a call passes to a function of the tree which stores it: `self.note(error)`.
fn stored_by_callee<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<&'a Expr> {
    model.handler(call.region)?;
    let function = model.callee(call)?;
    let parameters = model.tree.functions[function.index()].syntax.parameters.iter_non_variadic_params().enumerate();
    parameters.take(8).find_map(|(index, parameter)| {
        let name = parameter.parameter.name.as_str();
        let given = model.argument_of(call, function, index, name)?;
        let kept = error_in(model, given).filter(|it| is_caught(model, call.id, it))?;
        stores_parameter(model, function, name).then_some(kept)
    })
}

/// Checks whether a function adds a parameter to a collection, or stores the parameter in an attribute.
fn stores_parameter<'a>(model: &Model<'a>, function: FunctionId, name: &str) -> bool {
    let is_it = |value: &Expr| value.as_name_expr().is_some_and(|it| it.id.as_str() == name);
    let body = model.body(Some(function));
    let holds = |value: &'a Expr| error_within(model, value, false).is_some_and(is_it);
    let is_local = |list: &Expr| {
        let is_parameter = |of: FunctionId| of == function;
        list.as_name_expr().is_some_and(|it| match model.tree.definitions[model.definition(it).index()].binding {
            Binding::Value(_) => true,
            Binding::Parameter(of, ..) => !is_parameter(of),
            _ => false,
        })
    };
    let is_added =
        |call: &Call<'a>| collected(call).is_some_and(holds) && call.method().is_some_and(|(list, _)| !is_local(list));
    model.calls_between(body).iter().any(is_added)
        || model.statements().filter(|(id, _)| body.0 <= *id && *id <= body.1).any(|(_, it)| match it {
            Stmt::Assign(it) => {
                holds(&it.value) && it.targets.iter().any(|it| it.is_attribute_expr() || it.is_subscript_expr())
            }
            _ => false,
        })
}

/// Checks whether a name belongs to the module.
fn is_global(model: &Model<'_>, name: &ExprName) -> bool {
    let symbol = model.tree.definitions[model.definition(name).index()].symbol;
    let global = model.tree.scopes.iter().find(|it| it.parent.is_none());
    let is_in_function = model.id(name).is_some_and(|id| model.function(model.node(id).region).is_some());
    is_in_function && global.is_some_and(|it| it.symbols.get(name.id.as_str()) == Some(&symbol))
}

/// Returns the error that a value is, or holds: in a tuple, a list, a dict, or as an argument of a record.
fn error_in<'a>(model: &Model<'a>, value: &'a Expr) -> Option<&'a Expr> {
    error_within(model, value, true)
}

/// Constructors are entered once, since they construct other objects in turn.
fn error_within<'a>(model: &Model<'a>, value: &'a Expr, enters: bool) -> Option<&'a Expr> {
    let is_part = |it: &&'a Expr| !it.is_call_expr() || is_current(model, it);
    let find = |it: &'a Expr| error_within(model, it, enters);
    match value {
        Expr::Name(_) => Some(value),
        _ if is_current(model, value) => Some(value),
        Expr::Attribute(it) if it.attr.as_str() == "__traceback__" && it.value.is_name_expr() => Some(&it.value),
        Expr::Call(it) if it.func.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "with_traceback") => {
            it.func.as_attribute_expr().map(|it| &*it.value).filter(|it| it.is_name_expr())
        }
        Expr::Tuple(it) => it.elts.iter().filter(is_part).rev().find_map(find),
        Expr::List(it) => it.elts.iter().filter(is_part).rev().find_map(find),
        Expr::Dict(it) => it.items.iter().map(|item| &item.value).filter(is_part).rev().find_map(find),
        Expr::Call(it) if is_record(&it.func) => {
            let by_keyword = it.arguments.keywords.iter().rev().find_map(|it| find(&it.value));
            by_keyword.or_else(|| enters.then(|| error_of_record(model, value)).flatten())
        }
        _ => None,
    }
}

/// Checks for `sys.exc_info()`, its value or traceback, and `sys.exception()`.
fn is_current(model: &Model<'_>, value: &Expr) -> bool {
    let (value, is_type) = match value {
        Expr::Subscript(it) => (&*it.value, model.source(&*it.slice) == "0"),
        _ => (value, false),
    };
    !is_type && model.call(value).is_some_and(|call| call.is_any(&["sys.exc_info", "sys.exception"]))
}

/// Returns a positional argument of a record that the tree defines, of which each argument is a field.
fn error_of_record<'a>(model: &Model<'a>, value: &'a Expr) -> Option<&'a Expr> {
    let call = model.call(value)?;
    let class = model.named(&call.syntax.func).and_then(|it| model.class_of(it))?;
    let arguments = call.syntax.arguments.args.iter().enumerate().filter(|(_, it)| it.is_name_expr());
    let constructor = model.method_of(class, "__init__");
    let is_kept = |index: usize| match constructor {
        Some(it) => {
            let mut parameters = model.tree.functions[it.index()].syntax.parameters.iter_non_variadic_params();
            let parameter = parameters.nth(index.saturating_add(1));
            parameter.is_some_and(|parameter| stores_parameter(model, it, parameter.parameter.name.as_str()))
        }
        None => true,
    };
    arguments.filter(|(index, _)| is_kept(*index)).map(|(_, it)| it).last()
}

/// Checks for a constructor: `Failure(error=error)`, `dict(error=error)`.
fn is_record(function: &Expr) -> bool {
    let name = match function {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        _ => return false,
    };
    name == "dict" || name.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Checks whether a value is the error of a handler around a node: for out-of-memory errors, or for any error of work on the GPU.
fn is_caught(model: &Model<'_>, id: NodeId, error: &Expr) -> bool {
    model.regions(model.node(id).region).any(|kind| match kind {
        RegionKind::Handler(it) => {
            let is_named = error
                .as_name_expr()
                .is_none_or(|name| it.name.as_ref().is_some_and(|it| it.as_str() == name.id.as_str()));
            is_named && (model.is_for_oom(it) || fails_on_gpu(model, id, it))
        }
        _ => false,
    })
}

fn fails_on_gpu<'a>(model: &Model<'a>, id: NodeId, handler: &'a ruff_python_ast::ExceptHandlerExceptHandler) -> bool {
    model.is_general(handler) && model.try_body(id, handler).is_some_and(|body| model.works_on_gpu(body))
}

/// Checks whether a name is the exception, or the traceback, that `__exit__` of a guard against out-of-memory errors gets.
fn is_of_exit(model: &Model<'_>, error: &Expr) -> bool {
    let Some(name) = error.as_name_expr() else { return false };
    let Binding::Parameter(function, 2 | 3, _) = model.tree.definitions[model.definition(name).index()].binding else {
        return false;
    };
    let syntax = model.tree.functions[function.index()].syntax;
    let text = model.source(syntax);
    matches!(syntax.name.as_str(), "__exit__" | "__aexit__")
        && ["OutOfMemoryError", "out of memory", "OOM"].iter().any(|word| text.contains(word))
}

/// Checks whether work on the GPU follows while a local name refers to the error: in the next round of a loop, or behind the handler.
fn outlives_retry(model: &Model<'_>, id: NodeId, name: &ExprName) -> bool {
    let region = model.node(id).region;
    if is_given_up(model, id, name) {
        return false;
    }
    is_in_loop(model, region)
        || model.handler(region).is_some_and(|handler| {
            let behind = NodeId(model.node(id).last.0.saturating_add(1));
            let is_same = |call: &&Call<'_>| {
                model.function(call.region) == model.function(region) && model.handler(call.region).is_none()
            };
            let Some(tried) = model.try_body(id, handler) else { return false };
            let functions: Vec<&str> =
                model.calls_between(tried).iter().map(|call| model.source(&*call.syntax.func)).collect();
            let rest = model.calls_between((behind, model.body(model.function(region)).1));
            rest.iter()
                .filter(is_same)
                .any(|call| works(model, call) && functions.contains(&model.source(&*call.syntax.func)))
        })
}

fn works<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    model.is_forward(call) || model.callee(call).is_some_and(|it: FunctionId| model.works_on_gpu(model.body(Some(it))))
}

/// Checks whether a loop goes on to the next round after the handler: the loop lies around the `try`.
fn is_in_loop(model: &Model<'_>, region: RegionId) -> bool {
    let mut kinds = model.regions(region).skip_while(|kind| !matches!(kind, RegionKind::Handler(_)));
    kinds.any(|kind| matches!(kind, RegionKind::Loop(_)))
}

/// Checks whether the function deletes the name, or sets it to None behind the handler.
fn is_given_up(model: &Model<'_>, id: NodeId, name: &ExprName) -> bool {
    let function = model.function(model.node(id).region);
    let is_same = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id == name.id);
    model.statements().filter(|(at, _)| model.function(model.node(*at).region) == function).any(|(at, statement)| {
        match statement {
            Stmt::Delete(it) => it.targets.iter().any(is_same),
            Stmt::Assign(it) => at > id && it.value.is_none_literal_expr() && it.targets.iter().any(is_same),
            _ => false,
        }
    })
}

//! A retry during the lifetime of the traceback.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::ExceptHandlerExceptHandler;
use rustc_hash::FxHashSet;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, NodeId, RegionKind};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("retry-in-except"),
    effect: MemoryEffect::Wastes,
    summary: "a retry inside the `except` that caught the out-of-memory error",
    help: "leave the `except` block first: set a flag in it and retry after it",
    cause: Some(CauseId::ExceptionHoldsFrames),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some(handler) = model.handler(call.region).filter(|handler| model.is_for_oom(handler)) else { continue };
        let is_later = model.regions(call.region).any(|kind| matches!(kind, RegionKind::Lambda));
        if !is_later && is_tried_again(model, call, handler) {
            matches.add(
                call.syntax,
                "the handled exception refers to the frames that failed: their tensors stay on the GPU during \
                this call",
            );
        }
    }
}

/// Checks whether a call repeats the work of the `try`: the same function, the function around, or another function that ends in the same
/// calls.
fn is_tried_again<'a>(model: &Model<'a>, call: &Call<'a>, handler: &'a ExceptHandlerExceptHandler) -> bool {
    if call.syntax.arguments.is_empty() || is_message(model.source(&*call.syntax.func)) {
        return false;
    }
    let callee = model.callee(call);
    if callee.is_some() && callee == model.function(call.region) {
        return true;
    }
    let Some(body) = model.try_body(call.id, handler) else { return false };
    if callee.is_some() || model.is_forward(call) || runs_model(model, call) {
        let function = model.source(&*call.syntax.func);
        let is_same = |it: &Call<'a>| {
            model.source(&*it.syntax.func) == function || (callee.is_some() && model.callee(it) == callee)
        };
        if model.calls_between(body).iter().any(is_same) {
            return true;
        }
    }
    if passes_work(model, call, body) {
        return true;
    }
    let mut again = vec![call];
    again.extend(callee.map(|it| model.reached_calls(model.body(Some(it)))).unwrap_or_default());
    GuardedWork::of(model, again).shares(model, &GuardedWork::of(model, model.reached_calls(body)))
}

/// Checks whether an argument of a call is a function that the `try` runs, and the call runs the argument: `with_less(decode, model, item)`.
fn passes_work<'a>(model: &Model<'a>, call: &Call<'a>, body: (NodeId, NodeId)) -> bool {
    let arguments = &call.syntax.arguments;
    let values = arguments.args.iter().chain(arguments.keywords.iter().map(|it| &it.value));
    let mut passed = values.filter(|it| it.is_name_expr() || it.is_attribute_expr()).map(|it| model.source(it));
    passed.any(|name| {
        let is_work = |it: &Call<'a>| {
            let works = model.callee(it).is_some_and(|it| model.works_on_gpu(model.body(Some(it))));
            model.source(&*it.syntax.func) == name && (works || model.is_forward(it) || runs_model(model, it))
        };
        model.calls_between(body).iter().any(is_work)
    }) && model.callee(call).is_none_or(|it| runs_parameter(model, it))
}

/// Checks whether a function calls one of its parameters.
fn runs_parameter(model: &Model<'_>, function: FunctionId) -> bool {
    model.calls_between(model.body(Some(function))).iter().any(|call| {
        let name = call.syntax.func.as_name_expr();
        name.is_some_and(|it| {
            matches!(model.tree.definitions[model.definition(it).index()].binding, Binding::Parameter(of, ..) if of == function)
        })
    })
}

/// Checks by its name whether a function writes messages or frees memory.
fn is_message(function: &str) -> bool {
    let name = function.rsplit('.').next().unwrap_or(function).to_ascii_lowercase();
    let words = ["log", "print", "write", "save", "report", "notify", "clean", "clear", "record", "message", "warn"];
    words.iter().any(|word| name.contains(word))
}

/// The functions that a piece of code runs, as far as they may work with large tensors.
#[derive(Default)]
struct GuardedWork<'a> {
    functions: FxHashSet<FunctionId>,
    names: FxHashSet<&'a str>,
}

impl<'a> GuardedWork<'a> {
    /// Returns the work of some calls, and of the functions that they run.
    fn of<'m>(model: &'m Model<'a>, calls: impl IntoIterator<Item = &'m Call<'a>>) -> GuardedWork<'a>
    where
        'a: 'm,
    {
        let mut work = GuardedWork::default();
        for call in calls {
            if let Some(callee) = model.callee(call) {
                work.functions.insert(callee);
            } else if model.is_forward(call) || runs_model(model, call) {
                work.names.insert(model.source(&*call.syntax.func));
            }
        }
        work
    }

    fn shares<'m>(&self, model: &'m Model<'a>, other: &GuardedWork<'a>) -> bool {
        let mut functions = self.functions.intersection(&other.functions);
        self.names.intersection(&other.names).next().is_some()
            || functions.any(|it| model.works_on_gpu(model.body(Some(*it))))
    }
}

/// Checks for a method that runs a model by its name, and for an imported function that takes tensors.
fn runs_model(model: &Model<'_>, call: &Call<'_>) -> bool {
    if call.syntax.arguments.is_empty() {
        return false;
    }
    match (call.path.as_deref(), call.method()) {
        (Some(path), _) => is_heavy_function(path),
        (None, Some((_, method))) => {
            let words =
                ["generate", "predict", "encode", "decode", "sample", "forward", "infer", "train", "fit", "transcribe"];
            let method = method.trim_start_matches('_');
            words.iter().any(|word| method.starts_with(word)) || (method == "module" && model.is_forward(call))
        }
        _ => false,
    }
}

/// Checks for an attention or a convolution, and for a function of a library other than torch that runs a model.
fn is_heavy_function(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    if path.starts_with("torch.") {
        let words =
            ["attention", "conv", "matmul", "bmm", "einsum", "interpolate", "linear", "cdist", "mm", "svd", "eigh"];
        return words.iter().any(|word| name.contains(word));
    }
    let words =
        ["infer", "predict", "forward", "generate", "train", "attention", "render", "encode", "decode", "sample"];
    path.contains('.') && words.iter().any(|word| name.contains(word))
}

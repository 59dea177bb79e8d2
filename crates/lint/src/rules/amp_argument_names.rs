//! Arguments of `torch.amp` under the other function's name, or in the place of another.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::unpacked::GivenArgument;
use crate::semantics::{Call, Model};
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("amp-argument-names"),
    effect: MemoryEffect::Wastes,
    summary: "`GradScaler(device_type=...)`, `autocast(device=...)`, or the arguments of the old `torch.cuda.amp`",
    help: "`GradScaler` takes `device`, `autocast` takes `device_type`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    if !model.text.contains("autocast") && !model.text.contains("GradScaler") {
        return;
    }
    for call in model.calls() {
        let Some((function, is_partial)) = called(model, call) else { continue };
        let (wrong, right) = match &*function {
            "torch.amp.GradScaler" | "torch.GradScaler" | "torch.amp.grad_scaler.GradScaler" => {
                ("device_type", "device")
            }
            "torch.amp.autocast" | "torch.autocast" | "torch.amp.autocast_mode.autocast" => ("device", "device_type"),
            _ => continue,
        };
        let keyword = call.syntax.arguments.find_keyword(wrong);
        let is_behind = || matches!(model.given(call, wrong, usize::MAX), GivenArgument::Value(_));
        if let Some((keyword, name)) = keyword.and_then(|keyword| Some((keyword, keyword.arg.as_ref()?))) {
            let message =
                format!("`{}` has no argument `{wrong}`: the call raises TypeError", model.source(&*call.syntax.func));
            matches.add(keyword, message).fix = Some(edits::replace(name, right, Applicability::Safe));
        } else if keyword.is_none() && is_behind() {
            let message = format!("`{function}` has no argument `{wrong}`: the call raises TypeError");
            matches.add(call.syntax, message);
        } else if let Some(message) =
            Some(call).filter(|_| !is_partial).and_then(|it| misplaced(model, it, right == "device_type"))
        {
            matches.add(call.syntax, message);
        }
    }
}

/// Returns the function that a call runs, also behind another name; for `partial(function, ...)` true with the function.
fn called<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<(String, bool)> {
    if call.is("functools.partial") {
        return model.paths_behind(call.syntax.arguments.args.first()?).into_iter().next().map(|it| (it, true));
    }
    let func = &*call.syntax.func;
    if let Some(path) = call.path.as_deref() {
        return Some((path.to_owned(), false));
    }
    let is_named = model.callee(call).is_none() && (func.is_name_expr() || func.is_attribute_expr());
    let text = model.source(func).to_ascii_lowercase();
    let is_likely = ["cast", "scaler", "amp", "precision"].iter().any(|word| text.contains(word));
    let path = (is_named && is_likely).then(|| model.paths_behind(func)).and_then(|it| it.into_iter().next());
    path.map(|it| (it, false))
}

/// Describes an argument in the place of another.
fn misplaced<'a>(model: &Model<'a>, call: &Call<'a>, is_autocast: bool) -> Option<&'static str> {
    let arguments = &call.syntax.arguments;
    let place = |index: usize| arguments.args.get(index).filter(|it| !it.is_starred_expr());
    if arguments.args.first().is_some_and(|it| is_no_device(model, it)) {
        return Some("the first argument is the device: the call raises an error");
    }
    if is_autocast {
        let lacks_device = arguments.args.is_empty() && call.keyword("device_type").is_none() && !call.has_unpacked();
        return lacks_device.then_some(
            "`autocast` of `torch.amp` needs a device type, as in `autocast(\"cuda\")`: the call raises TypeError",
        );
    }
    let is_type = place(1).is_some_and(|it| is_dtype(model, it));
    is_type.then_some("the second argument of `GradScaler` is the first scale, a number: `autocast` takes the dtype")
}

/// Checks for a first argument that is a dtype, a number or a boolean; also as the first item of an unpacked tuple.
fn is_no_device<'a>(model: &Model<'a>, argument: &'a Expr) -> bool {
    match argument {
        Expr::Starred(it) => {
            let tuples = unpacked(model, &it.value);
            !tuples.is_empty() && tuples.iter().all(|it| first_item(it).is_some_and(|it| is_dtype(model, it)))
        }
        Expr::BooleanLiteral(_) | Expr::NumberLiteral(_) => true,
        argument => is_dtype(model, argument),
    }
}

/// Returns the tuples that an unpacked argument may be: `ARGUMENTS`, `ARGUMENTS[name]`.
fn unpacked<'a>(model: &Model<'a>, argument: &'a Expr) -> Vec<&'a Expr> {
    match argument {
        Expr::Subscript(it) => {
            let dicts = model.assigned_expressions(&it.value, 4);
            dicts
                .into_iter()
                .filter_map(Expr::as_dict_expr)
                .flat_map(|it| it.items.iter().map(|it| &it.value))
                .collect()
        }
        Expr::Tuple(_) | Expr::List(_) => vec![argument],
        argument => model.assigned_expressions(argument, 4),
    }
}

fn first_item(tuple: &Expr) -> Option<&Expr> {
    match tuple {
        Expr::Tuple(it) => it.elts.first(),
        Expr::List(it) => it.elts.first(),
        _ => None,
    }
}

/// Checks whether an expression certainly is a dtype.
fn is_dtype<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let is_one = |it: &'a Expr| {
        let path = model.path(it);
        matches!(
            path.as_deref(),
            Some("torch.float16" | "torch.bfloat16" | "torch.half" | "torch.float32" | "torch.float")
        )
    };
    let made = if expression.is_name_expr() { model.assigned_expressions(expression, 4) } else { Vec::new() };
    is_one(expression) || (!made.is_empty() && made.into_iter().all(is_one))
}

//! The deprecated names of `torch.amp`.

use crate::edits;
use crate::finding::{Applicability, Edit, Fix, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::{NodeId, Syntax};
use crate::semantics::{Call, Model};
use crate::span::TextSpan;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("deprecated-cuda-amp"),
    effect: MemoryEffect::Style,
    summary: "`torch.cuda.amp.autocast` and `torch.cuda.amp.GradScaler`",
    help: "use `torch.amp` with the device as the first argument",
    cause: None,
    check,
};

/// The deprecated names.
const NAMES: [&str; 4] = ["autocast", "GradScaler", "custom_fwd", "custom_bwd"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some((path, device, name)) = call.path.as_deref().and_then(deprecated) else { continue };
        let message = message(path, device, name);
        matches.add(&*call.syntax.func, message).fix = rename_fix(model, call, device, name);
    }
    for (id, expression) in model.expressions(model.body(None)) {
        if !is_passed(model, id, expression) {
            continue;
        }
        let Some(path) = model.path(expression) else { continue };
        if let Some((path, device, name)) = deprecated(&path) {
            matches.add(expression, message(path, device, name));
        }
    }
}

fn message(path: &str, device: &str, name: &str) -> String {
    format!("`{path}` is deprecated since PyTorch 2.4 in favour of `torch.amp.{name}({}\"{device}\")`", keyword(name))
}

/// Returns what stands before the device among the arguments of the new function.
fn keyword(name: &str) -> &'static str {
    if name.starts_with("custom") { "device_type=" } else { "" }
}

/// Returns the path, the device and the name of a deprecated function.
fn deprecated(path: &str) -> Option<(&str, &str, &str)> {
    ["cuda", "cpu"].into_iter().find_map(|device| {
        let rest = path.strip_prefix("torch.")?.strip_prefix(device)?.strip_prefix(".amp.")?;
        let name = rest.rsplit('.').next().filter(|it| NAMES.contains(it))?;
        Some((path, device, name))
    })
}

/// Checks for a name that is not called but passed or stored to be called later: `partial(autocast)`, `default_factory=GradScaler`.
fn is_passed<'a>(model: &Model<'a>, id: NodeId, expression: &'a Expr) -> bool {
    let is_loaded = match expression {
        Expr::Name(it) => it.ctx.is_load() && model.path(expression).is_some_and(|it| it.contains(".amp.")),
        Expr::Attribute(it) => it.ctx.is_load() && NAMES.contains(&it.attr.as_str()),
        _ => false,
    };
    if !is_loaded {
        return false;
    }
    match model.node(model.node(id).parent).syntax {
        Syntax::Expression(Expr::Call(call)) => {
            let is_called = model.id(&*call.func) == Some(id);
            let is_test =
                call.func.as_name_expr().is_some_and(|it| matches!(it.id.as_str(), "isinstance" | "issubclass"));
            !is_called && !is_test
        }
        // The bases of a class.
        Syntax::Statement(it) if it.is_class_def_stmt() => true,
        Syntax::Statement(ruff_python_ast::Stmt::Assign(it)) => it.targets.iter().any(Expr::is_attribute_expr),
        Syntax::Expression(Expr::Dict(_) | Expr::If(_) | Expr::Tuple(_) | Expr::List(_)) => true,
        Syntax::Statement(it) => it.is_function_def_stmt() || it.is_return_stmt(),
        Syntax::Expression(_) => false,
    }
}

/// Returns the fix, for a name written in full; positional arguments mean something else in the new function.
fn rename_fix(model: &Model<'_>, call: &Call<'_>, device: &str, name: &str) -> Option<Fix> {
    let function = &*call.syntax.func;
    if !model.source(function).starts_with("torch.") || !call.syntax.arguments.args.is_empty() {
        return None;
    }
    let inside = TextSpan::of(&call.syntax.arguments).start + 1;
    let keyword = keyword(name);
    let separator = if call.syntax.arguments.keywords.is_empty() { "" } else { ", " };
    let argument =
        Edit { span: TextSpan { start: inside, end: inside }, text: format!("{keyword}\"{device}\"{separator}") };
    let Fix { mut edits, .. } = edits::replace(function, format!("torch.amp.{name}"), Applicability::Safe);
    edits.push(argument);
    Some(Fix { applicability: Applicability::Safe, edits })
}

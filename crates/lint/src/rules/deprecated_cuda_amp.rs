//! The deprecated names of `torch.amp`.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Edit, Effect, Fix, Span};
use crate::semantics::{Call, Model};
use crate::source::span;
use report::RuleId;
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("deprecated-cuda-amp"),
    effect: Effect::Style,
    summary: "`torch.cuda.amp.autocast` and `torch.cuda.amp.GradScaler`",
    help: "use `torch.amp` with the device as its first argument",
    cause: None,
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        let Some(path) = call.path.as_deref() else { continue };
        let Some((device, name)) = ["cuda", "cpu"].into_iter().find_map(|device| {
            let rest = path.strip_prefix("torch.")?.strip_prefix(device)?.strip_prefix(".amp.")?;
            Some((device, rest.rsplit('.').next()?))
        }) else {
            continue;
        };
        if matches!(name, "autocast" | "GradScaler") {
            let message =
                format!("`{path}` is deprecated since PyTorch 2.4: it is `torch.amp.{name}(\"{device}\")` now");
            found.at(&*call.syntax.func, message).fix = renamed(model, call, device, name);
        }
    }
}

/// The change, where the name is written out; positional arguments mean something else in the new function.
fn renamed(model: &Model<'_>, call: &Call<'_>, device: &str, name: &str) -> Option<Fix> {
    let function = &*call.syntax.func;
    if !model.source(function).starts_with("torch.") || !call.syntax.arguments.args.is_empty() {
        return None;
    }
    let inside = span(call.syntax.arguments.range()).start + 1;
    let separator = if call.syntax.arguments.keywords.is_empty() { "" } else { ", " };
    let argument = Edit { span: Span { start: inside, end: inside }, text: format!("\"{device}\"{separator}") };
    let Fix { mut edits, .. } = fix::replace(function, format!("torch.amp.{name}"), Applicability::Safe);
    edits.push(argument);
    Some(Fix { applicability: Applicability::Safe, edits })
}

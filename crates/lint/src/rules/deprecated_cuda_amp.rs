//! The deprecated names of `torch.amp`.

use crate::edits;
use crate::finding::{Applicability, Edit, Fix, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};
use crate::span::TextSpan;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("deprecated-cuda-amp"),
    effect: MemoryEffect::Style,
    summary: "`torch.cuda.amp.autocast` and `torch.cuda.amp.GradScaler`",
    help: "use `torch.amp` with the device as the first argument",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
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
                format!("`{path}` is deprecated since PyTorch 2.4 in favour of `torch.amp.{name}(\"{device}\")`");
            matches.add(&*call.syntax.func, message).fix = rename_fix(model, call, device, name);
        }
    }
}

/// Returns the fix, for a name written in full; positional arguments mean something else in the new function.
fn rename_fix(model: &Model<'_>, call: &Call<'_>, device: &str, name: &str) -> Option<Fix> {
    let function = &*call.syntax.func;
    if !model.source(function).starts_with("torch.") || !call.syntax.arguments.args.is_empty() {
        return None;
    }
    let inside = TextSpan::of(&call.syntax.arguments).start + 1;
    let separator = if call.syntax.arguments.keywords.is_empty() { "" } else { ", " };
    let argument = Edit { span: TextSpan { start: inside, end: inside }, text: format!("\"{device}\"{separator}") };
    let Fix { mut edits, .. } = edits::replace(function, format!("torch.amp.{name}"), Applicability::Safe);
    edits.push(argument);
    Some(Fix { applicability: Applicability::Safe, edits })
}

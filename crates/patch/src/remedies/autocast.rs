//! autocast: forward and loss under `torch.autocast`; in float16 with a `GradScaler` around backward and step.
//!
//! Settings: `dtype`, `bf16` (the default) or `fp16`.

use report::Change;

use super::Patch;
use super::trainer::Trainer;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::training::{Step, is_optimizer, mentions_clipping, method, step, wrap_forward};
use crate::why::Why;

pub(super) const PATCH: Patch =
    Patch::new(edits, |placed| snippet(&placed.change)).with_argument(|site, trainer| Some(argument(site, trainer)));

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let (torch, is_half) = (site.torch()?, is_half(site.change)?);
    let dtype = format!("{torch}.{}", dtype(is_half));
    let step = step(site)?;
    if let Some(there) = step.block.iter().flat_map(Node::walk).find(|node| node.called() == Some("autocast")) {
        return enable_existing(site, there, &dtype);
    }
    let mut edits = wrap_forward(site, &format!("with {torch}.autocast(\"cuda\", dtype={dtype}):"))?;
    if is_half {
        edits.extend(add_scaler(site, &step, torch)?);
    }
    Ok(edits)
}

/// `dtype=float16` is the agent's spelling: a trainer takes `fp16` or `bf16`.
fn argument(site: &ChangeSite<'_>, trainer: Trainer) -> (&'static str, &'static str) {
    let is_half = site.word("dtype") == Some("fp16");
    match (trainer, is_half) {
        (Trainer::HuggingFace, true) => ("fp16", "True"),
        (Trainer::HuggingFace, false) => ("bf16", "True"),
        (Trainer::Lightning, true) => ("precision", "\"16-mixed\""),
        (Trainer::Lightning, false) => ("precision", "\"bf16-mixed\""),
    }
}

fn is_half(change: &Change) -> Result<bool, Why> {
    match change.settings.get("dtype").map(|value| value.as_str()) {
        None | Some(Some("bf16" | "bfloat16")) => Ok(false),
        Some(Some("fp16" | "float16")) => Ok(true),
        Some(other) => Err(Why::Unfit(format!("the setting `dtype` is {other:?}; expected `bf16` or `fp16`"))),
    }
}

fn dtype(is_half: bool) -> &'static str {
    if is_half { "float16" } else { "bfloat16" }
}

/// Switches an existing autocast on, in the requested type.
fn enable_existing(site: &ChangeSite<'_>, call: &Node, dtype: &str) -> Result<Vec<Edit>, Why> {
    let given = call
        .keyword("dtype")
        .and_then(Node::value)
        .or_else(|| call.arguments().get(1).filter(|argument| !matches!(argument.kind, Kind::Keyword(_))));
    let mut edits = match given {
        Some(value) if value.dotted().as_deref() == Some(dtype) => Vec::new(),
        Some(value) => vec![Edit::replace(value.span, dtype)],
        None => layout::keyword(site.source, call, "dtype", dtype)?,
    };
    if call.keyword("enabled").is_some() {
        edits.extend(layout::keyword(site.source, call, "enabled", "True")?);
    }
    Ok(edits)
}

/// Backward from the scaled loss, and the step through the scaler.
fn add_scaler(site: &ChangeSite<'_>, step: &Step<'_>, torch: &str) -> Result<Vec<Edit>, Why> {
    if site.source.root.walk().any(|node| node.called() == Some("GradScaler")) {
        return Err(Why::Unfit("the file has a GradScaler already".to_owned()));
    }
    let scaler = site.free_name(&["scaler", "grad_scaler"])?;
    let loss = step.loss().ok_or_else(|| Why::Unfit("backward does not start from a name".to_owned()))?;
    let receiver = step.backward.receiver().ok_or(Why::NoStatement(site.line))?;
    let (index, update) = method(step.block, "step", |call| call.arguments().is_empty() && is_optimizer(call))
        .ok_or_else(|| Why::Unfit("no one call of the optimizer's step stands beside backward".to_owned()))?;
    let optimizer = update.receiver().map(|node| site.source.slice(node.span)).unwrap_or_default();
    let between = step.block.get(step.index + 1..index);
    let between = between.ok_or_else(|| Why::Unfit("the optimizer steps before backward".to_owned()))?;
    let clips = between.iter().find(|statement| mentions_clipping(statement));
    let around = step.around.ok_or_else(|| Why::Unfit("backward is not in a loop of its own".to_owned()))?;
    let mut edits = vec![
        layout::before(site.source, around, &[format!("{scaler} = {torch}.amp.GradScaler(\"cuda\")")])?,
        Edit::replace(receiver.span, format!("{scaler}.scale({loss})")),
        Edit::replace(update.span, format!("{scaler}.step({optimizer})")),
        layout::after(site.source, &step.block[index], &[format!("{scaler}.update()")])?,
    ];
    if let Some(clips) = clips {
        edits.push(layout::before(site.source, clips, &[format!("{scaler}.unscale_({optimizer})")])?);
    }
    Ok(edits)
}

fn snippet(change: &Change) -> String {
    let dtype = dtype(is_half(change).unwrap_or(false));
    format!(
        "with torch.autocast(\"cuda\", dtype=torch.{dtype}):\n    outputs = model(inputs)\n    loss = criterion(outputs, targets)"
    )
}

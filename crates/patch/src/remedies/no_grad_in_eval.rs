//! no-grad-in-eval: the evaluating function under `@torch.no_grad()`; else its loop, or the statement alone, under
//! `with`.

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| "with torch.no_grad():\n    outputs = model(inputs)".to_owned());

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let statement = site.statement()?;
    let header = format!("{}.no_grad()", site.torch()?);
    let path = site.source.root.path_to(statement.span);
    if path.iter().any(|node| is_off_already(node)) {
        return Ok(Vec::new());
    }
    let around: Vec<&Node> = path.into_iter().filter(|node| !trains(node)).collect();
    let function = around.iter().copied().find(|node| matches!(node.kind, Kind::Function(_)));
    if let Some(function) = function.filter(|function| evaluates(function)) {
        return Ok(vec![layout::before(site.source, function, &[format!("@{header}")])?]);
    }
    let widest = around.into_iter().find(|node| node.is_loop()).unwrap_or(statement);
    layout::wrap(site.source, widest, widest, &format!("with {header}:"))
}

/// True if the node itself switches autograd off.
fn is_off_already(node: &Node) -> bool {
    let says = |part: &Node| part.walk().any(|inner| matches!(inner.last_name(), Some("no_grad" | "inference_mode")));
    match node.kind {
        Kind::With => node.children.iter().filter(|child| child.kind != Kind::Block).any(says),
        Kind::Function(_) => node.children.iter().filter(|child| child.kind == Kind::Decorator).any(says),
        _ => false,
    }
}

/// True if the node makes gradients, or consists of classes and functions.
fn trains(node: &Node) -> bool {
    node.walk().any(|inner| matches!(inner.called(), Some("backward" | "step")))
}

/// True for a function that evaluates: with a loop or a name of evaluation, but neither a layer's `forward` nor a
/// generator.
fn evaluates(function: &Node) -> bool {
    let Kind::Function(name) = &function.kind else { return false };
    let is_layer = name == "forward" || name.starts_with("__");
    let says = ["eval", "valid", "test", "infer", "predict", "generate", "score", "metric", "accuracy"]
        .iter()
        .any(|word| name.contains(word));
    says && !is_layer && !function.walk_here().any(|node| node.kind == Kind::Yield)
}

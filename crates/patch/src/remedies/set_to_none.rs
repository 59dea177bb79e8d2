//! set-to-none: gradients dropped, not zeroed, and straight after `step`: no gradient is alive during the next forward.

use trace::run::RemedyAction;

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::training::{is_optimizer, method, sole_call, step};
use crate::why::Why;

pub(super) const PATCH: Patch =
    Patch::new(edits, |_| "optimizer.step()\noptimizer.zero_grad(set_to_none=True)  # straight after step".to_owned());

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    match site.action {
        RemedyAction::MoveZeroGrad {} => move_call(site),
        _ => to_none(site),
    }
}

/// `zero_grad(set_to_none=True)` on the line.
fn to_none(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let call = site.call("zero_grad", |call| call.called() == Some("zero_grad"))?;
    match call.arguments() {
        [] | [Node { kind: Kind::Boolean(true), .. }] => Ok(Vec::new()),
        [only] if !matches!(only.kind, Kind::Keyword(_)) => Ok(vec![Edit::replace(only.span, "set_to_none=True")]),
        _ => layout::keyword(site.source, call, "set_to_none", "True"),
    }
}

/// The call taken from where it is and put straight after the step.
fn move_call(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let source = site.source;
    let step = step(site)?;
    let block = step.block;
    let ours = |call: &Node| is_optimizer(call) || call.receiver().and_then(Node::last_name) == Some("scaler");
    let (stepped, _) = method(block, "step", ours).ok_or_else(|| refuse_without("step"))?;
    let (zeroed, zero) = method(block, "zero_grad", |_| true).ok_or_else(|| refuse_without("zero_grad"))?;
    let target = last_of_update(block, stepped);
    if zeroed > stepped && !block[stepped..zeroed].iter().any(computes_forward) {
        return Ok(Vec::new());
    }
    if block[stepped + 1..].iter().any(reads_gradients) {
        return Err(Why::Unfit("gradients are read after the step".to_owned()));
    }
    let receiver = zero.receiver().map(|node| source.slice(node.span)).unwrap_or_default();
    let line = format!("{receiver}.zero_grad()");
    Ok(vec![layout::remove(source, &block[zeroed])?, layout::after(source, &block[target], &[line])?])
}

fn refuse_without(name: &str) -> Why {
    Why::Unfit(format!("no one call of {name} stands beside backward"))
}

/// The last statement that belongs to the step: `scaler.update()` after `scaler.step(optimizer)`.
fn last_of_update(block: &[Node], stepped: usize) -> usize {
    let next = block.get(stepped + 1).and_then(sole_call);
    if next.is_some_and(|call| call.called() == Some("update")) { stepped + 1 } else { stepped }
}

fn computes_forward(statement: &Node) -> bool {
    statement.walk().any(|node| node.called() == Some("backward"))
}

fn reads_gradients(statement: &Node) -> bool {
    statement.walk().any(|node| matches!(&node.kind, Kind::Attribute(name) if name == "grad"))
}

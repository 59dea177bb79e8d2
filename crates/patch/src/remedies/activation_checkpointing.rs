//! activation-checkpointing: the library's switch after the model is made; else `checkpoint(block, x)` where a loop calls its blocks.
//!
//! The recorded line is the first run of the model for a switch, and the call of the block for blocks.

use trace::run::RemedyAction;

use super::checkpoints::{checkpoint, find_model};
use super::trainer::Trainer;
use super::{Patch, library_blocks};
use crate::edit::Edit;
use crate::layout;
use crate::site::{ChangeSite, own};
use crate::syntax::{Kind, Node, Span};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| CODE.to_owned()).with_argument(|site, trainer| {
    let is_all = !site.change.settings.contains_key("blocks");
    (is_all && trainer == Trainer::HuggingFace).then_some(("gradient_checkpointing", "True"))
});

const CODE: &str = "\
from torch.utils.checkpoint import checkpoint
for block in self.blocks:
    x = checkpoint(block, x, use_reentrant=False)";

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    match site.action {
        RemedyAction::CallMethod { model, method } => call_switch(site, model, method),
        _ => blocks(site),
    }
}

/// `model.gradient_checkpointing_enable()` after the statement that makes the model.
fn call_switch(site: &ChangeSite<'_>, class: &str, method: &str) -> Result<Vec<Edit>, Why> {
    let (made, name) = find_model(site, class)?;
    let text = format!("{name}.{method}()");
    let owner =
        site.above(made).into_iter().rfind(|node| node.kind == Kind::Block).ok_or(Why::NoStatement(site.line))?;
    if owner.children.iter().any(|statement| site.source.slice(statement.span) == text) {
        return Ok(Vec::new());
    }
    Ok(vec![layout::after(site.source, made, &[text])?])
}

/// `block(x)` in a loop over the blocks becomes `checkpoint(block, x, use_reentrant=False)`.
fn blocks(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let is_checkpoint = |node: &Node| matches!(node.last_name(), Some("checkpoint")) && node.kind != Kind::Call;
    if site.statement().is_ok_and(|statement| own(statement).any(is_checkpoint)) || is_wrapped(site) {
        return Ok(Vec::new());
    }
    let call = match site.call("a block of a loop", |call| is_block(site, call)) {
        Err(Why::NoCall { .. }) => return library_blocks::edits(site),
        call => call?,
    };
    let (name, import) = checkpoint(site)?;
    let mut edits = match site.number("blocks") {
        Ok(most) => first_blocks(site, call, name, most)?,
        Err(_) => wrap_call(site, call, name)?,
    };
    edits.extend(import);
    Ok(edits)
}

/// True if the file has a loop as `library_blocks` writes it.
fn is_wrapped(site: &ChangeSite<'_>) -> bool {
    let is_forward = |node: &Node| node.targets().iter().any(|target| target.last_name() == Some("forward"));
    site.source
        .root
        .walk()
        .any(|node| is_forward(node) && node.walk().any(|inner| inner.last_name() == Some("checkpoint")))
}

/// True if a call is of the target of a loop around it, or of an element of a list.
fn is_block(site: &ChangeSite<'_>, call: &Node) -> bool {
    let Some(function) = call.function() else { return false };
    let Kind::Name(name) = &function.kind else { return function.kind == Kind::Subscript };
    site.above(call)
        .iter()
        .any(|node| node.kind == Kind::For && node.targets().iter().any(|target| target.mentions(name)))
}

fn wrap_call(site: &ChangeSite<'_>, call: &Node, name: &str) -> Result<Vec<Edit>, Why> {
    let open = opening(site, call)?;
    let ends_line = site.source.slice(Span::new(open.end, call.span.end)).starts_with(['\n', '\r']);
    Ok(vec![
        Edit::insert(call.span.start, format!("{name}(")),
        Edit::replace(open, if ends_line { "," } else { ", " }),
        layout::argument(site.source, call, "use_reentrant=False")?,
    ])
}

/// The bracket before the arguments; the call must have an argument.
fn opening(site: &ChangeSite<'_>, call: &Node) -> Result<Span, Why> {
    let function = call.function().ok_or(Why::NoStatement(site.line))?;
    let open = site
        .source
        .token_after(function.span.end)
        .map(|token| token.span)
        .filter(|span| site.source.slice(*span) == "(");
    open.filter(|_| !call.arguments().is_empty())
        .ok_or_else(|| Why::Unfit("the block is called without an argument".to_owned()))
}

/// Only in the first blocks of the loop: it gets a counter.
fn first_blocks(site: &ChangeSite<'_>, call: &Node, name: &str, most: u64) -> Result<Vec<Edit>, Why> {
    let unfit =
        || Why::Unfit(format!("the first {most} blocks are not told apart in `{}`", site.source.slice(call.span)));
    let statement = site.statement()?;
    let header = site.above(statement).into_iter().rfind(|node| node.kind == Kind::For).ok_or_else(unfit)?;
    let [Node { kind: Kind::Name(block), span: target, .. }, blocks, ..] = &header.children[..] else {
        return Err(unfit());
    };
    let text = site.source.slice(call.span);
    let arguments = text
        .strip_prefix(block.as_str())
        .and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'))
        .ok_or_else(unfit)?;
    if statement.value().map(|value| value.span) != Some(call.span)
        || text.contains(['\n', '\r'])
        || arguments.trim_end().ends_with(',')
    {
        return Err(unfit());
    }
    let index = site.free_name(&["index", "number", "depth"])?;
    let iterated = site.source.slice(blocks.span);
    Ok(vec![
        Edit::replace(*target, format!("{index}, {block}")),
        Edit::replace(blocks.span, format!("enumerate({iterated})")),
        Edit::replace(
            call.span,
            format!("{name}({block}, {arguments}, use_reentrant=False) if {index} < {most} else {text}"),
        ),
    ])
}

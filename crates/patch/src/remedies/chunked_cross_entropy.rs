//! chunked-cross-entropy: a loss that keeps logits and targets alone, where the program calls `cross_entropy` itself.
//!
//! Settings: `chunks`. A model of transformers that computes its loss by itself is left to the user: the program has to
//! ask the model for hidden states.

use trace::run::RemedyAction;

use super::Patch;
use crate::PlacedEdit;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, snippet);

const NAME: &str = "ChunkedCrossEntropy";
/// The agent's own.
const CHUNKS: u64 = 8;

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if is_of_model(site.action) {
        return Err(Why::Unfit(
            "the model computes logits and loss in one; it must be asked for hidden states".to_owned(),
        ));
    }
    if site.statement().is_ok_and(|statement| statement.mentions(NAME)) {
        return Ok(Vec::new());
    }
    let call = site.call("cross_entropy", |call| is_loss(site, call))?;
    let [logits, targets] = call.arguments() else { return Err(settings(site, call)) };
    if [logits, targets].iter().any(|argument| matches!(argument.kind, Kind::Keyword(_))) {
        return Err(settings(site, call));
    }
    let function = call.function().ok_or(Why::NoStatement(site.line))?;
    let chunks = site.number("chunks").unwrap_or(CHUNKS);
    let mut edits = vec![
        Edit::replace(function.span, format!("{NAME}.apply")),
        layout::argument(site.source, call, &chunks.to_string())?,
    ];
    edits.extend(class(site)?);
    Ok(edits)
}

fn settings(site: &ChangeSite<'_>, call: &Node) -> Why {
    Why::Unfit(format!("`{}` has more than logits and targets", site.source.slice(call.span)))
}

/// True if the run changed a model with its own loss, and not a call of `cross_entropy`.
fn is_of_model(action: &RemedyAction) -> bool {
    !matches!(action, RemedyAction::ChunkLoss { .. })
}

/// `F.cross_entropy(…)`, or a call of what was made by `nn.CrossEntropyLoss()`.
fn is_loss(site: &ChangeSite<'_>, call: &Node) -> bool {
    if call.called() == Some("cross_entropy") {
        return true;
    }
    let Some(Node { kind: Kind::Name(name), .. }) = call.function() else { return false };
    let made = site.only_value(name);
    made.is_some_and(|made| made.called() == Some("CrossEntropyLoss") && made.arguments().is_empty())
}

/// The class, after the imports.
fn class(site: &ChangeSite<'_>) -> Result<Option<Edit>, Why> {
    let is_class = |node: &Node| matches!(&node.kind, Kind::Class(name) if name == NAME);
    if site.source.root.children.iter().any(is_class) {
        return Ok(None);
    }
    if site.is_taken(NAME) {
        return Err(Why::NameTaken(NAME.to_owned()));
    }
    let unit = layout::unit(site.source);
    let code = CLASS.replace("torch.", &format!("{}.", site.torch()?)).replace("    ", &unit);
    let lines: Vec<String> = ["", ""].into_iter().chain(code.lines()).chain([""]).map(str::to_owned).collect();
    layout::after_imports(site.source, &lines).map(Some)
}

fn snippet(placed: &PlacedEdit) -> String {
    let chunks = placed.change.settings.get("chunks").map_or_else(|| CHUNKS.to_string(), ToString::to_string);
    if is_of_model(&placed.action) {
        return HEAD.replace("CHUNKS", &chunks);
    }
    format!(
        "{CLASS}\n\nloss = {NAME}.apply(logits, targets, {chunks})  # in the place of cross_entropy(logits, targets)"
    )
}

/// As on the remedy's page.
const CLASS: &str = "\
class ChunkedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, chunks):
        parts = zip(logits.chunk(chunks), target.chunk(chunks))
        loss = sum(torch.nn.functional.cross_entropy(part, wanted, reduction=\"sum\") for part, wanted in parts)
        count = (target != -100).sum()
        ctx.save_for_backward(logits, target, count)
        ctx.chunks = chunks
        return loss / count

    @staticmethod
    def backward(ctx, gradient):
        logits, target, count = ctx.saved_tensors
        result = torch.empty_like(logits)
        for part, wanted, into in zip(*(tensor.chunk(ctx.chunks) for tensor in (logits, target, result))):
            soft = torch.softmax(part, 1, dtype=torch.float32)
            soft.scatter_add_(1, wanted.clamp(min=0).unsqueeze(1), soft.new_full((len(wanted), 1), -1.0))
            into.copy_(soft.mul_((wanted != -100).unsqueeze(1)).mul_(gradient / count))
            del soft
        return result, None, None";

const HEAD: &str = "\
def loss_of_part(hidden, targets):
    logits = model.get_output_embeddings()(hidden).float()
    return torch.nn.functional.cross_entropy(logits, targets, reduction=\"sum\")

def chunked_loss(inputs, labels):
    hidden = model.base_model(inputs).last_hidden_state.flatten(0, 1)
    targets = torch.nn.functional.pad(labels, (0, 1), value=-100)[:, 1:].flatten()
    parts = zip(hidden.chunk(CHUNKS), targets.chunk(CHUNKS))
    loss = sum(torch.utils.checkpoint.checkpoint(loss_of_part, *part, use_reentrant=False) for part in parts)
    return loss / (targets != -100).sum()

loss = chunked_loss(inputs, labels)  # in the place of model(inputs, labels=labels).loss";

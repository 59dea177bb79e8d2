//! Programs with the loop of Hugging Face's `Trainer` or of Lightning: there a remedy is an argument of the library.

use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

/// transformers 5 and TRL: dataclasses that derive from `TrainingArguments`.
const ARGUMENTS: [&str; 5] =
    ["TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "RewardConfig"];

/// The library that has the program's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trainer {
    /// Hugging Face's `Trainer`, with `TrainingArguments`.
    HuggingFace,
    /// Lightning's `Trainer`.
    Lightning,
}

/// The edit in a program with a trainer's loop: `argument` returns the keyword and the value. `None` without a trainer.
pub(super) fn edits<'a>(
    site: &ChangeSite<'a>,
    argument: fn(&ChangeSite<'_>, Trainer) -> Option<(&'static str, &'static str)>,
) -> Option<Result<Vec<Edit>, Why>> {
    let has_own_loop = site.source.root.walk().any(|node| node.called() == Some("backward"));
    if has_own_loop {
        return None;
    }
    [Trainer::HuggingFace, Trainer::Lightning].into_iter().find_map(|trainer| {
        let call = constructor(site, trainer)?;
        let (keyword, value) = argument(site, trainer)?;
        Some(layout::keyword(site.source, call, keyword, value))
    })
}

/// The call that configures the trainer.
fn constructor<'a>(site: &ChangeSite<'a>, trainer: Trainer) -> Option<&'a Node> {
    match trainer {
        Trainer::HuggingFace => site.only_call(|call| call.called().is_some_and(|name| ARGUMENTS.contains(&name))),
        Trainer::Lightning => site.only_call(|call| call.called() == Some("Trainer") && is_lightnings(site, call)),
    }
}

fn is_lightnings(site: &ChangeSite<'_>, call: &Node) -> bool {
    let name = call.function().and_then(Node::dotted).unwrap_or_default();
    let first = name.split('.').next().unwrap_or_default();
    let imports = site.source.root.walk().filter_map(|node| match &node.kind {
        Kind::Import(bindings) => Some(bindings),
        _ => None,
    });
    let path = imports.flatten().find(|binding| binding.name == first).map(|binding| binding.path.as_str());
    path.is_some_and(|path| ["lightning", "pytorch_lightning"].contains(&path.split('.').next().unwrap_or_default()))
}

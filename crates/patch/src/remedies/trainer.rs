//! Programs whose loop is Hugging Face's `Trainer` or Lightning's: there a remedy is an argument of theirs.

use crate::edit::Edit;
use crate::layout;
use crate::place::{Place, Why};
use crate::syntax::{Kind, Node};

/// transformers 5 and TRL: dataclasses that derive from `TrainingArguments`.
const ARGUMENTS: [&str; 5] =
    ["TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "RewardConfig"];

/// The edits in a program that leaves the remedy to a trainer; none where it does not.
pub(super) fn edits(place: &Place<'_>) -> Option<Result<Vec<Edit>, Why>> {
    let has_own_loop = place.source.root.walk().any(|node| node.called() == Some("backward"));
    if has_own_loop {
        return None;
    }
    hugging_face(place).or_else(|| lightning(place))
}

fn hugging_face(place: &Place<'_>) -> Option<Result<Vec<Edit>, Why>> {
    let call = place.only_call(|call| call.called().is_some_and(|name| ARGUMENTS.contains(&name)))?;
    let set = |name: &str, value: &str| Some(layout::keyword(place.source, call, name, value));
    let makes_own_optimizer = super::optimizers::constructor(place).is_ok();
    match place.change.remedy.as_str() {
        "optimizer-fused" if !makes_own_optimizer => set("optim", "\"adamw_torch_fused\""),
        "optimizer-8bit" if !makes_own_optimizer => set("optim", "\"adamw_bnb_8bit\""),
        "optimizer-paged" if !makes_own_optimizer => match place.number("bits") {
            Ok(8) => set("optim", "\"paged_adamw_8bit\""),
            _ => set("optim", "\"paged_adamw_32bit\""),
        },
        "autocast" => set(if place.word("dtype") == Some("fp16") { "fp16" } else { "bf16" }, "True"),
        "activation-checkpointing" if !place.change.settings.contains_key("blocks") => {
            set("gradient_checkpointing", "True")
        }
        _ => None,
    }
}

fn lightning(place: &Place<'_>) -> Option<Result<Vec<Edit>, Why>> {
    let call = place.only_call(|call| call.called() == Some("Trainer") && is_lightnings(place, call))?;
    match place.change.remedy.as_str() {
        "autocast" => {
            let precision = if place.word("dtype") == Some("fp16") { "\"16-mixed\"" } else { "\"bf16-mixed\"" };
            Some(layout::keyword(place.source, call, "precision", precision))
        }
        _ => None,
    }
}

fn is_lightnings(place: &Place<'_>, call: &Node) -> bool {
    let name = call.function().and_then(Node::dotted).unwrap_or_default();
    let first = name.split('.').next().unwrap_or_default();
    let imports = place.source.root.walk().filter_map(|node| match &node.kind {
        Kind::Import(bindings) => Some(bindings),
        _ => None,
    });
    let path = imports.flatten().find(|binding| binding.name == first).map(|binding| binding.path.as_str());
    path.is_some_and(|path| ["lightning", "pytorch_lightning"].contains(&path.split('.').next().unwrap_or_default()))
}

//! lora: PEFT's adapters put into the model before it is moved to the GPU.
//!
//! Settings: `rank`.

use report::Change;

use super::Patch;
use super::moves::Move;
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |placed| snippet(&placed.change));

/// The agent's own.
const RANK: u64 = 8;

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if site.source.root.walk().any(|node| node.called() == Some("get_peft_model")) {
        return Ok(Vec::new());
    }
    let found = Move::find(site)?;
    let (peft, import) = site.module("peft")?;
    let (model, rank) = (found.model, rank(site.change));
    let (first, targets) = targets(site, model)?;
    let adapted = format!(
        "{model} = {peft}.get_peft_model({model}, {peft}.LoraConfig(r={rank}, lora_alpha={}, target_modules={targets}))",
        2 * rank
    );
    let lines: Vec<String> = first.into_iter().chain([adapted]).collect();
    let mut edits = found.insert_before(site, &lines)?;
    edits.extend(import);
    Ok(edits)
}

/// The layers with adapters, and a line before that lists them: PEFT finds the layers of transformers by itself.
fn targets(site: &ChangeSite<'_>, model: &str) -> Result<(Option<String>, String), Why> {
    let is_theirs = |path: &str| path == "transformers" || path.starts_with("transformers.");
    if site.imports().any(|binding| is_theirs(&binding.path)) {
        return Ok((None, "\"all-linear\"".to_owned()));
    }
    let list = site.free_name(&["linears", "targets"])?;
    let linear = format!("{}.nn.Linear", site.torch()?);
    let line = format!("{list} = [name for name, module in {model}.named_modules() if isinstance(module, {linear})]");
    Ok((Some(line), list.to_owned()))
}

fn rank(change: &Change) -> u64 {
    change.settings.get("rank").and_then(serde_json::Value::as_u64).unwrap_or(RANK)
}

fn snippet(change: &Change) -> String {
    let rank = rank(change);
    format!(
        "import peft\n# before the model is moved to the GPU and the optimizer is made:\nmodel = peft.get_peft_model(model, peft.LoraConfig(r={rank}, lora_alpha={}, target_modules=\"all-linear\"))",
        2 * rank
    )
}

//! activation-memory-budget: PyTorch's setting for compiled programs, before anything is compiled.
//!
//! Settings: `budget`, from `0` to `1`.

use report::Change;

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::Kind;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |placed| snippet(&placed.change));

const MODULE: &str = "torch._functorch.config";
const NAME: &str = "activation_memory_budget";

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let sets = |it: &crate::syntax::Node| {
        it.kind == Kind::Assign
            && it.children.first().and_then(crate::syntax::Node::dotted).is_some_and(|it| it.ends_with(NAME))
    };
    if site.source.root.walk().any(sets) {
        return Err(Why::Unfit(format!("the file sets {NAME} itself")));
    }
    let torch = site.torch()?;
    if torch != "torch" {
        return Err(Why::Unfit(format!("the file calls torch `{torch}`")));
    }
    let lines = [format!("import {MODULE}"), format!("{MODULE}.{NAME} = {}", budget(site.change))];
    let rest = layout::after_prologue(site.source);
    let is_torch = |path: &str| path == "torch" || path.starts_with("torch.");
    // The first: a later import may stand below the compiled model.
    let import = rest.iter().find(
        |it| matches!(&it.kind, Kind::Import(bindings) if bindings.iter().any(|binding| is_torch(&binding.path))),
    );
    let import = import.ok_or_else(|| Why::Unfit("the file imports torch within a function".to_owned()))?;
    Ok(vec![layout::after(site.source, import, &lines)?])
}

fn budget(change: &Change) -> String {
    match change.settings.get(remedies::setting::BUDGET) {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "1.0".to_owned(),
    }
}

fn snippet(change: &Change) -> String {
    format!("import {MODULE}\n{MODULE}.{NAME} = {}  # before anything is compiled", budget(change))
}

//! optimizer-offload: torchao's `CPUOffloadOptimizer` around the optimizer's class.

use super::Patch;
use super::optimizers::constructor;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    "from torchao.optim import CPUOffloadOptimizer\noptimizer = CPUOffloadOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, ...)".to_owned()
});

const CLASS: &str = "CPUOffloadOptimizer";

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if site.statement().is_ok_and(|statement| statement.mentions(CLASS)) {
        return Ok(Vec::new());
    }
    let call = constructor(site)?;
    let function = call.function().ok_or(Why::NoStatement(site.line))?;
    if call.has_unpacked() {
        return Err(Why::Unpacked(site.line, "optimizer_class".to_owned()));
    }
    let class = site.source.slice(function.span);
    let mut edits = vec![Edit::replace(function.span, CLASS)];
    edits.extend(import(site)?);
    // All that follows the parameters is given by name; PyTorch's optimizers have `lr` in the second place.
    let is_positional = |argument: &&Node| !matches!(argument.kind, Kind::Keyword(_));
    match call.arguments().iter().filter(is_positional).collect::<Vec<_>>()[..] {
        [] => edits.push(layout::argument(site.source, call, &format!("optimizer_class={class}"))?),
        [parameters] => edits.push(Edit::insert(parameters.span.end, format!(", optimizer_class={class}"))),
        [_, rate] => edits.push(Edit::insert(rate.span.start, format!("optimizer_class={class}, lr="))),
        ref several => {
            let count = several.len();
            return Err(Why::Unfit(format!(
                "the optimizer has {count} arguments without a name; expected at most two"
            )));
        }
    }
    Ok(edits)
}

/// The import that the class needs.
fn import(site: &ChangeSite<'_>) -> Result<Option<Edit>, Why> {
    if site.import_name("torchao.optim.CPUOffloadOptimizer") == Some(CLASS) {
        Ok(None)
    } else if site.is_taken(CLASS) {
        Err(Why::NameTaken(CLASS.to_owned()))
    } else {
        layout::import(site.source, "from torchao.optim import CPUOffloadOptimizer").map(Some)
    }
}

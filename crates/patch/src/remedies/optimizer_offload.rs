//! optimizer-offload: torchao's `CPUOffloadOptimizer` around the optimizer's class.

use super::Patch;
use super::optimizers::constructor;
use crate::edit::Edit;
use crate::layout;
use crate::place::Place;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    "from torchao.optim import CPUOffloadOptimizer\noptimizer = CPUOffloadOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, ...)".to_owned()
});

const CLASS: &str = "CPUOffloadOptimizer";

fn edits(place: &Place<'_>) -> Result<Vec<Edit>, Why> {
    if place.statement().is_ok_and(|statement| statement.mentions(CLASS)) {
        return Ok(Vec::new());
    }
    let call = constructor(place)?;
    let function = call.function().ok_or(Why::NoStatement(place.line))?;
    if call.has_unpacked() {
        return Err(Why::Unpacked(place.line, "optimizer_class".to_owned()));
    }
    let class = place.source.slice(function.span);
    let mut edits = vec![Edit::replace(function.span, CLASS)];
    edits.extend(import(place)?);
    // All that follows the parameters is given by name; PyTorch's optimizers have `lr` in the second place.
    let is_given_by_place = |argument: &&Node| !matches!(argument.kind, Kind::Keyword(_));
    match call.arguments().iter().filter(is_given_by_place).collect::<Vec<_>>()[..] {
        [] => edits.push(layout::argument(place.source, call, &format!("optimizer_class={class}"))?),
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
fn import(place: &Place<'_>) -> Result<Option<Edit>, Why> {
    if place.import_name("torchao.optim.CPUOffloadOptimizer") == Some(CLASS) {
        Ok(None)
    } else if place.is_taken(CLASS) {
        Err(Why::NameTaken(CLASS.to_owned()))
    } else {
        layout::import(place.source, "from torchao.optim import CPUOffloadOptimizer").map(Some)
    }
}

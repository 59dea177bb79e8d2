//! weights-offload: accelerate's `cpu_offload` in the place of the model's move to the GPU.

use super::Patch;
use super::moves::Move;
use crate::edit::Edit;
use crate::place::Place;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    "import accelerate\n# in the place of model.cuda():\naccelerate.cpu_offload(model, execution_device=torch.device(\"cuda\"))".to_owned()
});

fn edits(place: &Place<'_>) -> Result<Vec<Edit>, Why> {
    if place.source.root.walk().any(|node| node.called() == Some("cpu_offload")) {
        return Ok(Vec::new());
    }
    let found = Move::find(place)?;
    let (accelerate, import) = place.module("accelerate")?;
    let line = format!("{accelerate}.cpu_offload({}, execution_device={})", found.model, found.device(place)?);
    let mut edits = found.replace_with(place, line)?;
    edits.extend(import);
    Ok(edits)
}

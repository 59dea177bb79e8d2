//! weights-offload: accelerate's `cpu_offload` in the place of the model's move to the GPU.

use super::Patch;
use super::moves::Move;
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    "import accelerate\n# in the place of model.cuda():\naccelerate.cpu_offload(model, execution_device=torch.device(\"cuda\"))".to_owned()
});

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if site.source.root.walk().any(|node| node.called() == Some("cpu_offload")) {
        return Ok(Vec::new());
    }
    let found = Move::find(site)?;
    let (accelerate, import) = site.module("accelerate")?;
    let line = format!("{accelerate}.cpu_offload({}, execution_device={})", found.model, found.device(site)?);
    let mut edits = found.replace_with(site, line)?;
    edits.extend(import);
    Ok(edits)
}

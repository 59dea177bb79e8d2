//! activation-offload: the model's forward under `save_on_cpu`: autograd's saved tensors lie in pinned host memory.

use super::Patch;
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::training;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| {
    "with torch.autograd.graph.save_on_cpu(pin_memory=True):\n    outputs = model(inputs)".to_owned()
});

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if site.source.root.walk().any(|node| node.called() == Some("save_on_cpu")) {
        return Ok(Vec::new());
    }
    let header = format!("with {}.autograd.graph.save_on_cpu(pin_memory=True):", site.torch()?);
    training::wrap_call(site, &header)
}

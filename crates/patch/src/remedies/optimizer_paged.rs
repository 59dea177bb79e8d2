//! optimizer-paged: the class of bitsandbytes whose state lies in managed memory, in place of PyTorch's; `bits=8` as well.

use report::Change;

use super::Remedy;
use super::optimizer_8bit::{bitsandbytes, code};

pub(super) const REMEDY: Remedy = Remedy {
    name: "optimizer-paged",
    edits: |place| bitsandbytes(place, "Paged", suffix(place.change)),
    snippet: |placed| code("Paged", suffix(&placed.change)),
};

fn suffix(change: &Change) -> &'static str {
    if change.settings.get("bits").and_then(serde_json::Value::as_u64) == Some(8) { "8bit" } else { "" }
}

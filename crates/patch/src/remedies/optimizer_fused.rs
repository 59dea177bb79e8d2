//! optimizer-fused: `fused=True` at the constructor.

use super::Remedy;
use super::optimizers::with_keyword;

pub(super) const REMEDY: Remedy = Remedy {
    name: "optimizer-fused",
    edits: |place| with_keyword(place, "fused", "True", "foreach"),
    snippet: |_| "optimizer = torch.optim.AdamW(model.parameters(), ..., fused=True)".to_owned(),
};

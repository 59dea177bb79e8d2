//! optimizer-foreach-off: `foreach=False` at the constructor.

use super::Remedy;
use super::optimizers::with_keyword;

pub(super) const REMEDY: Remedy = Remedy {
    name: "optimizer-foreach-off",
    edits: |place| with_keyword(place, "foreach", "False", "fused"),
    snippet: |_| "optimizer = torch.optim.AdamW(model.parameters(), ..., foreach=False)".to_owned(),
};

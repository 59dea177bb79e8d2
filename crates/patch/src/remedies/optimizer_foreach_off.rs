//! optimizer-foreach-off: `foreach=False` at the constructor.

use super::Patch;
use super::optimizers::with_keyword;

pub(super) const PATCH: Patch = Patch::new(
    |site| with_keyword(site, "foreach", "False", "fused"),
    |_| "optimizer = torch.optim.AdamW(model.parameters(), ..., foreach=False)".to_owned(),
);

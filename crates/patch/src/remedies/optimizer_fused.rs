//! optimizer-fused: `fused=True` at the constructor.

use super::Patch;
use super::optimizers::{trainer_argument, with_keyword};

pub(super) const PATCH: Patch = Patch::new(
    |site| with_keyword(site, "fused", "True", "foreach"),
    |_| "optimizer = torch.optim.AdamW(model.parameters(), ..., fused=True)".to_owned(),
)
.with_argument(|site, trainer| trainer_argument(site, trainer, "\"adamw_torch_fused\""));

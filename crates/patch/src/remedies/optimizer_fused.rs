//! optimizer-fused: `fused=True` at the constructor.

use super::Patch;
use super::optimizers::{trainer_argument, with_keyword};

pub(super) const PATCH: Patch = Patch::new(
    |place| with_keyword(place, "fused", "True", "foreach"),
    |_| "optimizer = torch.optim.AdamW(model.parameters(), ..., fused=True)".to_owned(),
)
.with_argument(|place, trainer| trainer_argument(place, trainer, "\"adamw_torch_fused\""));

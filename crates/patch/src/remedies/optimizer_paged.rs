//! optimizer-paged: the class of bitsandbytes whose state lies in managed memory, in place of PyTorch's; `bits=8` as well.

use report::Change;

use super::Patch;
use super::optimizer_8bit::{bitsandbytes, code};
use super::optimizers::trainer_argument;

pub(super) const PATCH: Patch =
    Patch::new(|site| bitsandbytes(site, "Paged", suffix(site.change)), |placed| code("Paged", suffix(&placed.change)))
        .with_argument(|site, trainer| {
            let is_8bit = site.number("bits") == Ok(8);
            trainer_argument(site, trainer, if is_8bit { "\"paged_adamw_8bit\"" } else { "\"paged_adamw_32bit\"" })
        });

fn suffix(change: &Change) -> &'static str {
    if change.settings.get("bits").and_then(serde_json::Value::as_u64) == Some(8) { "8bit" } else { "" }
}

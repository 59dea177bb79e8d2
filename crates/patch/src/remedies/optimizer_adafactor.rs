//! optimizer-adafactor: `torch.optim.Adafactor` replaces an optimizer with a state as large as its parameters.

use super::Patch;
use super::optimizers::{constructor, replace_class};
use crate::edit::Edit;
use crate::site::ChangeSite;
use crate::why::Why;

pub(super) const PATCH: Patch =
    Patch::new(edits, |_| "optimizer = torch.optim.Adafactor(model.parameters(), ...)".to_owned());

/// Keywords of Adafactor with the same name and meaning.
const KEPT: [&str; 3] = ["lr", "weight_decay", "maximize"];

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let name = constructor(site)?.called().unwrap_or_default();
    if name == "Adafactor" {
        return Ok(Vec::new());
    }
    replace_class(site, &format!("{}.optim.Adafactor", site.torch()?), &KEPT, None)
}

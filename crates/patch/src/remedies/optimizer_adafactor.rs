//! optimizer-adafactor: `torch.optim.Adafactor` in place of an optimizer that keeps a state as large as its parameters.

use super::Patch;
use super::optimizers::{constructor, replace_class};
use crate::edit::Edit;
use crate::place::Place;
use crate::why::Why;

pub(super) const PATCH: Patch =
    Patch::new(edits, |_| "optimizer = torch.optim.Adafactor(model.parameters(), ...)".to_owned());

/// What Adafactor has too, under the same name and with the same meaning.
const KEPT: [&str; 3] = ["lr", "weight_decay", "maximize"];

fn edits(place: &Place<'_>) -> Result<Vec<Edit>, Why> {
    let name = constructor(place)?.called().unwrap_or_default();
    if name == "Adafactor" {
        return Ok(Vec::new());
    }
    replace_class(place, &format!("{}.optim.Adafactor", place.torch()?), &KEPT, None)
}

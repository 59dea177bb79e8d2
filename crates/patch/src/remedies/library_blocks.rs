//! Blocks that a library calls, or a `Sequential`: their forward is put into a checkpoint after the model is made.
//!
//! The agent says which: `checkpoint(the first 3 of 16 × Bottleneck in layer1, layer2, use_reentrant=False)`.

use super::activation_checkpointing::{checkpoint, made};
use crate::edit::Edit;
use crate::layout;
use crate::place::{Place, Why};

/// A loop over the modules of these classes, after the statement that makes the model.
pub(super) fn edits(place: &Place<'_>) -> Result<Vec<Edit>, Why> {
    let classes =
        classes(place.text).ok_or_else(|| Why::Unfit(format!("which blocks `{}` means is not known", place.text)))?;
    let (made, model) = made(place, "model that calls these blocks")?;
    let (module, block) = (place.free_name(&["module", "part"])?, place.free_name(&["block", "layer"])?);
    let (name, import) = checkpoint(place)?;
    let (functools, second) = place.module("functools")?;
    let test = match &classes[..] {
        [class] => format!("== \"{class}\""),
        several => format!("in (\"{}\")", several.join("\", \"")),
    };
    let first = place.number("blocks").map(|most| format!("[:{most}]")).unwrap_or_default();
    let lines = [
        format!(
            "for {block} in [{module} for {module} in {model}.modules() if type({module}).__name__ {test}]{first}:"
        ),
        format!(
            "{}{block}.forward = {functools}.partial({name}, {block}.forward, use_reentrant=False)",
            layout::unit(place.source)
        ),
    ];
    let mut edits = vec![layout::after(place.source, made, &lines)?];
    edits.extend(second);
    edits.extend(import);
    Ok(edits)
}

/// The classes of the blocks; a `Sequential` among them may stand anywhere else in the model too.
fn classes(said: &str) -> Option<Vec<&str>> {
    let parts = said.strip_prefix("checkpoint(")?.split("; ").filter(|part| part.contains(" × "));
    let classes: Vec<&str> = parts.map(class).collect::<Option<_>>()?;
    let is_name = |class: &&str| class.chars().all(|c| c.is_alphanumeric() || c == '_') && **class != *"Sequential";
    (!classes.is_empty() && classes.iter().all(is_name)).then_some(classes)
}

/// `Block` of `12 × Block in h`.
fn class(part: &str) -> Option<&str> {
    Some(part.split_once(" × ")?.1.split_once(" in ")?.0)
}

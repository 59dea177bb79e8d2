//! Blocks called by a library or a `Sequential`: their forward is wrapped in a checkpoint after the model is made.
//!
//! The action names their classes.

use trace::run::RemedyAction;

use super::checkpoints::{checkpoint, find_model};
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::why::Why;

/// Inserts a loop over the modules of the recorded classes, after the statement that makes the model.
pub(super) fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let classes = classes(site.action)?;
    let (made, model) = find_model(site, "model that calls these blocks")?;
    let (module, block) = (site.free_name(&["module", "part"])?, site.free_name(&["block", "layer"])?);
    let (name, import) = checkpoint(site)?;
    let (functools, second) = site.module("functools")?;
    let test = match classes {
        [class] => format!("== \"{class}\""),
        several => format!("in (\"{}\")", several.join("\", \"")),
    };
    let first = site.number("blocks").map(|most| format!("[:{most}]")).unwrap_or_default();
    let lines = [
        format!(
            "for {block} in [{module} for {module} in {model}.modules() if type({module}).__name__ {test}]{first}:"
        ),
        format!(
            "{}{block}.forward = {functools}.partial({name}, {block}.forward, use_reentrant=False)",
            layout::unit(site.source)
        ),
    ];
    let mut edits = vec![layout::after(site.source, made, &lines)?];
    edits.extend(second);
    edits.extend(import);
    Ok(edits)
}

/// The classes of the blocks. A `Sequential` may have any other role in the model too, so its name is no sign.
fn classes(action: &RemedyAction) -> Result<&[String], Why> {
    let RemedyAction::CheckpointBlocks { classes } = action else {
        return Err(Why::Unfit("the run did not record which blocks it checkpointed".to_owned()));
    };
    let is_name = |class: &String| class.chars().all(|c| c.is_alphanumeric() || c == '_') && class != "Sequential";
    match classes.iter().find(|class| !is_name(class)) {
        Some(class) => Err(Why::Unfit(format!("which blocks of class `{class}` are meant is not known"))),
        None => Ok(classes),
    }
}

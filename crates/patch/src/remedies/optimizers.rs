//! The construction of an optimizer in the source, for the remedies that edit the call.

use super::trainer::Trainer;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

/// The optimizers of PyTorch with a second implementation or an equivalent in another library.
const CLASSES: [&str; 12] = [
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ASGD",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
];

/// The constructor of an optimizer on the line.
pub(super) fn constructor<'a>(site: &ChangeSite<'a>) -> Result<&'a Node, Why> {
    site.call("an optimizer of PyTorch", |call| call.called().is_some_and(|name| CLASSES.contains(&name)))
}

/// The argument of Hugging Face's trainer in a program that makes no optimizer on the line.
pub(super) fn trainer_argument(
    site: &ChangeSite<'_>,
    trainer: Trainer,
    value: &'static str,
) -> Option<(&'static str, &'static str)> {
    (trainer == Trainer::HuggingFace && constructor(site).is_err()).then_some(("optim", value))
}

/// Adds `name=value` to the constructor, and removes the contradicting `other`.
pub(super) fn with_keyword(site: &ChangeSite<'_>, name: &str, value: &str, other: &str) -> Result<Vec<Edit>, Why> {
    let call = constructor(site)?;
    match call.keyword(other) {
        Some(keyword) if call.keyword(name).is_none() => {
            Ok(vec![Edit::replace(keyword.span, format!("{name}={value}"))])
        }
        Some(_) => {
            let mut edits = layout::keyword(site.source, call, name, value)?;
            edits.extend(layout::drop_keyword(site.source, call, other));
            Ok(edits)
        }
        None => layout::keyword(site.source, call, name, value),
    }
}

/// Replaces the class by `class`, which takes the keywords `kept` alone; `import` imports it. Positional arguments
/// after the first two are refused: their meaning in another class is unknown.
pub(super) fn replace_class(
    site: &ChangeSite<'_>,
    class: &str,
    kept: &[&str],
    import: Option<&str>,
) -> Result<Vec<Edit>, Why> {
    let call = constructor(site)?;
    let function = call.function().ok_or(Why::NoStatement(site.line))?;
    if call.has_unpacked() {
        return Err(Why::Unpacked(site.line, "foreach".to_owned()));
    }
    let positional = call.arguments().iter().filter(|argument| !matches!(argument.kind, Kind::Keyword(_))).count();
    if positional > 2 {
        return Err(Why::Unfit(format!(
            "the optimizer has {positional} arguments without a name; expected at most two"
        )));
    }
    let mut edits = vec![Edit::replace(function.span, class)];
    edits.extend(list_dropped(call, kept).filter_map(|name| layout::drop_keyword(site.source, call, name)));
    edits.extend(import.map(|line| layout::import(site.source, line)).transpose()?);
    Ok(edits)
}

/// Keywords unknown to the new class.
fn list_dropped<'a>(call: &'a Node, kept: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let names = call.arguments().iter().filter_map(|argument| match &argument.kind {
        Kind::Keyword(Some(name)) => Some(name.as_str()),
        _ => None,
    });
    names.filter(|name| *name != "params" && !kept.contains(name))
}

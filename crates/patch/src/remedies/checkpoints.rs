//! Parts of checkpointing in the source: the model to checkpoint, and the name of `checkpoint` in the file.

use crate::edit::Edit;
use crate::layout;
use crate::site::{ChangeSite, own};
use crate::syntax::{Kind, Node};
use crate::why::Why;

/// The assignment that makes the model: the only one with its class, else the only assignment of the name called on the
/// line.
pub(super) fn find_model<'a>(site: &ChangeSite<'a>, class: &str) -> Result<(&'a Node, &'a str), Why> {
    let assignments = || site.source.root.walk().filter(|node| matches!(node.kind, Kind::Assign | Kind::Annotated));
    let calls = |node: &Node| node.value().is_some_and(|value| value.walk_here().any(|node| node.kind == Kind::Call));
    let by_class: Vec<&Node> =
        assignments().filter(|node| calls(node) && node.value().is_some_and(|value| value.mentions(class))).collect();
    let called: Vec<&str> = match site.statement() {
        Ok(statement) => {
            own(statement).filter_map(Node::function).map(|function| site.source.slice(function.span)).collect()
        }
        Err(_) => Vec::new(),
    };
    let target = |node: &'a Node| node.targets().first().map(|target| site.source.slice(target.span));
    let by_name: Vec<&Node> =
        assignments().filter(|node| calls(node) && target(node).is_some_and(|name| called.contains(&name))).collect();
    let made = match (&by_class[..], &by_name[..]) {
        ([one], _) | (_, [one]) => *one,
        _ => return Err(Why::Unfit(format!("where the {class} is made is not known"))),
    };
    target(made).map(|name| (made, name)).ok_or(Why::NoStatement(site.line))
}

/// The file's name for `checkpoint`, and the necessary import.
pub(super) fn checkpoint(site: &ChangeSite<'_>) -> Result<(&'static str, Option<Edit>), Why> {
    const LINE: &str = "from torch.utils.checkpoint import checkpoint";
    if site.import_name("torch.utils.checkpoint.checkpoint") == Some("checkpoint") {
        Ok(("checkpoint", None))
    } else if !site.is_taken("checkpoint") {
        Ok(("checkpoint", Some(layout::import(site.source, LINE)?)))
    } else if site.torch()? == "torch" {
        Ok(("torch.utils.checkpoint.checkpoint", Some(layout::import(site.source, "import torch.utils.checkpoint")?)))
    } else {
        Err(Why::NameTaken("checkpoint".to_owned()))
    }
}

//! inplace-activations: `inplace=True` where the program makes the activation.

use trace::run::RemedyAction;

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::{ChangeSite, own};
use crate::syntax::Node;
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |_| "nn.ReLU(inplace=True)".to_owned());

/// The action names the activation's class, and its line runs the activation: the model's call, or `self.act(x)`.
fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let RemedyAction::SetArgument { callee: class, .. } = site.action else { return Err(unfit("activation")) };
    let call = made_for(site, class).or_else(|| only(site, class)).ok_or_else(|| unfit(class))?;
    layout::keyword(site.source, call, "inplace", "True")
}

fn unfit(class: &str) -> Why {
    Why::Unfit(format!("which {class} of the file is meant is not known"))
}

/// The constructor assigned to what is called on the line: `self.act = nn.ReLU()` for `self.act(x)`.
fn made_for<'a>(site: &ChangeSite<'a>, class: &str) -> Option<&'a Node> {
    let statement = site.statement().ok()?;
    let called: Vec<&str> =
        own(statement).filter_map(Node::function).map(|function| site.source.slice(function.span)).collect();
    let is_ours = |node: &&Node| node.targets().iter().any(|target| called.contains(&site.source.slice(target.span)));
    let values = site.source.root.walk().filter(is_ours).filter_map(Node::value);
    let mut made = values.filter(|value| value.called() == Some(class));
    let found = made.next()?;
    if made.next().is_none() { Some(found) } else { None }
}

/// The only constructor of the class in the file, in a comprehension or not.
fn only<'a>(site: &ChangeSite<'a>, class: &str) -> Option<&'a Node> {
    let mut made = site.source.root.walk().filter(|node| node.called() == Some(class));
    let found = made.next()?;
    if made.next().is_none() { Some(found) } else { None }
}

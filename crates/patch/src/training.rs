//! The training step in the source: the call of `backward`, the statements of its graph, the loop around them.

use crate::edit::Edit;
use crate::layout;
use crate::site::{ChangeSite, own};
use crate::syntax::{Kind, Node};
use crate::why::Why;

/// Calls that fetch or move data: autograd records nothing of them.
const DATA: [&str; 16] = [
    "to", "cuda", "next", "iter", "randn", "rand", "randint", "zeros", "ones", "full", "empty", "tensor", "arange",
    "pop", "items", "long",
];

/// The statement with `backward`, and the block it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// The statements of the step.
    pub(crate) block: &'a [Node],
    /// The index of the statement that calls `backward`.
    pub(crate) index: usize,
    /// The call itself.
    pub(crate) backward: &'a Node,
    /// The `for` or `while` of which the block is the body.
    pub(crate) around: Option<&'a Node>,
}

/// The step that the line belongs to: in the loop or function around the line, or the only one in the file.
pub(crate) fn step<'a>(site: &ChangeSite<'a>) -> Result<Step<'a>, Why> {
    let all = steps(&site.source.root);
    let holds = |owner: &Node, step: &Step<'_>| owner.span.contains(step.backward.span);
    let around = |step: &&Step<'a>| {
        let owners = site.source.root.path_to(step.backward.span);
        let scopes = owners.into_iter().filter(|node| node.is_loop() || matches!(node.kind, Kind::Function(_)));
        scopes.filter(|owner| holds(owner, step)).any(|owner| site.covers(owner, site.line))
    };
    let near: Vec<&Step<'a>> = all.iter().filter(around).collect();
    match (&near[..], &all[..]) {
        ([one], _) => Ok(**one),
        ([], [one]) => Ok(*one),
        ([], []) => Err(Why::Unfit("the file calls backward nowhere: the step is in a library".to_owned())),
        _ => Err(Why::Unfit(format!(
            "backward is called in {} places; which of them is meant is not known",
            near.len().max(all.len())
        ))),
    }
}

fn steps(root: &Node) -> Vec<Step<'_>> {
    let owners = root.walk().filter(|node| node.body().is_some() || node.kind == Kind::Clause);
    let blocks = owners.flat_map(|owner| {
        owner.children.iter().filter(|child| child.kind == Kind::Block).map(move |block| (owner, block))
    });
    let mut found: Vec<Step<'_>> =
        blocks.flat_map(|(owner, block)| steps_of(block, owner.is_loop().then_some(owner))).collect();
    found.extend(steps_of(root, None));
    found
}

fn steps_of<'a>(block: &'a Node, around: Option<&'a Node>) -> impl Iterator<Item = Step<'a>> {
    let is_plain = |statement: &Node| matches!(statement.kind, Kind::Expression | Kind::Assign);
    let plain = block.children.iter().enumerate().filter(move |(_, statement)| is_plain(statement));
    plain.filter_map(move |(index, statement)| {
        let backward = own(statement).find(|node| node.called() == Some("backward") && node.receiver().is_some())?;
        Some(Step { block: &block.children, index, backward, around })
    })
}

impl<'a> Step<'a> {
    /// The statement with `backward`.
    pub(crate) fn statement(&self) -> &'a Node {
        &self.block[self.index]
    }

    /// The start of backward: `loss` of `loss.backward()`, `scaler.scale(loss).backward()` and `accelerator.backward(loss)`.
    pub(crate) fn subject(&self) -> Option<&'a Node> {
        let receiver = self.backward.receiver()?;
        let given = self.backward.arguments().first().filter(|argument| !matches!(argument.kind, Kind::Keyword(_)));
        let scaled = receiver.arguments().first().filter(|_| receiver.called() == Some("scale"));
        given.or(scaled).or(Some(receiver))
    }

    /// The name of the loss, if backward starts from a plain name.
    pub(crate) fn loss(&self) -> Option<&'a str> {
        match &self.subject()?.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The first and the last statement of forward and loss: the computing statements that lead to the loss.
    pub(crate) fn forward(&self, site: &ChangeSite<'_>) -> Result<(&'a Node, &'a Node), Why> {
        let before = &self.block[..self.index];
        let mut needed: Vec<&str> = self.subject().map(names).unwrap_or_default();
        let mut range: Option<(usize, usize)> = None;
        for (index, statement) in before.iter().enumerate().rev() {
            if binds(statement, &needed) && computes(statement) {
                range = Some((index, range.map_or(index, |(_, last)| last)));
                needed.extend(names(statement));
            }
        }
        let noted = before.iter().position(|statement| site.covers(statement, site.line));
        let range = range.map(|(first, last)| (noted.map_or(first, |noted| noted.min(first)), last));
        range.map(|(first, last)| (&before[first], &before[last])).ok_or_else(|| {
            Why::Unfit("the statements that compute the loss do not stand before backward in one block".to_owned())
        })
    }
}

/// Forward and loss put under `header`. A loss that is computed in the statement of `backward` itself gets a statement of its own.
pub(crate) fn wrap_forward(site: &ChangeSite<'_>, header: &str) -> Result<Vec<Edit>, Why> {
    let step = step(site)?;
    let subject = step.subject();
    if let Some(subject) = subject.filter(|subject| computes(subject)) {
        return split(site, &step, subject, header);
    }
    let (first, last) = step.forward(site)?;
    layout::wrap(site.source, first, last, header)
}

/// The statement on the line, in which the model is called, put under `header`.
pub(crate) fn wrap_call(site: &ChangeSite<'_>, header: &str) -> Result<Vec<Edit>, Why> {
    let statement = site.statement()?;
    let backward = own(statement).find(|node| node.called() == Some("backward"));
    match (&statement.kind, backward) {
        (_, Some(_)) => wrap_forward(site, header),
        (Kind::Expression | Kind::Assign | Kind::Augmented | Kind::Annotated, None) => {
            layout::wrap(site.source, statement, statement, header)
        }
        _ => Err(Why::Unfit("the model is not called in a statement of its own".to_owned())),
    }
}

/// `model(x).sum().backward()` becomes `loss = model(x).sum()` under the header, then `loss.backward()`.
fn split(site: &ChangeSite<'_>, step: &Step<'_>, subject: &Node, header: &str) -> Result<Vec<Edit>, Why> {
    let text = site.source.slice(subject.span);
    if text.contains(['\n', '\r']) {
        return Err(Why::Unfit("the loss is computed over several lines in the statement of backward".to_owned()));
    }
    site.alone(step.statement())?;
    let loss = site.free_name(&["loss", "total_loss", "step_loss"])?;
    let lines = [header.to_owned(), format!("{}{loss} = {text}", layout::unit(site.source))];
    let statement = layout::before(site.source, step.statement(), &lines)?;
    Ok(vec![statement, Edit::replace(subject.span, loss)])
}

/// True if a statement binds one of the names.
fn binds(statement: &Node, wanted: &[&str]) -> bool {
    let targets = statement.walk_here().flat_map(Node::targets);
    targets.flat_map(names).any(|name| wanted.contains(&name))
}

/// True if the node calls code that autograd may record.
fn computes(node: &Node) -> bool {
    node.walk_here().any(|node| node.kind == Kind::Call && node.called().is_none_or(|name| !DATA.contains(&name)))
}

fn names(node: &Node) -> Vec<&str> {
    let names = node.walk().map(|inner| match &inner.kind {
        Kind::Name(name) => Some(name.as_str()),
        _ => None,
    });
    names.flatten().collect()
}

/// The single call of a plain statement: `optimizer.step()`, also as `x = optimizer.step()`.
pub(crate) fn sole_call(statement: &Node) -> Option<&Node> {
    let value = match statement.kind {
        Kind::Expression => statement.children.first(),
        Kind::Assign => statement.value(),
        _ => None,
    };
    value.filter(|value| value.kind == Kind::Call)
}

/// The index of the statement of a block that calls the method `name`, if exactly one does.
pub(crate) fn method<'a>(block: &'a [Node], name: &str, is_fit: impl Fn(&Node) -> bool) -> Option<(usize, &'a Node)> {
    let calls = block.iter().enumerate().filter_map(|(index, statement)| Some((index, sole_call(statement)?)));
    let mut calls = calls.filter(|(_, call)| call.called() == Some(name) && is_fit(call));
    let found = calls.next()?;
    if calls.next().is_none() { Some(found) } else { None }
}

/// True for `optimizer.step()`, not for `scheduler.step()` or `profiler.step()`.
pub(crate) fn is_optimizer(call: &Node) -> bool {
    let name = call.receiver().and_then(Node::last_name).unwrap_or_default().to_lowercase();
    name.starts_with("opt") || name.ends_with("optimizer") || name.ends_with("optim") || name.ends_with("opt")
}

/// True if the statement clips gradients.
pub(crate) fn mentions_clipping(statement: &Node) -> bool {
    statement.walk().any(|node| node.called().is_some_and(|name| name.starts_with("clip_grad")))
}

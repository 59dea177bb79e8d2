//! gradient-accumulation: a loop over batches becomes a loop over k-ths of batches, whose gradients add up before the
//! optimizer steps.
//!
//! Settings: `steps`, k. The agent notes each edit at its own line, and each is written there: the batch in the call of
//! the loader, `(loss / k).backward()`, and the condition at the step. All edits or none: a part of them makes a wrong
//! program.

use report::Change;
use trace::run::RemedyAction;

use super::{Patch, sizes};
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::training::{mentions_clipping, sole_call};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |placed| snippet(&placed.change));

/// The calls that belong to a step.
const UPDATES: [&str; 4] = ["step", "update", "unscale_", "zero_grad"];

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let parts = site.number(remedies::setting::STEPS)?;
    match site.action {
        RemedyAction::ScaleLoss { .. } => divide_loss(site, parts),
        RemedyAction::KeepLoss {} => Ok(Vec::new()),
        RemedyAction::GateStep { .. } => guard(site, parts),
        RemedyAction::DivideArgument { callee, keyword, .. } => divide_batch(site, callee, keyword, parts),
        RemedyAction::MultiplyArgument { callee, keyword, .. } => multiply_steps(site, callee, keyword, parts),
        _ => Err(unknown()),
    }
}

fn unknown() -> Why {
    Why::Unfit("the run did not record which part of the change belongs here".to_owned())
}

/// `(loss / k).backward()`: the name keeps its value, so logged losses stay the same.
fn divide_loss(site: &ChangeSite<'_>, parts: u64) -> Result<Vec<Edit>, Why> {
    let call = site.call("backward", |call| call.called() == Some("backward"))?;
    let receiver = call.receiver().ok_or(Why::NoStatement(site.line))?;
    let scaled = receiver.arguments().first().filter(|_| receiver.called() == Some("scale"));
    let given = call.arguments().first().filter(|argument| !matches!(argument.kind, Kind::Keyword(_)));
    let is_divided =
        |node: &Node| node.kind == Kind::Operation && site.source.slice(node.span).ends_with(&format!("/ {parts}"));
    if [Some(receiver), scaled, given].into_iter().flatten().any(is_divided) {
        return Ok(Vec::new());
    }
    let (loss, is_argument) = match given.or(scaled) {
        Some(argument) => (argument, true),
        None => (receiver, false),
    };
    let text = site.source.slice(loss.span);
    let is_simple = matches!(loss.kind, Kind::Name(_) | Kind::Attribute(_) | Kind::Call | Kind::Subscript);
    let divided = if is_simple { format!("{text} / {parts}") } else { format!("({text}) / {parts}") };
    Ok(vec![Edit::replace(loss.span, if is_argument { divided } else { format!("({divided})") })])
}

/// A smaller batch where it is given: `DataLoader(…, batch_size=…)`, `TrainingArguments(per_device_train_batch_size=…)`.
fn divide_batch(site: &ChangeSite<'_>, callee: &str, keyword: &str, parts: u64) -> Result<Vec<Edit>, Why> {
    let call = site.call(callee, |call| call.called() == Some(callee))?;
    let named = call.keyword(keyword).and_then(Node::value);
    let batch = named.or_else(|| if callee == "DataLoader" { sizes::of_loader(call) } else { None });
    match batch {
        Some(batch) => Ok(vec![Edit::replace(batch.span, sizes::divide_text(site, batch, parts)?)]),
        // transformers 5.17, training_args.py: 8.
        None if keyword == "per_device_train_batch_size" && 8 % parts == 0 => {
            layout::keyword(site.source, call, keyword, &(8 / parts).to_string())
        }
        None => Err(Why::Unfit(format!("{callee} is not given a `{keyword}` here"))),
    }
}

/// A library's own switch: `TrainingArguments(gradient_accumulation_steps=…)`, `Trainer(accumulate_grad_batches=…)`.
fn multiply_steps(site: &ChangeSite<'_>, callee: &str, keyword: &str, parts: u64) -> Result<Vec<Edit>, Why> {
    let call = site.call(callee, |call| call.called() == Some(callee))?;
    let given = call.keyword(keyword).and_then(Node::value);
    let before = match given {
        None => 1,
        Some(steps) => site.source.slice(steps.span).parse::<u64>().map_err(|_| {
            Why::Unfit(format!("`{keyword}` is `{}`; expected a number", site.source.slice(steps.span)))
        })?,
    };
    layout::keyword(site.source, call, keyword, &before.saturating_mul(parts).to_string())
}

/// The loop around a step.
struct Loop<'a> {
    header: &'a Node,
    block: &'a [Node],
    /// The statement with the step.
    index: usize,
}

/// The step under `if (i + 1) % k == 0:`, and a `zero_grad` before backward under `if i % k == 0:`.
fn guard(site: &ChangeSite<'_>, parts: u64) -> Result<Vec<Edit>, Why> {
    let statement = site.statement()?;
    let path = site.source.root.path_to(statement.span);
    if path
        .iter()
        .any(|node| node.kind == Kind::If && site.source.slice(node.span).contains(&format!("% {parts} == 0")))
    {
        return Ok(Vec::new());
    }
    let around = around(site, statement)?;
    let (first, last) = updates(&around)?;
    let (counter, mut edits) = count(site, &around, parts)?;
    let end = tail(site, around.header).map(|loader| format!(" or {counter} + 1 == len({loader})")).unwrap_or_default();
    let header = format!("if ({counter} + 1) % {parts} == 0{end}:");
    edits.extend(layout::wrap(site.source, &around.block[first], &around.block[last], &header)?);
    for zero in around.block[..first].iter().filter(|statement| called(statement) == Some("zero_grad")) {
        edits.extend(layout::wrap(site.source, zero, zero, &format!("if {counter} % {parts} == 0:"))?);
    }
    Ok(edits)
}

fn around<'a>(site: &ChangeSite<'a>, statement: &Node) -> Result<Loop<'a>, Why> {
    let path = site.above(statement);
    let [.., header, block] = path[..] else {
        return Err(Why::Unfit("the step is not in a loop".to_owned()));
    };
    let index = block.children.iter().position(|child| child.span == statement.span);
    match (&header.kind, index) {
        (Kind::For, Some(index)) => Ok(Loop { header, block: &block.children, index }),
        _ => Err(Why::Unfit("the step is not straight in a `for` loop over batches".to_owned())),
    }
}

fn called(statement: &Node) -> Option<&str> {
    sole_call(statement)?.called()
}

/// The first and the last statement of the update around the step: nothing else stands between them.
fn updates(around: &Loop<'_>) -> Result<(usize, usize), Why> {
    let is_update = |statement: &Node| {
        let has_no_name = statement.kind == Kind::Expression;
        has_no_name && (called(statement).is_some_and(|name| UPDATES.contains(&name)) || mentions_clipping(statement))
    };
    let before = around.block[..around.index].iter().rev().take_while(|statement| is_update(statement)).count();
    let after = around.block[around.index..].iter().take_while(|statement| is_update(statement)).count();
    let (first, last) = (around.index - before, around.index + after.max(1) - 1);
    let outside = around.block[..first].iter().chain(&around.block[last + 1..]);
    let stray = outside.filter(|statement| called(statement) != Some("zero_grad")).find(|statement| {
        called(statement).is_some_and(|name| ["step", "update", "unscale_"].contains(&name))
            || mentions_clipping(statement)
    });
    match stray {
        Some(_) => Err(Why::Unfit("other statements stand between those of the step".to_owned())),
        None => Ok((first, last)),
    }
}

/// The counter of the loop, and the edits that add a missing counter.
fn count(site: &ChangeSite<'_>, around: &Loop<'_>, parts: u64) -> Result<(String, Vec<Edit>), Why> {
    let [target, iterated, ..] = &around.header.children[..] else { return Err(Why::NoStatement(site.line)) };
    let text = |node: &Node| site.source.slice(node.span).to_owned();
    match (iterated.called(), target.children.first(), iterated.arguments()) {
        (Some("enumerate"), Some(Node { kind: Kind::Name(name), .. }), [_]) if target.kind == Kind::Tuple => {
            Ok((name.clone(), Vec::new()))
        }
        (Some("range"), _, [stop]) => extend_range(site, around, target, stop, parts),
        (Some("range" | "enumerate"), ..) => {
            Err(Why::Unfit(format!("the loop counts in its own way: `{}`", text(iterated))))
        }
        _ => {
            let counter = site.free_name(&["i", "step", "micro_step"])?;
            let is_bare = target.kind == Kind::Tuple && !text(target).starts_with('(');
            let names = if is_bare { format!("({})", text(target)) } else { text(target) };
            let edits = vec![
                Edit::replace(target.span, format!("{counter}, {names}")),
                Edit::replace(iterated.span, format!("enumerate({})", text(iterated))),
            ];
            Ok((counter.to_owned(), edits))
        }
    }
}

/// `for step in range(n)` makes a batch each time: k times as many of them.
fn extend_range(
    site: &ChangeSite<'_>,
    around: &Loop<'_>,
    target: &Node,
    stop: &Node,
    parts: u64,
) -> Result<(String, Vec<Edit>), Why> {
    let Kind::Name(name) = &target.kind else { return Err(Why::Unfit("the loop's counter is not a name".to_owned())) };
    let uses = around.block.iter().filter(|statement| statement.mentions(name) && !is_told(statement));
    if uses.count() > 0 {
        return Err(Why::Unfit(format!("the loop computes with its counter `{name}`")));
    }
    let text = site.source.slice(stop.span);
    let is_simple =
        matches!(stop.kind, Kind::Integer | Kind::Name(_) | Kind::Attribute(_) | Kind::Call | Kind::Subscript);
    let times = if is_simple { format!("{text} * {parts}") } else { format!("({text}) * {parts}") };
    let mut edits = vec![Edit::replace(stop.span, times)];
    if name != "_" {
        return Ok((name.clone(), edits));
    }
    let counter = site.free_name(&["i", "step", "micro_step"])?;
    edits.push(Edit::replace(target.span, counter));
    Ok((counter.to_owned(), edits))
}

/// True if a statement only prints or logs.
fn is_told(statement: &Node) -> bool {
    const TELLING: [&str; 7] = ["print", "log", "info", "debug", "write", "set_description", "set_postfix"];
    statement.walk().any(|node| node.called().is_some_and(|name| TELLING.contains(&name)))
}

/// The loader, if it has a length: its last group may be smaller, and steps as well.
fn tail<'a>(site: &ChangeSite<'a>, header: &'a Node) -> Option<&'a str> {
    let iterated = header.children.get(1)?;
    let loader = if iterated.called() == Some("enumerate") { iterated.arguments().first()? } else { iterated };
    let Kind::Name(name) = &loader.kind else { return None };
    let is_loader = site.only_value(name)?.called() == Some("DataLoader");
    let has_no_length = site.source.root.walk().any(|node| node.last_name() == Some("IterableDataset"))
        || site.is_taken("IterableDataset");
    (is_loader && !has_no_length).then_some(name)
}

fn snippet(change: &Change) -> String {
    let parts = change.settings.get(remedies::setting::STEPS).map_or_else(|| "k".to_owned(), ToString::to_string);
    format!(
        "for i, batch in enumerate(loader):  # with a {parts}th of the batch size\n    ...\n    (loss / {parts}).backward()\n    if (i + 1) % {parts} == 0:\n        optimizer.step()\n        optimizer.zero_grad()"
    )
}

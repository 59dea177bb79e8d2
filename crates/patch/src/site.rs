//! The position of a change in the source: the statement of a line, the call on the line.

use report::Change;
use trace::run::RemedyAction;

use crate::edit::Edit;
use crate::layout;
use crate::source::Source;
use crate::syntax::{Binding, Kind, Node};
use crate::why::Why;

/// A change, and the line of its effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeSite<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) line: u32,
    pub(crate) change: &'a Change,
    /// The edit that the run recorded.
    pub(crate) action: &'a RemedyAction,
}

impl<'a> ChangeSite<'a> {
    /// A setting that is a whole number.
    pub(crate) fn number(&self, key: &str) -> Result<u64, Why> {
        let value = self.change.settings.get(key);
        value.and_then(serde_json::Value::as_u64).filter(|&number| number > 0).ok_or_else(|| {
            let found = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
            Why::Unfit(format!("the setting `{key}` is {found}; expected a whole number above 0"))
        })
    }

    /// A setting that is a text.
    pub(crate) fn word(&self, key: &str) -> Option<&'a str> {
        self.change.settings.get(key).and_then(serde_json::Value::as_str)
    }

    /// The smallest statement that the line is part of.
    pub(crate) fn statement(&self) -> Result<&'a Node, Why> {
        let is_here = |node: &&Node| node.is_statement() && self.covers(node, self.line);
        let smallest = self.source.root.walk().filter(is_here).min_by_key(|node| node.span.end - node.span.start);
        smallest.ok_or(Why::NoStatement(self.line))
    }

    /// True if a node is on the line.
    pub(crate) fn covers(&self, node: &Node, line: u32) -> bool {
        self.line_of(node) <= line && line <= self.source.lines.line_at(node.span.end)
    }

    /// The line on which a node begins.
    pub(crate) fn line_of(&self, node: &Node) -> u32 {
        self.source.lines.line_at(node.span.start)
    }

    /// The only wanted call of the line.
    ///
    /// A frame names the line on which its call begins, or another line of the statement. So if a statement has several
    /// calls of the kind, only those beginning on the line count.
    pub(crate) fn call(&self, wanted: &str, is_wanted: impl Fn(&Node) -> bool) -> Result<&'a Node, Why> {
        let statement = self.statement()?;
        let mut calls: Vec<&Node> = own(statement).filter(|node| node.kind == Kind::Call && is_wanted(node)).collect();
        if calls.len() > 1 {
            calls.retain(|node| {
                node.function().is_some_and(|function| self.source.lines.line_at(function.span.end) == self.line)
            });
        }
        match calls[..] {
            [] => Err(Why::NoCall { line: self.line, wanted: wanted.to_owned() }),
            [call] if is_deferred(statement, call) => Err(Why::Deferred(self.line)),
            [call] => Ok(call),
            _ => Err(Why::Several { line: self.line, wanted: wanted.to_owned(), count: calls.len() }),
        }
    }

    /// The only wanted call of the file.
    pub(crate) fn only_call(&self, is_wanted: impl Fn(&Node) -> bool) -> Option<&'a Node> {
        let mut calls = self.source.root.walk().filter(|node| node.kind == Kind::Call && is_wanted(node));
        let call = calls.next()?;
        let is_alone = calls.next().is_none() && !is_deferred(&self.source.root, call);
        is_alone.then_some(call)
    }

    /// The nodes that hold `node`, from the module down, without itself.
    pub(crate) fn above(&self, node: &Node) -> Vec<&'a Node> {
        let path = self.source.root.path_to(node.span).into_iter();
        path.take_while(|other| other.span != node.span || other.kind != node.kind).collect()
    }

    /// The value of `name` if the whole file assigns the name a single time.
    pub(crate) fn only_value(&self, name: &str) -> Option<&'a Node> {
        let assigns = |node: &&Node| {
            node.targets().iter().any(|target| target.mentions(name) && target.last_name() == Some(name))
        };
        let mut found = self.source.root.walk().filter(assigns);
        let assignment = found.next()?;
        let is_plain = matches!(assignment.kind, Kind::Assign | Kind::Annotated);
        if is_plain && found.next().is_none() { assignment.value() } else { None }
    }

    /// True if the file already uses `name`.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let binds = |node: &Node| match &node.kind {
            Kind::Name(it) | Kind::Parameter(it) | Kind::Function(it) | Kind::Class(it) => it == name,
            Kind::Import(bindings) => bindings.iter().any(|binding| binding.name == name),
            _ => false,
        };
        self.source.root.walk().any(binds)
    }

    /// The first of `names` that means nothing in the file yet.
    pub(crate) fn free_name(&self, names: &[&'static str]) -> Result<&'static str, Why> {
        let free = names.iter().find(|name| !self.is_taken(name)).copied();
        free.ok_or_else(|| Why::NameTaken(names.join("`, `")))
    }

    /// The names bound by the module's own imports.
    pub(crate) fn imports(&self) -> impl Iterator<Item = &'a Binding> {
        let bindings = self.source.root.children.iter().filter_map(|node| match &node.kind {
            Kind::Import(bindings) => Some(bindings),
            _ => None,
        });
        bindings.flatten()
    }

    /// The file's name for an import: `th` after `import torch as th`.
    pub(crate) fn import_name(&self, path: &str) -> Option<&'a str> {
        self.imports().find(|binding| binding.path == path).map(|binding| binding.name.as_str())
    }

    /// The file's name for a module, and the import to add if the file lacks one.
    pub(crate) fn module(&self, name: &'static str) -> Result<(&'a str, Option<Edit>), Why> {
        match self.import_name(name) {
            Some(name) => Ok((name, None)),
            None if self.is_taken(name) => Err(Why::NameTaken(name.to_owned())),
            None => Ok((name, Some(layout::import(self.source, &format!("import {name}"))?))),
        }
    }

    /// The file's name for `torch`.
    pub(crate) fn torch(&self) -> Result<&'a str, Why> {
        let submodule = || {
            let by_child =
                |node: &&Node| matches!(&node.kind, Kind::Import(all) if all.iter().any(|it| it.name == "torch"));
            self.source.root.children.iter().find(by_child).map(|_| "torch")
        };
        self.import_name("torch")
            .or_else(submodule)
            .ok_or_else(|| Why::Unfit("the file does not import torch".to_owned()))
    }

    /// Refuses a statement on a line with a second statement.
    pub(crate) fn alone(&self, statement: &Node) -> Result<(), Why> {
        layout::indent(self.source, statement)?;
        layout::ends_line(self.source, statement)
    }
}

/// The nodes of a statement itself, without its body.
pub(crate) fn own(statement: &Node) -> impl Iterator<Item = &Node> {
    let mut pending = vec![statement];
    std::iter::from_fn(move || {
        let node = pending.pop()?;
        pending.extend(node.children.iter().rev().filter(|child| !matches!(child.kind, Kind::Block | Kind::Clause)));
        Some(node)
    })
}

fn is_deferred(top: &Node, node: &Node) -> bool {
    top.path_to(node.span).iter().any(|other| other.kind == Kind::Deferred)
}

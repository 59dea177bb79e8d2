//! Handlers of out-of-memory errors, and the work on the GPU of the `try` before them.

use ruff_python_ast::{ExceptHandlerExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::data::{Binding, NodeId, RegionId, RegionKind, Syntax};
use super::{Call, Model};

/// The largest number of functions that a query enters.
const MOST_FUNCTIONS: usize = 24;

impl<'a> Model<'a> {
    /// Returns the innermost handler around a region.
    pub(crate) fn handler(&self, region: RegionId) -> Option<&'a ExceptHandlerExceptHandler> {
        self.regions(region).find_map(|kind| match kind {
            RegionKind::Handler(handler) => Some(handler),
            _ => None,
        })
    }

    /// Checks whether a handler is for out-of-memory errors: by the type, under any name, or by the words and the helpers that the handler of
    /// a more general error uses.
    pub(crate) fn is_for_oom(&self, handler: &'a ExceptHandlerExceptHandler) -> bool {
        self.catches_oom(handler)
            || handler.type_.as_deref().is_some_and(|kind| self.is_oom_type(kind, 3))
            || (self.is_general(handler) && self.speaks_of_memory(handler))
    }

    fn is_oom_type(&self, kind: &'a Expr, left: usize) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        if let Expr::Tuple(it) = kind {
            return it.elts.iter().any(|it| self.is_oom_type(it, left));
        }
        let is_oom = |path: &str| path.ends_with("OutOfMemoryError") || path.ends_with("OOMError");
        if self.path(kind).is_some_and(|path| is_oom(&path)) {
            return true;
        }
        let Some(definition) = self.named(kind) else { return false };
        let bindings = match &self.tree.definitions[definition.index()].binding {
            Binding::Outer(symbol) => self.tree.symbols[symbol.index()].bindings.clone(),
            _ => vec![definition],
        };
        bindings.into_iter().any(|it| match self.tree.definitions[it.index()].binding {
            Binding::Value(value) => self.is_oom_type(value, left),
            _ => false,
        })
    }

    /// Checks whether a handler catches `RuntimeError` or a base of it.
    pub(crate) fn is_general(&self, handler: &ExceptHandlerExceptHandler) -> bool {
        let Some(kind) = handler.type_.as_deref() else { return true };
        let kind = self.source(kind);
        ["RuntimeError", "Exception", "BaseException"].iter().any(|word| kind.contains(word))
    }

    fn speaks_of_memory(&self, handler: &'a ExceptHandlerExceptHandler) -> bool {
        let speaks = |text: &str| {
            let text = text.to_ascii_lowercase();
            ["out of memory", "out_of_memory", "oom", "empty_cache"].iter().any(|word| text.contains(word))
        };
        speaks(self.source(handler))
            || self.calls_of(handler).iter().any(|call| {
                let by_argument = call.syntax.arguments.args.first().and_then(Expr::as_name_expr);
                let is_asked =
                    by_argument.zip(handler.name.as_ref()).is_some_and(|(it, name)| it.id.as_str() == name.as_str());
                is_asked
                    && self.callee(call).is_some_and(|it| speaks(self.source(self.tree.functions[it.index()].syntax)))
            })
    }

    /// Returns the calls in the body of a handler.
    pub(crate) fn calls_of(&self, handler: &'a ExceptHandlerExceptHandler) -> &[Call<'a>] {
        let range = handler.body.first().zip(handler.body.last());
        let ids = range.and_then(|(first, last)| Some((self.id(first)?, self.node(self.id(last)?).last)));
        ids.map(|ids| self.calls_between(ids)).unwrap_or_default()
    }

    /// Returns the nodes of the `try` body of a handler around a node.
    pub(crate) fn try_body(&self, at: NodeId, handler: &ExceptHandlerExceptHandler) -> Option<(NodeId, NodeId)> {
        let mut id = at;
        loop {
            let parent = self.node(id).parent;
            if let Syntax::Statement(Stmt::Try(it)) = self.node(parent).syntax
                && it.handlers.iter().any(|other| other.range() == handler.range)
            {
                return Some((self.id(it.body.first()?)?, self.node(self.id(it.body.last()?)?).last));
            }
            if parent == id {
                return None;
            }
            id = parent;
        }
    }

    /// Checks whether code works on the GPU: a forward, a backward, a move, directly or in a function of the tree.
    pub(crate) fn works_on_gpu(&self, range: (NodeId, NodeId)) -> bool {
        let is_work =
            |call: &Call<'a>| self.is_forward(call) || self.moves_to_gpu(call) || self.backward_subject(call).is_some();
        self.reached_calls(range).into_iter().any(is_work)
    }

    /// Returns the calls between two nodes, and those in the functions of the tree that they run.
    pub(crate) fn reached_calls(&self, range: (NodeId, NodeId)) -> Vec<&Call<'a>> {
        let mut seen = FxHashSet::default();
        let mut calls: Vec<&Call<'a>> = self.calls_between(range).iter().collect();
        let mut next = 0;
        while let Some(&call) = calls.get(next).filter(|_| seen.len() < MOST_FUNCTIONS) {
            if let Some(function) = self.callee(call).filter(|it| seen.insert(*it)) {
                calls.extend(self.calls_between(self.tree.functions[function.index()].body));
            }
            next += 1;
        }
        calls
    }
}

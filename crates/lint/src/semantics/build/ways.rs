//! The current definition of each name, and joins where branches meet. Note `[Definitions]` in `build.rs`.

use super::super::data::{Binding, Definition, DefinitionId, ScopeId, Symbol, SymbolId};
use super::{Arm, Frame, TreeBuilder, UNBOUND};

impl<'a> TreeBuilder<'a> {
    pub(super) fn symbol(&mut self, scope: ScopeId, name: &'a str) -> SymbolId {
        let next = SymbolId::next(&self.tree.symbols);
        let id = *self.tree.scopes[scope.index()].symbols.entry(name).or_insert(next);
        if id == next {
            self.tree.symbols.push(Symbol { name, bindings: Vec::new() });
            self.current.push(UNBOUND);
        }
        id
    }

    pub(super) fn define(&mut self, symbol: SymbolId, binding: Binding<'a>) -> DefinitionId {
        let id = DefinitionId::next(&self.tree.definitions);
        let is_join = matches!(binding, Binding::Join(..) | Binding::Outer(_));
        self.tree.definitions.push(Definition { binding, symbol, region: self.region });
        if !is_join {
            self.tree.symbols[symbol.index()].bindings.push(id);
        }
        id
    }

    pub(super) fn set(&mut self, symbol: SymbolId, definition: DefinitionId) {
        let before = std::mem::replace(&mut self.current[symbol.index()], definition);
        self.journal.push((symbol, before));
    }

    pub(super) fn bind(&mut self, name: &'a str, binding: Binding<'a>) -> DefinitionId {
        let symbol = self.symbol(self.scope, name);
        let definition = self.define(symbol, binding);
        self.set(symbol, definition);
        definition
    }

    /// Resolves a name at the current point.
    pub(super) fn resolve(&mut self, name: &str) -> DefinitionId {
        let own = self.tree.scopes[self.scope.index()].symbols.get(name).copied();
        if let Some(definition) = own.map(|symbol| self.current[symbol.index()]).filter(|&it| it != UNBOUND) {
            return definition;
        }
        let mut scope = self.tree.scopes[self.scope.index()].parent;
        while let Some(id) = scope {
            let around = &self.tree.scopes[id.index()];
            match around.symbols.get(name).filter(|_| !around.is_class) {
                Some(&symbol) => return self.outer(symbol),
                None => scope = around.parent,
            }
        }
        self.stars.iter().find_map(|id| self.tree.files.get(id.0)?.exports.get(name).copied()).unwrap_or(UNBOUND)
    }

    pub(super) fn outer(&mut self, symbol: SymbolId) -> DefinitionId {
        if let Some(&known) = self.outer.get(&symbol) {
            return known;
        }
        let definition = self.define(symbol, Binding::Outer(symbol));
        self.outer.insert(symbol, definition);
        definition
    }

    /// Walks a branch, then undoes its bindings.
    pub(super) fn arm(&mut self, walk: impl FnOnce(&mut Self)) -> Arm {
        let mark = self.journal.len();
        let was_alive = self.is_alive;
        walk(self);
        let arm = Arm { bound: self.bound_since(mark), goes_on: self.is_alive };
        while self.journal.len() > mark {
            let Some((symbol, before)) = self.journal.pop() else { break };
            self.current[symbol.index()] = before;
        }
        self.is_alive = was_alive;
        arm
    }

    /// Returns the names bound since the journal had the length `mark`, each with its current definition.
    pub(super) fn bound_since(&self, mark: usize) -> Vec<(SymbolId, DefinitionId)> {
        let mut symbols: Vec<SymbolId> = self.journal.iter().skip(mark).map(|&(symbol, _)| symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols.into_iter().map(|symbol| (symbol, self.current[symbol.index()])).collect()
    }

    /// Continues after a statement with the branches `arms`.
    pub(super) fn join(&mut self, arms: &[Arm]) {
        let mut symbols: Vec<SymbolId> =
            arms.iter().filter(|arm| arm.goes_on).flat_map(|arm| &arm.bound).map(|&(symbol, _)| symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        for symbol in symbols {
            let definition = self.joined(symbol, arms);
            self.set(symbol, definition);
        }
        self.is_alive = self.is_alive && arms.iter().any(|arm| arm.goes_on);
    }

    pub(super) fn joined(&mut self, symbol: SymbolId, arms: &[Arm]) -> DefinitionId {
        let before = self.current[symbol.index()];
        let of = |arm: &Arm| arm.bound.iter().find(|(it, _)| *it == symbol).map_or(before, |&(_, it)| it);
        let mut inputs: Vec<DefinitionId> = arms.iter().filter(|arm| arm.goes_on).map(of).collect();
        inputs.sort_unstable();
        inputs.dedup();
        match inputs.as_slice() {
            [only] => *only,
            _ => self.define(symbol, Binding::Join(inputs, None)),
        }
    }

    /// Ends the current branch: the walk continues elsewhere.
    pub(super) fn end(&mut self, note: impl FnOnce(&mut Frame, Arm)) {
        if let Some(mut frame) = self.frames.pop() {
            if self.is_alive {
                let arm = Arm { bound: self.bound_since(frame.mark), goes_on: true };
                note(&mut frame, arm);
            }
            self.frames.push(frame);
        }
        self.is_alive = false;
    }
}

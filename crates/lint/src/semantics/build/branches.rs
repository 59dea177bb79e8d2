//! Statements with several branches: loops, `if`, `match`, `try`, `with`.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFor, StmtIf, StmtMatch, StmtTry, StmtWhile, StmtWith};

use super::super::bound;
use super::super::data::{Binding, DefinitionId, LoopId, LoopStatement, NodeId, RegionKind, SymbolId};
use super::{Arm, Frame, TargetKind, TreeBuilder};

impl<'a> TreeBuilder<'a> {
    pub(super) fn for_loop(&mut self, statement: &'a StmtFor, id: NodeId) {
        self.visit_expr(&statement.iter);
        let head =
            |builder: &mut Self| builder.target(&statement.target, &statement.iter, TargetKind::Element, &mut vec![]);
        self.repeated(id, Some(&statement.iter), &statement.body, head, Some(&statement.target));
        self.within(RegionKind::Maybe, |builder| builder.visit_body(&statement.orelse));
    }

    pub(super) fn while_loop(&mut self, statement: &'a StmtWhile, id: NodeId) {
        self.repeated(id, None, &statement.body, |builder| builder.visit_expr(&statement.test), None);
        self.within(RegionKind::Maybe, |builder| builder.visit_body(&statement.orelse));
    }

    pub(super) fn repeated(
        &mut self,
        node: NodeId,
        iterated: Option<&'a Expr>,
        body: &'a [Stmt],
        head: impl FnOnce(&mut Self),
        target: Option<&'a Expr>,
    ) {
        let id = LoopId::next(&self.tree.loops);
        let first = NodeId::next(&self.tree.nodes);
        let defined = DefinitionId::next(&self.tree.definitions);
        let (body_nodes, definitions) = ((first, first), (defined, defined));
        self.tree.loops.push(LoopStatement { node, iterated, body: body_nodes, definitions, outside: self.region });
        let carried = self.carried(id, body, target);
        let mark = self.journal.len();
        self.frames.push(Frame { mark, continues: Vec::new(), breaks: Vec::new() });
        let end = self.arm(|builder| {
            builder.within(RegionKind::Loop(id), |builder| {
                head(builder);
                builder.visit_body(body);
            });
        });
        self.tree.loops[id.index()].body = (first, self.last_node());
        self.tree.loops[id.index()].definitions.1 = DefinitionId::next(&self.tree.definitions);
        let Some(mut frame) = self.frames.pop() else { return };
        frame.continues.push(end);
        self.close(&carried, &frame.continues);
        // The statement after the loop follows its head or a `break`.
        frame.breaks.push(Arm { bound: Vec::new(), goes_on: true });
        self.join(&frame.breaks);
    }

    /// Makes a join for each name that a loop binds: Note [Definitions].
    pub(super) fn carried(
        &mut self,
        id: LoopId,
        body: &'a [Stmt],
        target: Option<&'a Expr>,
    ) -> Vec<(SymbolId, DefinitionId)> {
        let mut names = Vec::new();
        if let Some(target) = target {
            bound::target(target, &mut |name| names.push(name));
        }
        bound::names(body, &mut |name| names.push(name));
        let mut symbols: Vec<SymbolId> = names.into_iter().map(|name| self.symbol(self.scope, name)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        let mut carried = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let before = self.current[symbol.index()];
            let join = self.define(symbol, Binding::Join(vec![before], Some(id)));
            self.set(symbol, join);
            carried.push((symbol, join));
        }
        carried
    }

    /// Adds the last definitions of the body to the joins of a loop.
    pub(super) fn close(&mut self, carried: &[(SymbolId, DefinitionId)], ends: &[Arm]) {
        for &(symbol, join) in carried {
            let left =
                ends.iter().filter(|arm| arm.goes_on).filter_map(|arm| arm.bound.iter().find(|it| it.0 == symbol));
            let left: Vec<DefinitionId> = left.map(|&(_, definition)| definition).filter(|&it| it != join).collect();
            if let Binding::Join(inputs, _) = &mut self.tree.definitions[join.index()].binding {
                inputs.extend(left);
                inputs.sort_unstable();
                inputs.dedup();
            }
        }
    }

    pub(super) fn conditional(&mut self, statement: &'a StmtIf) {
        self.visit_expr(&statement.test);
        let mut arms =
            vec![self.arm(|it| it.within(RegionKind::If(statement, true), |it| it.visit_body(&statement.body)))];
        let mut has_else = false;
        for clause in &statement.elif_else_clauses {
            has_else |= clause.test.is_none();
            clause.test.iter().for_each(|test| self.visit_expr(test));
            let region = RegionKind::If(statement, false);
            arms.push(self.arm(|it| it.within(region, |it| it.visit_body(&clause.body))));
        }
        if !has_else {
            arms.push(Arm { bound: Vec::new(), goes_on: true });
        }
        self.join(&arms);
    }

    pub(super) fn with_statement(&mut self, statement: &'a StmtWith) {
        for item in &statement.items {
            self.visit_expr(&item.context_expr);
            if let Some(target) = item.optional_vars.as_deref() {
                self.target(target, &item.context_expr, TargetKind::Context, &mut Vec::new());
            }
        }
        self.within(RegionKind::With(statement), |builder| builder.visit_body(&statement.body));
    }

    pub(super) fn match_statement(&mut self, statement: &'a StmtMatch) {
        self.visit_expr(&statement.subject);
        let mut arms = vec![Arm { bound: Vec::new(), goes_on: true }];
        for case in &statement.cases {
            arms.push(self.arm(|builder| builder.within(RegionKind::Maybe, |it| it.visit_match_case(case))));
        }
        self.join(&arms);
    }

    pub(super) fn try_statement(&mut self, statement: &'a StmtTry) {
        let untouched = Arm { bound: Vec::new(), goes_on: true };
        let body = self.arm(|it| {
            it.within(RegionKind::Try, |it| it.visit_body(&statement.body));
            it.visit_body(&statement.orelse);
        });
        let mut arms = Vec::with_capacity(1 + statement.handlers.len());
        for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            let interrupted = Arm { bound: body.bound.clone(), goes_on: true };
            arms.push(self.arm(|builder| {
                builder.join(&[interrupted, Arm { bound: untouched.bound.clone(), goes_on: true }]);
                handler.type_.iter().for_each(|kind| builder.visit_expr(kind));
                handler.name.iter().for_each(|name| _ = builder.bind(name.as_str(), Binding::Other));
                builder.within(RegionKind::Handler(handler), |it| it.visit_body(&handler.body));
            }));
        }
        arms.push(body);
        self.join(&arms);
        self.visit_body(&statement.finalbody);
    }
}

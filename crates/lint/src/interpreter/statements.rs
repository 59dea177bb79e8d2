//! Statements.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtIf, StmtTry, StmtWith};
use rustc_hash::FxHashMap;

use super::loops::LoopHead;
use super::value::AbstractValue;
use super::{FunctionId, Interpreter, MOST_NESTED, Mode};

/// The way in which a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockEnd {
    /// The next statement follows.
    Falls,
    /// A `break`, `continue`, `return` or `raise` was reached for certain.
    Leaves,
}

/// The variables of a namespace at some point.
type Snapshot<'a> = FxHashMap<&'a str, AbstractValue<'a>>;

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn block(&mut self, body: &'a [Stmt]) -> BlockEnd {
        let outer = self.remainders.len();
        let mut end = BlockEnd::Falls;
        for statement in body {
            if self.is_over() || self.nested >= MOST_NESTED {
                break;
            }
            self.nested += 1;
            let ended = self.statement(statement);
            self.nested -= 1;
            if ended == BlockEnd::Leaves {
                end = BlockEnd::Leaves;
                break;
            }
            // `if step % 4: continue`: the rest runs for every fourth step.
            if let Stmt::If(it) = statement
                && it.elif_else_clauses.is_empty()
                && self.has_remainder(&it.test)
                && leaves(&it.body)
            {
                let at = self.node(&it.test);
                self.remainders.push((at, false));
            }
        }
        self.remainders.truncate(outer);
        end
    }

    fn statement(&mut self, statement: &'a Stmt) -> BlockEnd {
        match statement {
            Stmt::Expr(it) => _ = self.evaluate(&it.value),
            Stmt::Assign(it) => {
                let value = self.evaluate(&it.value);
                it.targets.iter().for_each(|target| self.assign(target, value));
            }
            Stmt::AnnAssign(it) => {
                let value = it.value.as_deref().map(|value| self.evaluate(value));
                match value {
                    Some(value) => self.assign(&it.target, value),
                    // A field of a dataclass without a default.
                    None => self.declare(&it.target),
                }
            }
            Stmt::AugAssign(it) => {
                let value = self.augmented(it);
                self.assign(&it.target, value);
            }
            Stmt::Return(it) => {
                let value = it.value.as_deref().map_or(AbstractValue::Nothing, |value| self.evaluate(value));
                if self.frames.len() == 1 {
                    // The caller of an entry is unknown.
                    self.note_returned(value);
                }
                let before = self.frames.last().and_then(|frame| frame.returned);
                let joined = before.map_or(value, |before| self.either(before, value));
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = Some(joined);
                }
                return BlockEnd::Leaves;
            }
            Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_) => return BlockEnd::Leaves,
            Stmt::If(it) => return self.conditional(it),
            Stmt::For(it) => {
                let iterable = self.evaluate(&it.iter);
                self.run_loop(&LoopHead::of_for(it), iterable, |it_, value| it_.assign(&it.target, value), &it.body);
                self.block(&it.orelse);
            }
            Stmt::While(it) => {
                self.evaluate(&it.test);
                self.run_loop(&LoopHead::of_while(it), AbstractValue::Unknown, |_, _| {}, &it.body);
            }
            Stmt::With(it) => return self.with(it),
            Stmt::Try(it) => return self.attempt(it),
            Stmt::Match(it) => {
                self.evaluate(&it.subject);
                for case in &it.cases {
                    self.branch(|run| run.block(&case.body));
                }
            }
            _ => self.definition(statement),
        }
        BlockEnd::Falls
    }

    fn definition(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(it) => self.define_function(it),
            Stmt::ClassDef(it) => self.define_class(it),
            Stmt::Import(it) => self.import(it),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Global(it) => {
                let env = self.env();
                self.envs[env.0 as usize].outer.extend(it.names.iter().map(ruff_python_ast::Identifier::as_str));
            }
            Stmt::Nonlocal(it) => {
                let env = self.env();
                self.envs[env.0 as usize].outer.extend(it.names.iter().map(ruff_python_ast::Identifier::as_str));
            }
            Stmt::Delete(it) => it.targets.iter().for_each(|target| self.delete(target)),
            Stmt::Assert(it) => _ = self.evaluate(&it.test),
            _ => {}
        }
    }

    fn declare(&mut self, target: &'a Expr) {
        if let Expr::Name(name) = target {
            let env = self.env();
            self.envs[env.0 as usize].variables.entry(name.id.as_str()).or_insert(AbstractValue::Unknown);
        }
    }

    fn delete(&mut self, target: &'a Expr) {
        match target {
            Expr::Subscript(it) => {
                if let Some(id) = self.evaluate(&it.value).object() {
                    self.empty(id);
                }
            }
            Expr::Name(name) => {
                let at = self.node(target);
                self.assign_name(name.id.as_str(), AbstractValue::Nothing, at);
            }
            _ => {}
        }
    }

    // Branches.

    fn snapshot(&self) -> Snapshot<'a> {
        self.envs[self.env().0 as usize].variables.clone()
    }

    fn restore(&mut self, variables: Snapshot<'a>) {
        let env = self.env();
        self.envs[env.0 as usize].variables = variables;
    }

    /// Joins the current variables with those of another way.
    fn join(&mut self, other: &Snapshot<'a>) {
        let env = self.env();
        let mut names: Vec<&'a str> = other.keys().copied().collect();
        names.sort_unstable();
        for name in names {
            let Some(value) = other.get(name).copied() else { continue };
            let here = self.envs[env.0 as usize].variables.get(name).copied();
            let joined = here.map_or(value, |it| self.either(it, value));
            self.set_variable(env, name, joined);
        }
    }

    /// Joins two values; where nothing is known of the result, their graphs may be used.
    pub(super) fn either(&mut self, one: AbstractValue<'a>, other: AbstractValue<'a>) -> AbstractValue<'a> {
        let joined = one.or(other);
        if matches!(joined, AbstractValue::Unknown) {
            self.note_use(one);
            self.note_use(other);
        }
        joined
    }

    /// Runs code that may be skipped.
    pub(super) fn branch(&mut self, run: impl FnOnce(&mut Self) -> BlockEnd) -> BlockEnd {
        let before = self.snapshot();
        self.doubts += 1;
        let end = run(self);
        self.doubts -= 1;
        match end {
            BlockEnd::Falls => self.join(&before),
            BlockEnd::Leaves => self.restore(before),
        }
        BlockEnd::Falls
    }

    fn conditional(&mut self, statement: &'a StmtIf) -> BlockEnd {
        let mut arms: Vec<(Option<&'a Expr>, &'a [Stmt])> = vec![(Some(&statement.test), &statement.body)];
        arms.extend(statement.elif_else_clauses.iter().map(|it| (it.test.as_ref(), &it.body[..])));
        self.arms(&arms)
    }

    fn arms(&mut self, arms: &[(Option<&'a Expr>, &'a [Stmt])]) -> BlockEnd {
        let Some(((test, body), rest)) = arms.split_first() else { return BlockEnd::Falls };
        let Some(test) = test else { return self.block(body) };
        let decided = self.truth(test);
        self.evaluate(test);
        match decided {
            Some(true) => self.block(body),
            Some(false) => self.arms(rest),
            None if self.has_remainder(test) => {
                let at = self.node(test);
                self.both(
                    |it| it.within_remainder((at, true), |it| it.block(body)),
                    |it| it.within_remainder((at, false), |it| it.arms(rest)),
                )
            }
            None => self.both(|it| it.block(body), |it| it.arms(rest)),
        }
    }

    fn within_remainder(
        &mut self,
        arm: super::training::RemainderArm,
        run: impl FnOnce(&mut Self) -> BlockEnd,
    ) -> BlockEnd {
        self.remainders.push(arm);
        let end = run(self);
        self.remainders.pop();
        end
    }

    fn both(&mut self, one: impl FnOnce(&mut Self) -> BlockEnd, other: impl FnOnce(&mut Self) -> BlockEnd) -> BlockEnd {
        let before = self.snapshot();
        self.doubts += 1;
        let first = one(self);
        let after =
            std::mem::replace(&mut self.envs[self.frames.last().map_or(0, |it| it.env.0 as usize)].variables, before);
        let second = other(self);
        self.doubts -= 1;
        match (first, second) {
            (BlockEnd::Falls, BlockEnd::Falls) => self.join(&after),
            (BlockEnd::Falls, BlockEnd::Leaves) => self.restore(after),
            (BlockEnd::Leaves, _) => {}
        }
        if first == BlockEnd::Leaves && second == BlockEnd::Leaves { BlockEnd::Leaves } else { BlockEnd::Falls }
    }

    fn attempt(&mut self, statement: &'a StmtTry) -> BlockEnd {
        let before = self.snapshot();
        let end = self.block(&statement.body);
        let end = if end == BlockEnd::Falls { self.block(&statement.orelse) } else { end };
        let after = self.snapshot();
        let mut falls = end == BlockEnd::Falls;
        for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            self.doubts += 1;
            self.join(&before);
            if let Some(name) = &handler.name {
                let env = self.env();
                self.set_variable(env, name.as_str(), AbstractValue::Unknown);
            }
            falls |= self.block(&handler.body) == BlockEnd::Falls;
            self.doubts -= 1;
            self.restore(after.clone());
        }
        self.block(&statement.finalbody);
        if falls { BlockEnd::Falls } else { BlockEnd::Leaves }
    }

    fn with(&mut self, statement: &'a StmtWith) -> BlockEnd {
        let mut entered = 0;
        for item in &statement.items {
            if let Some(mode) = self.model.mode_of_manager(&item.context_expr) {
                self.modes.push(mode);
                entered += 1;
            }
            if self.model.call(&item.context_expr).is_some_and(|call| call.is("contextlib.ExitStack")) {
                self.modes.push(Mode::Unsure);
                entered += 1;
            }
            let value = self.evaluate(&item.context_expr);
            if let Some(target) = item.optional_vars.as_deref() {
                let value = self.enter(value);
                self.assign(target, value);
            }
        }
        let end = self.block(&statement.body);
        for _ in 0..entered {
            self.modes.pop();
        }
        end
    }

    /// Returns what `with value as name` binds.
    fn enter(&mut self, value: AbstractValue<'a>) -> AbstractValue<'a> {
        let Some(id) = value.object() else { return AbstractValue::Unknown };
        match self.method_function(id, "__enter__") {
            Some((function, env)) => {
                self.call_function(function, env, Some(value), &super::arguments::CallArguments::default())
            }
            None => value,
        }
    }

    // Definitions.

    // Imports.

    /// Returns the mode of a function's body.
    pub(super) fn mode_of_call(&self, function: FunctionId) -> Mode {
        self.decorated
            .get(&function)
            .copied()
            .unwrap_or_else(|| self.model.declared_mode(function).unwrap_or(self.mode()))
    }
}

/// Checks whether a block ends with `continue`, `return` or `break`.
fn leaves(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Continue(_) | Stmt::Return(_) | Stmt::Break(_)))
}

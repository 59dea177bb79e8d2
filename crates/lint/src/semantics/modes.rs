//! The gradient mode of a region: `no_grad`, `inference_mode`, `set_grad_enabled`, as context managers and as decorators.

use ruff_python_ast::{Decorator, Expr, StmtWith};

use super::Model;
use super::call_graph::is_bool;
use super::data::{FunctionId, Mode, RegionId, RegionKind};
use super::frameworks::Hook;
use super::names::last;

impl<'a> Model<'a> {
    /// Returns the gradient mode of a region.
    pub(crate) fn mode(&self, region: RegionId) -> Mode {
        if self.evidence.switches_mode {
            return Mode::Unsure;
        }
        for kind in self.regions(region) {
            match kind {
                RegionKind::With(with) => {
                    if let Some(mode) = self.mode_of_with(with) {
                        return mode;
                    }
                }
                RegionKind::Function(function) => return self.mode_of_function(function),
                RegionKind::Lambda => return Mode::Unsure,
                _ => {}
            }
        }
        Mode::On
    }

    /// Returns the gradient mode that a `with` sets.
    fn mode_of_with(&self, with: &'a StmtWith) -> Option<Mode> {
        with.items.iter().rev().find_map(|item| self.mode_of_manager(&item.context_expr))
    }

    pub(crate) fn mode_of_manager(&self, manager: &'a Expr) -> Option<Mode> {
        let function = manager.as_call_expr().map_or(manager, |call| &*call.func);
        let argument = manager.as_call_expr().and_then(|call| call.arguments.args.first());
        let name = match function {
            Expr::Name(name) => self.path(function).map_or(name.id.as_str().into(), |path| path),
            Expr::Attribute(attribute) => attribute.attr.as_str().into(),
            // `with torch.no_grad() if evaluating else nullcontext():`
            _ => return self.source(manager).contains("_grad").then_some(Mode::Unsure),
        };
        match last(&name) {
            "no_grad" => Some(Mode::Off),
            "inference_mode" if argument.is_none_or(|it| is_bool(it, true)) => Some(Mode::Off),
            "set_grad_enabled" if argument.is_some_and(|it| is_bool(it, false)) => Some(Mode::Off),
            "set_grad_enabled" if argument.is_some_and(|it| is_bool(it, true)) => Some(Mode::On),
            "enable_grad" => Some(Mode::On),
            "inference_mode" | "set_grad_enabled" => Some(Mode::Unsure),
            // A context manager in a variable may be either mode.
            _ => self.is_unknown_manager(manager).then_some(Mode::Unsure),
        }
    }

    fn is_unknown_manager(&self, manager: &'a Expr) -> bool {
        match manager {
            Expr::Name(_) => true,
            Expr::Call(_) => self.call(manager).is_some_and(|call| {
                // A function of the project may return a context for gradients.
                let local = self.callee(call).is_some_and(|function| {
                    let text = self.source(self.tree.functions[function.index()].syntax);
                    text.contains("grad") || text.contains("inference_mode")
                });
                local || call.path.as_deref().is_some_and(|path| path.contains("grad"))
            }),
            _ => false,
        }
    }

    pub(super) fn mode_of_function(&self, function: FunctionId) -> Mode {
        if let Some(&known) = self.modes.borrow().get(&function) {
            return known;
        }
        // A recursive function is asked again; its other callers decide.
        self.modes.borrow_mut().insert(function, Mode::Unsure);
        let mode = self.mode_of_definition(function);
        let mode = mode.or_else(|| self.follow(|| self.mode_of_callers(function))).unwrap_or(Mode::Unsure);
        self.modes.borrow_mut().insert(function, mode);
        mode
    }

    /// Returns the gradient mode set by the decorators of a function.
    pub(super) fn mode_of_definition(&self, function: FunctionId) -> Option<Mode> {
        let syntax = self.tree.functions[function.index()].syntax;
        let decorated = syntax.decorator_list.iter().find_map(|it: &Decorator| self.mode_of_manager(&it.expression));
        decorated.or_else(|| self.mode_of_unknown_decorator(function)).or_else(|| self.hook(function).map(Hook::mode))
    }

    /// An imported decorator whose name mentions gradients: `@smart_inference_mode()`.
    fn mode_of_unknown_decorator(&self, function: FunctionId) -> Option<Mode> {
        let decorators = &self.tree.functions[function.index()].syntax.decorator_list;
        let speaks = |it: &Decorator| {
            let name = self.source(&it.expression).to_ascii_lowercase();
            ["grad", "infer", "eval"].iter().any(|word| name.contains(word))
        };
        decorators.iter().any(speaks).then_some(Mode::Unsure)
    }

    fn mode_of_callers(&self, function: FunctionId) -> Mode {
        let mut modes = self.callers(function).map(|call| self.mode(call.region));
        let Some(first) = modes.next() else { return self.mode_without_callers(function) };
        if modes.all(|mode| mode == first) { first } else { Mode::Unsure }
    }

    /// The mode of a function without callers in the file: a function that trains or evaluates by itself is an entry point.
    fn mode_without_callers(&self, function: FunctionId) -> Mode {
        let calls = self.calls_between(self.tree.functions[function.index()].body);
        let work = self.work_of(calls);
        if work.backwards > 0 || calls.iter().any(|call| call.is_method("eval") && call.syntax.arguments.is_empty()) {
            Mode::On
        } else {
            Mode::Unsure
        }
    }
}

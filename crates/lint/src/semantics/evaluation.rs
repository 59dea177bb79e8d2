//! Evaluation: forwards of a module in evaluation mode without a backward.
//!
//! # Note [Evaluation]
//! A forward belongs to an evaluation if the last call of `.eval()` or `.train()` before it, in the same function and on the same module,
//! is `.eval()`, and the code around it asks for no gradients: no backward and no `autograd.grad` in the loop (outside of a loop: in the
//! function), no `requires_grad` in the function, no input that requires a gradient.

use ruff_python_ast::Expr;

use super::call_graph::is_bool;
use super::data::{Binding, FunctionId, LoopId, NodeId};
use super::{Call, Mode, Model, Syntax, ValueKind};

/// A call that switches a module to evaluation or training mode.
#[derive(Debug)]
pub(super) struct Switch<'a> {
    at: NodeId,
    function: Option<FunctionId>,
    /// The source text of the module.
    module: &'a str,
    is_evaluation: bool,
}

/// Returns all switches, in the order of the walk.
pub(super) fn switches<'a>(model: &Model<'a>) -> Vec<Switch<'a>> {
    model.calls().iter().filter_map(|call| model.switch(call)).collect()
}

/// Returns the module that a forward runs: `vae` of `vae.decode(x)`.
pub(crate) fn ran_module<'a>(forward: &Call<'a>) -> &'a Expr {
    match forward.method() {
        Some((module, "forward" | "decode" | "encode")) => module,
        _ => &forward.syntax.func,
    }
}

impl<'a> Model<'a> {
    /// Checks whether a call runs a module with parameters.
    pub(crate) fn is_forward(&self, call: &Call<'a>) -> bool {
        if call.path.is_some() {
            return false;
        }
        match &*call.syntax.func {
            Expr::Attribute(it) if it.attr.as_str() == "forward" => self.value(&it.value) == ValueKind::Module,
            Expr::Attribute(it) if it.attr.as_str() == "module" => self.value(&call.syntax.func) == ValueKind::Module,
            function => self.value(function) == ValueKind::Module,
        }
    }

    /// Checks whether a forward belongs to an evaluation in which autograd records: Note [Evaluation].
    pub(crate) fn is_recorded_evaluation(&self, forward: &Call<'a>) -> bool {
        (self.is_forward(forward) || self.is_coding(forward))
            && self.mode(forward.region) == Mode::On
            && !self.evidence.freezes
            && self.is_in_evaluation_mode(forward)
            && !self.means_no_grad(forward)
            && !self.wants_gradients(forward)
    }

    /// Checks whether a loop is the innermost one around a forward of an evaluation.
    pub(crate) fn evaluation_loop(&self, id: LoopId) -> bool {
        let calls = self.calls_between(self.tree.loops[id.index()].body);
        calls.iter().any(|call| self.loops(call.region).next() == Some(id) && self.is_recorded_evaluation(call))
    }

    fn is_in_evaluation_mode(&self, forward: &Call<'a>) -> bool {
        let module = self.source(ran_module(forward));
        let function = self.function(forward.region);
        let before = self.switches.get(..self.switches.partition_point(|it| it.at < forward.id)).unwrap_or_default();
        let last = before.iter().rev().find(|it| it.function == function && it.module == module);
        last.map_or_else(|| self.is_made_for_evaluation(forward), |it| it.is_evaluation)
    }

    /// `model = Net.load(file).cuda().eval()`, in the same function.
    fn is_made_for_evaluation(&self, forward: &Call<'a>) -> bool {
        let Some(name) = ran_module(forward).as_name_expr() else { return false };
        let Binding::Value(mut made) = self.tree.definitions[self.definition(name).index()].binding else {
            return false;
        };
        while let Some(call) = self.call(made)
            && let Some((receiver, method)) = call.method()
        {
            match method {
                "eval" if call.syntax.arguments.is_empty() => return true,
                "train" => return false,
                // A model of diffusers is loaded in evaluation mode.
                "from_pretrained" => return self.is_of_diffusers(made),
                _ => made = receiver,
            }
        }
        false
    }

    /// Checks whether a call is `decode` or `encode` of an autoencoder of diffusers, or of a module that is called one and was loaded.
    fn is_coding(&self, call: &Call<'a>) -> bool {
        let module = ran_module(call);
        let name = self.source(module).to_ascii_lowercase();
        let made = self.origins(module);
        (call.is_method("decode") || call.is_method("encode"))
            && self.value(module) == ValueKind::Module
            && (made.iter().any(|it| self.is_of_diffusers(it))
                || (["vae", "autoencoder", "vqgan", "decoder"].iter().any(|word| name.contains(word))
                    && self.is_loaded(module)))
    }

    /// Checks whether a value is made by `from_pretrained` of diffusers.
    fn is_of_diffusers(&self, made: &'a Expr) -> bool {
        self.maker(made).and_then(|call| call.path.as_deref()).is_some_and(|path| path.starts_with("diffusers."))
    }

    /// Checks whether a module has weights for certain: they are loaded by its maker, or by `load_state_dict`.
    pub(crate) fn is_loaded(&self, module: &'a Expr) -> bool {
        let is_loader = |made: &'a Expr| {
            let Some(call) = self.maker(made) else { return false };
            let function = self.source(&*call.syntax.func).rsplit('.').next().unwrap_or_default();
            let path = call.path.as_deref().unwrap_or_default();
            let may_be_frozen = ["torch.jit.", "peft.", "onnx"].iter().any(|it| path.starts_with(it));
            !may_be_frozen && ["load", "pretrained", "checkpoint"].iter().any(|word| function.contains(word))
        };
        let name = self.source(module);
        self.origins(module).into_iter().any(is_loader)
            || self.calls().iter().any(|call| {
                call.is_method("load_state_dict") && call.method().is_some_and(|(it, _)| self.source(it) == name)
            })
    }

    /// Returns the first call of a chain of methods: `Net.load(file)` of `Net.load(file).cuda().eval()`.
    fn maker(&self, mut made: &'a Expr) -> Option<&Call<'a>> {
        loop {
            let call = self.call(made)?;
            match call.method() {
                Some((receiver, _)) if receiver.is_call_expr() => made = receiver,
                _ => return Some(call),
            }
        }
    }

    /// Checks whether a `torch.no_grad()` that is never entered precedes a forward in its function; `no-grad-not-entered` reports that
    /// mistake.
    pub(super) fn means_no_grad(&self, forward: &Call<'a>) -> bool {
        let function = self.function(forward.region);
        let before = self.calls_between((self.body(function).0, forward.id)).iter();
        before
            .filter(|call| call.is_any(&["torch.no_grad", "torch.inference_mode"]))
            .any(|call| self.is_statement(call))
    }

    /// `module.eval()`, `module.train()`, `module.train(False)`
    fn switch(&self, call: &Call<'a>) -> Option<Switch<'a>> {
        let (receiver, method) = call.method()?;
        let first = call.syntax.arguments.args.first();
        let is_evaluation = match method {
            "eval" if call.syntax.arguments.is_empty() => true,
            "train" => first.is_some_and(|it| is_bool(it, false)),
            _ => return None,
        };
        let function = self.function(call.region);
        Some(Switch { at: call.id, function, module: self.source(receiver), is_evaluation })
    }

    fn wants_gradients(&self, forward: &Call<'a>) -> bool {
        let (function, around) = (self.function(forward.region), self.loops(forward.region).next());
        if let Some(&known) = self.wanting.borrow().get(&(function, around)) {
            return known;
        }
        let work = match (around, function) {
            (Some(id), _) => self.work_of_loop(id),
            (None, Some(id)) => self.work_of_function(id),
            (None, None) => self.work_of(self.calls()),
        };
        let is_worked_for = work.backwards + work.grads + work.steps > 0;
        let wants = is_worked_for || self.mentions_requires_grad(self.body(function), function);
        self.wanting.borrow_mut().insert((function, around), wants);
        wants
    }

    fn mentions_requires_grad(&self, body: (NodeId, NodeId), function: Option<FunctionId>) -> bool {
        self.expressions(body).any(|(id, expression)| match expression {
            Expr::Attribute(it) => {
                matches!(it.attr.as_str(), "requires_grad" | "requires_grad_" | "grad")
                    && self.function(self.node(id).region) == function
            }
            Expr::Call(it) => it.arguments.find_keyword("requires_grad").is_some(),
            _ => false,
        })
    }

    /// Checks whether an expression is used as a whole statement.
    pub(crate) fn is_statement(&self, call: &Call<'a>) -> bool {
        let parent = self.node(call.id).parent;
        matches!(self.node(parent).syntax, Syntax::Statement(ruff_python_ast::Stmt::Expr(_)))
    }
}

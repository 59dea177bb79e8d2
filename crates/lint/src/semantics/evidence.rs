//! Evidence from the uses of a name: an object with a call of `backward` has a graph, an object with a call of `parameters` is a module.

use ruff_python_ast::{Expr, Operator, Stmt};
use rustc_hash::FxHashSet;

use super::build::UNBOUND;
use super::data::{Binding, DefinitionId, NodeId, SymbolId};
use super::{Call, Model};

/// The largest number of steps that a value is traced back.
const STEPS: usize = 40;

/// The evidence of a file. Uses of unbound names are ignored, because all unbound names share a definition.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    /// Definitions on which `backward` is called.
    backwarded: FxHashSet<DefinitionId>,
    /// Attributes on which `backward` is called: `outputs.loss.backward()`.
    backwarded_attributes: FxHashSet<(DefinitionId, &'a str)>,
    /// The names of these definitions, for any value of the name.
    backwarded_symbols: FxHashSet<SymbolId>,
    backwarded_symbol_attributes: FxHashSet<(SymbolId, &'a str)>,
    /// Entries on which `backward` is called, with the text of their key: `losses["total"].backward()`.
    backwarded_entries: FxHashSet<(DefinitionId, &'a str)>,
    /// Definitions used in a way that only modules are.
    modules: FxHashSet<DefinitionId>,
    module_attributes: FxHashSet<(DefinitionId, &'a str)>,
    /// Those of which the parameters are asked for.
    parametrized: FxHashSet<DefinitionId>,
    /// True if the file turns off `requires_grad` of parameters.
    pub(crate) freezes: bool,
    /// True if a call turns gradients off for an unknown part of the program.
    pub(crate) switches_mode: bool,
}

impl<'a> Evidence<'a> {
    pub(super) fn collect(model: &Model<'a>) -> Evidence<'a> {
        let mut evidence = Evidence::default();
        for call in model.calls() {
            if let Some(subject) = backward_subject(model, call) {
                evidence.backward(model, subject, STEPS);
            }
            evidence.module(model, call);
            evidence.switch(model, call);
        }
        evidence.freezes |= model.statements().any(|(_, statement)| is_freeze(statement));
        evidence
    }

    pub(crate) fn is_backwarded(&self, definition: DefinitionId) -> bool {
        self.backwarded.contains(&definition)
    }

    pub(crate) fn is_backwarded_symbol(&self, symbol: SymbolId) -> bool {
        self.backwarded_symbols.contains(&symbol)
    }

    pub(crate) fn is_backwarded_symbol_attribute(&self, symbol: SymbolId, attribute: &'a str) -> bool {
        self.backwarded_symbol_attributes.contains(&(symbol, attribute))
    }

    pub(crate) fn is_backwarded_attribute(&self, definition: DefinitionId, attribute: &'a str) -> bool {
        definition != UNBOUND && self.backwarded_attributes.contains(&(definition, attribute))
    }

    pub(crate) fn is_backwarded_entry(&self, definition: DefinitionId, key: &'a str) -> bool {
        definition != UNBOUND && self.backwarded_entries.contains(&(definition, key))
    }

    pub(crate) fn is_module(&self, definition: DefinitionId) -> bool {
        definition != UNBOUND && self.modules.contains(&definition)
    }

    /// Checks for a module with parameters, by its use.
    pub(crate) fn has_parameters(&self, definition: DefinitionId) -> bool {
        self.parametrized.contains(&definition)
    }

    pub(crate) fn is_module_attribute(&self, definition: DefinitionId, attribute: &'a str) -> bool {
        definition != UNBOUND && self.module_attributes.contains(&(definition, attribute))
    }

    /// Records that `expression` has a graph.
    fn backward(&mut self, model: &Model<'a>, expression: &'a Expr, left: usize) {
        let Some(left) = left.checked_sub(1) else { return };
        match expression {
            Expr::Name(name) => self.backward_definition(model, model.definition(name), left),
            Expr::Attribute(attribute) => {
                if let Some(base) = attribute.value.as_name_expr() {
                    let (definition, name) = (model.definition(base), attribute.attr.as_str());
                    self.backwarded_attributes.insert((definition, name));
                    let symbol = model.tree.definitions[definition.index()].symbol;
                    self.backwarded_symbol_attributes.insert((symbol, name));
                }
            }
            Expr::Subscript(subscript) => {
                if let Some(base) = subscript.value.as_name_expr() {
                    self.backwarded_entries.insert((model.definition(base), model.source(&*subscript.slice)));
                }
            }
            // `(loss / 4).backward()`; for a sum, the summand with the graph is unknown.
            Expr::BinOp(it) if matches!(it.op, Operator::Div | Operator::Mult) => {
                self.backward(model, &it.left, left);
                if it.op == Operator::Mult {
                    self.backward(model, &it.right, left);
                }
            }
            // `loss.mean().backward()`, `scaler.scale(loss).backward()`.
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(it) if it.attr.as_str() == "scale" => {
                    call.arguments.args.first().into_iter().for_each(|loss| self.backward(model, loss, left));
                }
                Expr::Attribute(it) if matches!(it.attr.as_str(), "mean" | "sum") => {
                    self.backward(model, &it.value, left);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn backward_definition(&mut self, model: &Model<'a>, definition: DefinitionId, left: usize) {
        let Some(left) = left.checked_sub(1) else { return };
        let binding = &model.tree.definitions[definition.index()].binding;
        let is_literal = matches!(binding, Binding::Value(value) if value.is_literal_expr());
        if is_literal || matches!(binding, Binding::Unbound | Binding::Import(_)) || !self.backwarded.insert(definition)
        {
            return;
        }
        self.backwarded_symbols.insert(model.tree.definitions[definition.index()].symbol);
        match binding {
            Binding::Join(inputs, _) => inputs.iter().for_each(|&input| self.backward_definition(model, input, left)),
            // `loss = loss / 4`: the previous value has the graph as well.
            Binding::Value(Expr::BinOp(it)) if it.op == Operator::Div => self.backward(model, &it.left, left),
            Binding::Augmented(before, it) if matches!(it.op, Operator::Div | Operator::Mult) => {
                self.backward_definition(model, *before, left);
            }
            _ => {}
        }
    }

    fn module(&mut self, model: &Model<'a>, call: &Call<'a>) {
        let Some((receiver, method)) = call.method().filter(|_| call.path.is_none()) else { return };
        let has_arguments = !call.syntax.arguments.is_empty();
        let is_module = match method {
            "eval" | "parameters" | "named_parameters" | "zero_grad" => !has_arguments,
            _ => false,
        };
        if !is_module || (method == "zero_grad" && is_called_optimizer(receiver)) {
            return;
        }
        match receiver {
            Expr::Name(name) => {
                self.modules.insert(model.definition(name));
                if method != "eval" {
                    self.parametrized.insert(model.definition(name));
                }
            }
            Expr::Attribute(it) => {
                if let Some(base) = it.value.as_name_expr() {
                    self.module_attributes.insert((model.definition(base), it.attr.as_str()));
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, model: &Model<'a>, call: &Call<'a>) {
        if call.is_method("requires_grad_") {
            self.freezes |= call.argument("requires_grad", 0).is_some();
        }
        if call.is_any(&["torch.set_grad_enabled", "torch.autograd.set_grad_enabled"]) {
            let parent = model.node(call.id).parent;
            self.switches_mode |= is_whole_statement(model, parent);
        }
    }
}

fn is_whole_statement(model: &Model<'_>, id: NodeId) -> bool {
    matches!(model.statement(id), Some((at, Stmt::Expr(_))) if at == id)
}

/// Checks whether a name indicates an optimizer.
pub(crate) fn is_called_optimizer(expression: &Expr) -> bool {
    let name = match expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Subscript(subscript) => return is_called_optimizer(&subscript.value),
        _ => return false,
    };
    let name = name.to_ascii_lowercase();
    name.starts_with("opt") || name.contains("optim") || name.ends_with("_opt")
}

/// `p.requires_grad = ...`
fn is_freeze(statement: &Stmt) -> bool {
    let Stmt::Assign(assign) = statement else { return false };
    assign.targets.iter().any(|target| target.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "requires_grad"))
}

/// Returns the tensor on which a call runs backward.
pub(crate) fn backward_subject<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<&'a Expr> {
    if call.is("torch.autograd.backward") {
        return call.argument("tensors", 0);
    }
    let (receiver, method) = call.method()?;
    let first = call.syntax.arguments.args.first();
    match method {
        "manual_backward" => first,
        // `accelerator.backward(loss)`, `fabric.backward(loss)`, `engine.backward(loss)`, but `y.backward(gradient)`.
        "backward" if first.is_some() && !is_tensor_name(model, receiver) => first,
        "backward" if call.path.is_none() && !is_super(receiver) => Some(receiver),
        _ => None,
    }
}

fn is_super(expression: &Expr) -> bool {
    expression.as_call_expr().and_then(|call| call.func.as_name_expr()).is_some_and(|name| name.id.as_str() == "super")
}

/// Checks by its name whether the receiver of `x.backward(y)` is a tensor: accelerators, engines and models take the loss as an argument.
fn is_tensor_name(model: &Model<'_>, receiver: &Expr) -> bool {
    let name = model.source(receiver).rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let words =
        ["accelerator", "fabric", "engine", "model", "booster", "strategy", "self", "trainer", "scaler", "manager"];
    !words.iter().any(|word| name.contains(word))
}

impl<'a> Model<'a> {
    /// Returns the tensor on which a call runs backward.
    pub(crate) fn backward_subject(&self, call: &Call<'a>) -> Option<&'a Expr> {
        backward_subject(self, call)
    }
}

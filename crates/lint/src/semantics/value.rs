//! The value of an expression, as far as memory is concerned: a tensor with or without a graph, a module, an optimizer, plain data.
//!
//! # Note [Values]
//! Values are computed on demand from the definitions of names (Note `[Definitions]` in `build.rs`), the facts about PyTorch (`known.rs`)
//! and the uses of names (`evidence.rs`). Calls of functions of the file take the returned value, parameters the arguments of the calls in
//! the file. A value that depends on itself is unknown.

mod device;
mod parts;
mod result;

use ruff_python_ast::{Expr, ExprAttribute, ExprName, UnaryOp};

use super::data::{Binding, ClassId, DefinitionId, FunctionId};
use super::known::{self, Gives};
use super::{Mode, Model};

/// Does a tensor have a graph?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Graph {
    Recorded,
    Absent,
    Unsure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TensorDevice {
    Gpu,
    Host,
    Unsure,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Unknown, or irrelevant.
    Unknown,
    /// A number, a string, None: no tensor inside.
    Plain,
    Tensor(Graph, TensorDevice),
    /// A module with parameters.
    Module,
    /// A module without parameters: a loss function, an activation.
    Operation,
    Optimizer,
    Scaler,
    Loader,
    /// A list, a dict, a set, a tuple.
    Collection,
    /// A value under computation; neutral in joins.
    Pending,
}

/// The largest number of steps of Note [Values].
const STEPS: usize = 40;

impl ValueKind {
    pub(crate) fn graph(self) -> Graph {
        match self {
            ValueKind::Tensor(graph, _) => graph,
            ValueKind::Plain => Graph::Absent,
            _ => Graph::Unsure,
        }
    }

    /// Checks for a tensor that certainly has a graph.
    pub(crate) fn is_recorded(self) -> bool {
        matches!(self, ValueKind::Tensor(Graph::Recorded, _))
    }

    pub(crate) fn is_on_gpu(self) -> bool {
        matches!(self, ValueKind::Tensor(_, TensorDevice::Gpu))
    }

    fn with_graph(self, graph: Graph) -> ValueKind {
        match self {
            ValueKind::Tensor(_, device) => ValueKind::Tensor(graph, device),
            other => other,
        }
    }

    /// The join of two values, for code where either may occur.
    fn or(self, other: ValueKind) -> ValueKind {
        match (self, other) {
            (one, other) if one == other => one,
            (ValueKind::Tensor(a, here), ValueKind::Tensor(b, there)) => {
                ValueKind::Tensor(a.or(b), if here == there { here } else { TensorDevice::Unsure })
            }
            // A number before the first step, a tensor after.
            (ValueKind::Tensor(graph, device), ValueKind::Plain)
            | (ValueKind::Plain, ValueKind::Tensor(graph, device)) => ValueKind::Tensor(graph, device),
            // `model = None` before the model is created.
            (known, ValueKind::Plain | ValueKind::Pending) | (ValueKind::Plain | ValueKind::Pending, known) => known,
            _ => ValueKind::Unknown,
        }
    }

    /// The value of an operation on two values.
    fn with(self, other: ValueKind) -> ValueKind {
        match (self, other) {
            (ValueKind::Pending, known) | (known, ValueKind::Pending) => known,
            (ValueKind::Tensor(a, here), ValueKind::Tensor(b, there)) => {
                ValueKind::Tensor(a.with(b), if here == TensorDevice::Unsure { there } else { here })
            }
            (ValueKind::Tensor(graph, device), ValueKind::Plain)
            | (ValueKind::Plain, ValueKind::Tensor(graph, device)) => ValueKind::Tensor(graph, device),
            (ValueKind::Plain, ValueKind::Plain) => ValueKind::Plain,
            (ValueKind::Tensor(Graph::Recorded, device), _) | (_, ValueKind::Tensor(Graph::Recorded, device)) => {
                ValueKind::Tensor(Graph::Recorded, device)
            }
            (ValueKind::Tensor(_, device), _) | (_, ValueKind::Tensor(_, device)) => {
                ValueKind::Tensor(Graph::Unsure, device)
            }
            _ => ValueKind::Unknown,
        }
    }
}

impl Graph {
    /// The join of two answers: a graph in either counts.
    pub(crate) fn or(self, other: Graph) -> Graph {
        if self == other {
            self
        } else if self == Graph::Recorded || other == Graph::Recorded {
            Graph::Recorded
        } else {
            Graph::Unsure
        }
    }

    /// The answer for a value computed from both.
    fn with(self, other: Graph) -> Graph {
        self.or(other)
    }
}

impl<'a> Model<'a> {
    /// The value of an expression.
    pub(crate) fn value(&self, expression: &'a Expr) -> ValueKind {
        match self.value_within(expression, STEPS) {
            ValueKind::Pending => ValueKind::Unknown,
            value => value,
        }
    }

    fn value_within(&self, expression: &'a Expr, left: usize) -> ValueKind {
        let (Some(id), Some(left)) = (self.id(expression), left.checked_sub(1)) else { return ValueKind::Unknown };
        if let Some(&known) = self.values.borrow().get(&id) {
            return known;
        }
        self.values.borrow_mut().insert(id, ValueKind::Pending);
        let value = self.evaluate(expression, left);
        self.values.borrow_mut().insert(id, value);
        value
    }

    fn evaluate(&self, expression: &'a Expr, left: usize) -> ValueKind {
        match expression {
            it if it.is_literal_expr() => ValueKind::Plain,
            Expr::FString(_) | Expr::Compare(_) => ValueKind::Plain,
            Expr::Name(name) => self.value_of_name(name, left),
            Expr::Attribute(attribute) => match self.named(expression) {
                Some(definition) => self.value_of_definition(definition, left),
                None => self.value_of_attribute(attribute, left),
            },
            Expr::Call(call) => self.value_of_call(call, expression, left),
            Expr::BinOp(it) => {
                let value = self.value_within(&it.left, left).with(self.value_within(&it.right, left));
                if value.is_recorded() && self.is_off(expression) { value.with_graph(Graph::Absent) } else { value }
            }
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => ValueKind::Plain,
            Expr::UnaryOp(it) => self.value_within(&it.operand, left),
            Expr::BoolOp(it) => any_of(it.values.iter().map(|value| self.value_within(value, left))),
            Expr::If(it) => self.value_within(&it.body, left).or(self.value_within(&it.orelse, left)),
            Expr::Named(it) => self.value_within(&it.value, left),
            Expr::Subscript(it) => self.value_of_subscript(&it.value, &it.slice, left),
            Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::Tuple(_) => ValueKind::Collection,
            it if it.is_list_comp_expr() || it.is_dict_comp_expr() || it.is_set_comp_expr() => ValueKind::Collection,
            _ => ValueKind::Unknown,
        }
    }

    /// Checks whether gradients are off at an expression.
    fn is_off(&self, expression: &'a Expr) -> bool {
        self.id(expression).is_some_and(|id| self.mode(self.node(id).region) == Mode::Off)
    }

    fn value_of_name(&self, name: &'a ExprName, left: usize) -> ValueKind {
        self.value_of_definition(self.definition(name), left)
    }

    /// Returns the value of a definition.
    fn value_of_definition(&self, definition: DefinitionId, left: usize) -> ValueKind {
        let Some(left) = left.checked_sub(1) else { return ValueKind::Unknown };
        if let Some(&known) = self.names.borrow().get(&definition) {
            return known;
        }
        self.names.borrow_mut().insert(definition, ValueKind::Pending);
        let value = if self.evidence.is_backwarded(definition) {
            ValueKind::Tensor(Graph::Recorded, TensorDevice::Unsure)
        } else {
            self.value_of_binding(definition, left)
        };
        self.names.borrow_mut().insert(definition, value);
        value
    }

    fn value_of_binding(&self, definition: DefinitionId, left: usize) -> ValueKind {
        let found = match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) | Binding::Context(value) => self.value_within(value, left),
            Binding::Item(value, path) => self.value_of_item(value, path, left),
            Binding::Element(value, path) => self.value_of_element(value, path, left),
            Binding::Augmented(before, statement) => {
                self.value_of_definition(*before, left).with(self.value_within(&statement.value, left))
            }
            Binding::Parameter(function, index, parameter) => {
                let annotated = parameter.annotation.as_deref().map_or(ValueKind::Unknown, |it| self.annotated(it));
                if self.is_model_of_trainer(*function, parameter.name.as_str()) {
                    ValueKind::Module
                } else if annotated == ValueKind::Unknown {
                    self.value_of_parameter(*function, *index, parameter.name.as_str(), left)
                } else {
                    annotated
                }
            }
            Binding::Join(inputs, _) => {
                let inputs = inputs.iter().filter(|&&it| it != super::build::UNBOUND);
                any_of(inputs.map(|&input| self.value_of_definition(input, left)))
            }
            Binding::Outer(symbol) => {
                let bindings = &self.tree.symbols[symbol.index()].bindings;
                if bindings.len() > 8 {
                    return ValueKind::Unknown;
                }
                any_of(bindings.iter().map(|&input| self.value_of_definition(input, left)))
            }
            Binding::Alias(definition) => self.value_of_definition(*definition, left),
            Binding::Unbound | Binding::Import(_) | Binding::Function(_) | Binding::Class(_) | Binding::Other => {
                ValueKind::Unknown
            }
        };
        let is_module = matches!(found, ValueKind::Unknown) && self.evidence.is_module(definition);
        if is_module { ValueKind::Module } else { found }
    }

    fn annotated(&self, annotation: &'a Expr) -> ValueKind {
        match self.path(annotation).as_deref() {
            Some("torch.Tensor") => ValueKind::Tensor(Graph::Unsure, TensorDevice::Unsure),
            Some("torch.nn.Module" | "torch.nn.Sequential") => ValueKind::Module,
            Some("torch.optim.Optimizer" | "torch.optim.optimizer.Optimizer") => ValueKind::Optimizer,
            Some("int" | "float" | "str" | "bool") => ValueKind::Plain,
            Some(path) if known::makes_loader(path) => ValueKind::Loader,
            Some(path) if known::makes_optimizer(path) => ValueKind::Optimizer,
            Some(path) if known::makes_scaler(path) => ValueKind::Scaler,
            _ => ValueKind::Unknown,
        }
    }

    fn value_of_parameter(&self, function: FunctionId, index: usize, name: &str, left: usize) -> ValueKind {
        if let Some(class) = self.tree.functions[function.index()].class.filter(|_| index == 0 && name == "self") {
            return self.value_of_instance(class);
        }
        let given = self.callers(function).map(|call| {
            self.argument_of(call, function, index, name)
                .map_or(ValueKind::Unknown, |argument| self.value_within(argument, left))
        });
        any_of(given)
    }

    fn value_of_attribute(&self, attribute: &'a ExprAttribute, left: usize) -> ValueKind {
        let name = attribute.attr.as_str();
        if let Some(base) = attribute.value.as_name_expr() {
            let definition = self.definition(base);
            if self.evidence.is_backwarded_attribute(definition, name) {
                return ValueKind::Tensor(Graph::Recorded, TensorDevice::Unsure);
            }
            if let Some(class) = self.class_of_self(definition) {
                let known = self.value_of_own(class, name, left);
                let is_module = known == ValueKind::Unknown && self.evidence.is_module_attribute(definition, name);
                return if is_module { ValueKind::Module } else { known };
            }
            if self.evidence.is_module_attribute(definition, name) {
                return ValueKind::Module;
            }
        }
        match self.value_within(&attribute.value, left) {
            tensor @ ValueKind::Tensor(..) => match known::tensor_attribute(name) {
                Some(gives) => result_kind(tensor, gives),
                None => ValueKind::Unknown,
            },
            ValueKind::Module if name == "module" => ValueKind::Module,
            _ => ValueKind::Unknown,
        }
    }

    /// Returns the value of an attribute of `self`: the join of the values that methods assign.
    fn value_of_own(&self, class: ClassId, name: &str, left: usize) -> ValueKind {
        let classes = self.own_and_bases(class);
        let assigned = classes.iter().find_map(|it| self.tree.classes[it.index()].attributes.get(name));
        let assigned = assigned.map_or(&[][..], Vec::as_slice);
        if assigned.len() > 8 {
            return ValueKind::Unknown;
        }
        any_of(assigned.iter().map(|value| self.value_within(value, left)))
    }

    fn value_of_subscript(&self, base: &'a Expr, index: &'a Expr, left: usize) -> ValueKind {
        match self.value_within(base, left) {
            tensor @ ValueKind::Tensor(..) => tensor,
            ValueKind::Collection => ValueKind::Unknown,
            _ => index
                .as_number_literal_expr()
                .and_then(|number| number.value.as_int())
                .and_then(ruff_python_ast::Int::as_usize)
                .map_or(ValueKind::Unknown, |index| self.value_of_item(base, &[index], left)),
        }
    }
}

fn result_kind(tensor: ValueKind, gives: Gives) -> ValueKind {
    match gives {
        Gives::Plain => ValueKind::Plain,
        Gives::Detached => tensor.with_graph(Graph::Absent),
        Gives::Same => tensor,
        Gives::Leaf => tensor.with_graph(Graph::Unsure),
    }
}

/// Joins several values.
fn any_of(values: impl IntoIterator<Item = ValueKind>) -> ValueKind {
    values.into_iter().reduce(ValueKind::or).unwrap_or(ValueKind::Unknown)
}

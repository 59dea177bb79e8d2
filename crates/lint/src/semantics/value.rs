//! The value of an expression, as far as memory is concerned: a tensor with or without a graph, a module, an optimizer, plain data.
//!
//! # Note [Values]
//! Values are computed on demand from the definitions of names (Note `[Definitions]` in `build.rs`), the facts about PyTorch (`known.rs`)
//! and the uses of names (`evidence.rs`). Calls of functions of the file take the returned value, parameters the arguments of the calls in
//! the file. A value that depends on itself is unknown.

mod calls;
mod parts;
mod places;

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

/// The device of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Gpu,
    Host,
    Unsure,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Unknown, or irrelevant.
    Unknown,
    /// A number, a string, None: no tensor inside.
    Plain,
    Tensor(Graph, Place),
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

impl Value {
    pub(crate) fn graph(self) -> Graph {
        match self {
            Value::Tensor(graph, _) => graph,
            Value::Plain => Graph::Absent,
            _ => Graph::Unsure,
        }
    }

    /// Checks for a tensor that certainly has a graph.
    pub(crate) fn is_recorded(self) -> bool {
        matches!(self, Value::Tensor(Graph::Recorded, _))
    }

    pub(crate) fn is_on_gpu(self) -> bool {
        matches!(self, Value::Tensor(_, Place::Gpu))
    }

    fn with_graph(self, graph: Graph) -> Value {
        match self {
            Value::Tensor(_, place) => Value::Tensor(graph, place),
            other => other,
        }
    }

    /// The join of two values, for code where either may occur.
    fn or(self, other: Value) -> Value {
        match (self, other) {
            (one, other) if one == other => one,
            (Value::Tensor(a, here), Value::Tensor(b, there)) => {
                Value::Tensor(a.or(b), if here == there { here } else { Place::Unsure })
            }
            // A number before the first step, a tensor after.
            (Value::Tensor(graph, place), Value::Plain) | (Value::Plain, Value::Tensor(graph, place)) => {
                Value::Tensor(graph, place)
            }
            // `model = None` before the model is created.
            (known, Value::Plain | Value::Pending) | (Value::Plain | Value::Pending, known) => known,
            _ => Value::Unknown,
        }
    }

    /// The value of an operation on two values.
    fn with(self, other: Value) -> Value {
        match (self, other) {
            (Value::Pending, known) | (known, Value::Pending) => known,
            (Value::Tensor(a, here), Value::Tensor(b, there)) => {
                Value::Tensor(a.with(b), if here == Place::Unsure { there } else { here })
            }
            (Value::Tensor(graph, place), Value::Plain) | (Value::Plain, Value::Tensor(graph, place)) => {
                Value::Tensor(graph, place)
            }
            (Value::Plain, Value::Plain) => Value::Plain,
            (Value::Tensor(Graph::Recorded, place), _) | (_, Value::Tensor(Graph::Recorded, place)) => {
                Value::Tensor(Graph::Recorded, place)
            }
            (Value::Tensor(_, place), _) | (_, Value::Tensor(_, place)) => Value::Tensor(Graph::Unsure, place),
            _ => Value::Unknown,
        }
    }
}

impl Graph {
    /// The join of two answers: a graph in either counts.
    fn or(self, other: Graph) -> Graph {
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
    pub(crate) fn value(&self, expression: &'a Expr) -> Value {
        match self.value_within(expression, STEPS) {
            Value::Pending => Value::Unknown,
            value => value,
        }
    }

    fn value_within(&self, expression: &'a Expr, left: usize) -> Value {
        let (Some(id), Some(left)) = (self.id(expression), left.checked_sub(1)) else { return Value::Unknown };
        if let Some(&known) = self.values.borrow().get(&id) {
            return known;
        }
        self.values.borrow_mut().insert(id, Value::Pending);
        let value = self.evaluate(expression, left);
        self.values.borrow_mut().insert(id, value);
        value
    }

    fn evaluate(&self, expression: &'a Expr, left: usize) -> Value {
        match expression {
            it if it.is_literal_expr() => Value::Plain,
            Expr::FString(_) | Expr::Compare(_) => Value::Plain,
            Expr::Name(name) => self.value_of_name(name, left),
            Expr::Attribute(attribute) => self.value_of_attribute(attribute, left),
            Expr::Call(call) => self.value_of_call(call, expression, left),
            Expr::BinOp(it) => {
                let value = self.value_within(&it.left, left).with(self.value_within(&it.right, left));
                if value.is_recorded() && self.is_off(expression) { value.with_graph(Graph::Absent) } else { value }
            }
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => Value::Plain,
            Expr::UnaryOp(it) => self.value_within(&it.operand, left),
            Expr::BoolOp(it) => any_of(it.values.iter().map(|value| self.value_within(value, left))),
            Expr::If(it) => self.value_within(&it.body, left).or(self.value_within(&it.orelse, left)),
            Expr::Named(it) => self.value_within(&it.value, left),
            Expr::Subscript(it) => self.value_of_subscript(&it.value, &it.slice, left),
            Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::Tuple(_) => Value::Collection,
            it if it.is_list_comp_expr() || it.is_dict_comp_expr() || it.is_set_comp_expr() => Value::Collection,
            _ => Value::Unknown,
        }
    }

    /// Checks whether gradients are off at an expression.
    fn is_off(&self, expression: &'a Expr) -> bool {
        self.id(expression).is_some_and(|id| self.mode(self.node(id).region) == Mode::Off)
    }

    fn value_of_name(&self, name: &'a ExprName, left: usize) -> Value {
        self.value_of_definition(self.definition(name), left)
    }

    /// Returns the value of a definition.
    fn value_of_definition(&self, definition: DefinitionId, left: usize) -> Value {
        let Some(left) = left.checked_sub(1) else { return Value::Unknown };
        if let Some(&known) = self.names.borrow().get(&definition) {
            return known;
        }
        self.names.borrow_mut().insert(definition, Value::Pending);
        let value = if self.evidence.is_backwarded(definition) {
            Value::Tensor(Graph::Recorded, Place::Unsure)
        } else {
            self.value_of_binding(definition, left)
        };
        self.names.borrow_mut().insert(definition, value);
        value
    }

    fn value_of_binding(&self, definition: DefinitionId, left: usize) -> Value {
        let found = match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) | Binding::Context(value) => self.value_within(value, left),
            Binding::Item(value, place) => self.value_of_item(value, place, left),
            Binding::Element(value, place) => self.value_of_element(value, place, left),
            Binding::Augmented(before, statement) => {
                self.value_of_definition(*before, left).with(self.value_within(&statement.value, left))
            }
            Binding::Parameter(function, index, parameter) => {
                let annotated = parameter.annotation.as_deref().map_or(Value::Unknown, |it| self.annotated(it));
                if self.is_model_of_trainer(*function, parameter.name.as_str()) {
                    Value::Module
                } else if annotated == Value::Unknown {
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
                    return Value::Unknown;
                }
                any_of(bindings.iter().map(|&input| self.value_of_definition(input, left)))
            }
            Binding::Unbound | Binding::Import(_) | Binding::Function(_) | Binding::Class(_) | Binding::Other => {
                Value::Unknown
            }
        };
        let is_module = matches!(found, Value::Unknown) && self.evidence.is_module(definition);
        if is_module { Value::Module } else { found }
    }

    fn annotated(&self, annotation: &'a Expr) -> Value {
        match self.path(annotation).as_deref() {
            Some("torch.Tensor") => Value::Tensor(Graph::Unsure, Place::Unsure),
            Some("torch.nn.Module" | "torch.nn.Sequential") => Value::Module,
            Some("torch.optim.Optimizer" | "torch.optim.optimizer.Optimizer") => Value::Optimizer,
            Some("int" | "float" | "str" | "bool") => Value::Plain,
            Some(path) if known::makes_loader(path) => Value::Loader,
            Some(path) if known::makes_optimizer(path) => Value::Optimizer,
            Some(path) if known::makes_scaler(path) => Value::Scaler,
            _ => Value::Unknown,
        }
    }

    fn value_of_parameter(&self, function: FunctionId, index: usize, name: &str, left: usize) -> Value {
        if let Some(class) = self.tree.functions[function.index()].class.filter(|_| index == 0 && name == "self") {
            return self.value_of_instance(class);
        }
        let given = self.callers(function).map(|call| {
            self.given(call, function, index, name).map_or(Value::Unknown, |argument| self.value_within(argument, left))
        });
        any_of(given)
    }

    fn value_of_attribute(&self, attribute: &'a ExprAttribute, left: usize) -> Value {
        let name = attribute.attr.as_str();
        if let Some(base) = attribute.value.as_name_expr() {
            let definition = self.definition(base);
            if self.evidence.is_backwarded_attribute(definition, name) {
                return Value::Tensor(Graph::Recorded, Place::Unsure);
            }
            if let Some(class) = self.class_of_self(definition) {
                let known = self.value_of_own(class, name, left);
                let is_module = known == Value::Unknown && self.evidence.is_module_attribute(definition, name);
                return if is_module { Value::Module } else { known };
            }
            if self.evidence.is_module_attribute(definition, name) {
                return Value::Module;
            }
        }
        match self.value_within(&attribute.value, left) {
            tensor @ Value::Tensor(..) => match known::tensor_attribute(name) {
                Some(gives) => given(tensor, gives),
                None => Value::Unknown,
            },
            Value::Module if name == "module" => Value::Module,
            _ => Value::Unknown,
        }
    }

    /// Returns the value of an attribute of `self`: the join of the values that methods assign.
    fn value_of_own(&self, class: ClassId, name: &str, left: usize) -> Value {
        let assigned = self.tree.classes[class.index()].attributes.get(name);
        let assigned = assigned.map_or(&[][..], Vec::as_slice);
        if assigned.len() > 8 {
            return Value::Unknown;
        }
        any_of(assigned.iter().map(|value| self.value_within(value, left)))
    }

    fn value_of_subscript(&self, base: &'a Expr, index: &'a Expr, left: usize) -> Value {
        match self.value_within(base, left) {
            tensor @ Value::Tensor(..) => tensor,
            Value::Collection => Value::Unknown,
            _ => index
                .as_number_literal_expr()
                .and_then(|number| number.value.as_int())
                .and_then(ruff_python_ast::Int::as_usize)
                .map_or(Value::Unknown, |index| self.value_of_item(base, &[index], left)),
        }
    }
}

fn given(tensor: Value, gives: Gives) -> Value {
    match gives {
        Gives::Plain => Value::Plain,
        Gives::Detached => tensor.with_graph(Graph::Absent),
        Gives::Same => tensor,
        Gives::Leaf => tensor.with_graph(Graph::Unsure),
    }
}

/// Joins several values.
fn any_of(values: impl IntoIterator<Item = Value>) -> Value {
    values.into_iter().reduce(Value::or).unwrap_or(Value::Unknown)
}
